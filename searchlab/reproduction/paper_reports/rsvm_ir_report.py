"""The figures and tables of Cao et al. (SIGIR 2006): Ranking SVM and RSVM-IR on folds of features.

    Figures 1, 6   two_queries        Figures 5, 8   pair_groups
    Figure 2       losses             Table 2        sign_test_table.py
    Figures 4, 7   accuracy           Table 3        top_documents.py

Figure 3 is the algorithm of the ranker rsvm-ir-gd, Table 1 the feature set table1.
Figures 7 and 8 are Figures 4 and 5 for the paper's web data, which are not public; folds with as many grades are drawn
in the same way. All sections take the results of one recipe, by the names of rankers, with BM25 and LMIR beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.solvers.pair_weights import name_pair, query_factors, rank_factors
from searchlab.report import plots
from searchlab.report.content import Block, Cell, Figure, Paragraph, Table
from searchlab.reproduction.letor import EQ_20, EQ_21, RankerResult
from searchlab.reproduction.paper_reports.claims import claim_blocks, compare_rankers
from searchlab.reproduction.paper_reports.figures import (
    RANKS,
    Direction,
    Directions,
    Plane,
    choose_pairs,
    find_directions,
    group_by_pairs,
    pair_counts,
    training_curves,
)
from searchlab.training.recipe import Recipe

Results = Mapping[str, RankerResult]

# The systems of Figure 4, in this order; a ranker of the best single feature stands for BM25 where that is not known.
FAMILY = ("BM25", "LMIR", "rsvm", "rsvm-ir-rank", "rsvm-ir-query", "rsvm-ir-gd", "rsvm-ir")
SUBSTITUTE = "single"
# The measures of Figure 4.
ACCURACIES = (*EQ_20, EQ_21)


def two_queries(table: FeatureTable, recipe: Recipe, two: tuple[str, str] | None) -> list[Block]:
    """Figure 1, and the curves of Figure 6 for the same two queries."""
    if two is None or table.grades is None:
        return []
    preprocessor = Preprocessor.named(recipe.imputation, recipe.normalisation)
    rows = preprocessor.fit(table).transform(table.only(two))
    grades = np.asarray(rows.grades)
    directions = find_directions(rows)
    plane = Plane.of(rows.values)
    points = plane.project(rows.values)
    levels = sorted(set(grades.tolist()), reverse=True)
    by_both = {
        f"query {qid}, grade {grade:g}": points[(rows.qids == qid) & (grades == grade)]
        for qid in two
        for grade in levels
    }
    hollow = {f"query {two[1]}, grade {grade:g}": f"query {two[0]}, grade {grade:g}" for grade in levels}
    by_grade = {f"grade {grade:g}": points[grades == grade] for grade in levels}
    by_query = {f"query {qid}": points[rows.qids == qid] for qid in two}
    of_pairs = {name_pair(pair): each for pair, each in directions.pairs.items()}
    of_queries = {f"query {qid}": directions.queries[qid] for qid in two}
    draw = partial(plots.scatter, xlabel="first principal component", ylabel="second")
    shares = f"{plane.shares[0]:.0%} and {plane.shares[1]:.0%} of the variance"
    return [
        Paragraph(_observations(directions, of_pairs, of_queries)),
        Figure(
            "figure-1a",
            f"Documents of two queries in the plane of their principal components, {shares} (the paper's Figure 1 a)",
            "Documents of two queries, those of the first filled, of the second hollow, with a marker for each grade",
            draw(by_both, {}, hollow=hollow),
        ),
        Figure(
            "figure-1b",
            "Documents by grade, and the directions of the hyperplanes of grade pairs (the paper's Figure 1 b)",
            "Documents of two queries in the plane of their first two principal components, an arrow per grade pair",
            draw(by_grade, plane.arrows({**directions.drawn_pairs(), "RSVM": directions.together}, points)),
        ),
        Figure(
            "figure-1c",
            "Documents by query, and the directions of RSVM trained on each and on both (the paper's Figure 1 c)",
            "The same documents by query, with arrows for RSVM trained on the first, the second and both",
            draw(by_query, plane.arrows(_named_sources(of_queries, directions), points)),
        ),
        Table(
            "directions",
            "Cosine between RSVM's direction and each of the others",
            ("direction", "pairs", "cosine"),
            tuple((name, each.n_pairs, directions.similarity(each)) for name, each in (of_pairs | of_queries).items()),
        ),
        Figure(
            "figure-6",
            "NDCG@N (eq. 20) on the two queries, which are also the training queries (the paper's Figure 6)",
            "NDCG@N curves of RSVM and RSVM-IR on two queries",
            plots.curves(RANKS, training_curves(rows), xlabel="N", ylabel="NDCG@N"),
        ),
    ]


def _named_sources(of_queries: Mapping[str, Direction], directions: Directions) -> dict[str, Direction]:
    return {**{f"from {name}": each for name, each in of_queries.items()}, "from both": directions.together}


def _observations(
    directions: Directions, of_pairs: Mapping[str, Direction], of_queries: Mapping[str, Direction]
) -> str:
    """The two observations of §4: RSVM follows the grades, and the query, that have the most pairs."""
    sizes = " and ".join(f"{name} with {each.n_pairs:,} pairs" for name, each in of_queries.items())
    sentences = [f"Two queries, {sizes}. Hyperplanes are trained with all features and projected on the plane."]
    for kind, named in (("grades", of_pairs), ("query", of_queries)):
        nearest = max(named, key=lambda name: directions.similarity(named[name]))
        most = max(named, key=lambda name: named[name].n_pairs)
        sentences.append(
            f"The paper finds RSVM near the {kind} with the most pairs; here it is nearest to {nearest}, "
            + (f"which has the most, {named[most].n_pairs:,}." if nearest == most else f"but {most} has the most.")
        )
    return " ".join(sentences)


def losses(table: FeatureTable, two: tuple[str, str] | None) -> list[Block]:
    """Figure 2: the hinge loss with the slopes τ·μ of grade pairs in two queries, and the numbers of both factors."""
    if table.grades is None:
        return []
    factors = rank_factors(table.group_offsets, table.grades)
    if not factors:
        return []
    mu = dict(zip(table.query_ids, query_factors(table.group_offsets, table.grades).tolist(), strict=True))
    shown = () if two is None else tuple(dict.fromkeys(two))
    drawn = choose_pairs(sorted(factors, reverse=True))
    slopes = {"RSVM: 1": 1.0}
    slopes |= {
        f"query {qid}, {name_pair(pair)}: {factors[pair] * mu[qid]:.3g}": factors[pair] * mu[qid]
        for qid in shown
        for pair in drawn
    }
    if not shown:
        slopes |= {f"{name_pair(pair)}: {factors[pair]:.3g}": factors[pair] for pair in drawn}
    margins = np.linspace(-1.0, 2.0, 61)
    hinge = np.maximum(0.0, 1.0 - margins)
    functions = {name: (margins, slope * hinge) for name, slope in slopes.items()}
    columns = ("grades", "τ", *(f"τ·μ, query {qid}" for qid in shown))
    rows = tuple(
        (name_pair(pair), factors[pair], *(factors[pair] * mu[qid] for qid in shown))
        for pair in sorted(factors, reverse=True)
    )
    return [
        Figure(
            "figure-2",
            "The hinge loss, weighted by τ of the grade pair and μ of the query (the paper's Figure 2)",
            "Hinge losses, a line for each slope",
            plots.function_curves(functions, xlabel="z · f(x(1) − x(2))", ylabel="loss"),
        ),
        Table("figure-2", "The slopes τ and τ·μ", columns, rows),
        Paragraph(_about_factors(table, mu, shown)),
    ]


def _about_factors(table: FeatureTable, mu: Mapping[str, float], shown: Sequence[str]) -> str:
    counts = pair_counts(table)
    with_pairs = [qid for qid, count in counts.items() if count]
    many, few = max(with_pairs, key=lambda qid: counts[qid]), min(with_pairs, key=lambda qid: counts[qid])
    median = float(np.median([mu[qid] for qid in with_pairs]))
    drawn = "; ".join(f"{mu[qid]:.3g} for query {qid}" for qid in shown)
    return (
        "τ is the drop of NDCG@1 if two documents of these grades swap in the perfect ranking, a mean over all "
        "queries. μ is the largest number of pairs of any query over that of the query (eq. 10): "
        + (f"{drawn}; " if drawn else "")
        + f"from 1 for query {many} with {counts[many]:,} pairs to {mu[few]:.3g} for query {few} with {counts[few]:,}, "
        f"in the median {median:.3g}."
    )


def shown_family(results: Results) -> dict[str, RankerResult]:
    """The systems of Figure 4 that were tried."""
    names = FAMILY if "BM25" in results else (SUBSTITUTE, *FAMILY)
    return {name: results[name] for name in names if name in results}


def accuracy(results: Results, table: FeatureTable) -> list[Block]:
    """Figure 4 (7 for six grades) with its numbers and the paper's claim, and NDCG@N over all test sets."""
    shown = shown_family(results)
    if not shown:
        return []
    accuracies = {measure: {name: result.mean(measure) for name, result in shown.items()} for measure in ACCURACIES}
    curves = {name: [result.mean(f"NDCG@{rank}") for rank in RANKS] for name, result in shown.items()}
    number = "Figure 7" if _has_six_grades(table) else "Figure 4"
    claim = "RSVM-IR better than RSVM by all measures"
    return [
        *claim_blocks("claim-rsvm-ir", claim, compare_rankers(results, "rsvm-ir", "rsvm", ACCURACIES)),
        Figure(
            "figure-4",
            f"Accuracy by the paper's measures (its {number})",
            "A group of bars for each measure, a bar for each ranker",
            plots.bars(accuracies, ylabel="mean"),
        ),
        *accuracy_table(results, "", f"Numbers of the paper's {number}, which it does not print"),
        Figure(
            "ndcg-at-n",
            "NDCG@N on all test sets; the paper's Figure 6 has two queries",
            "NDCG@N curves, a line for each ranker",
            plots.curves(RANKS, curves, xlabel="N", ylabel="NDCG@N"),
        ),
    ]


