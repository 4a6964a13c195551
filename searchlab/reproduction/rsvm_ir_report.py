"""The figures and tables of Cao et al. (SIGIR 2006): Ranking SVM and RSVM-IR on LETOR folds.

Left out: RSVM-IR-GD, which minimises the same function as RSVM-IR-QP; the systems BM25 and LMIR, because a file of
features holds no texts (the best single feature replaces them); the web search data of §6.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from searchlab.evaluation.comparison import compare_values
from searchlab.evaluation.number_text import format_value
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.solvers.pair_weights import rank_factors
from searchlab.report import plots
from searchlab.report.content import Block, Cell, Figure, Paragraph, Table
from searchlab.reproduction import published
from searchlab.reproduction.figures import (
    RANKS,
    Direction,
    Directions,
    Plane,
    find_directions,
    group_by_pairs,
    pair_counts,
    sign_tests,
    training_curves,
)
from searchlab.reproduction.letor import EQ_20, EQ_21, RankerResult
from searchlab.training.recipe import Recipe

Results = Mapping[str, RankerResult]

# The rankers of the paper's figures.
FAMILY = ("single", "rsvm", "rsvm-ir-rank", "rsvm-ir-query", "rsvm-ir")


def two_queries(table: FeatureTable, recipe: Recipe, two: tuple[str, str] | None) -> list[Block]:
    """Figure 1, and the curves of Figure 6 for the same two queries."""
    if two is None or table.grades is None:
        return []
    preprocessor = Preprocessor.named(recipe.imputation, recipe.normalisation)
    rows = preprocessor.fit(table).transform(table.only(two))
    directions = find_directions(rows)
    plane = Plane.of(rows.values)
    points = plane.project(rows.values)
    grades = rows.grades if rows.grades is not None else np.zeros(0)
    by_grade = {f"grade {grade:g}": points[grades == grade] for grade in sorted(set(grades.tolist()), reverse=True)}
    by_query = {f"query {qid}": points[rows.qids == qid] for qid in two}
    reach = float(np.max(np.abs(points))) if len(points) else 1.0

    def arrows(named: Mapping[str, Direction]) -> dict[str, tuple[plots.Point, plots.Point]]:
        ends = {name: (reach * plane.direction(each.weights)).tolist() for name, each in named.items()}
        return {name: ((0.0, 0.0), (x, y)) for name, (x, y) in ends.items()}

    of_pairs = {f"{high:g} over {low:g}": each for (high, low), each in directions.pairs.items()}
    of_queries = {f"query {qid}": directions.queries[qid] for qid in two}
    axes = {"xlabel": "first principal component", "ylabel": "second"}
    shares = f"{plane.shares[0]:.0%} and {plane.shares[1]:.0%} of the variance"
    return [
        Paragraph(_observations(directions, of_pairs, of_queries)),
        Figure(
            "figure-1b",
            f"Documents by grade, and the directions of the hyperplanes of grade pairs; {shares} (Figure 1 b)",
            "Documents of two queries in the plane of their first two principal components, an arrow per grade pair",
            plots.scatter(by_grade, arrows({**of_pairs, "RSVM": directions.together}), **axes),
        ),
        Figure(
            "figure-1c",
            "Documents by query, and the directions of RSVM trained on each and on both (Figure 1 c)",
            "The same documents by query, with arrows for RSVM trained on the first, the second and both",
            plots.scatter(
                by_query,
                arrows(
                    {**{f"from {name}": each for name, each in of_queries.items()}, "from both": directions.together}
                ),
                **axes,
            ),
        ),
        Table(
            "directions",
            "Cosine between RSVM's direction and each of the others",
            ("direction", "pairs", "cosine"),
            tuple((name, each.n_pairs, directions.similarity(each)) for name, each in (of_pairs | of_queries).items()),
        ),
        Figure(
            "figure-6",
            "NDCG@N (eq. 20) on the two queries, which are also the training queries, as in the paper (Figure 6)",
            "NDCG@N curves of RSVM and RSVM-IR on two queries",
            plots.curves(RANKS, training_curves(rows), xlabel="N", ylabel="NDCG@N"),
        ),
    ]


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


def losses(table: FeatureTable) -> list[Block]:
    """Figure 2: the hinge loss, with the slope τ."""
    if table.grades is None:
        return []
    factors = rank_factors(table.group_offsets, table.grades)
    if not factors:
        return []
    margins = np.linspace(-1.0, 2.0, 61)
    hinge = np.maximum(0.0, 1.0 - margins)
    shapes = {"RSVM: 1": (margins, hinge)}
    shapes |= {
        f"{high:g} over {low:g}: τ = {format_value(factor)}": (margins, factor * hinge)
        for (high, low), factor in factors.items()
    }
    drawn = plots.function_curves(shapes, xlabel="z · f(x(1) − x(2))", ylabel="loss")
    about = (
        "τ is the mean drop of NDCG@1 over all queries if two documents of these grades swap in the perfect ranking."
    )
    return [
        Figure(
            "figure-2", "The hinge loss, weighted by τ of each grade pair (Figure 2)", "Hinge losses by slope", drawn
        ),
        Paragraph(about),
    ]


def accuracy(results: Results, table: FeatureTable, known: bool) -> list[Block]:
    """Figures 4 to 6 and Table 2."""
    shown = {name: results[name] for name in FAMILY if name in results}
    if not shown:
        return []
    measures = [*EQ_20, EQ_21]
    accuracies = {measure: {name: result.mean(measure) for name, result in shown.items()} for measure in measures}
    blocks: list[Block] = [*_claims(shown, measures)]
    blocks += [
        Figure(
            "figure-4",
            "Accuracy by the paper's measures (Figure 4)",
            "A group of bars for each measure, a bar for each ranker",
            plots.bars(accuracies, ylabel="mean"),
        ),
        Table(
            "figure-4",
            "Numbers of Figure 4, which the paper does not print",
            ("", *measures),
            tuple((name, *(accuracies[measure][name] for measure in measures)) for name in shown),
            best=len(shown) > 1,
        ),
    ]
    curves = {name: [result.mean(f"NDCG@{rank}") for rank in RANKS] for name, result in shown.items()}
    drawn = plots.curves(RANKS, curves, xlabel="N", ylabel="NDCG@N")
    caption = "NDCG@N on all test sets; Figure 6 shows two queries"
    blocks.append(Figure("ndcg-at-n", caption, "NDCG@N curves, a line for each ranker", drawn))
    return [*blocks, *_pair_groups(shown, table), *_sign_tests(results, known)]


def _claims(shown: Results, measures: Sequence[str]) -> list[Block]:
    """The paper's claim that RSVM-IR is better than RSVM, compared with these results."""
    if "rsvm" not in shown or "rsvm-ir" not in shown:
        return []
    ours, other = shown["rsvm-ir"], shown["rsvm"]
    better = sum(ours.mean(measure) > other.mean(measure) for measure in measures)
    sentences = [
        compare_values("rsvm-ir", ours.values(measure), "rsvm", other.values(measure), measure).sentence()
        for measure in measures
    ]
    claim = "The paper finds RSVM-IR better than RSVM by all measures"
    return [Paragraph(f"{claim}; here by {better} of {len(measures)} measures. {'. '.join(sentences)}.")]


