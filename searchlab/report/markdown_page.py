"""How is a report written as Markdown?

GitHub's dialect, for its tables. A figure is a picture beside the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from searchlab.report.captions import entry_facts, numbered
from searchlab.report.content import Block, Entry, Figure, Paragraph, Report, SideBySide, Table
from searchlab.report.escaping import markdown
from searchlab.report.table_layout import Shown, shown_table


def markdown_page(report: Report) -> str:
    """The whole report."""
    parts = [f"# {markdown(report.title)}", markdown(report.lead)]
    for section, blocks in numbered(report):
        parts.append(f"## {markdown(section.title)}")
        for block, label in blocks:
            parts += _block(block, label)
    if report.facts:
        parts.append("## Facts")
        parts.append("\n".join(f"- **{markdown(name)}:** {markdown(value)}" for name, value in report.facts.items()))
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, label: str) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield markdown(block.text)
        return
    yield f"**{label}.** {markdown(block.caption)}"
    if isinstance(block, Figure):
        yield f"![{markdown(block.alt)}]({block.name}.svg)"
    elif isinstance(block, Table):
        shown = shown_table(block)
        rule = ["---:" if column.numeric else "---" for column in shown.columns]
        headings = [markdown(column.heading) for column in shown.columns]
        yield _rows([headings, rule, *(map(_cell, row) for row in shown.rows)])
        yield markdown(shown.note)
    elif isinstance(block, SideBySide):
        titles = [markdown(block.left_title), markdown(block.right_title)]
        pairs = zip_longest(block.left, block.right)
        rows = ((_entry(left, block.right_title), _entry(right, block.left_title)) for left, right in pairs)
        yield _rows([titles, ["---", "---"], *rows])


def _rows(rows: Iterable[Iterable[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: Shown) -> str:
    text = markdown(cell.text)
    return (f"**{text}**" if cell.best else text) + (f"<sup>{markdown(cell.mark)}</sup>" if cell.mark else "")


def _entry(entry: Entry | None, other: str) -> str:
    if entry is None:
        return ""
    facts = markdown(", ".join(entry_facts(entry, other)))
    title, snippet = f"**{markdown(entry.title)}**<br>" if entry.title else "", markdown(entry.snippet)
    return f"{entry.rank}\\. {title}{markdown(entry.docno)} ({facts})" + (f"<br>{snippet}" if snippet else "")
