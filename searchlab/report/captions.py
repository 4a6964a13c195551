"""Labels of tables and figures, and the grade and other rank of a ranked document, in words."""

from __future__ import annotations

from collections.abc import Iterator

from searchlab.report.content import Block, Figure, RankedDocument, RankingPair, Report, Section, Table

_KINDS = {Table: "Table", Figure: "Figure", RankingPair: "Rankings"}


def number_blocks(report: Report) -> Iterator[tuple[Section, list[tuple[Block, str]]]]:
    """The sections with their blocks and labels (`Table 2`), numbered through the whole report."""
    counts = dict.fromkeys(_KINDS.values(), 0)
    for section in report.sections:
        blocks: list[tuple[Block, str]] = []
        for block in section.blocks:
            kind = _KINDS.get(type(block), "")
            if kind:
                counts[kind] += 1
            blocks.append((block, f"{kind} {counts[kind]}" if kind else ""))
        yield section, blocks


def describe_document(document: RankedDocument, other: str) -> tuple[str, str]:
    """The grade of a document, and its rank in the ranking called `other`."""
    grade = "not judged" if document.grade is None else f"grade {document.grade}"
    other_rank = f"not in {other}" if document.other_rank is None else f"rank {document.other_rank} in {other}"
    return grade, other_rank
