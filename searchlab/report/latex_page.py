r"""How is a report written as LaTeX?

A document that compiles as it is, and whose tables can be taken over into a paper: they need booktabs, graphicx and the
commands of the heading, and long ones longtable. LaTeX reads no SVG, so that until there is a NAME.pdf (made from
NAME.svg by Inkscape or rsvg-convert) a box with the name stands in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from searchlab.report.captions import describe_document, number_blocks
from searchlab.report.content import Block, Figure, Paragraph, RankedDocument, RankingPair, Report, Table
from searchlab.report.escaping import escape_latex
from searchlab.report.table_layout import TableCell, TableLayout, lay_out_table

MAX_PAGE_ROWS = 40  # rows that no longer fit on a page

_HEAD = r"""\documentclass[11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage{textcomp,amsmath,amssymb,array,booktabs,graphicx,longtable}
\usepackage[margin=25mm]{geometry}
% A sign that pdfLaTeX has no letter for; LuaLaTeX and XeLaTeX set it if the font has it.
\DeclareRobustCommand{\unicode}[1]{\ifdefined\Umathchar\char"#1 \else[U+#1]\fi}
% A drawing, if it was converted to PDF (for example: rsvg-convert -f pdf -o NAME.pdf NAME.svg).
\newcommand{\drawing}[1]{\IfFileExists{#1.pdf}{\includegraphics[width=.8\linewidth]{#1.pdf}}%
  {\fbox{\texttt{\detokenize{#1}.svg}}}}
% No wider than the text.
\newcommand{\fitted}[1]{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}
\setlength{\emergencystretch}{3em}
\setlength{\belowcaptionskip}{5pt}
"""


def render_latex(report: Report) -> str:
    """The whole report."""
    parts = [_HEAD + f"\\title{{{escape_latex(report.title)}}}\n\\date{{}}", "\\begin{document}\n\\maketitle"]
    if report.lead:
        parts.append(f"\\begin{{abstract}}\n{escape_latex(report.lead)}\n\\end{{abstract}}")
    for section, blocks in number_blocks(report):
        parts.append(f"\\section{{{escape_latex(section.title)}}}")
        for block, _ in blocks:
            parts.append("\n".join(_block(block)))
    if report.facts:
        facts = [f"\\item[{{{escape_latex(name)}}}] {escape_latex(value)}" for name, value in report.facts.items()]
        parts.append("\n".join(["\\section*{Facts}", "\\begin{description}", *facts, "\\end{description}"]))
    return "\n\n".join([*parts, "\\end{document}"]) + "\n"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield escape_latex(block.text)
    elif isinstance(block, Figure):
        yield "\\begin{figure}[htbp]\n\\centering"
        yield f"\\drawing{{{block.name}}}"
        yield f"\\caption{{{escape_latex(block.caption)}}}\n\\label{{fig:{block.name}}}\n\\end{{figure}}"
    elif isinstance(block, Table):
        yield from _long_table(block) if len(block.rows) > MAX_PAGE_ROWS else _table(block)
    elif isinstance(block, RankingPair):
        yield f"\\begin{{table}}[htbp]\n\\centering\\small\n\\caption{{{escape_latex(block.caption)}}}"
        side = ">{\\raggedright\\arraybackslash}p{.47\\linewidth}"
        yield f"\\begin{{tabular}}{{@{{}}{side}{side}@{{}}}}"
        yield f"\\toprule\n{_row([escape_latex(block.left_title), escape_latex(block.right_title)])}\n\\midrule"
        for left, right in zip_longest(block.left, block.right):
            yield _row([_entry(left, block.right_title), _entry(right, block.left_title)])
        yield "\\bottomrule\n\\end{tabular}\n\\end{table}"


def _table(table: Table) -> Iterator[str]:
    shown = lay_out_table(table)
    yield f"\\begin{{table}}[htbp]\n\\centering\n\\caption{{{escape_latex(table.caption)}}}"
    yield f"\\label{{tab:{table.name}}}"
    yield f"\\fitted{{\\begin{{tabular}}{{{_columns(shown)}}}\n\\toprule"
    yield f"{_headings(shown)}\n\\midrule"
    yield from map(_cells, shown.rows)
    yield "\\bottomrule\n\\end{tabular}}"
    if shown.note:
        yield f"\n\\smallskip\n{{\\footnotesize {escape_latex(shown.note)}\\par}}"
    yield "\\end{table}"


def _long_table(table: Table) -> Iterator[str]:
    shown = lay_out_table(table)
    yield f"\\begin{{longtable}}{{{_columns(shown)}}}"
    yield f"\\caption{{{escape_latex(table.caption)}}}\\label{{tab:{table.name}}}\\\\"
    yield f"\\toprule\n{_headings(shown)}\n\\midrule\n\\endfirsthead"
    yield f"\\toprule\n{_headings(shown)}\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot"
    yield from map(_cells, shown.rows)
    yield "\\end{longtable}"
    if shown.note:
        yield f"{{\\footnotesize\\noindent {escape_latex(shown.note)}\\par}}"


def _columns(shown: TableLayout) -> str:
    """The alignment, with room for the marks, which have no width of their own."""
    sides = []
    for column in shown.columns:
        side = "r" if column.numeric else "l"
        sides.append(side + (f"<{{\\hspace{{{0.5 * column.mark_length:.1f}em}}}}" if column.mark_length else ""))
    return f"@{{}}{''.join(sides)}@{{}}"


def _headings(shown: TableLayout) -> str:
    return _row([escape_latex(column.heading) for column in shown.columns])


def _cells(row: tuple[TableCell, ...]) -> str:
    return _row([_cell(cell) for cell in row])


def _row(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _cell(cell: TableCell) -> str:
    text = f"\\textbf{{{escape_latex(cell.text)}}}" if cell.best else escape_latex(cell.text)
    text += f"\\phantom{{.{'0' * (cell.lacking - 1)}}}" if cell.lacking else ""
    return text + (f"\\rlap{{\\textsuperscript{{{escape_latex(cell.mark)}}}}}" if cell.mark else "")


def _entry(entry: RankedDocument | None, other: str) -> str:
    if entry is None:
        return ""
    facts = escape_latex(", ".join(describe_document(entry, other)))
    title = f"\\textbf{{{escape_latex(entry.title)}}} " if entry.title else ""
    return (
        f"{entry.rank}. {title}\\texttt{{{escape_latex(entry.docno)}}} ({facts}) {escape_latex(entry.snippet)}".rstrip()
    )
