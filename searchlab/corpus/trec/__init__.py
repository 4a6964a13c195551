"""Reading and writing of TREC files: topics, qrels, runs."""
