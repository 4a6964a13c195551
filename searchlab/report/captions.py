"""What are the tables and figures of a report called, and what is said of a ranked document?"""

from __future__ import annotations

from collections.abc import Iterator

from searchlab.report.content import Block, Figure, RankedDocument, RankingPair, Report, Section, Table

_KINDS = {Table: "Table", Figure: "Figure", RankingPair: "Rankings"}


def number_blocks(report: Report) -> Iterator[tuple[Section, list[tuple[Block, str]]]]:
    """The sections, and each one's blocks with their labels (`Table 2`), counted through the report."""
    counts = dict.fromkeys(_KINDS.values(), 0)
    for section in report.sections:
        blocks: list[tuple[Block, str]] = []
        for block in section.blocks:
            kind = _KINDS.get(type(block), "")
            if kind:
                counts[kind] += 1
            blocks.append((block, f"{kind} {counts[kind]}" if kind else ""))
        yield section, blocks


def describe_document(entry: RankedDocument, other: str) -> tuple[str, str]:
    """Whether the document is relevant, and where it stands in the other ranking."""
    grade = "not judged" if entry.grade is None else f"grade {entry.grade}"
    place = f"not in {other}" if entry.other_rank is None else f"rank {entry.other_rank} in {other}"
    return grade, place
