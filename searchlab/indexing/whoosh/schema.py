"""The Whoosh schema of every shard: our analyzer as a Whoosh analyzer, and a compact format of positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whoosh.analysis import Analyzer as WhooshAnalyzer
from whoosh.analysis import Token
from whoosh.fields import ID, TEXT, Schema
from whoosh.formats import Positions

from searchlab.analysis.analyzer import AnalysisSettings, make_analyzer

# A gap is written in pieces of seven bits; this bit says that another piece follows.
GAP_BITS = 7
CONTINUES = 1 << GAP_BITS


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


class GapPositions(Positions):  # type: ignore[misc]
    """A single position as a number; several as gaps of seven bits a byte, the lowest first.

    The eighth bit of a byte says that more bits of the gap follow. Whoosh's own format has a pickled list for each
    posting, which is five times as long.
    """

    def encode(self, positions: list[int]) -> bytes:
        """The bytes of ascending positions, also of a single one: Whoosh's own writer takes nothing else."""
        encoded = bytearray()
        before = 0
        for position in positions:
            gap, before = position - before, position
            while gap >= CONTINUES:
                encoded.append(CONTINUES | gap & (CONTINUES - 1))
                gap >>= GAP_BITS
            encoded.append(gap)
        return bytes(encoded)

    def decode_positions(self, value: bytes | int) -> list[int]:
        """The positions of a posting."""
        if isinstance(value, int):
            return [value]
        positions, position, gap, shift = [], 0, 0, 0
        for byte in value:
            gap |= (byte & (CONTINUES - 1)) << shift
            shift += GAP_BITS
            if byte < CONTINUES:
                position += gap
                positions.append(position)
                gap = shift = 0
        return positions

    def decode_frequency(self, value: bytes | int) -> int:
        """The number of positions."""
        return 1 if isinstance(value, int) else sum(byte < CONTINUES for byte in value)


def make_schema(settings: AnalysisSettings) -> Schema:
    """The Whoosh schema for these analysis settings."""
    analyzer = SearchlabAnalyzer(settings)
    texts = {name: TEXT(analyzer=analyzer) for name in ("title", "body")}
    for text in texts.values():
        text.format = GapPositions()
    return Schema(docno=ID(unique=True, stored=True), **texts)
