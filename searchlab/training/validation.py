"""Validation measures: one number per query by which models and settings are chosen.

A measure is computed by the rules of a dialect. A LETOR file holds all judged documents; a table of search candidates
does not, so there the ideal ranking and the number of relevant documents come from the judgments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from searchlab.errors import SettingError
from searchlab.evaluation.kernels.measure_kernels import UNJUDGED, rank_rows
from searchlab.evaluation.measure_plan import MeasurePlan, make_plan
from searchlab.evaluation.measures import parse_measure
from searchlab.evaluation.score_evaluation import round_to_float32
from searchlab.features.feature_table import FeatureTable
from searchlab.records import Judgments
from searchlab.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class ValidationMeasure:
    """A measure and its dialect; `qrels` are needed if documents that are not in a table are judged too."""

    measure: str = "AP"
    dialect: str = "letor3"
    qrels: Judgments | None = None
    _cache: WeakKeyDictionary[FeatureTable, _TableGrades] = field(default_factory=WeakKeyDictionary, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled without what is cached, which belongs to tables of this process."""
        return ValidationMeasure, (self.measure, self.dialect, self.qrels)

    def __post_init__(self) -> None:
        parse_measure(self.measure)
        make_plan([self.measure], self.dialect)

    @property
    def name(self) -> str:
        """The measure by its full name."""
        return str(parse_measure(self.measure))

    def values(self, table: FeatureTable, scores: Floats, measures: Sequence[str] | None = None) -> Floats:
        """A row for each query of the table, a column for each of `measures`, by default this measure alone."""
        plan = make_plan([self.measure] if measures is None else list(measures), self.dialect)
        return self._grades_of(table, plan).evaluate(scores, plan)

    def per_query(self, table: FeatureTable, scores: Floats) -> Floats:
        """The value of this measure for each query."""
        values: Floats = self.values(table, scores)[:, 0]
        return values

    def top_grades(self, table: FeatureTable, scores: Floats, k: int) -> dict[str, tuple[int, ...]]:
        """The grades of the k best documents of each query, in the order in which they are measured."""
        plan = make_plan([self.measure], self.dialect)
        ranked = self._grades_of(table, plan).rank(scores, plan).tolist()
        return {qid: tuple(ranked[rows][:k]) for qid, rows in table.queries()}

    def _grades_of(self, table: FeatureTable, plan: MeasurePlan) -> _TableGrades:
        if table not in self._cache:
            self._cache[table] = _TableGrades.of(table, self.qrels, plan)
        return self._cache[table]


@dataclass(frozen=True, eq=False)
class _TableGrades:
    """What all scores of a table share: the order that breaks ties, and the grades of each query."""

    order: Ints
    grades: Ints
    offsets: Ints
    judged: Ints | None
    judged_offsets: Ints | None

    @classmethod
    def of(cls, table: FeatureTable, qrels: Judgments | None, plan: MeasurePlan) -> _TableGrades:
        if table.grades is None or table.grades.dtype.kind != "i":
            found = "has no grades" if table.grades is None else "has grades that are not whole numbers"
            raise SettingError(f"the validation table {found}, expected a whole number for each row")
        order = np.arange(table.n_rows)
        if plan.dialect.ties == "docno":
            names = np.array([docno.encode() for docno in table.docnos.tolist()], dtype=object)
            for _, rows in table.queries():
                order[rows] = rows.start + np.argsort(names[rows], kind="stable")[::-1]
        if qrels is None:
            return cls(order, table.grades[order], table.group_offsets, None, None)
        # As in a run, a document without a judgment is unjudged, even if training gave it a grade.
        graded = [qrels.get(qid, {}).get(docno, UNJUDGED) for qid, docno in zip(table.qids, table.docnos, strict=True)]
        grades = np.array(graded, dtype=np.int64)
        of_queries = [list(qrels.get(qid, {}).values()) for qid in table.query_ids]
        offsets = np.concatenate([[0], np.cumsum([len(judgments) for judgments in of_queries])]).astype(np.int64)
        judged = np.array([grade for judgments in of_queries for grade in judgments], dtype=np.int64)
        return cls(order, grades[order], table.group_offsets, judged, offsets)

    def rank(self, scores: Floats, plan: MeasurePlan) -> Ints:
        """The grades of each query's documents, best first."""
        ordered = scores[self.order]
        if plan.dialect.float32:
            ordered = round_to_float32(ordered)
        ranked: Ints = self.grades[rank_rows(ordered, self.offsets)]
        return ranked

    def evaluate(self, scores: Floats, plan: MeasurePlan) -> Floats:
        """A row for each query, a column for each measure of the plan."""
        ranked = self.rank(scores, plan)
        if self.judged is None or plan.dialect.ideal == "listed":
            return plan.evaluate(ranked, self.offsets)
        return plan.evaluate(ranked, self.offsets, self.judged, self.judged_offsets)
