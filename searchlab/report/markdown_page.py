"""A report as Markdown, with GitHub's tables; figures are SVG files beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from searchlab.report.captions import describe_document, number_blocks
from searchlab.report.content import Block, Figure, Paragraph, RankedDocument, RankingPair, Report, Table
from searchlab.report.escaping import escape_markdown
from searchlab.report.table_layout import TableCell, lay_out_table


def render_markdown(report: Report) -> str:
    """The report as Markdown."""
    parts = [f"# {escape_markdown(report.title)}", escape_markdown(report.summary)]
    for section, blocks in number_blocks(report):
        parts.append(f"## {escape_markdown(section.title)}")
        for block, label in blocks:
            parts += _block(block, label)
    if report.facts:
        parts.append("## Facts")
        parts.append(
            "\n".join(
                f"- **{escape_markdown(name)}:** {escape_markdown(value)}" for name, value in report.facts.items()
            )
        )
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, label: str) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield escape_markdown(block.text)
        return
    yield f"**{label}.** {escape_markdown(block.caption)}"
    if isinstance(block, Figure):
        yield f"![{escape_markdown(block.alt)}]({block.name}.svg)"
    elif isinstance(block, Table):
        layout = lay_out_table(block)
        rule = ["---:" if column.numeric else "---" for column in layout.columns]
        headings = [escape_markdown(column.heading) for column in layout.columns]
        yield _rows([headings, rule, *(map(_cell, row) for row in layout.rows)])
        yield escape_markdown(layout.note)
    elif isinstance(block, RankingPair):
        titles = [escape_markdown(block.left_title), escape_markdown(block.right_title)]
        pairs = zip_longest(block.left, block.right)
        rows = ((_document(left, block.right_title), _document(right, block.left_title)) for left, right in pairs)
        yield _rows([titles, ["---", "---"], *rows])


def _rows(rows: Iterable[Iterable[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: TableCell) -> str:
    text = escape_markdown(cell.text)
    return (f"**{text}**" if cell.best else text) + (f"<sup>{escape_markdown(cell.mark)}</sup>" if cell.mark else "")


def _document(document: RankedDocument | None, other: str) -> str:
    if document is None:
        return ""
    facts = escape_markdown(", ".join(describe_document(document, other)))
    title = f"**{escape_markdown(document.title)}**<br>" if document.title else ""
    snippet = f"<br>{escape_markdown(document.snippet)}" if escape_markdown(document.snippet) else ""
    return f"{document.rank}\\. {title}{escape_markdown(document.docno)} ({facts}){snippet}"
