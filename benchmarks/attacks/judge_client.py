"""A judge who works through the server, and knows what the store must hold.

Every act has a note of its own, so that it can be found again. A judge does one thing after the other: when the server
is killed, at most one act was sent and not acknowledged, and it alone may be stored or not.
"""

from __future__ import annotations

import http.client
import json
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from benchmarks.server_process import HOST

# What a browser sends with its forms, and what a program sends.
FORM_TYPE, JSON_TYPE = "application/x-www-form-urlencoded", "application/json"
TIMEOUT_SECONDS = 60
TOPIC_SET = "attacked"
# The topic set of queries that were judged.
SEARCHES = "searches"
_CSRF = re.compile('name="csrf" value="([0-9a-f]+)"')


class Act(NamedTuple):
    """A grade of a document for the topic with this text; the grade None withdraws an earlier one."""

    note: str
    text: str
    docno: str
    grade: int | None


class Wrong(Exception):
    """An answer of the server that is not the right one."""


@dataclass
class Judge:
    """A judge: all acts that were acknowledged, those that were undone, and the one of which nothing was heard.

    `pending` is an act, or True for an undo.
    """

    name: str
    uses_forms: bool
    draw: random.Random
    acts: list[Act] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    pending: Act | bool = False
    counts: Counter[str] = field(default_factory=Counter)
    _n_sent: int = 0

    def current(self) -> dict[tuple[str, str], tuple[int, str]]:
        """The grades and notes that follow from the acts, by topic and document."""
        undone = set(self.undone)
        last = {(act.text, act.docno): act for act in self.acts if act.note not in undone}
        return {key: (act.grade, act.note) for key, act in last.items() if act.grade is not None}

    def last_act(self) -> Act | None:
        """The act that an undo would undo."""
        undone = set(self.undone)
        return next((act for act in reversed(self.acts) if act.note not in undone), None)

    def work_once(self, session: Session) -> None:
        """Judge, undo or look, whatever is drawn; an act stays pending until it is acknowledged."""
        kind = self.draw.choices(("judge", "undo", "look"), (16, 2, 2))[0]
        if kind == "look":
            self.look(session)
        elif kind == "undo":
            self.pending = True
            session.undo(self)
            self.settle(stored=True)
        else:
            self.pending = self._next_act()
            session.judge(self, self.pending)
            self.settle(stored=True)
        self.counts[kind] += 1

    def _next_act(self) -> Act:
        self._n_sent += 1
        text = f"{self.draw.choice(('topic', 'query'))} {self.draw.randrange(12)}"
        # A grade that was never given for a query cannot be withdrawn: then the query is no topic.
        grade = self.draw.choice((0, 1, 2, None) if text.startswith("topic") else (0, 1, 2))
        return Act(f"{self.name} {self._n_sent}", text, f"d{self.draw.randrange(20, 60):04d}", grade)

    def settle(self, *, stored: bool) -> None:
        """The pending act is known to be stored or not."""
        if stored and isinstance(self.pending, Act):
            self.acts.append(self.pending)
        elif stored and self.pending and (last := self.last_act()):
            self.undone.append(last.note)
        self.pending = False

    def look(self, session: Session) -> None:
        """Compare the judgments that the server shows with those that it acknowledged."""
        shown = session.current(self.name)
        if shown != self.current():
            differing = sorted(set(shown.items()) ^ set(self.current().items()))
            raise Wrong(f"{self.name} sees other judgments than those acknowledged: {differing[:4]}")


class Session:
    """A connection to the server, by which a judge works: through the JSON API, or through the forms of the pages."""

    def __init__(self, port: int, judge: Judge) -> None:
        self._connection = http.client.HTTPConnection(HOST, port, timeout=TIMEOUT_SECONDS)
        self._cookies = {"judge": quote(judge.name)}
        self._csrf = ""
        if judge.uses_forms:
            self._csrf = _CSRF.findall(self._send("GET", "/judge").decode())[0]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def add_topic(self, text: str, topic_set: str = TOPIC_SET) -> None:
        """Add a topic, whose qid is its text without the blank."""
        self._post("/api/topics", {"topic_set": topic_set, "text": text, "qid": _qid(text)})

    def judge(self, judge: Judge, act: Act) -> None:
        """Send an act; it is acknowledged when this returns."""
        topic = {"topic_set": TOPIC_SET, "qid": _qid(act.text)}
        if judge.uses_forms:
            about = topic if act.text.startswith("topic") else {"q": act.text}
            grade = "" if act.grade is None else act.grade
            self._post_form("/judge", {"docno": act.docno, "grade": grade, "note": act.note, **about})
            return
        about = topic if act.text.startswith("topic") else {"query": act.text}
        values = {"docno": act.docno, "grade": act.grade, "note": act.note, "judge": judge.name}
        answer = self._post("/api/judgments", values | about)
        if (answer["docno"], answer["grade"], answer["note"]) != (act.docno, act.grade, act.note):
            raise Wrong(f"{act} was answered by {answer}")

    def undo(self, judge: Judge) -> None:
        """Undo the last act."""
        last = judge.last_act()
        if judge.uses_forms and last and last.text.startswith("topic"):  # the forms undo what was judged for a topic
            self._post_form("/undo", {"topic_set": TOPIC_SET, "qid": _qid(last.text)})
            return
        undone = self._post("/api/judgments/undo", {"judge": judge.name})["undone"]
        if (undone and undone["note"]) != (last and last.note):
            raise Wrong(f"undoing {last} was answered by {undone}")

    def current(self, judge: str) -> dict[tuple[str, str], tuple[int, str]]:
        """The current grades and notes of a judge by topic and document."""
        found = {}
        for topic_set in (TOPIC_SET, SEARCHES):
            topics = {topic["qid"]: topic["text"] for topic in self._get("/api/topics", topic_set=topic_set)["topics"]}
            for each in self._get("/api/judgments", topic_set=topic_set, judge=judge)["judgments"]:
                key = (topics[each["qid"]], each["docno"])
                if key in found:
                    raise Wrong(f"{judge} has judged {key} twice")
                found[key] = (each["grade"], each["note"])
        return found

    def _get(self, path: str, **values: str) -> Any:
        return json.loads(self._send("GET", f"{path}?{urlencode(values)}"))

    def _post(self, path: str, values: dict[str, Any]) -> Any:
        return json.loads(self._send("POST", path, json.dumps(values).encode(), JSON_TYPE))

    def _post_form(self, path: str, values: dict[str, Any]) -> None:
        self._send("POST", path, urlencode(values | {"csrf": self._csrf}).encode(), FORM_TYPE)

    def _send(self, method: str, path: str, body: bytes | None = None, content_type: str = "") -> bytes:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        if body is not None:
            headers["Content-Type"] = content_type
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        content = response.read()
        for cookie in response.headers.get_all("set-cookie", []):
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        if response.status != (303 if content_type == FORM_TYPE else 200):
            raise Wrong(f"{method} {path} gave {response.status}: {content[:200]!r}")
        return content


def _qid(text: str) -> str:
    return text.replace(" ", "")
