"""An extension with two features: `searchlab --extension examples/own_features.py features --list`."""

import searchlab


@searchlab.feature("own.recency", "1 / (1 + age by year)")
def recency(candidates):
    """How new a document is: 1 for the newest year of the index."""
    return 1 / (1 + candidates.greatest("year") - candidates.numbers("year"))


@searchlab.feature("own.title_share", "share of the title that is words of the query")
def title_share(candidates):
    """Occurrences of the query's terms in the title, divided by the title's length."""
    counts = candidates.counts("title")
    return counts.tf.sum(axis=0) / counts.lengths
