"""What do the results of an experiment mean, and how are they shown?

The report begins with one sentence in plain words. Then: what was compared and how; the measures, with signs where a
difference from the baseline is no chance; the same as drawings; topics that the best ranker helped and hurt most, with
both rankings side by side; what counts in the models; and how long training took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from searchlab.evaluation.comparison import Comparison
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.number_text import format_p_value, format_value
from searchlab.evaluation.significance import TIE_TOLERANCE, bootstrap_interval
from searchlab.experiments.experiment_results import ExperimentResults
from searchlab.experiments.runner import SystemResult
from searchlab.experiments.scorer_tuning import show_settings
from searchlab.records import Ranking, Topic
from searchlab.report.content import (
    Block,
    Cell,
    Figure,
    Paragraph,
    RankedDocument,
    RankingPair,
    Report,
    Section,
    Table,
    slugify,
)
from searchlab.report.plots import bars, curves, differences, precision_recall
from searchlab.retrieval.highlight.snippets import make_snippet
from searchlab.training.cross_validation import MIN_VERDICT_QUERIES
from searchlab.types import Floats

BETTER, WORSE = "▲", "▼"
# Below this, chance is told to be hardly the cause; up to .05, unlikely to be.
HARDLY = 0.01
CUTOFFS = tuple(range(1, 21))
RECALLS = tuple(round(0.1 * step, 1) for step in range(11))
# Topics shown on either side, documents of each ranking, and influences of each model.
TOPICS_SHOWN, DOCUMENTS_SHOWN, INFLUENCES_SHOWN = 2, 5, 10


def build_report(results: ExperimentResults, facts: Mapping[str, str]) -> Report:
    """The report."""
    sections = [_compared(results), _measures(results), _drawings(results)]
    if results.best is not None:
        sections += [_topics(results, results.best)]
    if any(outcome.bundle for outcome in results.outcomes):
        sections += [_models(results), _training(results)]
    return Report(results.plan.title, lead(results), tuple(sections), dict(facts))


def lead(results: ExperimentResults) -> str:
    """What it all means, in plain words."""
    plan, best = results.plan, results.best
    own = results.of(plan.baseline).mean(plan.measure)
    n_topics = len(results.setting.topics)
    if best is None:
        reached = f"{plan.measure} {format_value(own)} on {_topics_word(n_topics)}"
        return f"{plan.baseline} reaches {reached}; nothing else was tried."
    found = [each for each in results.comparisons if each.measure == plan.measure]
    first = max(found, key=lambda each: each.mean_a)
    if n_topics < MIN_VERDICT_QUERIES:
        return f"Too few topics to say which system is best: {_change(first)}."
    shown = [each for each in found if each.significant and each.difference > 0]
    if not shown:
        worse = [each.name_a for each in found if each.significant and each.difference < 0]
        hurt = f" {_listed(worse)} {'is' if len(worse) == 1 else 'are'} worse." if worse else ""
        if first.difference <= TIE_TOLERANCE:
            return f"Nothing is better than {plan.baseline} here: the nearest is {_change(first)}.{hurt}"
        return (
            f"Nothing is shown to be better than {plan.baseline}: the best is {_change(first)}, "
            f"which may be chance.{hurt}"
        )
    top = max(shown, key=lambda each: each.mean_a)
    others = [each.name_a for each in shown if each is not top]
    doubt = "hardly chance" if _p(top) < HARDLY else "unlikely to be chance"
    also = (
        f" {_listed(others)} {'is' if len(others) == 1 else 'are'} better than {plan.baseline}, too." if others else ""
    )
    return f"{top.name_a} ranks better than {plan.baseline}, and that is {doubt}: {_numbers(top)}.{also}"


def _change(each: Comparison) -> str:
    return f"{each.name_a} with {_numbers(each)}"


def _numbers(each: Comparison) -> str:
    return (
        f"{each.measure} {format_value(each.mean_a)} against {format_value(each.mean_b)} "
        f"on {_topics_word(each.n_topics)} ({each.wins} better, {each.losses} worse, {format_p_value(_p(each))})"
    )


def _p(each: Comparison) -> float:
    return each.p if each.p_corrected is None else each.p_corrected


def _topics_word(n: int) -> str:
    return f"{n} topic{'s' * (n != 1)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]


def _compared(results: ExperimentResults) -> Section:
    plan, setting = results.plan, results.setting
    snapshot = setting.engine.snapshot
    skipped = f" {setting.n_skipped} more without a relevant document were left out." if setting.n_skipped else ""
    how = "as the plan lists them" if plan.folds.queries else f"at random (seed {plan.folds.seed})"
    texts = [
        f"{len(results.outcomes)} systems ranked {snapshot.n_docs:,} documents of the index {snapshot.folder.name} for "
        f"{_topics_word(len(setting.topics))}.{skipped}",
        f"Topics were dealt into {len(setting.folds)} folds, {how}. What a system had to learn or to choose for the "
        f"topics of a fold, it learnt and chose on the topics of the other folds alone, by {plan.measure}.",
    ]
    if plan.rankers:
        texts.append(f"Rankers re-rank {plan.first_stage.label}; what the first search found beyond follows.")
    texts.append(f"Measures follow the {make_dialect(plan.dialect).describe()}.")
    rows = tuple((outcome.system.name, outcome.system.describe()) for outcome in results.outcomes)
    table = Table("systems", "The systems.", ("system", "what it is"), rows)
    return Section("What was compared, and how", (*map(Paragraph, texts), table))


def _measures(results: ExperimentResults) -> Section:
    plan = results.plan
    rows: list[tuple[Cell, ...]] = []
    marks = {}
    for row, evaluation in enumerate(results.evaluations):
        rows.append((evaluation.name, *(evaluation.mean(measure) for measure in plan.measures)))
        for column, measure in enumerate(plan.measures, start=1):
            found = results.against_baseline(evaluation.name, measure)
            if found is not None and found.significant:
                marks[row, column] = BETTER if found.difference > 0 else WORSE
    note = (
        f"{BETTER} better, {WORSE} worse than {plan.baseline} by more than chance: randomisation test, p < .05 after "
        f"Holm's correction over the systems."
    )
    caption = f"Means over {_topics_word(len(results.setting.topics))}, each ranked by what had not seen it."
    table = Table("measures", caption, ("system", *plan.measures), tuple(rows), best=True, marks=marks, note=note)
    sentences = [each.sentence() for each in results.comparisons if each.measure == plan.measure]
    return Section("Who is better", (table, *(Paragraph(f"{sentence}.") for sentence in sentences)))


def _drawings(results: ExperimentResults) -> Section:
    plan, names = results.plan, _file_names(results)
    intervals = {
        measure: {each.name: _interval(each.values_of(measure), plan.seed) for each in results.evaluations}
        for measure in plan.measures
    }
    gains = [f"nDCG@{k}" for k in CUTOFFS]
    depth = {each.name: [each.mean(name) for name in gains] for each in results.evaluate(gains)}
    levels = [f"IPrec@{recall}" for recall in RECALLS]
    precision = {each.name: [each.mean(name) for name in levels] for each in results.evaluate(levels)}
    blocks: list[Block] = [
        Figure(
            "means",
            "Means with 95% bootstrap intervals over topics.",
            "Bars: " + "; ".join(f"{each.name} {_means(each.means)}" for each in results.evaluations),
            bars(intervals, ylabel="mean"),
        ),
        Figure(
            "ndcg",
            "nDCG of the first k documents.",
            f"Lines from k = 1 to {CUTOFFS[-1]}: " + _ends(depth),
            curves(CUTOFFS, depth, xlabel="k", ylabel="nDCG@k"),
        ),
        Figure(
            "precision-recall",
            "Interpolated precision at 11 points of recall.",
            "Lines from recall 0 to 1: " + _ends(precision),
            precision_recall(precision),
        ),
    ]
    for outcome in results.outcomes:
        name = outcome.system.name
        found = results.against_baseline(name, plan.measure)
        if found is not None:
            values = results.of(name).values_of(plan.measure) - results.of(plan.baseline).values_of(plan.measure)
            blocks.append(
                Figure(
                    f"topics-{names[name]}",
                    f"{name} against {plan.baseline}, topic by topic.",
                    f"Bars: {found.wins} topics better, {found.losses} worse, {found.ties} equal.",
                    differences(values, ylabel=f"difference in {plan.measure}", labels=results.of(name).qids),
                )
            )
    return Section("The same, drawn", tuple(blocks))


def _interval(values: Floats, seed: int) -> tuple[float, float, float]:
    found = bootstrap_interval(values, seed=seed)
    return found.mean, found.low, found.high


def _means(means: Mapping[str, float]) -> str:
    return ", ".join(f"{measure} {format_value(value)}" for measure, value in means.items())


def _ends(lines: Mapping[str, Sequence[float]]) -> str:
    return "; ".join(f"{name} from {format_value(ys[0])} to {format_value(ys[-1])}" for name, ys in lines.items())


def _topics(results: ExperimentResults, best: SystemResult) -> Section:
    """Where the best ranker helped and hurt most, with both rankings."""
    plan, name = results.plan, best.system.name
    own, other = results.of(name).values_of(plan.measure), results.of(plan.baseline).values_of(plan.measure)
    changes = own - other
    order = np.argsort(-changes, kind="stable").tolist()
    helped = [place for place in order if changes[place] > TIE_TOLERANCE][:TOPICS_SHOWN]
    hurt = [place for place in reversed(order) if changes[place] < -TIE_TOLERANCE][:TOPICS_SHOWN]
    blocks: list[Block] = []
    by_qid = {topic.qid: topic for topic in results.setting.topics}
    for word, places in (("helped", helped), ("hurt", hurt)):
        if not places:
            blocks.append(Paragraph(f"{name} {word} no topic."))
        for place in places:
            topic = by_qid[results.of(name).qids[place]]
            change = f"{plan.measure} {format_value(float(other[place]))} → {format_value(float(own[place]))}"
            caption = f"{name} {word} topic {topic.qid}, “{topic.text}”: {change}."
            left, right = (_ranking(results, each, topic.qid) for each in (plan.baseline, name))
            blocks.append(
                RankingPair(
                    caption,
                    plan.baseline,
                    name,
                    _entries(results, topic, left, right),
                    _entries(results, topic, right, left),
                )
            )
    return Section(f"Topics that {name} helped and hurt most", tuple(blocks))


def _ranking(results: ExperimentResults, name: str, qid: str) -> Ranking:
    return next(ranking for ranking in results.outcome(name).rankings if ranking.qid == qid)


def _entries(results: ExperimentResults, topic: Topic, shown: Ranking, other: Ranking) -> tuple[RankedDocument, ...]:
    engine = results.setting.engine
    terms = {variant for term in engine.parse(topic.text).terms for variant in term.variants}
    ranks = {docno: rank for rank, docno in enumerate(other.docnos, start=1)}
    entries = []
    for rank, docno in enumerate(shown.docnos[:DOCUMENTS_SHOWN], start=1):
        document = engine.document(docno)
        snippet = make_snippet(document.body, terms, engine.snapshot.analyzer).text
        grade = results.setting.qrels[topic.qid].get(docno)
        entries.append(RankedDocument(rank, docno, document.title, snippet, grade, ranks.get(docno)))
    return tuple(entries)


def _file_names(results: ExperimentResults) -> dict[str, str]:
    """Systems by names for files; numbered if two would have the same."""
    names = {outcome.system.name: slugify(outcome.system.name) for outcome in results.outcomes}
    if len(set(names.values())) == len(names):
        return names
    return {name: f"{number}-{file}" for number, (name, file) in enumerate(names.items(), start=1)}


def _models(results: ExperimentResults) -> Section:
    names = _file_names(results)
    blocks: list[Block] = []
    for outcome in results.outcomes:
        if outcome.bundle is not None:
            name = outcome.system.name
            rows = tuple((share.label, share.amount) for share in outcome.bundle.influences()[:INFLUENCES_SHOWN])
            caption = (
                f"{name}, trained on all topics: its {len(rows)} largest weights (models/{outcome.system.slug}.json)."
            )
            blocks.append(Table(f"weights-{names[name]}", caption, ("feature", "weight"), rows))
    return Section("What counts in the models", tuple(blocks))


def _training(results: ExperimentResults) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for outcome in results.outcomes:
        learns = outcome.system.learns
        rows.append(
            (outcome.system.name, "training and choosing" if learns else "searching", outcome.seconds, _chosen(outcome))
        )
    caption = "Seconds: of a ranker for one fold in the mean, of a scorer for all topics; and what each fold chose."
    table = Table(
        "times", caption, ("system", "what took time", "seconds", "chosen, fold by fold"), tuple(rows), digits=2
    )
    return Section("How long it took, and what was chosen", (table,))


def _chosen(outcome: SystemResult) -> str:
    """What was chosen for each fold; of several values that were averaged, their range."""
    return "; ".join(_value(value) for value in outcome.chosen)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return show_settings(value)
    if isinstance(value, list | tuple):
        numbers = sorted(one for one in value if isinstance(one, int | float))
        if len(numbers) == len(value) > 1:
            return f"{numbers[0]:.3g} to {numbers[-1]:.3g}"
        return ", ".join(map(_value, value)) or "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
