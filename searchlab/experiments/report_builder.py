"""The report of an experiment.

It starts with one sentence that sums up the result. Sections follow: the systems and the method; the measures, with
marks where the difference from the baseline is significant; figures; the topics that the best ranker helped and hurt
most, with both rankings side by side; the largest weights of the models; times and chosen settings.
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
from searchlab.report.measure_tables import BETTER, WORSE
from searchlab.report.plots import bars, curves, differences, precision_recall
from searchlab.retrieval.highlight.snippets import make_snippet
from searchlab.training.advice import advise
from searchlab.training.cross_validation import MIN_VERDICT_QUERIES
from searchlab.types import Floats

# Below this p-value a difference is called "hardly chance", and up to .05 "unlikely to be chance".
HARDLY_CHANCE = 0.01
CUTOFFS = tuple(range(1, 21))
RECALLS = tuple(round(0.1 * step, 1) for step in range(11))
# The numbers of topics helped and hurt, of documents of each ranking, and of weights of each model that are shown.
MAX_TOPICS, MAX_DOCUMENTS, MAX_WEIGHTS = 2, 5, 10


def build_report(results: ExperimentResults, facts: Mapping[str, str]) -> Report:
    """The report of an experiment; `facts` are what is needed to reproduce it."""
    sections = [_method_section(results), _measure_section(results), _figure_section(results)]
    if results.best is not None:
        sections += [_topic_section(results, results.best)]
    if any(outcome.bundle for outcome in results.outcomes):
        sections += [_model_section(results), _time_section(results)]
    return Report(results.plan.title, lead(results), tuple(sections), dict(facts))


def lead(results: ExperimentResults) -> str:
    """The result in one sentence; where the best rival of a ranker is not the baseline, the verdict on it follows."""
    return f"{_compare_with_baseline(results)}{_verdict(results)}"


def _verdict(results: ExperimentResults) -> str:
    """The advice on the best ranker, as training gives it; empty if the baseline is the best of its rivals."""
    result = None if results.best is None else results.trial(results.best)
    if result is None or result.best.name_b == results.plan.baseline:
        return ""
    return f" Of the systems that learn nothing, {result.best.name_b} is the best here: {advise(result).sentence}"


def _compare_with_baseline(results: ExperimentResults) -> str:
    plan = results.plan
    n_topics = len(results.inputs.topics)
    if results.best is None:
        mean = format_value(results.of(plan.baseline).mean(plan.measure))
        return f"{plan.baseline} reaches {plan.measure} {mean} on {_count_topics(n_topics)}; nothing else was tried."
    comparisons = [each for each in results.comparisons if each.measure == plan.measure]
    first = max(comparisons, key=lambda each: each.mean_a)
    if n_topics < MIN_VERDICT_QUERIES:
        return f"Too few topics to say which system is best: {_name_and_numbers(first)}."
    better = [each for each in comparisons if each.significant and each.difference > 0]
    if not better:
        worse = [each.name_a for each in comparisons if each.significant and each.difference < 0]
        hurt = f" {_enumerate_names(worse)} {'is' if len(worse) == 1 else 'are'} worse." if worse else ""
        if first.difference <= TIE_TOLERANCE:
            return f"Nothing is better than {plan.baseline} here: the nearest is {_name_and_numbers(first)}.{hurt}"
        return (
            f"Nothing is shown to be better than {plan.baseline}: the best is {_name_and_numbers(first)}, "
            f"which may be chance.{hurt}"
        )
    top = max(better, key=lambda each: each.mean_a)
    others = [each.name_a for each in better if each is not top]
    certainty = "hardly chance" if _p(top) < HARDLY_CHANCE else "unlikely to be chance"
    also = ""
    if others:
        also = f" {_enumerate_names(others)} {'is' if len(others) == 1 else 'are'} better than {plan.baseline}, too."
    return f"{top.name_a} ranks better than {plan.baseline}, and that is {certainty}: {_numbers(top)}.{also}"


def _name_and_numbers(each: Comparison) -> str:
    return f"{each.name_a} with {_numbers(each)}"


def _numbers(each: Comparison) -> str:
    return (
        f"{each.measure} {format_value(each.mean_a)} against {format_value(each.mean_b)} "
        f"on {_count_topics(each.n_topics)} ({each.wins} better, {each.losses} worse, {format_p_value(_p(each))})"
    )


def _p(each: Comparison) -> float:
    return each.p if each.p_corrected is None else each.p_corrected


def _count_topics(n: int) -> str:
    return f"{n} topic{'s' * (n != 1)}"


def _enumerate_names(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]


def _method_section(results: ExperimentResults) -> Section:
    plan, inputs = results.plan, results.inputs
    snapshot = inputs.engine.snapshot
    skipped = f" {inputs.n_skipped} more without a relevant document were left out." if inputs.n_skipped else ""
    how = "as listed in the plan" if plan.folds.queries else f"at random (seed {plan.folds.seed})"
    texts = [
        f"{len(results.outcomes)} systems ranked {snapshot.n_docs:,} documents of the index {snapshot.folder.name} for "
        f"{_count_topics(len(inputs.topics))}.{skipped}",
        f"Topics were assigned to {len(inputs.folds)} folds {how}. Everything that a system learnt or chose for the "
        f"topics of a fold, it learnt and chose on the other folds alone, by {plan.measure}.",
    ]
    if plan.rankers:
        texts.append(f"Rankers re-rank {plan.first_stage.label}; the rest of the first search follows.")
    texts.append(f"Measures follow the {make_dialect(plan.dialect).describe()}.")
    rows = tuple((outcome.system.name, outcome.system.describe()) for outcome in results.outcomes)
    table = Table("systems", "The systems.", ("system", "description"), rows)
    return Section("Systems and method", (*map(Paragraph, texts), table))


def _measure_section(results: ExperimentResults) -> Section:
    plan = results.plan
    rows: list[tuple[Cell, ...]] = []
    marks = {}
    for row, evaluation in enumerate(results.evaluations):
        rows.append((evaluation.name, *(evaluation.mean(measure) for measure in plan.measures)))
        for column, measure in enumerate(plan.measures, start=1):
            compared = results.against_baseline(evaluation.name, measure)
            if compared is not None and compared.significant:
                marks[row, column] = BETTER if compared.difference > 0 else WORSE
    note = (
        f"{BETTER} significantly better, {WORSE} significantly worse than {plan.baseline}: randomisation test, p < .05 "
        f"after Holm's correction over the systems."
    )
    caption = f"Means over {_count_topics(len(results.inputs.topics))}, each held out from training."
    table = Table("measures", caption, ("system", *plan.measures), tuple(rows), best=True, marks=marks, note=note)
    sentences = [each.sentence() for each in results.comparisons if each.measure == plan.measure]
    return Section("Effectiveness", (table, *(Paragraph(f"{sentence}.") for sentence in sentences)))


def _figure_section(results: ExperimentResults) -> Section:
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
        compared = results.against_baseline(name, plan.measure)
        if compared is not None:
            values = results.of(name).values_of(plan.measure) - results.of(plan.baseline).values_of(plan.measure)
            blocks.append(
                Figure(
                    f"topics-{names[name]}",
                    f"{name} against {plan.baseline}, topic by topic.",
                    f"Bars: {compared.wins} topics better, {compared.losses} worse, {compared.ties} equal.",
                    differences(values, ylabel=f"difference in {plan.measure}", labels=results.of(name).qids),
                )
            )
    return Section("Figures", tuple(blocks))


def _interval(values: Floats, seed: int) -> tuple[float, float, float]:
    interval = bootstrap_interval(values, seed=seed)
    return interval.mean, interval.low, interval.high


def _means(means: Mapping[str, float]) -> str:
    return ", ".join(f"{measure} {format_value(value)}" for measure, value in means.items())


def _ends(lines: Mapping[str, Sequence[float]]) -> str:
    return "; ".join(f"{name} from {format_value(ys[0])} to {format_value(ys[-1])}" for name, ys in lines.items())


def _topic_section(results: ExperimentResults, best: SystemResult) -> Section:
    """The topics that the best ranker helped and hurt most, with both rankings."""
    plan, name = results.plan, best.system.name
    after, before = (
        results.of(name).values_of(plan.measure),
        results.of(plan.baseline).values_of(plan.measure),
    )
    changes = after - before
    order = np.argsort(-changes, kind="stable").tolist()
    helped = [number for number in order if changes[number] > TIE_TOLERANCE][:MAX_TOPICS]
    hurt = [number for number in reversed(order) if changes[number] < -TIE_TOLERANCE][:MAX_TOPICS]
    blocks: list[Block] = []
    by_qid = {topic.qid: topic for topic in results.inputs.topics}
    for word, numbers in (("helped", helped), ("hurt", hurt)):
        if not numbers:
            blocks.append(Paragraph(f"{name} {word} no topic."))
        for number in numbers:
            topic = by_qid[results.of(name).qids[number]]
            change = f"{plan.measure} {format_value(float(before[number]))} → {format_value(float(after[number]))}"
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
    engine = results.inputs.engine
    terms = {variant for term in engine.parse(topic.text).terms for variant in term.single_terms}
    ranks = {docno: rank for rank, docno in enumerate(other.docnos, start=1)}
    entries = []
    for rank, docno in enumerate(shown.docnos[:MAX_DOCUMENTS], start=1):
        document = engine.document(docno)
        snippet = make_snippet(document.body, terms, engine.snapshot.analyzer.for_document(document)).text
        grade = results.inputs.qrels[topic.qid].get(docno)
        entries.append(RankedDocument(rank, docno, document.title, snippet, grade, ranks.get(docno)))
    return tuple(entries)


def _file_names(results: ExperimentResults) -> dict[str, str]:
    """A file name for each system; all are numbered if two would be the same."""
    names = {outcome.system.name: slugify(outcome.system.name) for outcome in results.outcomes}
    if len(set(names.values())) == len(names):
        return names
    return {name: f"{number}-{file}" for number, (name, file) in enumerate(names.items(), start=1)}


def _model_section(results: ExperimentResults) -> Section:
    names = _file_names(results)
    blocks: list[Block] = []
    for outcome in results.outcomes:
        if outcome.bundle is not None:
            name = outcome.system.name
            rows = tuple((share.label, share.amount) for share in outcome.bundle.influences()[:MAX_WEIGHTS])
            caption = (
                f"{name}, trained on all topics: its {len(rows)} largest weights (models/{outcome.system.slug}.json)."
            )
            blocks.append(Table(f"weights-{names[name]}", caption, ("feature", "weight"), rows))
    return Section("Largest weights of the models", tuple(blocks))


def _time_section(results: ExperimentResults) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for outcome in results.outcomes:
        learns = outcome.system.learns
        rows.append(
            (outcome.system.name, "training and tuning" if learns else "searching", outcome.seconds, _chosen(outcome))
        )
    caption = "Seconds (rankers: mean per fold; scorers: all topics), and the settings chosen for each fold."
    table = Table("times", caption, ("system", "work", "seconds", "chosen, fold by fold"), tuple(rows), digits=2)
    return Section("Times and chosen settings", (table,))


def _chosen(outcome: SystemResult) -> str:
    """The settings chosen for each fold; averaged values are shown as a range."""
    return "; ".join(_value(value) for value in outcome.chosen)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return show_settings(value)
    if isinstance(value, list | tuple):
        numbers = sorted(item for item in value if isinstance(item, int | float))
        if len(numbers) == len(value) > 1:
            return f"{numbers[0]:.3g} to {numbers[-1]:.3g}"
        return ", ".join(map(_value, value)) or "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
