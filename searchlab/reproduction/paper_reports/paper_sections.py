"""The papers' sections of a report on folds: which results, tables and queries each of them is given.

Figures show the paper's recipe, or the tuned one if the paper's was not tried. With both, claims, accuracies and sign
tests are shown for the tuned one too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.report.content import Block, Section
from searchlab.reproduction.letor import EQ_20, EQ_21, RankerResult
from searchlab.reproduction.paper_reports import published
from searchlab.reproduction.paper_reports.claims import Claim, claims_table, compare_rankers, describe_order
from searchlab.reproduction.paper_reports.cost_sensitive_report import (
    COST_SENSITIVE,
    cost_sensitive_tests,
    document_search,
    penalties,
)
from searchlab.reproduction.paper_reports.figures import check_queries, choose_queries, pair_counts
from searchlab.reproduction.paper_reports.ordrank_report import (
    HYPERPLANES,
    ordrank_blocks,
    query_blocks,
    training_times,
)
from searchlab.reproduction.paper_reports.rsvm_ir_report import (
    accuracy,
    accuracy_table,
    losses,
    pair_groups,
    two_queries,
)
from searchlab.reproduction.paper_reports.sign_test_table import sign_test_table
from searchlab.reproduction.paper_reports.top_documents import top_documents
from searchlab.reproduction.retrieval_models import RetrievalModels
from searchlab.training.recipe import Recipe

# Lwin and Kham name P@n, NDCG and MAP.
LWIN_MEASURES = ("P@10", "NDCG@1", "NDCG@10", "MAP")
RANKED = ("rsvm", "rsvm-ir-rank", "rsvm-ir-query", "rsvm-ir-gd", "rsvm-ir")


@dataclass(frozen=True)
class ShownQueries:
    """The queries that are drawn: two for Figures 1 and 6 of Cao et al., one for their Table 3, one for OrdRank."""

    two: tuple[str, str] | None
    top: str | None
    hyperplanes: str | None


def choose_shown_queries(
    table: FeatureTable, queries: Sequence[str] | None = None, query: str | None = None
) -> ShownQueries:
    """The user's queries; by default the papers' for their data, else those with the fewest and the most pairs."""
    if query is not None:
        counts = pair_counts(table)
        if query not in counts:
            raise SettingError(f"query {query} is not in the folds, expected one of their {len(counts)} queries")
        if not counts[query]:
            raise SettingError(f"query {query} has no two documents of different grades, expected a query that has")
    printed = {*published.TWO_QUERIES, published.TOP_FIVE_QUERY, published.HYPERPLANE_QUERY}
    known = published.OHSUMED.matches(table) and printed <= set(table.query_ids)
    if queries is not None:
        two: tuple[str, str] | None = check_queries(table, queries)
    else:
        two = published.TWO_QUERIES if known else choose_queries(table)
    other = None if two is None else two[1]
    top = query or (published.TOP_FIVE_QUERY if known else other)
    return ShownQueries(two, top, query or (published.HYPERPLANE_QUERY if known else other))


def paper_sections(
    by_recipe: Mapping[str, Mapping[str, RankerResult]],
    retrieval: RetrievalModels,
    table: FeatureTable,
    training_sets: Sequence[FeatureTable],
    recipe: Recipe,
    shown: ShownQueries,
) -> list[Section]:
    """The sections; `by_recipe` has the results of each recipe by the names of rankers, the one to draw first."""
    first, *others = by_recipe
    known = published.OHSUMED.matches(table)
    with_retrieval = {name: {**retrieval.results, **results} for name, results in by_recipe.items()}
    drawn = with_retrieval[first]
    sections = [
        Section("The papers' claims", tuple(claims_table(_claims(with_retrieval)))),
        Section("Ranking SVM for IR (Cao et al. 2006): two queries", tuple(two_queries(table, recipe, shown.two))),
        Section("Ranking SVM for IR: the loss", tuple(losses(table, shown.two))),
        Section(
            f"Ranking SVM for IR: accuracy (recipe {first})",
            (
                *accuracy(drawn, table),
                *_sign_tests(drawn, known=known),
                *(block for name in others for block in _other_recipe(with_retrieval[name], name, known=known)),
                *pair_groups(drawn, table),
                *_top_documents(with_retrieval, table, shown.top, known=known),
            ),
        ),
        Section(
            f"Cost-sensitive learning (Xu et al. 2006; recipe {first})",
            (
                *penalties(table),
                *document_search(drawn),
                *(block for name in others for block in cost_sensitive_tests(with_retrieval[name], name)),
            ),
        ),
        Section(
            f"OrdRank (Sun et al.; recipe {first})",
            (
                *([] if shown.hyperplanes is None else query_blocks(table, recipe, shown.hyperplanes)),
                *ordrank_blocks(by_recipe[first], known=known),
                *training_times(by_recipe[first], training_sets, known=known),
            ),
        ),
    ]
    return [section for section in sections if section.blocks]


def _claims(by_recipe: Mapping[str, Mapping[str, RankerResult]]) -> list[Claim]:
    """The claims that folds can show; what was not tried is left out."""
    cao, xu, sun, lwin = "Cao et al. 2006", "Xu et al. 2006", "Sun et al. (OrdRank)", "Lwin and Kham"
    better = [
        (cao, "rsvm-ir", "rsvm", "RSVM-IR is better than RSVM by all measures"),
        (cao, "rsvm-ir-gd", "rsvm", "RSVM-IR-GD is better than RSVM by all measures"),
        (cao, "rsvm-ir", "rsvm-ir-rank", "RSVM-IR is better than with τ alone (RSVM-IR-Rank)"),
        (cao, "rsvm-ir", "rsvm-ir-query", "RSVM-IR is better than with μ alone (RSVM-IR-Query)"),
        (cao, "rsvm-ir", "BM25", "RSVM-IR is better than BM25 by all measures"),
        (cao, "rsvm-ir", "LMIR", "RSVM-IR is better than LMIR by all measures"),
        (xu, COST_SENSITIVE, "rsvm", "cost-sensitive learning (RSVM-IR-Rank) is better than RSVM by all measures"),
        (xu, COST_SENSITIVE, "svm", "cost-sensitive learning is better than an SVM classifier (for definitions)"),
        (lwin, "rankboost-qd", "exponential", "a query-dependent loss ranks better than one loss for all queries"),
    ]
    claims = []
    for source, ours, other, statement in better:
        measures = LWIN_MEASURES if source == lwin else (*EQ_20, EQ_21)
        found = {name: compare_rankers(results, ours, other, measures) for name, results in by_recipe.items()}
        verdicts = {name: each.verdict() for name, each in found.items() if each is not None}
        claims.append(Claim(source, statement, verdicts))
    orders = {name: describe_order(results, [*reversed(HYPERPLANES)], "MAP") for name, results in by_recipe.items()}
    ordered = {name: order for name, order in orders.items() if order is not None}
    return [*claims, Claim(sun, "OrdRank > MHR > RSVM by MAP", ordered)]


def _sign_tests(results: Mapping[str, RankerResult], *, known: bool, variant: str = "") -> list[Block]:
    recipe = f", recipe {variant.removeprefix('-')}" if variant else ""
    printed = {"BM25": "BM25", "LMIR": "LMIR", "rsvm": "RSVM"}
    p_values = {ours: published.SIGN_TEST[theirs] for ours, theirs in printed.items()} if known else None
    caption = f"Sign tests of RSVM-IR{recipe} (the paper's Table 2, by NDCG@1)"
    return sign_test_table("rsvm-ir", results, f"table-2{variant}", caption, p_values)


def _other_recipe(results: Mapping[str, RankerResult], name: str, *, known: bool) -> list[Block]:
    """The numbers of Figure 4 and the sign tests by another recipe than the drawn one."""
    table = accuracy_table(results, f"-{name}", f"The same measures, recipe {name}")
    return [*table, *_sign_tests(results, known=known, variant=f"-{name}")]


def _top_documents(
    by_recipe: Mapping[str, Mapping[str, RankerResult]], table: FeatureTable, qid: str | None, *, known: bool
) -> list[Block]:
    tried = ("BM25", "LMIR", *RANKED)
    results = {
        (name if name in ("BM25", "LMIR") else result.label): result
        for by_name in by_recipe.values()
        for name, result in by_name.items()
        if name in tried
    }
    return [] if qid is None or not results else top_documents(results, table, qid, known=known)
