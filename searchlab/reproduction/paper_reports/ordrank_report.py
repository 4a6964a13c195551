"""The tables and figures of OrdRank (Sun et al.): RSVM, MHR and OrdRank compared on folds of features.

Figures 1, 2   query_blocks        Figures 3, 4   ordrank_blocks
Table II       ordrank_blocks      Table III      training_times
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.solvers.pair_weights import GradePair, name_pair
from searchlab.report import plots
from searchlab.report.content import Block, Cell, Figure, Paragraph, Table
from searchlab.reproduction.letor import RankerResult
from searchlab.reproduction.paper_reports.claims import compare_pairs, comparison_table, describe_order
from searchlab.reproduction.paper_reports.figures import Plane, find_directions
from searchlab.reproduction.paper_reports.hyperplanes import (
    HyperplaneTime,
    hyperplane_pairs,
    share_in_order,
    time_hyperplane,
)
from searchlab.reproduction.paper_reports.published import ORDRANK_MINUTES, ORDRANK_PRECISIONS
from searchlab.training.recipe import Recipe

HYPERPLANES = ("rsvm", "mhr", "ordrank")
# n of P@n in Table II, and of NDCG@n in Figure 4.
PRECISION_RANKS = range(1, 9)
NDCG_RANKS = range(1, 11)


def query_blocks(table: FeatureTable, recipe: Recipe, qid: str) -> list[Block]:
    """Figures 1 and 2: the documents of one query, RSVM's hyperplane and those of OrdRank.

    The plane is that of all rows, as in the paper. Hyperplanes are learnt from the query alone.
    """
    from searchlab.rankers.estimators.ordrank import OrdRank

    if table.grades is None:
        return []
    prepared = Preprocessor.named(recipe.imputation, recipe.normalisation).fit(table).transform(table)
    rows = prepared.only([qid])
    directions = find_directions(rows)
    adjacent = [pair for pair in hyperplane_pairs("ordrank", rows) if pair is not None]
    # Arrows start from the centre of the query's documents, not of all.
    plane = replace(Plane.of(prepared.values), center=np.mean(rows.values, axis=0))
    points = plane.project(rows.values)
    grades = np.asarray(rows.grades)
    by_grade = {f"grade {grade:g}": points[grades == grade] for grade in sorted(set(grades.tolist()), reverse=True)}
    of_pairs = {name_pair(pair): directions.pairs[pair] for pair in adjacent}
    draw = partial(plots.scatter, xlabel="first principal component", ylabel="second")
    orders = {
        "RSVM": rows.values @ directions.together.weights,
        **{f"hyperplane {name}": rows.values @ each.weights for name, each in of_pairs.items()},
        "OrdRank": OrdRank().fit(rows.values, grades, rows.qids).predict(rows.values, rows.qids),
    }
    shares = {name: share_in_order(rows, values) for name, values in orders.items()}
    kinds = [*shares["RSVM"]]
    return [
        Figure(
            "ordrank-1",
            f"The documents of query {qid} by grade, and the direction in which RSVM ranks them (the paper's Figure 1)",
            "The documents of one query in the plane of the first two principal components, with an arrow for RSVM",
            draw(by_grade, plane.arrows({"RSVM": directions.together}, points)),
        ),
        Figure(
            "ordrank-2",
            "The same documents, and the directions of OrdRank's hyperplanes (the paper's Figure 2)",
            "The same documents with an arrow for each hyperplane of OrdRank",
            draw(by_grade, plane.arrows(of_pairs, points)),
        ),
        Table(
            "ordrank-2",
            f"Share of the pairs of query {qid} that each hyperplane, learnt from this query alone, puts in order",
            ("", *(name_pair(pair) for pair in kinds)),
            tuple((name, *(share[pair] for pair in kinds)) for name, share in shares.items()),
            note="Hyperplanes are orthogonal to the arrows. OrdRank ranks by the mean vote of its hyperplanes.",
        ),
        Paragraph(_separation(shares, adjacent, directions.together.n_pairs)),
    ]


def _separation(shares: Mapping[str, Mapping[GradePair, float]], adjacent: Sequence[GradePair], n_pairs: int) -> str:
    """The paper's reason for several hyperplanes, by the adjacent grades that RSVM separates worst."""
    worst = min(adjacent, key=lambda pair: shares["RSVM"][pair])
    alone = shares[f"hyperplane {name_pair(worst)}"][worst]
    return (
        f"The paper argues that one hyperplane does not separate all grades well. RSVM, learnt from {n_pairs:,} pairs "
        f"of this query, is worst at {name_pair(worst)}: {shares['RSVM'][worst]:.1%} of their pairs are in order; by "
        f"their own hyperplane {alone:.1%}, by OrdRank's votes {shares['OrdRank'][worst]:.1%}."
    )


