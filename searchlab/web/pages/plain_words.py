"""Plain words for systems, rankers, recipes, features and measures in menus and tables.

Technical names stand beside them, or in a line below that opens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

from searchlab.errors import SearchlabError
from searchlab.evaluation.measure_families import FAMILIES
from searchlab.evaluation.measures import parse_measure
from searchlab.features.feature_sets import DEFAULT_SET
from searchlab.rankers.builtin import BUILTIN
from searchlab.rankers.systems import MODEL

SYSTEMS = {
    "bm25": "Standard",
    "bm25+rm3": "Standard, with related words",
    "bm25f": "Titles count more",
    "tfidf": "Classic word weights",
    "dirichlet": "Language model",
    "jm": "Language model, mixed with the collection",
    "absolute": "Language model, by discounts",
    "two-stage": "Language model, in two stages",
    "mixture": "Several language models",
    "plsa": "Topics of documents",
    "wtm": "Topics of words",
}
RANKERS = {
    "softmax": "Recommended: which document is better than all less relevant ones?",
    "rsvm-ir": "Which of two documents is better? Top ranks count more",
    "rsvm": "Which of two documents is better?",
    "rsvm-ir-gd": "Which of two is better, by a slower method",
    "rsvm-ir-rank": "Which of two is better, without balancing of topics",
    "rsvm-ir-query": "Which of two is better, without weight on top ranks",
    "rsvm-knn": "Which is better, by the most similar topics only",
    "mhr": "Votes for every two grades",
    "mhr-weighted": "Votes for every two grades, weighed",
    "ordrank": "Votes for neighbouring grades",
    "ordrank-weighted": "Votes for neighbouring grades, weighed",
    "rankboost": "Many simple rules together",
    "rankboost-qd": "Many simple rules, by kinds of queries",
    "exponential": "Many simple rules, one kind of queries",
    "lambdamart": "Decision trees",
    "svm": "Relevant or not? By a dividing line",
    "maxent": "Relevant or not? By probabilities",
}
RECIPES = {
    "tuned": "Recommended: the best few settings, averaged",
    "paper": "As it was published: the one best setting",
}
# What the features of a set describe, after their number.
FEATURES = {
    "compact": "words, neighbours and feedback",
    "semantic": "words, feedback and meaning",
    "topics": "words, feedback, meaning and topics",
    "full": "all kinds",
    "letor45": "words in titles, texts and both",
    "table1": "how often words occur, and a score",
    "nallapati": "how often words occur",
    "ordrank": "words, by their counts and scores",
    "ordrank-letor": "words, as in a published collection",
}
# What a value of a measure means, by the families of measures.
MEASURES = {
    "nDCG": "how close the order is to the best possible one: 1 is perfect; high grades and high ranks count more",
    "AP": "how early the relevant documents come, over the whole list: 1 if all of them come first",
    "P": "the share of the first documents that is relevant",
    "R": "the share of all relevant documents that is among the first ones",
    "RR": "1 if the first document is relevant, ½ if the second is the first relevant one, and so on",
    "ERR": "how soon a reader who stops at a good document is satisfied",
    "RBP": "how much relevance a patient reader meets on the way down",
    "Judged": "the share of the first documents that somebody has judged",
}
_MEASURE = re.compile(r"(?<![\w@])(?:[A-Za-z]+@\d+|AP|RR|ERR|RBP)(?![\w@])")
FIELDS_OF_TIME = ("year", "date", "month")
MERGING = "If several judges have graded a document, the lower median of their grades counts: of two, the lower one."


def plain_system(name: str, label: str, kind: str) -> str:
    """A system in plain words, with its technical label in brackets."""
    if name == f"{MODEL}{BUILTIN}":
        return "Learned, ready-made (built-in)"
    words = "Learned from judgments" if kind == "model" else SYSTEMS.get(name, "")
    return f"{words} ({label})" if words else label


def plain_order(order: str) -> str:
    """An order of results, such as `year:desc`, in plain words."""
    field, _, direction = order.rpartition(":")
    words = ("newest", "oldest") if field in FIELDS_OF_TIME else ("greatest", "smallest")
    first = {"desc": f"{words[0]} first", "asc": f"{words[1]} first"}.get(direction)
    return f"{field}, {first}" if field and first else order


def plain_ranker(name: str, description: str) -> str:
    """A ranker in plain words."""
    return RANKERS.get(name, description)


def plain_recipe(name: str) -> str:
    """A recipe in plain words."""
    return RECIPES[name]


def plain_features(name: str, n: int) -> str:
    """A set of `n` features in plain words; one that is not known has features of extensions."""
    recommended = "Recommended: " if name == DEFAULT_SET else ""
    kinds = FEATURES.get(name, "words, neighbours and feedback, and those of extensions")
    return f"{recommended}{n} properties of {kinds}"


def measure_meanings(names: Iterable[str], *texts: str | None) -> dict[str, str]:
    """What these measures mean, and those that texts name, such as the sentence of a verdict.

    Names in model files may come from strangers: those that are no measures are left out.
    """
    meanings = {}
    for name in dict.fromkeys([*names, *(found for text in texts for found in _MEASURE.findall(text or ""))]):
        with suppress(SearchlabError):
            meanings[name] = plain_measure(name)
    return meanings


def plain_measure(name: str) -> str:
    """What a value of a measure means; for a rare measure, its definition."""
    family = parse_measure(name).family
    return MEASURES.get(family, FAMILIES[family].description)
