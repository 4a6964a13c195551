"""LaTeX documents: tables, and harmless texts."""

import re

from searchlab.report.content import Report, Section
from searchlab.report.escaping import escape_latex
from searchlab.report.latex_page import render_latex


def test_a_table_in_latex(small_table):
    text = render_latex(Report("T", "L", (Section("S", (small_table,)),)))
    _, begins, table = text.partition("\\begin{table}")
    assert begins + table.partition("\n\n\\end{document}")[0] == (
        "\\begin{table}[htbp]\n\\centering\n\\caption{Means.}\n\\label{tab:main}\n"
        "\\fitted{\\begin{tabular}{@{}lr<{\\hspace{0.5em}}r@{}}\n\\toprule\nsystem & AP & n \\\\\n\\midrule\n"
        "BM25 & .2500 & 106 \\\\\nRSVM\\_IR & \\textbf{.4497}\\rlap{\\textsuperscript{\\dag{}}} & 1,234 \\\\\n"
        "none & -- & 0 \\\\\n\\bottomrule\n\\end{tabular}}\n\n\\smallskip\n"
        "{\\footnotesize \\dag{} better. Bold: the best of its column.\\par}\n\\end{table}"
    )


def test_hostile_texts_are_harmless_in_latex(hostile_report):
    text = render_latex(hostile_report)
    body = text.partition("\\begin{document}")[2]
    assert not re.search(r"\\(input|write18)|\\include", body)
    assert escape_latex(hostile_report.title) in body
    assert {sign for sign in body if not sign.isprintable()} == {"\n"}
    begun, ended = (sorted(re.findall(rf"\\{what}\{{(\w+)\}}", body)) for what in ("begin", "end"))
    assert sorted([*begun, "document"]) == ended
    assert {"tabular", "longtable", "table", "figure", "abstract", "description"} <= set(begun)
    # All groups are closed; escaped braces are not groups.
    bare = re.sub(r"\\[{}\\]", "", body)
    assert bare.count("{") == bare.count("}")


def test_every_row_of_a_latex_table_has_all_cells(hostile_report):
    body = render_latex(hostile_report).partition("\\label{tab:main}")[2].partition("\\end{tabular}")[0]
    rows = [line for line in body.splitlines() if line.endswith("\\\\")]
    assert [len(re.split(r"(?<!\\)&", row)) for row in rows] == [4, 4, 4, 4]