def ordrank_blocks(results: Mapping[str, RankerResult], *, known: bool) -> list[Block]:
    """Table II, Figures 3 and 4; with the paper's numbers if the data is `known` to be the same."""
    shown = {name: results[name] for name in HYPERPLANES if name in results}
    if not shown:
        return []
    by_map = {"MAP": {name: result.mean("MAP") for name, result in shown.items()}}
    curves = {name: [result.mean(f"NDCG@{rank}") for rank in NDCG_RANKS] for name, result in shown.items()}
    return [
        *_claim(shown),
        _precisions(shown, known=known),
        Figure(
            "ordrank-3", "MAP (the paper's Figure 3)", "A bar of MAP for each ranker", plots.bars(by_map, ylabel="MAP")
        ),
        Figure(
            "ordrank-4",
            "NDCG@n (the paper's Figure 4)",
            "NDCG@n curves, a line for each ranker",
            plots.curves([*NDCG_RANKS], curves, xlabel="n", ylabel="NDCG@n"),
        ),
    ]


def _claim(shown: Mapping[str, RankerResult]) -> list[Block]:
    claimed = [name for name in reversed(HYPERPLANES) if name in shown]
    order = describe_order(shown, claimed, "MAP")
    if order is None:
        return []
    text = f"The paper finds the order {' > '.join(claimed)} by MAP; here the order is {order}."
    if "ordrank" not in shown:
        return [Paragraph(text)]
    found = compare_pairs(shown, [("ordrank", name, "MAP") for name in shown if name != "ordrank"])
    return [
        Paragraph(text),
        comparison_table("claim-ordrank", "OrdRank against RSVM and MHR on the test queries", found),
    ]


def _precisions(shown: Mapping[str, RankerResult], *, known: bool) -> Table:
    names = [f"P@{rank}" for rank in PRECISION_RANKS]
    rows: list[tuple[Cell, ...]] = [
        (name, *(result.mean(measure) for measure in names)) for name, result in shown.items()
    ]
    if known:
        rows += [(f"{name} (paper)", *ORDRANK_PRECISIONS[name]) for name in shown]
    caption = "P@n of RSVM, MHR and OrdRank (the paper's Table II)"
    return Table("table-ii", caption, ("", *names), tuple(rows))


