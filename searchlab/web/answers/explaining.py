"""Why does a document have its score, and why is it above another?"""

from __future__ import annotations

from typing import Any

from searchlab.features.wording import in_words
from searchlab.rankers.accounts import Account, Difference, set_against, tell_lead
from searchlab.rankers.systems import System
from searchlab.retrieval.results import Query
from searchlab.web.answers.searching import find_document, ranker_record, require_document, short
from searchlab.web.desk import Desk
from searchlab.web.endpoints import Endpoint
from searchlab.web.failures import Failure
from searchlab.web.parameters import DOCUMENT, FILTER, INDEX, QUERY, RANKER, Parameter
from searchlab.web.shelf import Opened


def explain(
    desk: Desk, *, index: str | None, q: str, id: str, ranker: str, against: str, filter: list[str]
) -> dict[str, Any]:
    """The shares that add up to a document's score; with `against`, what makes the difference to another."""
    opened = desk.shelf.get(index)
    system = opened.system(ranker)
    if against == id:
        raise Failure(400, f"against is the document itself, {id[:200]!r}, expected another")
    docnos = [id, against] if against else [id]
    for docno in docnos:
        require_document(opened, docno)
    query = system.parse(short(desk, q))
    accounts = system.accounts(query, docnos, filters=filter)
    answer: dict[str, Any] = {
        "index": opened.name,
        "query": q,
        "ranker": ranker_record(system),
        "filters": filter,
        "document": account_record(opened, accounts[0]),
        "against": None,
        "differences": [],
        "sentence": "",
    }
    if against:
        higher, lower = sorted(accounts, key=lambda own: (own.score, own.docno.encode()), reverse=True)
        apart = set_against(*accounts)
        answer |= {
            "against": account_record(opened, accounts[1]),
            "differences": [difference_record(each) for each in apart],
            "sentence": tell_lead(higher, lower, set_against(higher, lower), call),
        }
    return answer


def account_record(opened: Opened, account: Account) -> dict[str, Any]:
    """A score and what it consists of."""
    return {
        "id": account.docno,
        "title": find_document(opened, account.docno).title,
        "score": account.score,
        "parts": [
            {
                "label": share.label,
                "words": in_words(share.label),
                "amount": share.amount,
                "raw": share.raw,
                "meaning": share.meaning,
                "how": list(share.how),
            }
            for share in account.shares
        ],
    }


def difference_record(difference: Difference) -> dict[str, Any]:
    """What something adds to the lead of a document."""
    return {"label": difference.label, "words": in_words(difference.label), "amount": difference.amount}


def call(label: str) -> str:
    """A share as one would say it: a feature in words, a term as it is."""
    return in_words(label) or label


def accounts_by_name(system: System, query: Query, docnos: list[str], filters: list[str]) -> dict[str, Account]:
    """Why documents have their scores, by docno."""
    return {account.docno: account for account in system.accounts(query, docnos, filters=filters)}


AGAINST = Parameter("against", "text", "another document: why is the one above the other?", default="")

ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/explain",
        explain,
        "Why a document has its score, or is above another",
        (QUERY, DOCUMENT, INDEX, RANKER, AGAINST, FILTER),
    ),
)
