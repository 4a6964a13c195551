"""The interactive session: queries and commands read line by line, from a terminal or from a pipe.

A line is a query, or a command if it begins with a colon (`session_commands`). Results go to standard output; notes and
errors go to standard error, and the session continues after an error.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from searchlab.cli.messages import note, print_error
from searchlab.cli.printing.facet_printing import print_facet
from searchlab.cli.printing.hit_printing import note_outcome, print_hit
from searchlab.cli.printing.pager import paged
from searchlab.cli.search_options import SearchOptions
from searchlab.cli.session.session_commands import find_command
from searchlab.errors import SearchlabError, SettingError
from searchlab.evaluation.number_text import format_count
from searchlab.retrieval.expansion import similar_query
from searchlab.retrieval.pipeline import Pipeline, PipelineSearch
from searchlab.retrieval.results import Hit, Hits

if TYPE_CHECKING:
    from searchlab.retrieval.engine import SearchEngine


@dataclass(frozen=True)
class LastSearch:
    """The last search, its options, and the hits that were shown.

    `without` is the docno of a document left out of them.
    """

    search: PipelineSearch
    options: SearchOptions
    hits: Hits
    without: str | None = None


class Session:
    """A sequence of queries and commands on one index."""

    def __init__(self, engine: SearchEngine, options: SearchOptions, k: int) -> None:
        self.engine: SearchEngine = engine
        self.options: SearchOptions = options
        self.pipeline: Pipeline = options.pipeline(engine)
        self.k: int = k
        self.last: LastSearch | None = None
        self.ended = False
        self.set_k(k)
        self.set_options(options)

    def run(self) -> None:
        """Execute the input line by line, until it ends or the user quits."""
        at_terminal = sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())
        for line in self._typed_lines() if at_terminal else _piped_lines():
            try:
                self.execute(line)
            except SearchlabError as error:
                print_error(str(error))
            except KeyboardInterrupt:
                if not at_terminal:
                    raise
                note("interrupted")
            # Keeps results and notes in order where both go to one file.
            sys.stdout.flush()
            if self.ended:
                break

    def execute(self, line: str) -> None:
        """Execute one line."""
        line = line.strip()
        if line.startswith(":"):
            name, *rest = line[1:].split(maxsplit=1) or [""]
            find_command(name).execute(self, *rest or [""])
        elif line:
            self.search(line)

    def search(self, text: str) -> None:
        """Print the best hits of a query, and notes on them."""
        self._show(self.pipeline.start(text, syntax=self.options.syntax, filters=self.options.filters))

    def set_options(self, options: SearchOptions) -> None:
        """Search with these options from now on; invalid options raise an error and change nothing."""
        pipeline = options.pipeline(self.engine)
        # An empty query costs nothing, and raises the errors that any other query would raise.
        hits = pipeline.search("", k=1, syntax=options.syntax, filters=options.filters, sort=options.sort)
        hits.facets(*options.facets)
        self.options, self.pipeline = options, pipeline

    def set_k(self, k: int) -> None:
        """Show this many results from now on."""
        if k < 1:
            raise SettingError(f"k is {k}, expected 1 or more")
        self.k = k

    def search_similar(self, docno: str) -> None:
        """Print the documents most similar to a document, without itself; the query is not expanded."""
        query = similar_query(self.engine, docno, stream=self.options.stream)
        pipeline = replace(self.pipeline, expansion=None)
        self._show(pipeline.start(query, filters=self.options.filters), without=docno)

    def _show(self, search: PipelineSearch, without: str | None = None) -> None:
        began = time.perf_counter()
        hits = self._find(search, self.options, without, self.k)
        shown, facets = list(hits), hits.facets(*self.options.facets)
        ready = time.perf_counter()
        with paged():
            for hit in shown:
                print_hit(hit)
            for facet in facets.values():
                print_facet(facet)
        # Reading the results is not waiting for them.
        began += time.perf_counter() - ready
        if without is not None and not search.query.terms:
            note(f"no results: no other document shares a word with {without}")
        else:
            note_outcome(hits, self.engine, began)

    def show_more(self) -> None:
        """Print the next hits of the last search, with its options."""
        last = self._require_last()
        n_shown = len(last.hits)
        hits = self._find(last.search, last.options, last.without, n_shown + self.k)
        with paged():
            for hit in hits[n_shown:]:
                print_hit(hit)
        note(f"results {n_shown + 1:,} to {len(hits):,}" if len(hits) > n_shown else "no more results")

    def numbered_hit(self, number: int) -> tuple[LastSearch, Hit]:
        """The last search, and its hit with this number."""
        last = self._require_last()
        if not 1 <= number <= len(last.hits):
            raise SettingError(f"no result {number}: the last search has {format_count(len(last.hits), 'result')}")
        return last, last.hits[number - 1]

    def _require_last(self) -> LastSearch:
        if self.last is None:
            raise SettingError("no results yet: type words to search for")
        return self.last

    def _find(self, search: PipelineSearch, options: SearchOptions, without: str | None, k: int) -> Hits:
        """The first k hits, which become those of the last search."""
        found = options.find(search, k if without is None else k + 1).with_expanded_query()
        hits = found if without is None else found.without(without).take(slice(k))
        self.last = LastSearch(search, options, hits, without)
        return hits

    def _typed_lines(self) -> Iterable[str]:
        from searchlab.cli.session.prompt import typed_lines

        documents = format_count(len(self.engine), "document")
        note(f"{self.engine.snapshot.folder}: {documents}; type words to search for, or :help")
        return typed_lines(self)


def _piped_lines() -> Iterable[str]:
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin
