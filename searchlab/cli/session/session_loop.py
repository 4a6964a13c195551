"""How does one search after the other, without starting anew?

A session reads lines, from a terminal or from a pipe. A line is a query, or, with a colon in front, a command
(`session_commands`). What a line is about, its results, goes to standard output; comments and mistakes go to standard
error, and the session goes on.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from searchlab.cli.messages import note
from searchlab.cli.printing import comment, print_hit
from searchlab.cli.search_options import Asking
from searchlab.cli.session.session_commands import find_command
from searchlab.cli.terminal_text import pluralize as count
from searchlab.cli.terminal_text import printable as visible
from searchlab.errors import SearchlabError, SettingError
from searchlab.retrieval.results import Hit, Hits, Query

if TYPE_CHECKING:
    from searchlab.retrieval.engine import SearchEngine


@dataclass(frozen=True)
class Found:
    """What was found last, and how it was asked for; `without` is a document that was left out."""

    asking: Asking
    hits: Hits
    without: str | None = None


class Session:
    """Queries and commands one after the other, over one index."""

    def __init__(self, engine: SearchEngine, asking: Asking, k: int) -> None:
        self.engine = engine
        self.asking: Asking = asking
        self.k: int = k
        self.found: Found | None = None
        self.ended = False
        self.choose_k(k)
        self.choose(asking)

    def run(self) -> None:
        """Answer line after line, until the input ends or the user has enough."""
        at_terminal = sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())
        for line in self._typed_lines() if at_terminal else _piped_lines():
            try:
                self.answer(line)
            except SearchlabError as error:
                note(f"searchlab: {' '.join(visible(str(error)).split())}")
            except KeyboardInterrupt:
                if not at_terminal:
                    raise
                note("interrupted")
            # Results and comments stay in their order where both go to one file.
            sys.stdout.flush()
            if self.ended:
                break

    def answer(self, line: str) -> None:
        """Do what one line asks for."""
        line = line.strip()
        if line.startswith(":"):
            name, *rest = line[1:].split(maxsplit=1) or [""]
            find_command(name).act(self, *rest or [""])
        elif line:
            self.search(self.asking.understand(self.engine, line))

    def choose(self, asking: Asking) -> None:
        """Ask in this way from now on; if it cannot be asked so, that is told and nothing changes."""
        _ = asking.scorer, asking.expansion
        # A search for nothing costs nothing, and refuses whatever a search for something would.
        asking.search(self.engine, asking.understand(self.engine, ""), 1)
        self.asking = asking

    def choose_k(self, k: int) -> None:
        """Show this many results from now on."""
        if k < 1:
            raise SettingError(f"k is {k}, expected 1 or more")
        self.k = k

    def search(self, query: Query, without: str | None = None) -> None:
        """Search, show the best, and say what is to be said; `without` is a document to leave out."""
        self.found = self._find(self.asking, query, without, self.k)
        for hit in self.found.hits:
            print_hit(hit)
        if without is not None and not query.terms:
            note(f"no results: no other document has words of {visible(without)}")
        else:
            comment(self.found.hits, self.engine)

    def show_more(self) -> None:
        """Show the next results of the last search, asked for as then."""
        last = self._require_found()
        shown = len(last.hits)
        self.found = self._find(last.asking, last.hits.query, last.without, shown + self.k)
        for hit in self.found.hits[shown:]:
            print_hit(hit)
        now = len(self.found.hits)
        note(f"results {shown + 1:,} to {now:,}" if now > shown else "no more results")

    def result(self, number: int) -> tuple[Found, Hit]:
        """The result with this number among those that were found last."""
        found = self._require_found()
        if not 1 <= number <= len(found.hits):
            raise SettingError(f"no result {number}: the last search has {count(len(found.hits), 'result')}")
        return found, found.hits[number - 1]

    def _require_found(self) -> Found:
        if self.found is None:
            raise SettingError("no results yet: type some words to search for")
        return self.found

    def _find(self, asking: Asking, query: Query, without: str | None, k: int) -> Found:
        if without is None:
            return Found(asking, asking.search(self.engine, query, k))
        hits = asking.search(self.engine, query, k + 1)
        shard, doc = self.engine.snapshot.locate(without)
        others = np.flatnonzero((hits.shards != shard) | (hits.docs != doc))[:k]
        arrays = hits.shards[others], hits.docs[others], hits.scores[others]
        return Found(asking, Hits(self.engine.snapshot, query, *arrays, hits.seconds), without)

    def _typed_lines(self) -> Iterable[str]:
        from searchlab.cli.session.prompt import typed_lines

        documents = count(len(self.engine), "document")
        note(f"{visible(str(self.engine.snapshot.folder))}: {documents}; type words to search for, or :help")
        return typed_lines(self)


def _piped_lines() -> Iterable[str]:
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin
