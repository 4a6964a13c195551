"""A report as an HTML page.

One file with style and drawings; its content security policy forbids the browser to load or run anything. It is
well-formed XML as well, so that tests can parse it.
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

# Spaces as wide as a digit and a point, which pad integers among decimals.
_DIGIT_SPACE, _POINT_SPACE = "\u2007", "\u2008"


def render_html(report: Report) -> str:
    """The report as one HTML page."""
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
        summary=printable_line(report.summary),
        sections=sections,
        facts=[(printable_line(name), printable_line(value)) for name, value in report.facts.items()],
    )
    return page.strip() + "\n"


def _block(block: Block, label: str) -> dict[str, Any]:
    """The variables of the template for a block."""
    if isinstance(block, Paragraph):
        return {"kind": "paragraph", "text": printable_line(block.text)}
    variables: dict[str, Any] = {
        "label": label,
        "id": label.lower().replace(" ", "-"),
        "caption": printable_line(block.caption),
    }
    if isinstance(block, Figure):
        from markupsafe import Markup

        # `inline_svg` lets only shapes and text through, and serialises the drawing again.
        return variables | {"kind": "figure", "svg": Markup(inline_svg(block.svg, name=block.name, alt=block.alt))}
    if isinstance(block, Table):
        return variables | _table(block)
    assert isinstance(block, RankingPair)
    sides = ((block.left_title, block.left, block.right_title), (block.right_title, block.right, block.left_title))
    lists = [
        (printable_line(title), [_document(document, printable_line(other)) for document in side])
        for title, side, other in sides
    ]
    return variables | {"kind": "sides", "sides": lists}


def _table(table: Table) -> dict[str, Any]:
    layout = lay_out_table(table)
    headings = [
        {"text": column.heading, "numeric": column.numeric, "mark_width": column.mark_length if column.numeric else 0}
        for column in layout.columns
    ]
    rows = [
        [
            {"cell": cell, "pad": _pad(cell), "numeric": column.numeric, "mark_width": column.mark_length}
            for cell, column in zip(row, layout.columns, strict=True)
        ]
        for row in layout.rows
    ]
    return {
        "kind": "table",
        "file": f"{table.name}.csv",
        "headings": headings,
        "rows": rows,
        "named": not layout.columns[0].numeric,
        "note": layout.note,
    }


def _pad(cell: TableCell) -> str:
    return _POINT_SPACE + _DIGIT_SPACE * (cell.pad_places - 1) if cell.pad_places else ""


def _document(document: RankedDocument, other: str) -> dict[str, Any]:
    grade, other_rank = describe_document(document, other)
    kind = "unjudged" if document.grade is None else "relevant" if document.grade > 0 else "irrelevant"
    return {
        "rank": document.rank,
        "docno": printable_line(document.docno),
        "title": printable_line(document.title),
        "snippet": printable_line(document.snippet),
        "grade": grade,
        "kind": kind,
        "other_rank": other_rank,
        "shared": document.other_rank is not None,
    }
