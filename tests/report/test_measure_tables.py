"""LaTeX tables of evaluations and comparisons: marks, the best in bold, escaped names."""

from searchlab.evaluation.comparison import compare_evaluations
from searchlab.report.measure_tables import format_comparison_latex, format_evaluation_latex
from tests.evaluation.evaluations import BASE, BETTER, make_evaluation


def rows(text):
    return text.partition("\\midrule\n")[2].partition("\n\\bottomrule")[0].splitlines()


def test_means_that_differ_significantly_from_the_baseline_are_marked():
    systems = [make_evaluation("base", BASE), make_evaluation("good_1", BETTER), make_evaluation("bad", BASE - 0.1)]
    text = format_comparison_latex(compare_evaluations(systems))
    assert rows(text) == [
        "base & .3500 \\\\",
        "good\\_1 & \\textbf{.3860}\\rlap{\\textsuperscript{$\\blacktriangle$}} \\\\",
        "bad & .2500\\rlap{\\textsuperscript{$\\blacktriangledown$}} \\\\",
    ]
    assert "\\caption{Means over 20 topics.}" in text
    assert "significantly worse than base: randomisation test, p \\textless{} .05 after Holm's correction" in text
    assert text.startswith("% needs: \\usepackage{array,booktabs,amssymb}\n\\begin{table}")
    assert text.endswith("\\end{table}")


def test_a_difference_that_may_be_chance_has_no_mark_and_one_pair_no_correction():
    text = format_comparison_latex(compare_evaluations([make_evaluation("a", BASE), make_evaluation("b", BASE)]))
    assert rows(text) == ["a & \\textbf{.3500} \\\\", "b & \\textbf{.3500} \\\\"]
    assert "Holm" not in text


def test_of_all_pairs_the_better_system_has_the_letter_of_the_worse():
    systems = [make_evaluation("x", BASE), make_evaluation("y", BETTER), make_evaluation("z", BASE - 0.1)]
    text = format_comparison_latex(compare_evaluations(systems, all_pairs=True))
    # x is a, y is b, z is c: y is better than both, x only than z.
    assert rows(text) == [
        "x (a) & .3500\\rlap{\\textsuperscript{c}} \\\\",
        "y (b) & \\textbf{.3860}\\rlap{\\textsuperscript{ac}} \\\\",
        "z (c) & .2500 \\\\",
    ]
    assert "significantly better than the system with this letter" in text


def test_evaluations_in_latex():
    two = [
        make_evaluation("bm25_a", [[0.5, 3], [0.25, 4]], measures=["AP", "NumRet"]),
        make_evaluation("rm3", [[0.5, 3], [0.5, 4]], measures=["AP", "NumRet"]),
    ]
    assert rows(format_evaluation_latex(two)) == ["bm25\\_a & .3750 & 7 \\\\", "rm3 & \\textbf{.5000} & 7 \\\\"]
    assert "Rules of trec: nDCG with" in format_evaluation_latex(two)
    assert rows(format_evaluation_latex(two[:1], per_topic=True)) == [
        "bm25\\_a, 0 & .5000 & 3 \\\\",
        "bm25\\_a, 1 & .2500 & 4 \\\\",
        "bm25\\_a & .3750 & 7 \\\\",
    ]
    uneven = [two[0], make_evaluation("rm3", [[0.5, 3]], measures=["AP", "NumRet"])]
    assert "Means over 1 to 2 topics." in format_evaluation_latex(uneven)


def test_hostile_names_are_escaped():
    name = "\\input{/etc/passwd} $x$ & % ^~"
    text = format_evaluation_latex([make_evaluation(name, [0.5], measures=["AP"])])
    assert "\\input" not in text
    assert "\\& \\%" in rows(text)[0]
    assert rows(text)[0].count(" & ") == 1  # that between the cells
