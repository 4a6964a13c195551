"""How is a report written as a page?

One file: style and drawings are in it, and its policy forbids the browser to load or run anything. It is well-formed
XML as well, so that a test can read it.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from searchlab.report.captions import describe_document, number_blocks
from searchlab.report.content import Block, Figure, Paragraph, RankedDocument, RankingPair, Report, Table
from searchlab.report.escaping import printable_line
from searchlab.report.page_template import PAGE, STYLE
from searchlab.report.svg import inline_svg
from searchlab.report.table_layout import TableCell, lay_out_table

# As wide as a digit, and as a point: pads whole numbers among decimals.
_DIGIT, _POINT = "\u2007", "\u2008"


def render_html(report: Report) -> str:
    """The whole report."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    numbers = count(1)
    sections = [
        {
            "id": f"section-{next(numbers)}",
            "title": printable_line(section.title),
            "blocks": [_block(block, label) for block, label in blocks],
        }
        for section, blocks in number_blocks(report)
    ]
    page = environment.from_string(PAGE).render(
        style=STYLE,
        title=printable_line(report.title),
        lead=printable_line(report.lead),
        sections=sections,
        facts=[(printable_line(name), printable_line(value)) for name, value in report.facts.items()],
    )
    return page.strip() + "\n"


def _block(block: Block, label: str) -> dict[str, Any]:
    """What the template needs to know of a block."""
    if isinstance(block, Paragraph):
        return {"kind": "paragraph", "text": printable_line(block.text)}
    shown: dict[str, Any] = {
        "label": label,
        "id": label.lower().replace(" ", "-"),
        "caption": printable_line(block.caption),
    }
    if isinstance(block, Figure):
        from markupsafe import Markup

        # The drawing has been checked to hold nothing but shapes and text, and was written out anew.
        return shown | {"kind": "figure", "svg": Markup(inline_svg(block.svg, name=block.name, alt=block.alt))}
    if isinstance(block, Table):
        return shown | _table(block)
    assert isinstance(block, RankingPair)
    sides = ((block.left_title, block.left, block.right_title), (block.right_title, block.right, block.left_title))
    lists = [
        (printable_line(title), [_entry(entry, printable_line(other)) for entry in side])
        for title, side, other in sides
    ]
    return shown | {"kind": "sides", "sides": lists}


def _table(table: Table) -> dict[str, Any]:
    shown = lay_out_table(table)
    headings = [
        {"text": column.heading, "numeric": column.numeric, "room": column.mark_length if column.numeric else 0}
        for column in shown.columns
    ]
    rows = [
        [
            {"cell": cell, "pad": _pad(cell), "numeric": column.numeric, "room": column.mark_length}
            for cell, column in zip(row, shown.columns, strict=True)
        ]
        for row in shown.rows
    ]
    return {
        "kind": "table",
        "file": f"{table.name}.csv",
        "headings": headings,
        "rows": rows,
        "named": not shown.columns[0].numeric,
        "note": shown.note,
    }


def _pad(cell: TableCell) -> str:
    return _POINT + _DIGIT * (cell.lacking - 1) if cell.lacking else ""


def _entry(entry: RankedDocument, other: str) -> dict[str, Any]:
    grade, place = describe_document(entry, other)
    kind = "unjudged" if entry.grade is None else "relevant" if entry.grade > 0 else "irrelevant"
    return {
        "rank": entry.rank,
        "docno": printable_line(entry.docno),
        "title": printable_line(entry.title),
        "snippet": printable_line(entry.snippet),
        "grade": grade,
        "kind": kind,
        "place": place,
        "shared": entry.other_rank is not None,
    }
