"""The report of the experiment on OHSUMED of Cao et al. (2006, §6.3), or on a collection in its place."""

from __future__ import annotations

from collections.abc import Sequence

from searchlab import __version__
from searchlab.evaluation.number_text import format_count, format_value
from searchlab.report.content import Block, Paragraph, Report, Section, Table
from searchlab.reproduction.letor import EQ_20, EQ_21, RankerResult
from searchlab.reproduction.ohsumed_experiment import N_FOLDS, OhsumedResult
from searchlab.reproduction.paper_reports import published
from searchlab.reproduction.paper_reports.figures import check_queries, choose_queries, pair_counts, sign_tests
from searchlab.reproduction.paper_reports.rsvm_ir_report import accuracy, losses, pair_groups, two_queries
from searchlab.reproduction.paper_reports.sign_test_table import sign_test_table
from searchlab.reproduction.paper_reports.top_documents import top_documents
from searchlab.training.recipe import Recipe

MEASURES = (*EQ_20, EQ_21)
# The systems of Figure 4 by their names in the paper.
PAPER_NAMES = {
    "BM25": "BM25",
    "LMIR": "LMIR",
    "rsvm": "RSVM",
    "rsvm-ir-rank": "RSVM-IR-Rank",
    "rsvm-ir-query": "RSVM-IR-Query",
    "rsvm-ir-gd": "RSVM-IR-GD",
    "rsvm-ir": "RSVM-IR-QP",
}
OURS = "rsvm-ir"
# The paper's data: with it, its numbers are shown beside ours.
OHSUMED = published.DatasetSize("OHSUMED", 106, 16_140, 7)


def ohsumed_report(
    result: OhsumedResult, recipe: Recipe, queries: Sequence[str] | None = None, query: str | None = None
) -> Report:
    """The report; `queries` are the two of Figures 1 and 6, `query` is the one of Table 3: on OHSUMED the paper's."""
    table = result.documents.table
    shown = result.by_ranker
    known = OHSUMED.matches(table)
    if known:
        queries, query = queries or published.TWO_QUERIES, query or published.TOP_FIVE_QUERY
    two = choose_queries(table) if queries is None else check_queries(table, queries)
    sections = [
        Section("The judged documents", tuple(_documents(result))),
        Section("Accuracy", tuple(accuracy(shown, table))),
        Section("Sign tests", tuple(_sign_tests(shown, known=known))),
        Section("Two queries", tuple(two_queries(table, recipe, two))),
        Section("The loss", tuple(losses(table, two))),
        Section("Queries by their number of pairs", tuple(pair_groups(shown, table))),
        Section("The best documents of a query", tuple(_best_documents(result, query, known=known))),
    ]
    return Report(
        f"Ranking SVM for IR on {result.name}",
        " ".join(verdicts(result)),
        tuple(section for section in sections if section.blocks),
        {
            "searchlab": __version__,
            "collection": f"{result.name}, {format_count(result.n_docs, 'document')}",
            "data": f"{table.n_queries:,} queries, {table.n_rows:,} rows, {table.n_features} features (Table 1)",
            "folds": f"{len(result.data.names)}, seed {recipe.seed}",
            "recipe": recipe.describe().removeprefix("recipe "),
            "C chosen by": f"{recipe.validation_measure().name} on {result.data.chosen_on}",
            "measures": f"NDCG by eq. 20; in MAP (eq. 21) only grade {result.data.highest_grade} is relevant",
            "features": f"{recipe.imputation}, {recipe.normalisation}",
            **{model: f"{scorer}, the best of the first trial" for model, scorer in result.tuned.items()},
        },
    )


def verdicts(result: OhsumedResult) -> list[str]:
    """The paper's two claims, and what is found here, a sentence for each."""
    shown = result.by_ranker
    others = [name for name in ("BM25", "LMIR", "rsvm") if name in shown]
    better = [
        name for name in others if all(shown[OURS].mean(measure) > shown[name].mean(measure) for measure in MEASURES)
    ]
    first, *_ = MEASURES
    tests = sign_tests(shown[OURS].values(first), {name: shown[name].values(first) for name in others})
    significant = [each.other for each in tests if each.p < 0.05 and each.wins > each.losses]
    best = max(shown, key=lambda name: shown[name].mean(first))
    found = ", ".join(PAPER_NAMES[name] for name in better) or "none of the three"
    tested = ", ".join(PAPER_NAMES[name] for name in significant) or "none of the three"
    return [
        f"The paper finds RSVM-IR-QP better than BM25, LMIR and RSVM by all measures on OHSUMED; on {result.name} "
        f"that holds for {found}.",
        f"The paper's sign tests on NDCG@1 are significant for all three; here for {tested}.",
        f"The best NDCG@1 has {PAPER_NAMES[best]}, {format_value(shown[best].mean(first))}.",
    ]


