"""The tables and figures of Xu et al. (2006), cost-sensitive learning of SVM for ranking, on folds of features.

Their method is RSVM with pairs weighted by τ, the ranker rsvm-ir-rank. Here are τ by Figure 1 and the accuracy of
Figure 4 with its sign tests; Figure 5, search of definitions, is the same figure for folds of that task. Table 2 is
Table 3 of Cao et al. (`top_documents.py`), Figures 2 and 3 are `simulation.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from searchlab.features.feature_table import FeatureTable
from searchlab.rankers.solvers.pair_weights import count_pairs, name_pair, rank_factors, simulate_rank_factors
from searchlab.report import plots
from searchlab.report.content import Block, Figure, Table
from searchlab.reproduction.letor import EQ_20, EQ_21, RankerResult
from searchlab.reproduction.paper_reports.claims import claim_blocks, compare_rankers
from searchlab.reproduction.paper_reports.sign_test_table import sign_test_table

COST_SENSITIVE = "rsvm-ir-rank"
SYSTEMS = ("BM25", "LMIR", "svm", "rsvm", COST_SENSITIVE)
# T of Figure 1, and the seed of its draws.
N_DRAWS, SEED = 1000, 0


def penalties(table: FeatureTable) -> list[Block]:
    """τ of each pair of grades: by the simulation of Figure 1, and the exact mean that it approaches."""
    if table.grades is None:
        return []
    exact = rank_factors(table.group_offsets, table.grades)
    if not exact:
        return []
    simulated = simulate_rank_factors(table.group_offsets, table.grades, n_draws=N_DRAWS, seed=SEED)
    counts = count_pairs(table.group_offsets, table.grades)
    rows = tuple(
        (name_pair(pair), int(sum(each.get(pair, 0) for each in counts)), simulated[pair], exact[pair])
        for pair in sorted(exact, reverse=True)
    )
    columns = ("grades", "pairs", f"τ, {N_DRAWS:,} draws", "τ, exact")
    caption = "Penalty τ of each pair of grades, by the simulation of the paper's Figure 1 and exactly"
    note = (
        "Mean over all queries; one that lacks a grade has nothing to swap and counts as 0. Rankers learn τ from the "
        "training set of their fold; this is τ of all sets together."
    )
    return [Table("cost-sensitive-1", caption, columns, rows, note=note)]


def document_search(results: Mapping[str, RankerResult]) -> list[Block]:
    """Figure 4, the paper's claim, and the sign tests."""
    if COST_SENSITIVE not in results:
        return []
    shown = {name: results[name] for name in SYSTEMS if name in results}
    measures = [*EQ_20, EQ_21]
    accuracies = {measure: {name: result.mean(measure) for name, result in shown.items()} for measure in measures}
    return [
        *claim_blocks(
            "claim-cost-sensitive",
            "its method better than Ranking SVM by all measures",
            compare_rankers(results, COST_SENSITIVE, "rsvm", measures),
        ),
        Figure(
            "cost-sensitive-4",
            "Accuracy of cost-sensitive learning (rsvm-ir-rank) and of its baselines (the paper's Figure 4)",
            "A group of bars for each measure, a bar for each ranker",
            plots.bars(accuracies, ylabel="mean"),
        ),
        *cost_sensitive_tests(results),
    ]


def cost_sensitive_tests(results: Mapping[str, RankerResult], recipe: str = "") -> list[Block]:
    """The sign tests of cost-sensitive learning; a `recipe` other than the drawn one is named."""
    caption = "Sign tests of cost-sensitive learning; the paper reports p < .05 for BM25, LMIR and RSVM by NDCG@1"
    name = "cost-sensitive-tests" + (f"-{recipe}" if recipe else "")
    return sign_test_table(COST_SENSITIVE, results, name, caption + (f" (recipe {recipe})" if recipe else ""))
