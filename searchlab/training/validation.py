"""How good are scores for the rows of a table?

Choosing between models needs one number for each query: a measure, by the rules of a dialect. For a LETOR file all that
is judged is in the table. For candidates of a search it is not: there the ideal ranking and the number of relevant
documents come from the judgments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from searchlab.errors import SettingError
from searchlab.evaluation.kernels.measure_kernels import UNJUDGED, rank_rows
from searchlab.evaluation.measure_plan import Plan, make_plan
from searchlab.evaluation.measures import parse_measure
from searchlab.evaluation.score_evaluation import round_scores
from searchlab.features.feature_table import FeatureTable
from searchlab.records import Judgments
from searchlab.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class ValidationMeasure:
    """A measure and its rules; `qrels` if documents beyond the rows of a table are judged."""

    measure: str = "AP"
    dialect: str = "letor3"
    qrels: Judgments | None = None
    _known: WeakKeyDictionary[FeatureTable, _Known] = field(default_factory=WeakKeyDictionary, repr=False)

    def __post_init__(self) -> None:
        make_plan([self.measure], self.dialect)

    @property
    def name(self) -> str:
        """The measure by its full name."""
        return str(parse_measure(self.measure))

    def values(self, table: FeatureTable, scores: Floats, measures: Sequence[str] | None = None) -> Floats:
        """A row for each query of the table, a column for each measure; only this judge's own if none are given."""
        plan = make_plan([self.measure] if measures is None else list(measures), self.dialect)
        if table not in self._known:
            self._known[table] = _Known.of(table, self.qrels, plan)
        return self._known[table].evaluate(scores, plan)

    def per_query(self, table: FeatureTable, scores: Floats) -> Floats:
        """This judge's measure of each query."""
        values: Floats = self.values(table, scores)[:, 0]
        return values


@dataclass(frozen=True, eq=False)
class _Known:
    """What is the same for all scores of a table: the order that ties fall back to, and all grades of each query."""

    order: Ints
    grades: Ints
    offsets: Ints
    judged: Ints | None
    judged_offsets: Ints | None

    @classmethod
    def of(cls, table: FeatureTable, qrels: Judgments | None, plan: Plan) -> _Known:
        if table.grades is None or table.grades.dtype.kind != "i":
            found = "has no grades" if table.grades is None else "has grades that are not whole numbers"
            raise SettingError(f"a table to choose by {found}, expected a whole number for each row")
        order = np.arange(table.n_rows)
        if plan.dialect.ties == "docno":
            names = np.array([docno.encode() for docno in table.docnos.tolist()], dtype=object)
            for _, rows in table.queries():
                order[rows] = rows.start + np.argsort(names[rows], kind="stable")[::-1]
        if qrels is None:
            return cls(order, table.grades[order], table.group_offsets, None, None)
        # As in a run: what the judgments do not name is not judged, whatever grade it was given to train with.
        graded = [qrels.get(qid, {}).get(docno, UNJUDGED) for qid, docno in zip(table.qids, table.docnos, strict=True)]
        grades = np.array(graded, dtype=np.int64)
        own = [list(qrels.get(qid, {}).values()) for qid in table.query_ids]
        offsets = np.concatenate([[0], np.cumsum([len(grades) for grades in own])]).astype(np.int64)
        judged = np.array([grade for grades in own for grade in grades], dtype=np.int64)
        return cls(order, grades[order], table.group_offsets, judged, offsets)

    def evaluate(self, scores: Floats, plan: Plan) -> Floats:
        ordered = scores[self.order]
        if plan.dialect.single:
            ordered = round_scores(ordered)
        ranked = self.grades[rank_rows(ordered, self.offsets)]
        if self.judged is None or plan.dialect.ideal == "listed":
            return plan.evaluate(ranked, self.offsets)
        return plan.evaluate(ranked, self.offsets, self.judged, self.judged_offsets)
