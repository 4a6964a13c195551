"""The tables and figures of OrdRank (Sun et al.): RSVM, MHR and OrdRank compared on LETOR folds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from searchlab.evaluation.comparison import compare_values
from searchlab.report import plots
from searchlab.report.content import Block, Cell, Figure, Paragraph, Table
from searchlab.reproduction.letor import RankerResult
from searchlab.reproduction.published import ORDRANK_MINUTES, ORDRANK_PRECISIONS

HYPERPLANES = ("rsvm", "mhr", "ordrank")
# n of P@n in Table II, and of NDCG@n in Figure 4.
PRECISION_RANKS = range(1, 9)
NDCG_RANKS = range(1, 11)


def ordrank_blocks(results: Mapping[str, RankerResult], *, known: bool) -> list[Block]:
    """Tables II and III, Figures 3 and 4; with the paper's numbers if the data is `known` to be the same."""
    shown = {name: results[name] for name in HYPERPLANES if name in results}
    if not shown:
        return []
    by_map = {"MAP": {name: result.mean("MAP") for name, result in shown.items()}}
    curves = {name: [result.mean(f"NDCG@{rank}") for rank in NDCG_RANKS] for name, result in shown.items()}
    return [
        *_claim(shown),
        _precisions(shown, known=known),
        Figure("ordrank-3", "MAP (Figure 3)", "A bar of MAP for each ranker", plots.bars(by_map, ylabel="MAP")),
        Figure(
            "ordrank-4",
            "NDCG@n (Figure 4)",
            "NDCG@n curves, a line for each ranker",
            plots.curves([*NDCG_RANKS], curves, xlabel="n", ylabel="NDCG@n"),
        ),
        _times(shown, known=known),
    ]


def _claim(shown: Mapping[str, RankerResult]) -> list[Block]:
    if len(shown) < 2:
        return []
    order = ", then ".join(sorted(shown, key=lambda name: -shown[name].mean("MAP")))
    sentences = [f"The paper finds OrdRank best by MAP, then MHR, then RSVM; here the order is {order}"]
    if "ordrank" in shown:
        ours = shown["ordrank"].values("MAP")
        others = [name for name in shown if name != "ordrank"]
        sentences += [
            compare_values("ordrank", ours, name, shown[name].values("MAP"), "MAP").sentence() for name in others
        ]
    return [Paragraph(f"{'. '.join(sentences)}.")]


def _precisions(shown: Mapping[str, RankerResult], *, known: bool) -> Table:
    names = [f"P@{rank}" for rank in PRECISION_RANKS]
    rows: list[tuple[Cell, ...]] = [
        (name, *(result.mean(measure) for measure in names)) for name, result in shown.items()
    ]
    if known:
        rows += [(f"{name} (paper)", *ORDRANK_PRECISIONS[name]) for name in shown]
    return Table("table-ii", "P@n of RSVM, MHR and OrdRank (the paper's Table II)", ("", *names), tuple(rows))


def _times(shown: Mapping[str, RankerResult], *, known: bool) -> Table:
    trials = [fold.fold for fold in next(iter(shown.values())).folds]
    columns = ["trial", *(f"{name}, seconds" for name in shown)]
    ours = np.array([[fold.train_seconds for fold in result.folds] for result in shown.values()])
    if known and len(trials) == len(ORDRANK_MINUTES["rsvm"]):
        columns += [f"{name}, minutes in the paper" for name in shown]
        ours = np.concatenate([ours, [ORDRANK_MINUTES[name] for name in shown]])
    rows: list[tuple[Cell, ...]] = [(trial, *times) for trial, times in zip(trials, ours.T.tolist(), strict=True)]
    rows.append(("mean", *np.mean(ours, axis=1).tolist()))
    note = "One fit of the chosen C, all hyperplanes together."
    return Table("table-iii", "Training time (the paper's Table III)", tuple(columns), tuple(rows), digits=2, note=note)
