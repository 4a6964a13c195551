"""The page of topic sets: topics and their progress, agreement of judges, documents to judge next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from searchlab.corpus.text_cleaning import excerpt
from searchlab.judgments.topics.topic_changes import Change
from searchlab.web.api.judging.judge import agreement, list_set_topics, list_topic_sets
from searchlab.web.api.judging.pool import list_next_documents
from searchlab.web.api.parameters import Parameter
from searchlab.web.http_errors import HttpError
from searchlab.web.pages.page import SHOWN_SET, BrowserSession
from searchlab.web.pages.plain_words import MERGING
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState

# The systems of pools and tables by default, before the latest models.
DEFAULT_SYSTEMS = ("bm25", "bm25+rm3", "bm25f")
MAX_DEFAULT_MODELS = 3
# Longer sets are listed in full only on demand.
MAX_LISTED_TOPICS = 250
MAX_LISTED_CHANGES = 20
# Words for κ up to each bound (Landis & Koch, Biometrics 33, 1977).
KAPPA_WORDS = (
    (0.0, "no better than chance"),
    (0.2, "slight agreement"),
    (0.4, "fair agreement"),
    (0.6, "moderate agreement"),
    (0.8, "substantial agreement"),
    (1.0, "almost perfect agreement"),
)

ANY_LEFT = Parameter("left", "string", "one of two systems", default="", max_length=200)
ANY_RIGHT = Parameter("right", "string", "the other system", default="", max_length=200)
WORDS = Parameter("words", "string", "only topics with these words", default="", max_length=200)
# The orders of topics, and how they are called.
ORDERS = {
    "": "as added",
    "text": "by text",
    "unjudged": "least judged first",
    "judged": "most judged first",
    "relevant": "most relevant documents first",
}
ORDER = Parameter("order", "string", "the order of the topics", default="", choices=tuple(ORDERS))
ALL_TOPICS = Parameter("all", "boolean", "list all topics", default=False)


def judge_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The topics of a set, and the agreement of its judges."""
    sets = list_topic_sets(state)
    chosen = choose_topic_set(sets["topic_sets"], values["topic_set"])
    context = {
        "topic_sets": sets["topic_sets"],
        "collection": collection_to_import(sets),
        "chosen": chosen,
        SHOWN_SET: chosen["name"] if chosen else "",
        "requested_systems": values["systems"],
        "pooled": values["systems"] or default_systems(state.index),
        "depth": values["depth"],
        "left": values["left"] or DEFAULT_SYSTEMS[0],
        "right": values["right"] or next(iter(state.index.usable_models), DEFAULT_SYSTEMS[1]),
        "topics": [],
        "merging": MERGING if chosen and len(chosen["judges"]) > 1 else "",
        "several_judges": False,
        "next_topic": None,
        "n_useful": 0,
        "n_hidden": 0,
        "agreement": [],
        "upcoming": None,
        "is_same": False,
        "filter_words": values["words"],
        "order": values["order"],
        "orders": list(ORDERS.items()),
        "changes": [],
        "changed": None,
    }
    changes = state.judgments.editor.changes(MAX_LISTED_CHANGES)
    context |= {"changes": changes, "changed": reported_change(state, values["change"])}
    if chosen is None:  # there was one, perhaps, whose deletion can be undone
        return context
    topics = topics_with_progress(state, session, chosen["name"])
    n_useful = sum(topic["n_relevant"] > 0 for topic in topics)
    topics = sort_topics(filter_topics(topics, values["words"]), values["order"])
    listed = topics if values["all"] else topics[:MAX_LISTED_TOPICS]
    pairs = agreement(state, topic_set=chosen["name"])["pairs"]
    return context | {
        "topics": listed,
        "n_useful": n_useful,
        "several_judges": any(judge != session.judge for judge in chosen["judges"]),
        "next_topic": next((topic for topic in topics if not topic["n_judged_by_you"]), None),
        "n_hidden": len(topics) - len(listed),
        "agreement": [pair | {"words": kappa_in_words(pair["kappa"])} for pair in pairs],
    }


def next_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The same page, with the documents to judge next."""
    context = judge_page(state, session, values)
    left, right = context["left"], context["right"]
    if context["chosen"] is None or left == right:
        return context | {"is_same": left == right}
    settings = {"topic_set": context["chosen"]["name"], "depth": values["depth"]}
    return context | {"upcoming": list_next_documents(state, **settings, left=left, right=right)}


def reported_change(state: RequestState, id: int) -> Change | None:
    """One of the last changes of topics, which a page reports; None if it is none of them."""
    changes = state.judgments.editor.changes(MAX_LISTED_CHANGES) if id else []
    return next((each for each in changes if each.id == id), None)


def filter_topics(topics: list[dict[str, Any]], words: str) -> list[dict[str, Any]]:
    """The topics whose text or qid has all of the words."""
    wanted = words.casefold().split()
    return [topic for topic in topics if all(word in f"{topic['qid']} {topic['text']}".casefold() for word in wanted)]


def sort_topics(topics: list[dict[str, Any]], order: str) -> list[dict[str, Any]]:
    """The topics in one of ORDERS."""
    keys: dict[str, Callable[[dict[str, Any]], Any]] = {
        "text": lambda topic: topic["text"].casefold(),
        "unjudged": lambda topic: topic["n_judged"],
        "judged": lambda topic: -topic["n_judged"],
        "relevant": lambda topic: -topic["n_relevant"],
    }
    return sorted(topics, key=keys[order]) if order else topics


def topics_with_progress(state: RequestState, session: BrowserSession, topic_set: str) -> list[dict[str, Any]]:
    """The topics of a set, each with the number of documents that this judge has judged."""
    n_judged = Counter(judgment.qid for judgment in state.judgments.judgments(topic_set, judge=session.judge))
    topics = list_set_topics(state, topic_set=topic_set)["topics"]
    return [topic | {"n_judged_by_you": n_judged[topic["qid"]]} for topic in topics]


def kappa_in_words(kappa: float | None) -> str:
    """How strong an agreement is, in words."""
    return "" if kappa is None else next(words for bound, words in KAPPA_WORDS if kappa <= bound or bound == 1.0)


def default_systems(index: OpenIndex) -> list[str]:
    """Some scorers and the latest models."""
    return [*DEFAULT_SYSTEMS, *index.usable_models[:MAX_DEFAULT_MODELS]]


def choose_topic_set(topic_sets: Sequence[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """The topic set with this name; without a name the first one. HTTP error 400 if there is none with the name."""
    if not name:
        return topic_sets[0] if topic_sets else None
    found = next((each for each in topic_sets if each["name"] == name), None)
    if found is None:
        raise HttpError(400, f"there is no topic set {excerpt(name)} now", field="topic_set")
    return found


def collection_to_import(sets: dict[str, Any]) -> dict[str, Any] | None:
    """The topics and judgments of the collection, unless a set with the name of the index has as many topics."""
    collection: dict[str, Any] | None = sets["collection"]
    if collection is None:
        return None
    imported = [each for each in sets["topic_sets"] if each["name"] == sets["index"]]
    return None if any(each["n_topics"] >= collection["n_topics"] for each in imported) else collection
