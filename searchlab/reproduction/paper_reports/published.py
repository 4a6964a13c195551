"""Published numbers, shown beside ours in tables and used for nothing else.

Only numbers that were printed as such; the papers' bar charts print none.

    LETOR                      baselines of LETOR 3.0, five folds, by its rules; the last row is from a later paper
    Cao et al., SIGIR 2006     the sign test of Table 2, the top five documents of a query in Table 3
    Sun et al., OrdRank        P@n of Table II, minutes of training of Table III
    Xu et al. 2006             the ranking functions of the simulation in §4.1, NDCG@5 of these documents (Table 2)
"""

from __future__ import annotations

from dataclasses import dataclass

from searchlab.features.feature_table import FeatureTable
from searchlab.rankers.solvers.pair_weights import GradePair


@dataclass(frozen=True)
class DatasetSize:
    """The numbers of queries, rows and features by which a dataset is recognised."""

    name: str
    n_queries: int
    n_rows: int
    n_features: int

    def matches(self, table: FeatureTable) -> bool:
        """Whether a table has exactly these sizes."""
        return (table.n_queries, table.n_rows, table.n_features) == (self.n_queries, self.n_rows, self.n_features)

    def describe(self) -> str:
        """A sentence on how the dataset was recognised."""
        sizes = f"{self.n_queries:,} queries, {self.n_rows:,} rows and {self.n_features} features"
        return f"The data is taken for {self.name}, because it has {sizes}; published numbers are shown beside ours."


OHSUMED = DatasetSize("LETOR 3.0 OHSUMED", 106, 16_140, 45)

LETOR_COLUMNS = ("MAP", "NDCG@1", "NDCG@3", "NDCG@5", "NDCG@10", "P@1", "P@5", "P@10")
LETOR_BASELINES = {
    "RankSVM (LETOR)": (0.4334, 0.4958, 0.4207, 0.4164, 0.4140, 0.5974, 0.5319, 0.4864),
    "RankBoost (LETOR)": (0.4411, 0.4632, 0.4555, 0.4494, 0.4302, 0.5576, 0.5447, 0.4966),
    "ListNet (LETOR)": (0.4457, 0.5326, 0.4732, 0.4432, 0.4410, 0.6524, 0.5502, 0.4975),
    "AdaRank-MAP (LETOR)": (0.4487, 0.5388, 0.4682, 0.4613, 0.4429, 0.6338, 0.5674, 0.4976),
    "RankSVM, RBF by Nyström": (0.4473, 0.5730, 0.4874, 0.4780, 0.4505, 0.6801, 0.5688, 0.4983),
}

# P@1 to P@8, by the names of our rankers.
ORDRANK_PRECISIONS = {
    "rsvm": (0.61346, 0.57245, 0.53645, 0.49834, 0.48745, 0.46149, 0.45806, 0.44573),
    "mhr": (0.64372, 0.60043, 0.57359, 0.56017, 0.5387, 0.53254, 0.53003, 0.5224),
    "ordrank": (0.65274, 0.60462, 0.56724, 0.57673, 0.54341, 0.54033, 0.5321, 0.52592),
}
# Minutes of training each hyperplane in trials 1 to 5, by the grades that it separates; None: all pairs. The paper
# numbers ranks from the lowest: ω1,2 separates our grades 1 and 0. The means of the sums are printed too: 1521.56,
# 536.98, 334.47.
ORDRANK_MINUTES: dict[str, dict[GradePair | None, tuple[float, ...]]] = {
    "rsvm": {None: (1728.64, 2013.57, 1845.36, 906.53, 1113.72)},
    "mhr": {
        (2, 1): (51.64, 38.72, 35.44, 17.23, 14.63),
        (2, 0): (228.43, 283.57, 260.85, 139.27, 163.51),
        (1, 0): (306.16, 456.41, 329.31, 157.74, 202.01),
    },
    "ordrank": {
        (2, 1): (56.08, 41.28, 34.75, 17.39, 14.63),
        (1, 0): (342.97, 494.22, 308.59, 158.14, 204.29),
    },
}

# p of RSVM-IR-QP against other systems by NDCG@1, with the paper's names.
SIGN_TEST = {"RSVM": 0.0391, "BM25": 2.44e-13, "LMIR": 2.28e-12}

# The five best documents of query 9 (d definitely, p possibly, n not relevant), NDCG@1 and NDCG@5 by eq. 20. Xu et al.
# print the same rankings, and call the second method theirs.
TOP_FIVE = {"RSVM": ("p d d p n", 0.3333, 0.5453), "RSVM-IR-QP": ("d p d n p", 1.0, 0.6238)}

# The queries that the papers show: Figures 1 and 6 and Table 3 of Cao et al., Figures 1 and 2 of OrdRank.
TWO_QUERIES, TOP_FIVE_QUERY, HYPERPLANE_QUERY = ("12", "50"), "9", "43"

# Weights of x1 and x2.
SIMULATION = {"rsvm-ir-rank": (2.85, 3.01), "rsvm": (0.53, 2.04)}
