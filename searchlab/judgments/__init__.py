"""What do people say of documents?

Topics, and how relevant each document is to them, by whom (`store`), kept in a database beside the index (`database`);
as files of TREC and back (`exchange`); how far judges agree (`agreement`); what to judge without knowing who found it
(`pooling`), and what to judge next (`priorities`).
"""
