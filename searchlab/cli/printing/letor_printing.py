"""Printed results of rankers on LETOR folds: a table of all, and the two recipes compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from searchlab.cli.printing.terminal_text import print_columns, print_line
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from searchlab.reproduction.letor import RankerResult
    from searchlab.reproduction.retrieval_models import RetrievalModels


def print_rankers(results: Mapping[str, RankerResult], chosen_on: str, retrieval: RetrievalModels) -> None:
    """Print the test measures of the rankers with training times and certified gaps, and how they were trained.

    The retrieval models, BM25 and LMIR, follow in the same table.
    """
    from searchlab.evaluation.dialects import make_dialect
    from searchlab.reproduction.letor import MEASURES
    from searchlab.reproduction.letor_comparison import mark_differences, shared_rankers
    from searchlab.training.recipe import TUNED

    rows = {**results, **retrieval.results}
    width = max(map(len, rows))
    best = {name: max(result.mean(name) for result in rows.values()) for name in MEASURES}
    marks = mark_differences(results)
    print(f"{'':{width}}  " + " ".join(f"{name:>7}  " for name in MEASURES) + "    seconds      pairs      gap")
    for label, result in rows.items():
        means = {each: result.mean(each) for each in MEASURES}
        cells = [
            f"{mean:.4f}".lstrip("0") + ("*" if mean == best[each] else " ") + marks.get((label, each), " ")
            for each, mean in means.items()
        ]
        n_pairs = "–" if result.n_pairs is None else f"{result.n_pairs:,.0f}"
        gap = "–" if result.gap is None else f"{result.gap:.0e}{'†' if result.n_averaged > 1 else ''}"
        line = " ".join(f"{cell:>9}" for cell in cells)
        seconds = f"{result.train_seconds:.2f}" if label in results else "–"
        print(f"{label:{width}}  {line} {seconds:>10} {n_pairs:>10} {gap:>8}".rstrip())
    first = next(iter(results.values()))
    folds, measure = format_count(len(first.folds), "fold"), first.recipe.validation_measure().name
    print(
        f"\nMeans over the test sets of {folds}, * the best of a column; settings chosen by {measure} on {chosen_on}."
    )
    if marks:
        print("↑ ↓: significantly better or worse than rsvm of the same recipe (randomisation test, Holm, p < .05).")
    print("Seconds: one fit with the chosen setting. Gap: the relative duality gap; – for rankers without one.")
    if any(result.n_averaged > 1 and result.gap is not None for result in results.values()):
        print("† an average: the gap is the largest of its members, each the solution of its own problem.")
    by_rules: dict[str, list[str]] = {}
    for label, result in results.items():
        by_rules.setdefault(result.recipe.rules.describe(), []).append(label)
    for rules, labels in by_rules.items():
        print(f"{'; '.join(labels)}: {rules}.")
    if retrieval.results:
        print_line(retrieval.description)
    shared = shared_rankers(results)
    if shared:
        print(f"The recipes paper and {TUNED} are one and the same for {', '.join(shared)}.")
    rules = make_dialect(first.recipe.dialect).describe()
    print(f"{rules[0].upper()}{rules[1:]}.")
    _print_differences(results)


def _print_differences(results: Mapping[str, RankerResult]) -> None:
    """Print the tuned recipe against the paper's, if any ranker was trained by both."""
    from searchlab.evaluation.number_text import format_difference, format_p_value
    from searchlab.reproduction.letor_comparison import TESTED, compare_recipes

    differences = compare_recipes(results)
    if not differences:
        return
    rows: dict[str, list[str]] = {}
    for each in differences:
        cell = f"{format_difference(each.tuned - each.paper)} ({format_p_value(each.p)})"
        rows.setdefault(each.ranker, [each.ranker]).append(f"{cell}{'*' if each.significant else ''}")
    print("\ntuned minus paper (paired randomisation test, Holm over the rankers, * p < .05):")
    print_columns([["", *TESTED], *rows.values()], indent=2)
