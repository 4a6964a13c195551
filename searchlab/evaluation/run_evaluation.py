"""Evaluation of runs against judgments.

The topics that are judged and have a ranking are evaluated, in the order of the judgments. In the dialect `trec` every
number equals trec_eval's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise, repeat
from typing import Any

import numpy as np

from searchlab.array_ranges import offsets_of
from searchlab.corpus import Run
from searchlab.corpus.trec.packed_docnos import PackedDocnos, gather_groups, order_documents
from searchlab.corpus.values.conversion import make_qrels, make_rankings
from searchlab.dataframes import objects
from searchlab.errors import (
    DuplicateError,
    JudgmentWarning,
    RecordError,
    SettingError,
    SourceError,
    name_some,
    warn_caller,
)
from searchlab.evaluation.dialects import Dialect
from searchlab.evaluation.file_checks.id_mismatch import explain_mismatch
from searchlab.evaluation.file_checks.topic_match import explain_topics
from searchlab.evaluation.kernels import measure_kernels
from searchlab.evaluation.measure_families import GEOMETRIC, TOTAL
from searchlab.evaluation.measure_plan import MeasurePlan, make_plan
from searchlab.evaluation.measures import Measure, parse_measure
from searchlab.evaluation.number_text import format_count
from searchlab.evaluation.score_evaluation import round_to_float32
from searchlab.notebook_html import Cell, html_block, html_table
from searchlab.records import Judgments, Ranking
from searchlab.types import Array, Floats, Ints

# The lowest AP in a geometric mean, as in trec_eval: a topic with an AP of 0 would make the whole mean 0.
MIN_AP = 1e-5
DEFAULT_MEASURES = ("AP", "nDCG@10")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The values of a run: `values` has a row for each topic and a column for each measure.

    `missing` are judged topics that the run lacks: they are left out, or score 0 if the evaluation is `complete`.
    `unjudged` are topics of the run without judgments, which are always left out. `without_relevant` are evaluated
    topics without relevant documents; they score 0 and are counted.
    """

    name: str
    measures: tuple[str, ...]
    qids: tuple[str, ...]
    values: Floats
    dialect: Dialect
    complete: bool = False
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    without_relevant: tuple[str, ...] = ()

    def values_of(self, name: str) -> Floats:
        """The value of a measure for each topic."""
        values: Floats = self.values[:, self._column(name)]
        return values

    def mean(self, name: str) -> float:
        """The mean of a measure over topics; as in trec_eval, the total for counts, the geometric mean for GMAP."""
        measure = parse_measure(self.measures[self._column(name)])
        values = self.values_of(name)
        if measure.summary == TOTAL:
            return float(values.sum())
        if not len(values):
            return 0.0
        if measure.summary == GEOMETRIC:
            return float(np.exp(np.log(np.maximum(values, MIN_AP)).mean()))
        return float(values.mean())

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean of each measure."""
        return {name: self.mean(name) for name in self.measures}

    @property
    def n_topics(self) -> int:
        """The number of evaluated topics."""
        return len(self.qids)

    @property
    def n_missing(self) -> int:
        """The number of judged topics that the run lacks."""
        return len(self.missing)

    @property
    def n_unjudged(self) -> int:
        """The number of topics of the run without judgments."""
        return len(self.unjudged)

    def to_dataframe(self, *, per_topic: bool = False, polars: bool = False) -> Any:
        """A DataFrame of pandas, or of polars: the means in one row, or a row for each topic."""
        from searchlab.dataframes import make_dataframe

        if not per_topic:
            means = {name: [self.means[name]] for name in self.measures}
            return make_dataframe({"system": [self.name], **means}, polars=polars)
        columns = {name: self.values[:, column] for column, name in enumerate(self.measures)}
        return make_dataframe({"qid": list(self.qids)} | columns, polars=polars)

    def _repr_html_(self) -> str:
        return evaluations_html([self])

    def _column(self, name: str) -> int:
        if name in self.measures:
            return self.measures.index(name)
        wanted = parse_measure(name)
        for column, evaluated in enumerate(self.measures):
            if parse_measure(evaluated) == wanted:
                return column
        raise SettingError(f"measure {name} was not evaluated; there is: {', '.join(self.measures)}")


def evaluations_html(evaluations: Sequence[Evaluation]) -> str:
    """The means of systems that were evaluated by the same measures, for a notebook."""
    first = evaluations[0]
    rows: list[list[Cell]] = [
        [each.name, *(each.means[name] for name in first.measures), each.n_topics] for each in evaluations
    ]
    lacking = [each for each in evaluations if each.missing]
    notes = [f"{each.name}: {format_count(each.n_missing, 'judged topic')} missing" for each in lacking]
    return html_block(
        f"Means in the dialect {first.dialect.name}",
        html_table(("system", *first.measures, "topics"), rows),
        note="; ".join(notes),
    )


@dataclass(frozen=True, eq=False)
class GradedRun:
    """The rankings of a run as grades: topic q has ranked[offsets[q]:offsets[q + 1]], best first, with their scores.

    `judged` has the grades of all judged documents in the same way, in any order.
    """

    name: str
    qids: tuple[str, ...]
    scores: Floats
    ranked: Ints
    offsets: Ints
    judged: Ints
    judged_offsets: Ints
    complete: bool
    missing: tuple[str, ...]
    unjudged: tuple[str, ...]

    def evaluate(self, plan: MeasurePlan, ranked: Ints | None = None) -> Floats:
        """The values of all topics, for the order of the run or for another order of its grades."""
        ranked = self.ranked if ranked is None else ranked
        if plan.dialect.ideal == "listed":
            return plan.evaluate(ranked, self.offsets)
        return plan.evaluate(ranked, self.offsets, self.judged, self.judged_offsets)


def evaluate_run(
    qrels: Any,
    rankings: Any,
    measures: Sequence[str | Measure] | str | Measure = DEFAULT_MEASURES,
    *,
    dialect: str | Dialect = "trec",
    complete: bool = False,
    name: str | None = None,
    warn: bool = True,
) -> Evaluation:
    """Evaluate the rankings of a run against judgments, where `qrels[qid][docno]` is a grade.

    Judgments and run are anything that `make_qrels` and `make_run` take: files, dicts, DataFrames, values.

    Documents are ordered by score, whatever their order in the ranking; the dialect orders equal scores. Judged topics
    that the run lacks are left out, or score 0 if `complete` (trec_eval's -c). `name` is used in messages, by default
    the run's. If no retrieved document is judged for its topic, all values are 0, and a `JudgmentWarning` says so,
    unless `warn` is false.
    """
    plan = make_plan(measures, dialect)
    found = make_rankings(rankings)
    own_name = found.name if isinstance(found, Run) else "run"
    judgments = make_qrels(qrels)
    run = grade_run(judgments, found, dialect=plan.dialect, complete=complete, name=name or own_name)
    if warn:
        _warn_if_none_judged(run, judgments)
    return evaluate_graded_run(run, plan)


def _warn_if_none_judged(run: GradedRun, qrels: Judgments) -> None:
    """Warn if a run has documents of which none is judged for its topic: their ids are likely of two collections."""
    if not len(run.ranked) or (run.ranked > measure_kernels.UNJUDGED).any():
        return
    judged = name_some(qrels[run.qids[0]])
    found = f"{run.name}: no document is judged for its topic"
    warn_caller(f"{found} (judged are {judged}); all values are 0: are docnos the same?", JudgmentWarning)


def evaluate_graded_run(run: GradedRun, plan: MeasurePlan) -> Evaluation:
    """Evaluate a run whose grades have been looked up."""
    values = run.evaluate(plan)
    n_relevant = run.evaluate(make_plan("NumRel", replace(plan.dialect, ideal="judged")))[:, 0]
    return Evaluation(
        run.name,
        tuple(measure.name for measure in plan.measures),
        run.qids,
        values,
        plan.dialect,
        run.complete,
        run.missing,
        run.unjudged,
        tuple(run.qids[q] for q in np.flatnonzero(n_relevant == 0)),
    )


def grade_run(
    qrels: Judgments, rankings: Iterable[Ranking], *, dialect: Dialect, complete: bool = False, name: str = "run"
) -> GradedRun:
    """Look up the grade of each document of a run, and order the documents by their scores."""
    numbers: dict[str, int] = {}
    listed = rankings if isinstance(rankings, Run) else list(rankings)
    for number, qid in enumerate(listed.query_ids if isinstance(listed, Run) else [each.qid for each in listed]):
        if numbers.setdefault(qid, number) != number:
            raise DuplicateError(name, f"topic {qid} has two rankings")
    if not qrels:
        raise SettingError("there are no judgments, expected some of the topics of the run")
    if numbers.keys().isdisjoint(qrels):
        has, judged = name_some(numbers), name_some(qrels)
        by_qid = {ranking.qid: ranking for ranking in listed}
        cause = explain_topics(qrels, by_qid) or explain_mismatch(sorted(numbers), set(qrels))
        raise SourceError(name, f"shares no topic with the judgments: it has {has}, judged are {judged}{cause}")
    missing = tuple(qid for qid in qrels if qid not in numbers)
    unjudged = tuple(qid for qid in numbers if qid not in qrels)
    qids = tuple(qid for qid in qrels if complete or qid in numbers)
    chosen = [numbers.get(qid, -1) for qid in qids]
    columns = _columns_of_run(listed, chosen) if isinstance(listed, Run) else _check_rankings(listed, chosen, name)
    scores = round_to_float32(columns.scores) if dialect.float32 else columns.scores
    judged_grades = np.fromiter(chain.from_iterable(qrels[qid].values() for qid in qids), np.int64)
    judged_offsets = offsets_of([len(qrels[qid]) for qid in qids])
    ranked = _look_up_grades(columns, [qrels[qid] for qid in qids], judged_grades, judged_offsets)
    by_docno = dialect.ties == "docno"
    order = (
        order_documents(columns.docnos, scores, columns.offsets)
        if by_docno
        else measure_kernels.rank_rows(scores, columns.offsets)
    )
    return GradedRun(
        name,
        qids,
        scores if order is None else scores[order],
        ranked if order is None else ranked[order],
        columns.offsets,
        judged_grades,
        judged_offsets,
        complete,
        missing,
        unjudged,
    )


@dataclass(frozen=True, eq=False)
class _RankedColumns:
    """The rankings of some topics, one after the other."""

    docnos: Array | PackedDocnos
    scores: Floats
    offsets: Ints


def _columns_of_run(run: Run, chosen: list[int]) -> _RankedColumns:
    """The topics of a run with these numbers; -1 is one without documents. A run has been checked."""
    bounds = np.concatenate([run.group_offsets, run.group_offsets[-1:]])  # -1 is an empty topic behind the last
    rows, offsets = gather_groups(bounds, np.array(chosen, np.int64) % len(run.group_offsets))
    if len(rows) == run.n_rows and (rows[1:] > rows[:-1]).all():
        return _RankedColumns(run.docno_column, run.scores, offsets)
    return _RankedColumns(run.docno_column[rows], run.scores[rows], offsets)


def _check_rankings(rankings: list[Ranking], chosen: list[int], name: str) -> _RankedColumns:
    """The rankings with these numbers, checked; -1 is one without documents."""
    listed = [rankings[number] if number >= 0 else Ranking("", (), ()) for number in chosen]
    offsets = offsets_of([len(ranking.docnos) for ranking in listed])
    for ranking in listed:
        _check_ranking(ranking, name)
    scores = np.fromiter(chain.from_iterable(ranking.scores for ranking in listed), np.float64, int(offsets[-1]))
    _check_nan(scores, offsets, listed, name)
    return _RankedColumns(objects([docno for ranking in listed for docno in ranking.docnos]), scores, offsets)


def _look_up_grades(
    columns: _RankedColumns, judged: Sequence[Mapping[str, int]], grades: Ints, judged_offsets: Ints
) -> Ints:
    """The grade of each row, given the judgments of each topic, and all their grades one after the other."""
    docnos = columns.docnos
    if isinstance(docnos, PackedDocnos):
        packed = PackedDocnos.pack(chain.from_iterable(judged))
        rows = None if packed is None else docnos.look_up(columns.offsets, packed, judged_offsets)
        if rows is not None:
            return np.append(grades, measure_kernels.UNJUDGED)[rows]  # row -1 is the last
        docnos = objects(docnos.strings())
    found: list[int] = []
    for of_topic, (begin, end) in zip(judged, pairwise(columns.offsets.tolist()), strict=True):
        found += map(of_topic.get, docnos[begin:end].tolist(), repeat(measure_kernels.UNJUDGED))  # type: ignore[arg-type]
    return np.fromiter(found, np.int64, len(found))


def _check_ranking(ranking: Ranking, name: str) -> None:
    if len(ranking.docnos) != len(ranking.scores):
        found = f"{len(ranking.docnos)} docnos and {len(ranking.scores)} scores"
        raise RecordError(name, f"topic {ranking.qid} has {found}")
    if len(set(ranking.docnos)) < len(ranking.docnos):
        seen: set[str] = set()
        twice = next(docno for docno in ranking.docnos if docno in seen or seen.add(docno))  # type: ignore[func-returns-value]
        raise DuplicateError(name, f"document {twice} of topic {ranking.qid} occurs twice")


def _check_nan(scores: Floats, offsets: Ints, chosen: list[Ranking], name: str) -> None:
    if np.isnan(scores).any():
        row = int(np.flatnonzero(np.isnan(scores))[0])
        q = int(np.searchsorted(offsets, row, "right")) - 1
        docno = chosen[q].docnos[row - int(offsets[q])]
        raise RecordError(name, f"the score of document {docno} of topic {chosen[q].qid} is not a number (NaN)")
