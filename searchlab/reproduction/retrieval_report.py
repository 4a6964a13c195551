"""The report of the retrieval experiments: searches, language models and re-rankers on several collections."""

from __future__ import annotations

from collections.abc import Sequence

from searchlab import __version__
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.number_text import format_value
from searchlab.report import plots
from searchlab.report.content import Block, Cell, Figure, Paragraph, Report, Section, Table, slugify
from searchlab.reproduction.retrieval import BASELINE, EXPANDED, MEASURES, RetrievalResult
from searchlab.training.recipe import RECIPES

BETTER, WORSE = "↑", "↓"


def retrieval_report(outcomes: Sequence[RetrievalResult], seed: int = 0) -> Report:
    """A section for each collection; the lead names the best system on each, and compares with the paper."""
    lead = " ".join([*(outcome.verdict() for outcome in outcomes), compare_with_paper(outcomes)])
    facts = {
        "searchlab": __version__,
        "rules": make_dialect("trec").describe(),
        "folds": str(outcomes[0].n_folds),
        "recipe": f"{outcomes[0].recipe}: {RECIPES[outcomes[0].recipe]}",
        "seed": str(seed),
        "significance": "randomisation test against BM25, corrected for all systems of a table (Holm), p < .05",
    }
    facts |= {
        outcome.name: f"{outcome.n_docs:,} documents, {outcome.n_topics:,} topics with a relevant document"
        for outcome in outcomes
    }
    return Report("Retrieval experiments", lead, tuple(map(_section, outcomes)), facts)


def compare_with_paper(outcomes: Sequence[RetrievalResult]) -> str:
    """The finding of Figure 4 on OHSUMED, and how many of these re-rankers confirm it."""
    rerankers = [
        (outcome, system.name)
        for outcome in outcomes
        for system in outcome.systems
        if system.ranker is not None and system.features == "table1"
    ]
    claim = "Cao et al. (Figure 4) find Ranking SVMs with the features of Table 1 better than BM25 on OHSUMED"
    if not rerankers:
        return f"{claim}; these were not tried here."
    compared = [outcome.comparison(name, MEASURES[0]) for outcome, name in rerankers]
    n_better = sum(each is not None and each.difference > 0 for each in compared)
    n_significant = sum(each is not None and each.significant and each.difference > 0 for each in compared)
    return f"{claim}; here {n_better} of {len(compared)} such re-rankers are, {n_significant} of them significantly."


def marks_of(outcome: RetrievalResult) -> dict[tuple[int, int], str]:
    """Marks where a system is significantly better or worse than BM25, by row and column of the table."""
    marks = {}
    for row, system in enumerate(outcome.systems):
        for column, measure in enumerate(MEASURES, start=1):
            compared = outcome.comparison(system.name, measure)
            if compared is not None and compared.significant:
                marks[row, column] = BETTER if compared.difference > 0 else WORSE
    return marks


def _section(outcome: RetrievalResult) -> Section:
    name = slugify(outcome.name)
    rows: list[tuple[Cell, ...]] = [
        (system.name, *(outcome.mean(system.name, measure) for measure in MEASURES)) for system in outcome.systems
    ]
    skipped = f"; {outcome.n_skipped:,} without were left out" if outcome.n_skipped else ""
    about = (
        f"{outcome.n_docs:,} documents, {outcome.n_topics:,} topics with a relevant document{skipped}. Trained systems "
        f"are cross-validated in {outcome.n_folds} folds; re-rankers get the 200 best of BM25 and of RM3, and are "
        f"trained by the recipe {outcome.recipe}."
    )
    note = f"{BETTER} {WORSE}: significantly better or worse than {BASELINE} (randomisation test, Holm, p < .05)."
    searches = [system.name for system in outcome.systems if system.ranker is None]
    blocks: list[Block] = [
        Paragraph(about),
        Table(
            name,
            f"All systems on {outcome.name}",
            ("", *MEASURES),
            tuple(rows),
            best=True,
            marks=marks_of(outcome),
            note=note,
        ),
        Figure(
            f"{name}-searches",
            f"Searches and language models on {outcome.name}",
            "A group of bars for each measure, a bar for each search",
            plots.bars(
                {measure: {each: outcome.mean(each, measure) for each in searches} for measure in MEASURES},
                ylabel="mean",
            ),
        ),
    ]
    groups: dict[str, dict[str, plots.Interval | float]] = {}
    for system in outcome.systems:
        if system.features is not None and system.ranker is not None:
            constant = {each: outcome.mean(each, MEASURES[0]) for each in (BASELINE, EXPANDED)}
            groups.setdefault(system.features, dict(constant))[system.ranker] = outcome.mean(system.name, MEASURES[0])
    if groups:
        caption = f"Re-rankers (recipe {outcome.recipe}) by feature set on {outcome.name}, beside what they re-rank"
        drawn = plots.bars(groups, ylabel=MEASURES[0])
        blocks.append(Figure(f"{name}-rerankers", caption, "A group of bars for each feature set", drawn))
    blocks += [Paragraph(f"{sentence}.") for sentence in outcome.sentences()]
    blocks += [Paragraph(f"Left out: {reason}.") for reason in outcome.left_out]
    return Section(outcome.name, tuple(blocks))


def format_retrieval_table(outcome: RetrievalResult) -> str:
    """The table for a terminal: a row for each system, with marks where a difference is significant."""
    marks = marks_of(outcome)
    width = max(len(system.name) for system in outcome.systems)
    lines = [f"{on_one_line(outcome.name):{width}}  " + " ".join(f"{measure:>8}" for measure in MEASURES)]
    for row, system in enumerate(outcome.systems):
        cells = [
            f"{format_value(outcome.mean(system.name, measure)):>7}{marks.get((row, column), ' ')}"
            for column, measure in enumerate(MEASURES, start=1)
        ]
        lines.append(f"{system.name:{width}}  {' '.join(cells)}".rstrip())
    return "\n".join(lines)