def accuracy_table(results: Results, variant: str, caption: str) -> list[Block]:
    """The numbers of Figure 4; `variant` ends the name of the table."""
    shown = shown_family(results)
    if not shown:
        return []
    rows: list[tuple[Cell, ...]] = [
        (name, *(result.mean(measure) for measure in ACCURACIES)) for name, result in shown.items()
    ]
    return [Table(f"figure-4{variant}", caption, ("", *ACCURACIES), tuple(rows), best=len(shown) > 1)]


def _has_six_grades(table: FeatureTable) -> bool:
    """Whether the table has as many grades as the paper's web data."""
    return table.grades is not None and len(set(table.grades.tolist())) == 6


def pair_groups(results: Results, table: FeatureTable) -> list[Block]:
    """Figure 5 (8 for six grades), and the NDCG@10 of each group of queries."""
    if table.grades is None:
        return []
    shown = shown_family(results)
    if not shown:
        return []
    groups = group_by_pairs(pair_counts(table))
    number = "Figure 8" if _has_six_grades(table) else "Figure 5"
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        if not group.qids:
            continue
        means: list[Cell] = []
        for result in shown.values():
            values = dict(zip(result.qids, result.values("NDCG@10").tolist(), strict=True))
            tested = [values[qid] for qid in group.qids if qid in values]
            means.append(float(np.mean(tested)) if tested else None)
        rows.append((group.label, len(group.qids), *means))
    heights = {group.label: {"queries": float(len(group.qids))} for group in groups}
    return [
        Figure(
            "figure-5",
            f"Queries by their number of pairs (the paper's {number})",
            "A bar for each range of numbers of pairs",
            plots.bars(heights, ylabel="queries"),
        ),
        Table(
            "figure-5",
            "Queries by their number of pairs, and NDCG@10 of each group",
            ("pairs", "queries", *shown),
            tuple(rows),
        ),
    ]
