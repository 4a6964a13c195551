"""The report of the experiments on LETOR folds, beside published numbers.

It has a table of all rankers by both recipes, the tables and figures of Cao et al. (SIGIR 2006), Xu et al. (2006) and
OrdRank (Sun et al.), computed from the folds (`paper_sections`), and a comparison of query-dependent rankers. If the
data is recognised as that of the papers, published numbers are shown beside ours.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from searchlab import __version__
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.number_text import format_p_value, format_value
from searchlab.rankers.bundle import fingerprint_of
from searchlab.rankers.estimators.ranksvm import STRENGTHS
from searchlab.report.content import Block, Cell, Paragraph, Report, Section, Table
from searchlab.reproduction.letor import EQ_21, MEASURES, FoldData, RankerResult, results_of
from searchlab.reproduction.letor_comparison import (
    BASELINE,
    TESTED,
    compare_recipes,
    mark_differences,
    shared_rankers,
)
from searchlab.reproduction.paper_reports import published
from searchlab.reproduction.paper_reports.paper_sections import ShownQueries, choose_shown_queries, paper_sections
from searchlab.reproduction.paper_reports.query_dependent_report import TimedResult, query_dependent_blocks
from searchlab.reproduction.retrieval_models import RetrievalModels, evaluate_retrieval_models
from searchlab.training.recipe import PAPER, RECIPES, TUNED, Recipe

Results = Mapping[str, RankerResult]

# Solvers stop at a relative duality gap of 1e-5, unless a tolerance is given; a larger gap certifies no solution.
MAX_CERTIFIED_GAP = 1e-4


def letor_report(
    results: Results,
    data: FoldData,
    recipe: Recipe,
    queries: ShownQueries | None = None,
    name: str = "the folds",
    relevant_from: int | None = None,
    retrieval: RetrievalModels | None = None,
    query_dependent: Sequence[TimedResult] = (),
) -> Report:
    """The report; `queries` are those that are drawn, by default the choice of `choose_shown_queries`.

    `retrieval` are the results of BM25 and LMIR, evaluated here if not given; `query_dependent` is the comparison of
    query-dependent rankers, if it was made.
    """
    table = data.whole
    known = published.OHSUMED.matches(table)
    retrieval = retrieval or evaluate_retrieval_models(data, recipe, relevant_from)
    names = [each for each in (PAPER, TUNED) if any(result.recipe.name == each for result in results.values())]
    sections = [
        Section("All rankers", tuple(_all_rankers(results, retrieval, known))),
        Section("The two recipes", tuple(_recipes(results))),
        *paper_sections(
            {each: results_of(results, each) for each in names},
            retrieval,
            table,
            [train for train, _, _ in data.tables],
            recipe,
            queries or choose_shown_queries(table),
        ),
    ]
    if query_dependent:
        blocks = query_dependent_blocks(query_dependent, data)
        sections.append(Section("Query-dependent rankers (Lwin and Kham; recipe paper)", tuple(blocks)))
    best = max(results.values(), key=lambda each: each.mean("MAP"))
    lead = (
        f"{_count(len({result.ranker for result in results.values()}), 'ranker')} on {_count(len(data.names), 'fold')} "
        f"of {name}: {best.recipe.inline_label} has the best MAP, {format_value(best.mean('MAP'))}. "
        f"{_compare_with_letor(results, known)}"
    ).strip()
    return Report(
        f"LETOR experiments: {name}",
        lead,
        tuple(section for section in sections if section.blocks),
        {
            "searchlab": __version__,
            "data": f"{table.n_queries:,} queries, {table.n_rows:,} rows, {table.n_features} features",
            "fingerprint": fingerprint_of(table),
            "recognised as": published.OHSUMED.name if known else "none of the published datasets",
            "rules": make_dialect(recipe.dialect).describe(),
            "relevant": _describe_relevance(relevant_from, data.highest_grade),
            **{f"recipe {each}": RECIPES[each] for each in RECIPES},
            "settings chosen by": f"{_first(results).recipe.validation_measure().name} on {data.chosen_on}",
            "settings tried": _describe_grids(results),
            "features": f"{recipe.imputation}, {recipe.normalisation}",
            "seed": str(recipe.seed),
            "cores": str(os.cpu_count() or 1),
        },
    )


def _first(results: Results) -> RankerResult:
    return next(iter(results.values()))


def _describe_relevance(relevant_from: int | None, highest_grade: int) -> str:
    if relevant_from is not None:
        return f"grades from {relevant_from} on, in MAP, P@n and {EQ_21}"
    return f"grades from 1 on in MAP and P@n; grade {highest_grade} alone in {EQ_21}"


def describe_c_grid() -> str:
    """The values of C that are tried."""
    values = ", ".join(f"{value:.3g}" if value < 1000 else f"{value:.0f}" for value in STRENGTHS.tolist())
    return f"C = s / (the total cost of all pairs, for RSVM their number), s = {values}"


def _describe_grids(results: Results) -> str:
    """The values tried for each tuned setting; for a C, which depends on the data, the rule."""
    tried: dict[str, str] = {}
    for result in results.values():
        tuned, values = result.recipe.rules.tuned, result.folds[0].tried
        if tuned == "C" and values:
            tried["C"] = describe_c_grid()
        elif tuned is not None and values:
            tried[f"{tuned} of {result.ranker}"] = f"{tuned} of {result.ranker} = {', '.join(map(str, values))}"
    return "; ".join(tried.values()) or "none"


def _compare_with_letor(results: Results, known: bool) -> str:
    if not known or BASELINE not in results:
        return ""
    theirs = published.LETOR_BASELINES["RankSVM (LETOR)"]
    ours = results[BASELINE]
    return (
        f"RSVM's MAP is {format_value(ours.mean('MAP'))} here and {format_value(theirs[0])} in LETOR's table, its "
        f"NDCG@1 is {format_value(ours.mean('NDCG@1'))} here and {format_value(theirs[1])} there."
    )


def _all_rankers(results: Results, retrieval: RetrievalModels, known: bool) -> list[Block]:
    rows: list[tuple[Cell, ...]] = [
        (label, *(result.mean(measure) for measure in MEASURES), result.train_seconds)
        for label, result in results.items()
    ]
    rows += [(label, *(each.mean(measure) for measure in MEASURES), None) for label, each in retrieval.results.items()]
    labels, measures = list(results), list(MEASURES)
    marks = {
        (labels.index(label), 1 + measures.index(measure)): mark
        for (label, measure), mark in mark_differences(results).items()
    }
    if known:
        rows += [(name, *values, None) for name, values in published.LETOR_BASELINES.items()]
    blocks: list[Block] = []
    if known:
        blocks.append(Paragraph(published.OHSUMED.describe()))
    note = "Means over the queries of each fold, then over folds. Seconds: one fit of the chosen setting."
    if any(result.ranker == BASELINE for result in results.values()):
        tested = ", ".join(TESTED)
        note += (
            f" ↑ ↓: significantly better or worse than rsvm of the same recipe ({tested}; randomisation test, Holm, "
            "p < .05)."
        )
    note += _describe_shared(results)
    names = [name for name in RECIPES if any(result.recipe.name == name for result in results.values())]
    caption = f"All rankers on the test sets, recipe{'s' * (len(names) > 1)} {' and '.join(names)}"
    caption += ", and published results (below)" if known else ""
    about = tuple(
        (label, each.recipe.ranker_description, each.recipe.rules.describe()) for label, each in results.items()
    )
    return [
        *blocks,
        Table("rankers", caption, ("", *MEASURES, "seconds"), tuple(rows), best=not known, marks=marks, note=note),
        Paragraph(retrieval.description),
        Table("names", "The rankers and what their recipes do", ("", "description", "recipe"), about),
        *_certificates(results),
    ]


def _describe_shared(results: Results) -> str:
    shared = shared_rankers(results)
    return f" The two recipes are one and the same for {', '.join(shared)}." if shared else ""


def _certificates(results: Results) -> list[Block]:
    """What is certified: each solution of one problem, and of an average its members; a descent may end before."""
    with_gap = [result for result in results.values() if result.gap is not None]
    single = [result for result in with_gap if result.n_averaged == 1 and _is_certified(result)]
    averages = [result for result in with_gap if result.n_averaged > 1 and _is_certified(result)]
    sentences = []
    if single:
        gap = max(result.gap or 0.0 for result in single)
        sentences.append(f"Rankers with a duality gap are certified solutions; the largest gap is {gap:.1e}.")
    if averages:
        gap = max(result.gap or 0.0 for result in averages)
        n_members = max(result.n_averaged for result in averages)
        names = ", ".join(result.recipe.inline_label for result in averages)
        sentences.append(
            "An average is the solution of no single problem; each of its members "
            f"({n_members} in each fold of {names}) is certified, largest gap {gap:.1e}."
        )
    for result in with_gap:
        if not _is_certified(result):
            sentences.append(
                f"The solutions of {result.recipe.inline_label} are up to {result.gap:.1e} from their optimum."
            )
    return [Paragraph(" ".join(sentences))] if sentences else []


def _is_certified(result: RankerResult) -> bool:
    return result.gap is not None and result.gap <= MAX_CERTIFIED_GAP


def _recipes(results: Results) -> list[Block]:
    """The tuned recipe against the paper's."""
    differences = compare_recipes(results)
    if not differences:
        return []
    rows: dict[str, list[Cell]] = {}
    for each in differences:
        cells: list[Cell] = [each.paper, each.tuned, format_p_value(each.p).removeprefix("p = ").removeprefix("p ")]
        rows.setdefault(each.ranker, [each.ranker]).extend(cells)
    columns = [f"{measure}, {part}" for measure in TESTED for part in (PAPER, TUNED, "p")]
    n_significant = sum(each.significant for each in differences)
    verb = "is" if n_significant == 1 else "are"
    found = f"{n_significant} of {_count(len(differences), 'difference')} between the recipes {verb} significant."
    note = f"p: paired randomisation test on the test queries, Holm over the rankers.{_describe_shared(results)}"
    caption = "Each ranker by the paper's recipe and tuned"
    return [
        Paragraph(found),
        Table("recipes", caption, ("", *columns), tuple(map(tuple, rows.values())), note=note),
    ]


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"
