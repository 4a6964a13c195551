"""The Whoosh schema of every shard, and our analyzer as a Whoosh analyzer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whoosh.analysis import Analyzer as WhooshAnalyzer
from whoosh.analysis import Token
from whoosh.fields import ID, TEXT, Schema

from searchlab.analysis.analyzer import AnalysisSettings, make_analyzer


class SearchlabAnalyzer(WhooshAnalyzer):  # type: ignore[misc]
    """Our analyzer in Whoosh's interface, so that Whoosh's queries use the terms that are indexed."""

    def __init__(self, settings: AnalysisSettings) -> None:
        self.settings = settings
        self._analyzer = make_analyzer(settings)

    def __getstate__(self) -> dict[str, Any]:
        return self.settings.to_json()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(AnalysisSettings.from_json(state))  # type: ignore[misc]

    def __call__(
        self,
        value: str,
        positions: bool = False,
        chars: bool = False,
        keeporiginal: bool = False,
        start_pos: int = 0,
        start_char: int = 0,
        mode: str = "",
        **options: Any,
    ) -> Iterator[Token]:
        """The tokens of a text in Whoosh's calling convention; as in Whoosh, one token object is reused."""
        token = Token(positions, chars, removestops=True, mode=mode)
        position = start_pos
        for span in self._analyzer.spans(value):
            if span.term is None:
                continue
            token.text = span.term
            token.boost = 1.0
            if keeporiginal:
                token.original = value[span.start : span.end]
            if positions:
                token.pos = position
            if chars:
                token.startchar = start_char + span.start
                token.endchar = start_char + span.end
            position += 1
            yield token


def make_schema(settings: AnalysisSettings) -> Schema:
    """The Whoosh schema for these analysis settings."""
    analyzer = SearchlabAnalyzer(settings)
    return Schema(
        docno=ID(unique=True, stored=True),
        title=TEXT(analyzer=analyzer, stored=True),
        body=TEXT(analyzer=analyzer),
    )
