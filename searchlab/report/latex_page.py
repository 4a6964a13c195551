r"""A report as a LaTeX document.

The document compiles as it is, and its tables can be copied into a paper: they need booktabs, graphicx and the commands
of the preamble, and long ones longtable. LaTeX cannot read SVG: until there is a NAME.pdf (made from NAME.svg by
Inkscape or rsvg-convert), a box with the name takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from searchlab.report.captions import describe_document, number_blocks
from searchlab.report.content import Block, Figure, Paragraph, RankedDocument, RankingPair, Report, Table
from searchlab.report.escaping import escape_latex
from searchlab.report.table_layout import TableCell, TableLayout, lay_out_table

MAX_PAGE_ROWS = 40  # longer tables do not fit on a page

_PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage{textcomp,amsmath,amssymb,array,booktabs,graphicx,longtable}
\usepackage[margin=25mm]{geometry}
% A character that pdfLaTeX lacks; LuaLaTeX and XeLaTeX print it if the font has it.
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
    """The report as a LaTeX document."""
    parts = [_PREAMBLE + f"\\title{{{escape_latex(report.title)}}}\n\\date{{}}", "\\begin{document}\n\\maketitle"]
    if report.summary:
        parts.append(f"\\begin{{abstract}}\n{escape_latex(report.summary)}\n\\end{{abstract}}")
    for section, blocks in number_blocks(report):
        parts.append(f"\\section{{{escape_latex(section.title)}}}")
        for block, _ in blocks:
            parts.append("\n".join(_block(block)))
    if report.facts:
        facts = [f"\\item[{{{escape_latex(name)}}}] {escape_latex(value)}" for name, value in report.facts.items()]
        parts.append("\n".join(["\\section*{Facts}", "\\begin{description}", *facts, "\\end{description}"]))
    return "\n\n".join([*parts, "\\end{document}"]) + "\n"


def render_latex_table(table: Table) -> str:
    """A table alone, to be copied into a paper; a comment says what it needs."""
    layout = lay_out_table(table)
    lines = ["% needs: \\usepackage{array,booktabs,amssymb}", "\\begin{table}[htbp]", "\\centering"]
    lines += [f"\\caption{{{escape_latex(table.caption)}}}", f"\\label{{tab:{table.name}}}"]
    lines += [f"\\begin{{tabular}}{{{_alignment(layout)}}}", *_tabular_rows(layout), "\\end{tabular}"]
    if layout.note:
        lines += ["", "\\smallskip", f"{{\\footnotesize {escape_latex(layout.note)}\\par}}"]
    return "\n".join([*lines, "\\end{table}"])


def _tabular_rows(layout: TableLayout) -> list[str]:
    return ["\\toprule", _headings(layout), "\\midrule", *map(_cells, layout.rows), "\\bottomrule"]


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
            yield _row([_document(left, block.right_title), _document(right, block.left_title)])
        yield "\\bottomrule\n\\end{tabular}\n\\end{table}"


def _table(table: Table) -> Iterator[str]:
    layout = lay_out_table(table)
    yield f"\\begin{{table}}[htbp]\n\\centering\n\\caption{{{escape_latex(table.caption)}}}"
    yield f"\\label{{tab:{table.name}}}"
    yield f"\\fitted{{\\begin{{tabular}}{{{_alignment(layout)}}}"
    yield from _tabular_rows(layout)
    yield "\\end{tabular}}"
    if layout.note:
        yield f"\n\\smallskip\n{{\\footnotesize {escape_latex(layout.note)}\\par}}"
    yield "\\end{table}"


def _long_table(table: Table) -> Iterator[str]:
    layout = lay_out_table(table)
    yield f"\\begin{{longtable}}{{{_alignment(layout)}}}"
    yield f"\\caption{{{escape_latex(table.caption)}}}\\label{{tab:{table.name}}}\\\\"
    yield f"\\toprule\n{_headings(layout)}\n\\midrule\n\\endfirsthead"
    yield f"\\toprule\n{_headings(layout)}\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot"
    yield from map(_cells, layout.rows)
    yield "\\end{longtable}"
    if layout.note:
        yield f"{{\\footnotesize\\noindent {escape_latex(layout.note)}\\par}}"


def _alignment(layout: TableLayout) -> str:
    """The alignment of the columns, with space for the marks, which LaTeX gives no width."""
    alignments = []
    for column in layout.columns:
        space = f"<{{\\hspace{{{0.5 * column.mark_length:.1f}em}}}}" if column.mark_length else ""
        alignments.append(("r" if column.numeric else "l") + space)
    return f"@{{}}{''.join(alignments)}@{{}}"


def _headings(layout: TableLayout) -> str:
    return _row([escape_latex(column.heading) for column in layout.columns])


def _cells(row: tuple[TableCell, ...]) -> str:
    return _row([_cell(cell) for cell in row])


def _row(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _cell(cell: TableCell) -> str:
    text = f"\\textbf{{{escape_latex(cell.text)}}}" if cell.best else escape_latex(cell.text)
    text += f"\\phantom{{.{'0' * (cell.pad_places - 1)}}}" if cell.pad_places else ""
    return text + (f"\\rlap{{\\textsuperscript{{{escape_latex(cell.mark)}}}}}" if cell.mark else "")


def _document(document: RankedDocument | None, other: str) -> str:
    if document is None:
        return ""
    facts = escape_latex(", ".join(describe_document(document, other)))
    title = f"\\textbf{{{escape_latex(document.title)}}} " if document.title else ""
    docno = f"\\texttt{{{escape_latex(document.docno)}}}"
    return f"{document.rank}. {title}{docno} ({facts}) {escape_latex(document.snippet)}".rstrip()
