"""Parts of the HTML that notebooks show for values (`_repr_html_`): tables, bars, marked texts.

Everything that comes from outside is escaped. There are no scripts and nothing is loaded. Colours are mixed from the
colour of the text, so that the page's own theme, light or dark, decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

# Rows that are shown of a long table.
MAX_ROWS = 10

# Scoped by the class, since a notebook is one page. `sl-` marks names of searchlab. The class is repeated where
# Jupyter has a stronger rule: it aligns all cells right.
STYLE = """
.sl { max-width: 75em; overflow-x: auto; color: inherit; font-size: 13px; line-height: 1.45; }
.sl p { margin: 0 0 .4em; }
.sl .sl-soft { color: inherit; opacity: .68; font-weight: normal; }
.sl table { border-collapse: collapse; border: 0; margin: 0; background: none; color: inherit; font-size: 13px; }
.sl th, .sl td { border: 0; padding: .25em .8em .25em 0; vertical-align: top; background: none; }
.sl.sl.sl th, .sl.sl.sl td { text-align: left; }
.sl.sl.sl .sl-n { text-align: right; }
.sl thead th { border-bottom: 1px solid color-mix(in srgb, currentColor 45%, transparent); font-weight: 600; }
.sl tbody tr + tr > * { border-top: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
.sl .sl-n { font-variant-numeric: tabular-nums; white-space: nowrap; }
.sl .sl-line { white-space: nowrap; }
.sl mark { color: inherit; background: color-mix(in srgb, #f5b301 38%, transparent); border-radius: 2px; }
.sl .sl-bar { display: block; position: relative; width: 16em; height: 1.1em; }
.sl .sl-bar i { position: absolute; top: .15em; bottom: .15em; border-radius: 2px; }
.sl .sl-up { background: color-mix(in srgb, #2f7fd6 80%, currentColor); }
.sl .sl-down { background: color-mix(in srgb, #d1603d 80%, currentColor); }
"""


@dataclass(frozen=True)
class Markup:
    """A piece of HTML, in which everything is escaped."""

    html: str


# A cell: a text to be escaped, a number to be aligned right, or finished HTML.
Cell = str | float | Markup | None


def html_block(caption: str, *parts: Markup, note: str = "") -> str:
    """A value for a notebook: its caption, its parts, and a note below."""
    body = "".join(part.html for part in parts)
    below = f'<p class="sl-soft">{escape(note)}</p>' if note else ""
    return f'<div class="sl"><style>{STYLE}</style><p>{escape(caption)}</p>{body}{below}</div>'


def html_table(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Markup:
    """A table; columns of numbers are aligned right."""
    body = [[_cell(cell) for cell in row] for row in rows]
    numeric = [bool(body) and all(row[column][1] for row in body) for column in range(len(header))]
    head = "".join(f"<th{_align(right)}>{escape(name)}</th>" for name, right in zip(header, numeric, strict=True))
    lines = "".join(
        "<tr>" + "".join(f"<td{_align(right)}>{html}</td>" for html, right in row) + "</tr>" for row in body
    )
    return Markup(f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>")


def unbroken(text: str) -> Markup:
    """A text that is not broken into lines."""
    return Markup(f'<span class="sl-line">{escape(text)}</span>')


def marked_html(text: str, marks: Iterable[tuple[int, int]]) -> str:
    """A text with marked parts, as escaped HTML."""
    pieces, last = [], 0
    for start, end in marks:
        pieces += [escape(text[last:start]), f"<mark>{escape(text[start:end])}</mark>"]
        last = end
    return "".join([*pieces, escape(text[last:])])


def html_bar(start: float, end: float, lowest: float, highest: float) -> Markup:
    """A bar from `start` to `end` on an axis from `lowest` to `highest`: blue if it goes up, red if it goes down."""
    width = (highest - lowest) or 1.0
    left, right = sorted(((start - lowest) / width, (end - lowest) / width))
    kind = "sl-up" if end >= start else "sl-down"
    place = f"left:{left:.2%};width:{max(right - left, 0.004):.2%}"
    return Markup(f'<span class="sl-bar"><i class="{kind}" style="{place}"></i></span>')


def _cell(cell: Cell) -> tuple[str, bool]:
    """The HTML of a cell, and whether it is a number."""
    if isinstance(cell, Markup):
        return cell.html, False
    if isinstance(cell, str):
        return escape(cell), False
    if cell is None:
        return "", True
    return (f"{cell:,}" if isinstance(cell, int) else f"{cell:.4f}"), True


def _align(right: bool) -> str:
    return ' class="sl-n"' if right else ""
