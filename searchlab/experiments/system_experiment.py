"""An experiment from Python: several systems on the same topics, evaluated and compared.

    table = searchlab.experiment([bm25, bm25 >> RM3(), "runs/other.run"], topics, qrels, ["AP", "nDCG@10"])
    print(table)

A system is a pipeline, a run, the file of a run, or any object with a method `run(topics)`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from searchlab.corpus import Run
from searchlab.corpus.values.conversion import make_qrels, make_run, make_topics
from searchlab.errors import SettingError, name_some, unknown_name
from searchlab.evaluation.comparison import Comparison, ComparisonTable, compare_evaluations
from searchlab.evaluation.dialects import Dialect
from searchlab.evaluation.formatting import format_comparison_table, format_table
from searchlab.evaluation.measures import Measure
from searchlab.evaluation.run_evaluation import DEFAULT_MEASURES, Evaluation, evaluate_run
from searchlab.records import Judgments, Topic
from searchlab.retrieval.composition.base_pipeline import BasePipeline
from searchlab.types import Progress, no_progress

STAGE = "systems"


@dataclass(frozen=True, eq=False)
class SystemExperiment:
    """What several systems reached on the same topics.

    `runs` and `evaluations`, with a value for each topic, are in the order of the systems and have their names.
    `comparison` has the significance of the differences from the baseline, or of all pairs; it is None if there is one
    system only.
    """

    runs: tuple[Run, ...]
    evaluations: tuple[Evaluation, ...]
    comparison: ComparisonTable | None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(evaluation.name for evaluation in self.evaluations)

    def __str__(self) -> str:
        """The means and, below them, the comparison, as aligned columns."""
        means = format_table(self.evaluations)
        return means if self.comparison is None else f"{means}\n\n{format_comparison_table(self.comparison)}"

    def __repr__(self) -> str:
        first = self.evaluations[0]
        return f"<SystemExperiment: {len(self.runs)} systems, {first.n_topics} topics, {', '.join(first.measures)}>"

    def _repr_html_(self) -> str:
        shown = self.evaluations[0] if self.comparison is None else self.comparison
        return shown._repr_html_()

    def to_dataframe(self, *, per_topic: bool = False, polars: bool = False) -> Any:
        """A DataFrame of pandas, or of polars, with a row for each system, or for each system and topic.

        Without `per_topic` a system has the mean of each measure and, if it was compared with the baseline, the
        difference from it, and the p-value, corrected if there were several pairs.
        """
        from searchlab.dataframes import make_dataframe

        return make_dataframe(self._topic_columns() if per_topic else self._mean_columns(), polars=polars)

    def to_latex(self) -> str:
        """A table for LaTeX: the means of all systems, the best in bold, marked where differences are significant."""
        from searchlab.report.measure_tables import format_comparison_latex, format_evaluation_latex

        if self.comparison is None:
            return format_evaluation_latex(self.evaluations)
        return format_comparison_latex(self.comparison)

    def _topic_columns(self) -> dict[str, Any]:
        sizes = [evaluation.n_topics for evaluation in self.evaluations]
        values = np.concatenate([evaluation.values for evaluation in self.evaluations])
        return {
            "system": np.repeat(np.array(self.names, object), sizes),
            "qid": np.array([qid for evaluation in self.evaluations for qid in evaluation.qids], object),
        } | {measure: values[:, column] for column, measure in enumerate(self.evaluations[0].measures)}

    def _mean_columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"system": list(self.names)}
        pairs = self._against_baseline()
        for measure in self.evaluations[0].measures:
            columns[measure] = [evaluation.means[measure] for evaluation in self.evaluations]
            found = [pairs.get((name, measure)) for name in self.names]
            if any(found):
                columns[f"{measure} difference"] = [math.nan if each is None else each.difference for each in found]
                columns[f"{measure} p"] = [math.nan if each is None else _p_value(each) for each in found]
        return columns

    def _against_baseline(self) -> dict[tuple[str, str], Comparison]:
        """The comparisons with the baseline, by system and measure; none if all pairs were compared."""
        comparisons = self.comparison.comparisons if self.comparison else ()
        if len({each.name_b for each in comparisons}) > 1:
            return {}
        return {(each.name_a, each.measure): each for each in comparisons}


def experiment(
    systems: Sequence[Any] | Mapping[str, Any],
    topics: Any,
    qrels: Any,
    measures: Sequence[str | Measure] | str | Measure = DEFAULT_MEASURES,
    *,
    names: Sequence[str] | None = None,
    baseline: int | str = 0,
    all_pairs: bool = False,
    k: int = 1000,
    dialect: str | Dialect = "trec",
    seed: int = 0,
    progress: Progress = no_progress,
) -> SystemExperiment:
    """Search for topics with several systems, evaluate what they find, and compare them.

    A system is a pipeline, which searches to depth k; a `Run` or anything that `make_run` takes, such as the file of
    one; or any object with a method `run(topics)`, which returns a run. Topics and judgments are anything that
    `make_topics` and `make_qrels` take. Topics that have no judgments are left out; a system that finds nothing for a
    judged topic scores 0 there. `systems` may be a dict of systems by their names.

    Each system is compared with the `baseline`, given by its position or name, or, with `all_pairs`, with each other.
    p-values are those of a randomisation test, after Holm's correction over all pairs of a measure.
    """
    wanted = make_topics(topics)
    judged = _select(make_qrels(qrels), wanted)
    if isinstance(systems, Mapping):
        if names is not None:
            raise SettingError("names are given, but the dict of systems has names: expected one of the two")
        systems, names = list(systems.values()), list(systems)
    if isinstance(systems, str | Path | Run) or not isinstance(systems, Iterable) or not list(systems):
        raise SettingError(f"systems is {systems!r}, expected a list of pipelines, runs, or files of runs")
    runs = []
    for number, system in enumerate(systems):
        progress(STAGE, number, len(systems))
        runs.append(_run(system, wanted, k))
    progress(STAGE, len(systems), len(systems))
    labels = _name_systems([_label(*each) for each in zip(systems, runs, strict=True)], names)
    reference = _find_baseline(baseline, labels)
    evaluations = [
        evaluate_run(judged, run, measures, dialect=dialect, complete=True, name=label)
        for run, label in zip(runs, labels, strict=True)
    ]
    comparison = None
    if len(runs) > 1:
        comparison = compare_evaluations(evaluations, baseline=reference, all_pairs=all_pairs, seed=seed)
    named = tuple(replace(run, name=label) for run, label in zip(runs, labels, strict=True))
    return SystemExperiment(named, tuple(evaluations), comparison)


def _run(system: Any, topics: list[Topic], k: int) -> Run:
    """The run of a system: what it finds for the topics, or the run itself."""
    if isinstance(system, BasePipeline):
        return system.run(topics, k)
    name = getattr(system, "name", None) or getattr(system, "label", None) or type(system).__name__
    if callable(getattr(system, "run", None)):
        return make_run(system.run(topics), name=str(name))
    return make_run(system)


def _label(system: Any, run: Run) -> str:
    """The name of a system in tables: a pipeline as it could be written, otherwise the name of the run."""
    return system.label if isinstance(system, BasePipeline) else run.name


def _select(qrels: Judgments, topics: list[Topic]) -> Judgments:
    """The judgments of these topics."""
    chosen = {topic.qid: qrels[topic.qid] for topic in topics if topic.qid in qrels}
    if not chosen:
        found = name_some(topic.qid for topic in topics) or "none"
        raise SettingError(f"no topic is judged: topics are {found}, judged are {name_some(qrels) or 'none'}")
    return chosen


def _name_systems(labels: list[str], names: Sequence[str] | None) -> list[str]:
    """The given names, or the labels, of which the second equal one gets a number."""
    if names is None:
        counts = [labels[:number].count(label) + 1 for number, label in enumerate(labels)]
        return [label if n == 1 else f"{label} ({n})" for label, n in zip(labels, counts, strict=True)]
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise SettingError(f"names is {names!r}, expected a list of names")
    if len(names) != len(labels):
        raise SettingError(f"found {len(names)} names for {len(labels)} systems, expected one for each")
    return list(names)


def _find_baseline(baseline: int | str, labels: list[str]) -> str:
    if isinstance(baseline, str):
        if baseline not in labels:
            raise unknown_name("baseline", baseline, labels)
        return baseline
    if isinstance(baseline, bool) or not isinstance(baseline, int) or not 0 <= baseline < len(labels):
        raise SettingError(f"baseline is {baseline!r}, expected a name, or a position from 0 to {len(labels) - 1}")
    return labels[baseline]


def _p_value(each: Comparison) -> float:
    return each.p if each.p_corrected is None else each.p_corrected
