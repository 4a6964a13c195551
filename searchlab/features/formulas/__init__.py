"""Feature formulas, a module for each source, as functions of counts.

Notation: c is the count of a term in a stream of the document and |d| the length of that stream; N, df, cf and |C| are
the number of documents of the collection, of documents with the term, of occurrences of the term and of all terms, in
the same stream. Logarithms are natural. A sum over q is over all words of the query that occur in the stream anywhere
in the collection, a sum over q∩d over those that occur in the document; a repeated word counts each time.

An undefined value (the logarithm of 0, the language model of a document that matches no word of the query) is NaN.

Where the sources leave something open:
- idf in the tables of Cao and Nallapati is ln(N/df), as in LETOR, which Cao's group made.
- |C| beside cf is the collection's length there, as |d| is the document's; LETOR computed it with N.
- BM25 of LETOR is Lemur's, with k3 = 7, and the mean length is rounded to six digits: only so its numbers come out.
- LETOR has neither BM25 nor language models for a document whose stream has no word of the query.
- OrdRank's Table I names features of LETOR, and has LETOR's formulas here; only L6 is none of these.
"""