def training_times(
    results: Mapping[str, RankerResult], training_sets: Sequence[FeatureTable], *, known: bool
) -> list[Block]:
    """Table III: the training time of each hyperplane in each trial, on the training set of each fold.

    Every hyperplane is trained once more, alone, with the C that its ranker chose, so that times can be compared.
    """
    shown = {name: results[name] for name in HYPERPLANES if name in results}
    if not shown:
        return []
    trials_of = {name: _trials(result, training_sets) for name, result in shown.items()}
    # The first fit loads compiled code, which is not training.
    time_hyperplane(next(iter(trials_of.values()))[0][0], None, None)
    times = {name: [_time_trial(name, *trial) for trial in trials] for name, trials in trials_of.items()}
    has_minutes = known and len(training_sets) == len(ORDRANK_MINUTES["rsvm"][None])
    rows: list[tuple[Cell, ...]] = []
    for name, trials in times.items():
        kinds = list(dict.fromkeys(each.pair for trial in trials for each in trial))
        printed = ORDRANK_MINUTES[name] if has_minutes else {}
        for pair in kinds:
            found = [next((each for each in trial if each.pair == pair), None) for trial in trials]
            label = "all pairs" if pair is None else name_pair(pair)
            rows.append((name, label, *_time_cells(found), _mean_or_none(printed.get(pair))))
        if len(kinds) > 1:
            sums = [_sum_trial(trial) for trial in trials]
            total = [sum(minutes) for minutes in zip(*printed.values(), strict=True)] if printed else None
            rows.append((name, "sum", *_time_cells(sums), _mean_or_none(total)))
    folds = [fold.fold for fold in next(iter(shown.values())).folds]
    columns = ("", "hyperplane", "pairs", *(f"{fold}, s" for fold in folds), "mean, s")
    if has_minutes:
        columns = (*columns, "minutes in the paper, mean")
    else:
        rows = [row[:-1] for row in rows]
    note = (
        "Seconds of one fit with the chosen C, one after another on one core, on the same features; pairs: mean over "
        "trials. Pairs are not enumerated here, so that the time of a hyperplane follows its number of documents."
    )
    caption = "Training time of each hyperplane (the paper's Table III)"
    return [Paragraph(_time_claim(times)), Table("table-iii", caption, columns, tuple(rows), digits=3, note=note)]


def _trials(result: RankerResult, training_sets: Sequence[FeatureTable]) -> list[tuple[FeatureTable, float | None]]:
    """The training set, prepared without powers, and the C of each fold: chosen, or given by the user."""
    preprocessor = replace(result.recipe, powers=False).preprocessor
    prepared = [preprocessor.fit(table).transform(table) for table in training_sets]
    given = result.recipe.make_ranker().get_params()["C"]
    strengths = [given if fold.chosen[0] is None else fold.chosen[0] for fold in result.folds]
    return list(zip(prepared, strengths, strict=True))


def _time_trial(name: str, table: FeatureTable, C: float | None) -> list[HyperplaneTime]:
    return [time_hyperplane(table, pair, C) for pair in hyperplane_pairs(name, table)]


def _sum_trial(trial: Sequence[HyperplaneTime]) -> HyperplaneTime:
    return HyperplaneTime(None, sum(each.n_pairs for each in trial), sum(each.seconds for each in trial))


def _time_cells(found: Sequence[HyperplaneTime | None]) -> tuple[Cell, ...]:
    """Mean number of pairs, the seconds of each trial and their mean; None where a training set has no such pairs."""
    present = [each for each in found if each is not None]
    seconds = [None if each is None else each.seconds for each in found]
    mean = float(np.mean([each.seconds for each in present]))
    return round(float(np.mean([each.n_pairs for each in present]))), *seconds, mean


def _mean_or_none(values: Sequence[float] | None) -> float | None:
    return None if values is None else float(np.mean(values))


def _time_claim(times: Mapping[str, Sequence[Sequence[HyperplaneTime]]]) -> str:
    means = {name: float(np.mean([_sum_trial(trial).seconds for trial in trials])) for name, trials in times.items()}
    found = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in means.items())
    claim = (
        "The paper finds OrdRank trained in a fifth of the time of RSVM and two thirds of that of MHR (1521.56, 536.98 "
        f"and 334.47 minutes for RSVM, MHR and OrdRank); here the mean times are {found}"
    )
    if "ordrank" not in means or len(means) == 1:
        return f"{claim}."
    shares = [f"{means['ordrank'] / means[name]:.2f} of the time of {name}" for name in means if name != "ordrank"]
    return f"{claim}: OrdRank takes {' and '.join(shares)}."
