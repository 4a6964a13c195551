"""What do the forms of the pages of work do? Judge, undo, add a topic, import, train, cancel.

They are for browsers without scripts as much as with them: what is done ends on a page.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from searchlab.web.api import judge, pool, train
from searchlab.web.api.parameters import DOCUMENT, INDEX, SET, Parameter
from searchlab.web.api.topic_rankings import RANKERS
from searchlab.web.pages.rendering import Links
from searchlab.web.pages.search_pages import Form, Visitor
from searchlab.web.state.app_state import Desk


def _say_grade(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> str | None:
    """Keep a grade; in a pool, a new grade leads on to the next document."""
    keeps = asked["keep"] is not None
    grade = asked["keep"] if keeps else asked["grade"]
    judge.judge(
        desk,
        index=asked["index"],
        id=asked["id"],
        grade=grade,
        judge=visitor.judge,
        note=asked["note"],
        set=asked["set"],
        topic=asked["topic"],
        query=asked["q"],
    )
    if keeps or grade is None or not asked["next"]:
        return None
    return _pool_address(desk, asked, at=asked["next"])


def _undo(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> str | None:
    """Take back the last judgment; in a pool, go to the document that it was about."""
    undone = judge.undo(desk, index=asked["index"], judge=visitor.judge)["undone"]
    if not asked["topic"]:
        return None
    if undone is None:
        return _pool_address(desk, asked, did="nothing")
    asked |= {"set": undone["set"], "topic": undone["qid"]}
    return _pool_address(desk, asked, at=undone["id"], did="undone")


def _add_topic(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> str:
    """Add a topic, and go to its pool."""
    topic = judge.add_topic(desk, index=asked["index"], set=asked["set"].strip(), text=asked["text"], qid="")
    return _address(desk, asked, "/pool", set=topic["set"], topic=topic["qid"])


def _import_own(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> str:
    """Take in what came with the documents, as a set of the name of the index."""
    name = desk.shelf.get(asked["index"]).name
    nothing = {"topics": "", "qrels": "", "judge": visitor.judge}
    judge.import_(desk, index=name, set=name, own=True, **nothing)
    return _address(desk, asked, asked["then"], set=name)


def _train(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> str:
    train.train(desk, **asked)
    return _address(desk, asked, "/learn", set=asked["set"])


def _cancel(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> None:
    train.cancel(desk, id=asked["id"])


def _pool_address(desk: Desk, asked: dict[str, Any], **further: Any) -> str:
    own = {name: asked[name] for name in ("set", "topic", "rankers", "depth")}
    return _address(desk, asked, "/pool", **own, **further)


def _address(desk: Desk, asked: dict[str, Any], path: str, **values: Any) -> str:
    index = asked["index"] if len(desk.shelf.names) > 1 else None
    return Links({"index": index})(path, **values)


GRADE = replace(judge.GRADE, default=None)
KEEP = Parameter("keep", "whole", "a grade that is left as it is", default=None, least=-9, most=9, open=True)
NEXT = Parameter("next", "text", "the document of the pool to go on with", default="")
THEN = Parameter("then", "text", "the page to go on with", default="/judge", choices=("/judge", "/learn", "/measure"))
SEARCHED = Parameter("q", "text", "the query that a document is judged for", default="")
POOL = (INDEX, judge.ANY_SET, judge.ANY_TOPIC, RANKERS, pool.DEEP)

FORMS = (
    Form("/judge", _say_grade, (*POOL, SEARCHED, DOCUMENT, GRADE, KEEP, judge.NOTE, NEXT)),
    Form("/undo", _undo, POOL),
    Form("/topic", _add_topic, (INDEX, SET, judge.NEW_TEXT)),
    Form("/import-own", _import_own, (INDEX, THEN), slow=True),
    Form(
        "/train",
        _train,
        (INDEX, SET, train.RANKER_TO_LEARN, train.FEATURES, train.MODEL_NAME, train.CANDIDATES),
    ),
    Form("/cancel", _cancel, (train.JOB,)),
)
