"""Comparison of two systems on one query: which documents moved, and why.

A document that ranks higher on the right than on the left has overtaken others; one that ranks lower has been
overtaken. The reason is given against the best document that it has overtaken, or that has overtaken it: the parts of
the right system's scores that favour the upper of the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from searchlab.errors import SettingError
from searchlab.evaluation.number_text import format_difference
from searchlab.rankers.explanation import compare_explanations
from searchlab.rankers.systems import System
from searchlab.retrieval.results import Explanation
from searchlab.web.api.measuring.query_measure import find_judged_query
from searchlab.web.api.parameters import SYSTEM, Parameter
from searchlab.web.api.search.explain import difference_record, explanations_by_docno, label_words
from searchlab.web.api.search.search import check_query, result_page
from searchlab.web.http_errors import HttpError
from searchlab.web.state.request_state import RequestState

# Documents are looked up on the other side down to this rank.
COMPARED_DEPTH = 100
MAX_EXPLAINED_MOVES = 10
MAX_REASONS = 3

LEFT = Parameter("left", "string", SYSTEM.description, default="bm25", max_length=SYSTEM.max_length)
RIGHT = Parameter("right", "string", SYSTEM.description, default="bm25+rm3", max_length=SYSTEM.max_length)


def compare_systems(
    state: RequestState, *, q: str, left: str, right: str, k: int, filter: list[str], judge: str = ""
) -> dict[str, Any]:
    """The rankings of two systems for one query, side by side, with the grades that this judge gave."""
    index = state.index
    require_different(left, right)
    systems = [index.system(left), index.system(right)]
    depth = max(COMPARED_DEPTH, k)
    hits = [system.search(check_query(q, state.limits), k=depth, filters=filter) for system in systems]
    judged = find_judged_query(state, q)
    sides = [
        result_page(index, system, found, q, k, 1, filter)
        | {
            "seconds": found.seconds,
            "quality": None if judged is None or filter else judged.measure(state, system, found.docnos),
        }
        for system, found in zip(systems, hits, strict=True)
    ]
    if judged is not None and judge:
        grades = judged.grades_of(judge)
        for hit in (hit for side in sides for hit in side["hits"]):
            hit["grade"] = grades.get(hit["docno"])
    ranks = [{docno: rank for rank, docno in enumerate(found.docnos, start=1)} for found in hits]
    shown = dict.fromkeys([*hits[0].docnos[:k], *hits[1].docnos[:k]])
    pairs = [{"docno": docno, "left": ranks[0].get(docno), "right": ranks[1].get(docno)} for docno in shown]
    titles = {hit["docno"]: hit["title"] for side in sides for hit in side["hits"]}
    complete = (len(hits[0]) < depth, len(hits[1]) < depth)
    in_words = label_words(index, q)
    comparison = _Comparison(systems[1], q, filter, pairs, hits[1].docnos[:k], titles, depth, complete, in_words)
    return {
        "index": index.name,
        "query": q,
        "filters": filter,
        "k": k,
        "depth": depth,
        "left": sides[0],
        "right": sides[1],
        "pairs": pairs,
        "overlap": len(set(hits[0].docnos[:k]) & set(hits[1].docnos[:k])),
        "moves": comparison.moves(),
    }


def require_different(left: str, right: str) -> None:
    """HTTP error 400 if two systems to compare are the same."""
    if left == right:
        raise HttpError(400, f"left and right are both {left[:60]!r}, expected two different systems")


@dataclass(frozen=True)
class _Comparison:
    """The ranks of all documents shown on either side; `shown` are those on the right, in their order.

    Where a side is `complete`, a document without a rank was not found at all.
    """

    right: System
    query: str
    filters: list[str]
    pairs: list[dict[str, Any]]
    shown: list[str]
    titles: dict[str, str]
    depth: int
    complete: tuple[bool, bool]
    in_words: Callable[[str], str]

    def moves(self) -> list[dict[str, Any]]:
        """The documents that moved, with reasons; the largest moves near the top come first."""
        missing = self.depth + 1
        moved = [pair for pair in self.pairs if pair["left"] != pair["right"]]
        moved.sort(key=lambda pair: -abs(1 / (pair["left"] or missing) - 1 / (pair["right"] or missing)))
        moved = moved[:MAX_EXPLAINED_MOVES]
        left_ranks = {pair["docno"]: pair["left"] or missing for pair in self.pairs}
        others = {pair["docno"]: self._passed(pair, left_ranks) for pair in moved}
        docnos = list(dict.fromkeys(docno for pair in others.items() for docno in pair if docno is not None))
        explanations = self._explanations(docnos)
        return [self._move(pair, left_ranks[pair["docno"]], others[pair["docno"]], explanations) for pair in moved]

    def _move(
        self, pair: dict[str, Any], left_rank: int, other: str | None, explanations: dict[str, Explanation]
    ) -> dict[str, Any]:
        docno = pair["docno"]
        rises = (pair["right"] or self.depth + 1) < left_rank
        reasons: list[dict[str, Any]] = []
        if other in explanations and docno in explanations:
            upper, lower = (docno, other) if rises else (other, docno)
            differences = compare_explanations(explanations[upper], explanations[lower])
            reasons = [difference_record(each, self.in_words) for each in differences if each.amount > 0][:MAX_REASONS]
        passed = None if other is None else {"docno": other, "title": self.titles[other]}
        return {
            "docno": docno,
            "title": self.titles[docno],
            "from": pair["left"],
            "to": pair["right"],
            "overtook": passed if rises else None,
            "overtaken_by": None if rises else passed,
            "why": reasons,
            "sentence": self._sentence(pair, passed, reasons, rises),
        }

    def _passed(self, pair: dict[str, Any], left_ranks: dict[str, int]) -> str | None:
        """The best document that this one has overtaken on the right, if it rose, or that overtook it, if it fell."""
        left, right = left_ranks[pair["docno"]], pair["right"]
        if right is not None and right < left:
            overtaken = [docno for docno in self.shown[right:] if left_ranks[docno] < left]
            return min(overtaken, key=left_ranks.__getitem__, default=None)
        above = self.shown if right is None else self.shown[: right - 1]
        return next((docno for docno in above if left_ranks[docno] > left), None)

    def _explanations(self, docnos: list[str]) -> dict[str, Explanation]:
        """The right system's explanations of the documents that it can explain."""
        query = self.right.parse(self.query)
        try:
            return explanations_by_docno(self.right, query, docnos, self.filters)
        except SettingError:  # a document is not among the candidates of a model: ask one by one
            explained: dict[str, Explanation] = {}
            for docno in docnos:
                try:
                    explained |= explanations_by_docno(self.right, query, [docno], self.filters)
                except SettingError:
                    continue
            return explained

    def _sentence(
        self, pair: dict[str, Any], other: dict[str, str] | None, reasons: list[dict[str, Any]], rises: bool
    ) -> str:
        """The move in words."""
        before, after = (
            f"rank {rank}" if rank else f"below rank {self.depth}" for rank in (pair["left"], pair["right"])
        )
        move = f"{'up' if rises else 'down'} from {before} to {after}"
        if pair["left"] is None and self.complete[0]:
            move = f"up to {after} (not found on the left)"
        elif pair["right"] is None and self.complete[1]:
            move = f"down from {before} (not found on the right)"
        if other is None or not reasons:
            return move
        parts = [f"{each['words'] or each['label']} ({format_difference(each['amount'])})" for each in reasons[:2]]
        name = other["title"] or other["docno"]
        return f"{move}, {f'past {name}:' if rises else f'behind {name}, which has more for'} {' and '.join(parts)}"
