"""Doubts about a run that finds next to nothing: whether its topics and documents are those of the judgments."""

from __future__ import annotations

from collections.abc import Iterable

from searchlab.corpus import Run
from searchlab.errors import name_some
from searchlab.evaluation.file_checks.id_mismatch import explain_mismatch
from searchlab.evaluation.file_checks.topic_match import DEPTH, explain_documents, explain_topics
from searchlab.evaluation.kernels.measure_kernels import UNJUDGED
from searchlab.evaluation.measure_plan import make_plan
from searchlab.evaluation.run_evaluation import GradedRun
from searchlab.records import Judgments, Ranking

# A run whose P@10 is at least this is not doubted if its topics are those of the judgments.
MIN_PRECISION = 0.1


def find_doubt(qrels: Judgments, rankings: Iterable[Ranking], run: GradedRun) -> str:
    """What is doubtful about a run, with the likely cause; empty if there is no sign that ids do not fit."""
    precision = run.evaluate(make_plan(f"P@{DEPTH}", "trec"))
    if float(precision.mean()) >= MIN_PRECISION and not run.missing and not run.unjudged:
        return ""
    # A run is in the order of its scores: its best documents are enough, and not all become strings.
    best = rankings.first_ranks(DEPTH) if isinstance(rankings, Run) else rankings
    by_qid = {ranking.qid: ranking for ranking in best}
    if len(run.ranked) and not (run.ranked > UNJUDGED).any():
        retrieved, judged = next(iter(rankings)).docnos, qrels[run.qids[0]]
        every = {ranking.qid: ranking for ranking in rankings}
        cause = explain_topics(qrels, by_qid) or explain_documents(qrels, every)
        found = f"it has {name_some(retrieved)}, judged are {name_some(judged)}"
        return f"no document is judged for its topic: {found}{cause}; all values are 0"
    cause = explain_topics(qrels, by_qid)
    return f"its topics do not fit those of the judgments{cause}" if cause else ""


def explain_gap(run: GradedRun) -> str:
    """The likely cause if topics that are not judged are spelt otherwise in the judgments; empty if there is none."""
    return explain_mismatch(run.unjudged, run.missing)
