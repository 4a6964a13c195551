"""Descriptions of features in plain words, for pages and explanations; `features.formulas` has the formulas."""

from __future__ import annotations

from searchlab.features.catalogue import CATALOGUE
from searchlab.features.user_defined.external_features import is_external
from searchlab.features.user_defined.field_features import describe_field_feature

TEXTS = {"title": "the title", "body": "the body", "both": "title and body"}

# By the last part of a feature's name, unless the description depends on the family.
_DESCRIPTIONS = {
    "tf": "how often {} has words of the query",
    "log_tf": "how often {} has words of the query (log)",
    "share": "share of {} that is words of the query",
    "log_share": "share of {} that is words of the query (log)",
    "idf": "how rare the query's words are in {}, by documents",
    "log_idf": "how rare the query's words are in {}, by documents (log)",
    "icf": "how rare the query's words are in {}, by occurrences",
    "log_icf": "how rare those words of the query are that {} has, by occurrences (log)",
    "tf_idf": "tf·idf of {}",
    "log_share_idf": "share of {} that is rare words of the query, by documents (log)",
    "log_share_icf": "share of {} that is rare words of the query, by occurrences (log)",
    "bm25": "BM25 of {}",
    "log_bm25": "BM25 of {} (log)",
    "dirichlet": "language model of {}, Dirichlet smoothing",
    "jm": "language model of {}, Jelinek–Mercer smoothing",
    "absolute": "language model of {}, absolute discounting",
    "two-stage": "language model of {}, two-stage smoothing",
    "L6": "tf·idf, in the whole collection, of those words of the query that {} has",
    "coverage": "how many of the query's words {} has",
    "tf_min": "how often {} has that word of the query which it has least often",
    "tf_max": "how often {} has that word of the query which it has most often",
    "tf_mean": "how often {} has a word of the query, in the mean",
    "tf_variance": "how unevenly {} has the query's words",
    "tfidf_min": "smallest tf·idf of a word of the query in {}",
    "tfidf_max": "largest tf·idf of a word of the query in {}",
    "tfidf_mean": "mean tf·idf of the query's words in {}",
    "tfidf_variance": "how unevenly tf·idf of {} is spread over the query's words",
    "unique": "how many different words {} has",
    "phrase": "how often {} has the whole query, word after word",
    "window": "length of the shortest passage of {} with all the words that it has of the query",
    "distance": "distance of the nearest two different words of the query in {}",
    "bm25f": "BM25F, title counted twice",
    "rm3": "BM25 of the query with words of its best documents (RM3)",
    "idf_sum": "how rare the query's words are, in all",
    "idf_max": "how rare the query's rarest word is",
    "simple_clarity": "how telling the query's words are",
    "clarity": "how telling the words of the best documents are",
    "scope": "how few documents have any word of the query",
    "cosine": "nearness of its topics to those of the query",
    "likelihood": "how likely its topics make the query",
    "plsa": "language model with topics (PLSA)",
    "fields": "language model of title and body, mixed",
}
# Descriptions that depend on the family.
_FAMILY_DESCRIPTIONS = {
    ("doc", "length"): "length of {}",
    ("query", "length"): "length of the query, stop words left out",
    ("table1", "log_idf"): "how rare those words of the query are that {} has, by documents (log)",
    ("nallapati", "log_idf"): "how rare those words of the query are that {} has, by documents (log)",
    ("nallapati", "icf"): "how rare those words of the query are that {} has, by occurrences",
    ("ordrank", "idf"): "how rare those words of the query are that {} has, by documents",
    ("ordrank", "log_idf"): "how rare those words of the query are that {} has, by documents (log)",
    ("ordrank", "icf"): "how rare those words of the query are that {} has, by occurrences",
    ("near", "bigrams"): "how often {} has neighbouring words of the query side by side",
    ("mixture", "bigrams"): "language model with pairs of words",
}
_ORDRANK = {
    "L1": "tf",
    "L2": "log_tf",
    "L3": "share",
    "L4": "log_share",
    "L5": "idf",
    "L6": "L6",
    "L7": "log_idf",
    "L8": "icf",
    "L9": "log_share_icf",
    "L10": "log_share_idf",
    "H1": "bm25",
    "H2": "log_bm25",
    "H3": "dirichlet",
    "H4": "jm",
    "H5": "absolute",
}
_SEMANTIC = {
    "query": "nearness in meaning to the query",
    "bm25": "nearness in meaning to the best documents by BM25",
    "rm3": "nearness in meaning to the best documents by RM3",
}
_NEIGHBOURS = {
    "bm25": "BM25 of the {} most similar candidates",
    "rm3": "BM25 of the {} most similar candidates, the query with words of its best documents (RM3)",
    "bm25_words": "BM25 of the {} candidates with most words in common",
    "rm3_words": "BM25 of the {} candidates with most words in common, the query with words of its best ones (RM3)",
    "smoothed_words": "BM25, the document mixed with the {} candidates with most words in common",
}


def describe_feature(name: str) -> str:
    """The description of a feature; empty if there is no feature of this name.

    That of a feature which a user wrote in Python is its formula.
    """
    if name in CATALOGUE and CATALOGUE[name].measure is not None:
        return CATALOGUE[name].formula
    family, _, rest = name.partition(".")
    if is_external(name):
        return f"{rest}, computed elsewhere"
    if family == "field":
        return describe_field_feature(name)
    stream, _, what = rest.partition(".")
    if stream not in TEXTS:
        return ""
    if family == "semantic":
        aim, _, dims = what.rpartition("_")
        return f"{_SEMANTIC[aim]} ({dims} dimensions)" if aim in _SEMANTIC else ""
    if family == "neighbours":
        score, _, size = what.rpartition("_")
        return _NEIGHBOURS[score].format(size) if score in _NEIGHBOURS else ""
    known = _ORDRANK.get(what, "") if family == "ordrank" else what
    return _FAMILY_DESCRIPTIONS.get((family, known), _DESCRIPTIONS.get(known, "")).format(TEXTS[stream])