def format_ohsumed_table(result: OhsumedResult) -> str:
    """The table for a terminal: a row for each system, * for the best of a column, and the sign test on NDCG@1."""
    shown = result.by_ranker
    width = max(map(len, result.labels.values()))
    best = {measure: max(each.mean(measure) for each in shown.values()) for measure in MEASURES}
    heads = [measure.partition(" ")[0] for measure in MEASURES]
    first, *_ = MEASURES
    others = {name: each.values(first) for name, each in shown.items() if name != OURS}
    tests = {each.other: each for each in sign_tests(shown[OURS].values(first), others)}
    lines = [f"{'':{width}}  " + " ".join(f"{head:>8}" for head in heads) + "   rsvm-ir better/equal/worse, p"]
    for name, each in shown.items():
        means = [each.mean(measure) for measure in MEASURES]
        cells = [
            f"{format_value(mean):>7}{'*' if mean == best[measure] else ' '}"
            for measure, mean in zip(MEASURES, means, strict=True)
        ]
        test = tests.get(name)
        tested = "" if test is None else f"   {test.wins:>4} {test.ties:>4} {test.losses:>4}   {test.p:.3g}"
        lines.append(f"{result.labels[name]:{width}}  {' '.join(cells)}{tested}".rstrip())
    return "\n".join(lines)


def _documents(result: OhsumedResult) -> list[Block]:
    """What was judged: the numbers that the paper gives for OHSUMED, and those of this collection."""
    documents, table = result.documents, result.documents.table
    n_pairs = sum(pair_counts(table).values())
    left_out = [
        f"{format_count(documents.n_skipped, 'topic')} without judged documents" if documents.n_skipped else "",
        f"{format_count(documents.n_missing, 'judged document')} that the index does not hold"
        if documents.n_missing
        else "",
    ]
    said = [
        f"{table.n_queries:,} topics, {table.n_rows:,} pairs of a topic and a document with a grade, {n_pairs:,} pairs "
        f"of documents to rank. {N_FOLDS} trials: each topic is tested once, by what was learnt from the other folds."
    ]
    if documents.n_without_pairs:
        said.append(
            f"In {documents.n_without_pairs:,} of the topics all documents have the same grade, so that all rankings "
            "are equally good."
        )
    if any(left_out):
        said.append(f"Left out: {', '.join(filter(None, left_out))}.")
    if documents.n_unjudged:
        said.append(
            f"{documents.n_unjudged:,} documents are not judged: drawn at random from what BM25 and LMIR find, and "
            "counted as not relevant."
        )
    if len(documents.grades) == 2:
        said.append("With two grades τ is one number, and RSVM-IR-Rank is RSVM with another C.")
    rows = tuple((f"{grade}", n) for grade, n in documents.grades.items())
    caption = "Documents by grade; the paper has 2,252 definitely, 2,585 partially and 11,303 not relevant"
    return [Paragraph(" ".join(said)), Table("grades", caption, ("grade", "documents"), rows)]


def _sign_tests(shown: dict[str, RankerResult], *, known: bool) -> list[Block]:
    printed = {"rsvm": published.SIGN_TEST["RSVM"], **{name: published.SIGN_TEST[name] for name in ("BM25", "LMIR")}}
    caption = "Sign tests of RSVM-IR-QP (the paper's Table 2)"
    return sign_test_table(OURS, shown, "table-2", caption, printed if known else None)


def _best_documents(result: OhsumedResult, query: str | None, *, known: bool) -> list[Block]:
    """Table 3; the query is the one on which NDCG@1 of RSVM-IR and RSVM differ the most, if none is named."""
    shown = {name: each for name, each in result.by_ranker.items() if name in ("rsvm", OURS)}
    first, *_ = MEASURES
    differences = shown[OURS].values(first) - shown["rsvm"].values(first)
    qid = shown[OURS].qids[int(differences.argmax())] if query is None else query
    chosen = (
        "The query is the one on which RSVM-IR-QP gains most over RSVM by NDCG@1: an example, as in the paper, not "
        "evidence."
    )
    blocks = top_documents(shown, result.documents.table, qid, known=known)
    return blocks if query is not None else [Paragraph(chosen), *blocks]
