"""The quality of one ranking: nDCG@10 by the judgments of the topic that has the text of the query."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from searchlab.errors import StoreError
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.judgments.current_judgments import lower_medians
from searchlab.rankers.systems import MODEL, System
from searchlab.records import Ranking, Topic
from searchlab.web.api.measuring.collection_topics import has_learnt_from
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState

MEASURE = "nDCG@10"
DEPTH = 10

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JudgedQuery:
    """A query that is the text of a topic: its set and qid, and its grades by judge, then docno.

    `criteria` are what counts as relevant, `highlight` words to mark besides those of the query.
    """

    topic_set: str
    qid: str
    text: str
    by_judge: Mapping[str, dict[str, int]]
    criteria: str = ""
    highlight: str = ""

    def terms_to_mark(self, index: OpenIndex) -> frozenset[str]:
        """The terms of the words to highlight."""
        return index.engine.parse(self.highlight).to_mark if self.highlight.strip() else frozenset()

    def grades_of(self, judge: str) -> dict[str, int]:
        """The grades that a judge gave, by docno."""
        return self.by_judge.get(judge, {})

    def measure(self, state: RequestState, system: System, docnos: Sequence[str]) -> dict[str, Any] | None:
        """nDCG@10 of a ranking, by the grades of all judges; None if no document is relevant.

        `n_judged` of the first ten documents are judged; the others count as not relevant.
        """
        grades = lower_medians(dict(self.by_judge)) if self.by_judge else {}
        if max(grades.values(), default=0) < 1:
            return None
        first = list(docnos[:DEPTH])
        ranking = Ranking(self.qid, first, [float(-rank) for rank in range(len(first))])
        evaluation = evaluate_run({self.qid: grades}, [ranking], [MEASURE], complete=True, warn=False)
        bundle = state.index.models.get(system.name.removeprefix(MODEL)) if system.kind == "model" else None
        return {
            "measure": MEASURE,
            "value": evaluation.mean(MEASURE),
            "n_judged": sum(docno in grades for docno in first),
            "n_examined": len(first),
            "learnt_from_it": bundle is not None and has_learnt_from(state.index, bundle, [Topic(self.qid, self.text)]),
        }


def find_judged_query(state: RequestState, query: str) -> JudgedQuery | None:
    """The topic with the text of a query, and its judgments; None if there is no such topic.

    Search works even if the judgments cannot be read: the pages and endpoints about judgments report that.
    """
    try:
        topic = state.judgments.find_topic(query)
        if topic is None:
            return None
        by_judge: dict[str, dict[str, int]] = {}
        for judged in state.judgments.judgments(*topic):
            if judged.grade is not None:
                by_judge.setdefault(judged.judge, {})[judged.docno] = judged.grade
        version = state.judgments.editor.topic(*topic)
        texts = (version.criteria, version.highlight) if version else ()
        return JudgedQuery(*topic, query, by_judge, *texts)
    except StoreError as error:
        log.warning("searching without judgments: %s", error)
        return None