def _pair_groups(shown: Results, table: FeatureTable) -> list[Block]:
    """Figure 5, and the NDCG@10 of each group of queries."""
    counts = pair_counts(table)
    groups = [group for group in group_by_pairs(counts) if group.qids]
    rows = []
    for group in groups:
        means = []
        for result in shown.values():
            values = dict(zip(result.qids, result.values("NDCG@10").tolist(), strict=True))
            tested = [values[qid] for qid in group.qids if qid in values]
            means.append(float(np.mean(tested)) if tested else None)
        rows.append((group.label, len(group.qids), *means))
    drawn = plots.histogram(np.array([*counts.values()], dtype=float), xlabel="pairs", ylabel="queries", bins=10)
    return [
        Figure("figure-5", "Queries by their number of pairs (Figure 5)", "A histogram of queries by pairs", drawn),
        Table(
            "figure-5",
            "Queries by their number of pairs, and NDCG@10 of each group",
            ("pairs", "queries", *shown),
            tuple(rows),
        ),
    ]


def _sign_tests(results: Results, known: bool) -> list[Block]:
    """Table 2, against every other ranker."""
    if "rsvm-ir" not in results or len(results) < 2:
        return []
    others = {name: result.values("NDCG@1") for name, result in results.items() if name != "rsvm-ir"}
    tests = sign_tests(results["rsvm-ir"].values("NDCG@1"), others)
    rows: list[tuple[Cell, ...]] = [(each.other, each.wins, each.ties, each.losses, f"{each.p:.3g}") for each in tests]
    columns: tuple[str, ...] = ("rsvm-ir against", "better", "equal", "worse", "p")
    if known:
        printed = {"rsvm": "RSVM"}
        rows = [(*row, _published_p(printed.get(str(row[0])))) for row in rows]
        rows += [(f"{name} (not here)", None, None, None, None, _published_p(name)) for name in ("BM25", "LMIR")]
        columns = (*columns, "p in the paper")
    note = "Two-sided, ties dropped, not corrected for the number of tests."
    return [Table("table-2", "Sign test on NDCG@1 (the paper's Table 2)", columns, tuple(rows), note=note)]


def _published_p(name: str | None) -> str | None:
    return None if name is None else f"{published.SIGN_TEST[name]:.3g}"
