"""How do two rankers differ on a query: what moved, and why?

A document that is higher on the right than on the left has overtaken others; one that is lower has been overtaken. The
reason is told against the best of those that it has overtaken, or that have overtaken it: what in the right ranker's
scores speaks for the upper rather than for the lower.
"""

from __future__ import annotations

from typing import Any

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import show_difference
from searchlab.rankers.explanation import Account, set_against
from searchlab.rankers.systems import System
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.explain import accounts_by_name, call, difference_record
from searchlab.web.api.parameters import FILTER, INDEX, QUERY, RANKER, K, Parameter
from searchlab.web.api.search import found, short
from searchlab.web.http_errors import Failure
from searchlab.web.state.app_state import Desk

# Beyond this rank it is not looked where a document stands on the other side.
DEPTH = 100
# So many moves are explained, by so many reasons each.
MOVES, REASONS = 10, 3


def compare(
    desk: Desk, *, index: str | None, q: str, left: str, right: str, k: int, filter: list[str]
) -> dict[str, Any]:
    """The same query by two rankers, side by side."""
    opened = desk.shelf.get(index)
    if left == right:
        raise Failure(400, f"left and right are both {left[:60]!r}, expected two different rankers")
    systems = [opened.system(left), opened.system(right)]
    deep = max(DEPTH, k)
    hits = [system.search(short(desk, q), k=deep, filters=filter) for system in systems]
    sides = [
        found(opened, system, own, q, k, 1, filter) | {"seconds": own.seconds}
        for system, own in zip(systems, hits, strict=True)
    ]
    ranks = [{docno: rank for rank, docno in enumerate(own.docnos, start=1)} for own in hits]
    shown = dict.fromkeys([*hits[0].docnos[:k], *hits[1].docnos[:k]])
    pairs = [{"id": docno, "left": ranks[0].get(docno), "right": ranks[1].get(docno)} for docno in shown]
    titles = {result["id"]: result["title"]["text"] for side in sides for result in side["results"]}
    return {
        "index": opened.name,
        "query": q,
        "filters": filter,
        "k": k,
        "depth": deep,
        "left": sides[0],
        "right": sides[1],
        "pairs": pairs,
        "overlap": len(set(hits[0].docnos[:k]) & set(hits[1].docnos[:k])),
        "moves": _moves(systems[1], q, filter, pairs, hits[1].docnos[:k], titles, deep, [len(own) for own in hits]),
    }


def _moves(
    right: System,
    text: str,
    filters: list[str],
    pairs: list[dict[str, Any]],
    shown: list[str],
    titles: dict[str, str],
    deep: int,
    n_found: list[int],
) -> list[dict[str, Any]]:
    """What stands higher or lower on the right, the largest moves of documents near the top first."""
    moved = [pair for pair in pairs if pair["left"] != pair["right"]]
    moved.sort(key=lambda pair: -abs(1 / (pair["left"] or deep + 1) - 1 / (pair["right"] or deep + 1)))
    lefts = {pair["id"]: pair["left"] or deep + 1 for pair in pairs}
    passed = {pair["id"]: _passed(pair, shown, lefts) for pair in moved[:MOVES]}
    wanted = list(dict.fromkeys(docno for pair in passed.items() for docno in pair if docno is not None))
    accounts = _accounts(right, text, wanted, filters)
    moves = []
    for pair in moved[:MOVES]:
        other = passed[pair["id"]]
        rises = (pair["right"] or deep + 1) < lefts[pair["id"]]
        why: list[dict[str, Any]] = []
        if other in accounts and pair["id"] in accounts:
            upper, lower = (pair["id"], other) if rises else (other, pair["id"])
            apart = set_against(accounts[upper], accounts[lower])
            why = [difference_record(each) for each in apart if each.amount > 0][:REASONS]
        told = None if other is None else {"id": other, "title": titles[other]}
        moves.append(
            {
                "id": pair["id"],
                "title": titles[pair["id"]],
                "from": pair["left"],
                "to": pair["right"],
                "overtook": told if rises else None,
                "overtaken_by": None if rises else told,
                "why": why,
                "sentence": _sentence(pair, told, why, rises, [n < deep for n in n_found], deep),
            }
        )
    return moves


def _accounts(system: System, text: str, docnos: list[str], filters: list[str]) -> dict[str, Account]:
    """Why documents have their scores on the right, of those that can be explained."""
    query = system.parse(text)
    try:
        return accounts_by_name(system, query, docnos, filters)
    except SettingError:  # one is beyond what is re-ranked: ask one by one
        explained: dict[str, Account] = {}
        for docno in docnos:
            try:
                explained |= accounts_by_name(system, query, [docno], filters)
            except SettingError:
                continue
        return explained


def _passed(pair: dict[str, Any], shown: list[str], lefts: dict[str, int]) -> str | None:
    """The best document that this one has overtaken on the right, if it rose, or that has overtaken it, if it fell."""
    own, rank = lefts[pair["id"]], pair["right"]
    if rank is not None and rank < own:
        below = [docno for docno in shown[rank:] if lefts[docno] < own]
        return min(below, key=lefts.__getitem__, default=None)
    above = shown if rank is None else shown[: rank - 1]
    return next((docno for docno in above if lefts[docno] > own), None)


def _sentence(
    pair: dict[str, Any],
    other: dict[str, str] | None,
    why: list[dict[str, Any]],
    rises: bool,
    complete: list[bool],
    deep: int,
) -> str:
    """The move in words; where a side is `complete`, what is not there was not found at all."""
    before, after = (f"rank {rank}" if rank else f"below rank {deep}" for rank in (pair["left"], pair["right"]))
    told = f"{'up' if rises else 'down'} from {before} to {after}"
    if pair["left"] is None and complete[0]:
        told = f"up to {after} (not found on the left)"
    elif pair["right"] is None and complete[1]:
        told = f"down from {before} (not found on the right)"
    if other is None or not why:
        return told
    reasons = " and ".join(f"{call(each['label'])} ({show_difference(each['amount'])})" for each in why[:2])
    name = other["title"] or other["id"]
    return f"{told}, past {name}: {reasons}" if rises else f"{told}, behind {name}, which has more for {reasons}"


LEFT = Parameter("left", "text", RANKER.what, default="bm25", long=RANKER.long)
RIGHT = Parameter("right", "text", RANKER.what, default="bm25+rm3", long=RANKER.long)

ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/compare",
        compare,
        "Two rankers side by side",
        (QUERY, LEFT, RIGHT, INDEX, K, FILTER),
        heavy=True,
    ),
)
