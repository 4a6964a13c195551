"""Whether the topics of a run are those of the judgments: the likely cause if their documents do not fit.

Qids may be equal and yet mean different topics. Cranfield's judgments number the topics by their order in the file, 1
to 225, while the file itself numbers them 1 to 365, with gaps. Such a run evaluates to nearly 0 without any error. The
evidence is in the documents: under the right numbering, relevant documents are among the best of a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from searchlab.evaluation.file_checks.id_mismatch import explain_mismatch, find_change, id_number
from searchlab.records import Judgments, Ranking

# The number of best documents of a topic that are looked at.
DEPTH = 10
# Other qids are believed if they find this many times as many relevant documents as the qids of the run, ...
MIN_RATIO = 3
# ... in at least this many topics, and this share of the topics that they compare.
MIN_TOPICS = 3
MIN_TOPIC_SHARE = 0.3

ORDINAL_REMEDY = "--topic-ids ordinal numbers topics by their order"


@dataclass(frozen=True, slots=True)
class _Found:
    """Relevant documents among the best of a run, the topics that have one, and the topics that were compared."""

    n_relevant: int = 0
    n_topics: int = 0
    n_compared: int = 0

    def is_convincing(self, before: _Found) -> bool:
        """Whether this is far more than what was found `before`."""
        enough = self.n_topics >= max(MIN_TOPICS, MIN_TOPIC_SHARE * self.n_compared)
        return enough and self.n_relevant >= MIN_RATIO * max(before.n_relevant, 1)


@dataclass(frozen=True, slots=True)
class _Suspect:
    """A possible cause, the qids that topics of a run have in the judgments if it is true, and what helps."""

    cause: str
    qids: Mapping[str, str]
    remedy: str = ""

    def describe(self, found: _Found, before: _Found) -> str:
        """The cause with an example and the evidence, as the end of a sentence."""
        changed = [(here, there) for here, there in self.qids.items() if here != there]
        # The zeros of 001 are a poor example of another order.
        telling = [pair for pair in changed if id_number(pair[0]) != id_number(pair[1])] or changed
        example = f" ({telling[0][0]} here, {telling[0][1]} there)" if telling else ""
        evidence = f"then {found.n_relevant:,} relevant documents are among the best {DEPTH}, now {before.n_relevant:,}"
        return f"; likely cause: {self.cause}{example}: {evidence}{f'; {self.remedy}' if self.remedy else ''}"


def explain_topics(qrels: Judgments, rankings: Mapping[str, Ranking]) -> str:
    """The likely cause, as the end of a sentence, if other qids of the topics fit far better; otherwise empty."""
    best = {qid: _best_docnos(ranking) for qid, ranking in rankings.items()}
    relevant = {qid: {docno for docno, grade in judged.items() if grade > 0} for qid, judged in qrels.items()}
    before = _count_found(best, relevant, {qid: qid for qid in best})
    likely, most = "", _Found()
    for suspect in _suspects(list(rankings), list(qrels)):
        found = _count_found(best, relevant, suspect.qids)
        if found.is_convincing(before) and found.n_relevant > most.n_relevant:
            likely, most = suspect.describe(found, before), found
    found = _count_found(best, _swap_columns(relevant), {qid: qid for qid in best})
    if found.is_convincing(before) and found.n_relevant > most.n_relevant:
        likely = _Suspect("the columns of qid and docno are swapped in the judgments", {}).describe(found, before)
    return likely


def explain_order(written: Sequence[str], others: Sequence[str]) -> str:
    """The likely cause if the qids of another file are the places of topics, given the qids of topics in their order.

    The numbers of the topics have gaps, and those of the other file are 1 to the number of topics.
    """
    known = [number for qid in written if (number := id_number(qid)) is not None]
    numbers = [number for qid in others if (number := id_number(qid)) is not None]
    if len(known) < len(written) or len(numbers) < len(others) or not numbers or not known:
        return ""
    in_order = known == sorted(set(known)) and known[-1] > len(known)
    if not in_order or min(numbers) < 1 or max(numbers) > len(known) or set(numbers) <= set(known):
        return ""
    gap = next(order for order, number in enumerate(known, start=1) if order != number)
    example = f"topic {written[gap - 1]} is number {gap} of {len(known):,}"
    return f"; likely cause: these are numbers by the order of the topics ({example}); {ORDINAL_REMEDY}"


def explain_documents(qrels: Judgments, rankings: Mapping[str, Ranking]) -> str:
    """The likely cause if no retrieved document is judged, as the end of a sentence; empty if there is none."""
    judged = {docno for grades in qrels.values() for docno in grades}
    retrieved = {docno for ranking in rankings.values() for docno in ranking.docnos}
    return explain_mismatch(sorted(retrieved - judged), judged - retrieved)


def _best_docnos(ranking: Ranking) -> list[str]:
    pairs = zip(ranking.scores, ranking.docnos, strict=False)
    return [docno for _, docno in nlargest(DEPTH, pairs, key=lambda pair: pair[0])]


def _count_found(
    best: Mapping[str, Sequence[str]], relevant: Mapping[str, set[str]], qids: Mapping[str, str]
) -> _Found:
    """What is found if each topic of a run has its qid in `qids`; topics without one are left out."""
    found = [
        len(relevant[qids[qid]].intersection(docnos))
        for qid, docnos in best.items()
        if qid in qids and qids[qid] in relevant
    ]
    return _Found(sum(found), sum(map(bool, found)), len(found))


def _swap_columns(relevant: Mapping[str, set[str]]) -> dict[str, set[str]]:
    swapped: dict[str, set[str]] = {}
    for qid, docnos in relevant.items():
        for docno in docnos:
            swapped.setdefault(docno, set()).add(qid)
    return swapped


def _suspects(run: Sequence[str], judged: Sequence[str]) -> Iterator[_Suspect]:
    """What may be wrong with the qids of a run, given those of the judgments, both in the order of their files."""
    known = set(judged)
    unknown, missing = [qid for qid in run if qid not in known], known.difference(run)
    cause, renamed = find_change(sorted(unknown), missing)
    yield _Suspect(cause, {qid: qid for qid in run} | renamed)
    by_number = {number: qid for qid in reversed(judged) if (number := id_number(qid)) is not None}
    numbers = {qid: number for qid in run if (number := id_number(qid)) is not None}
    for first, other in ((1, 0), (0, 1)):
        shifted = {qid: by_number[n + first - other] for qid, n in numbers.items() if n + first - other in by_number}
        yield _Suspect(f"the judgments number topics from {first}, the run from {other}", shifted)
    by_order = "the judgments number topics by their order"
    for in_order in (run, sorted(numbers, key=numbers.__getitem__)):
        orders = {qid: by_number[order] for order, qid in enumerate(in_order, start=1) if order in by_number}
        yield _Suspect(by_order, orders, ORDINAL_REMEDY)
    yield _Suspect("the run numbers topics in the order of the judgments", dict(zip(run, judged, strict=False)))
