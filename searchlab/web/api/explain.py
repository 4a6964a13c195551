"""Why does a document have its score, and why is it above another?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from searchlab.features.descriptions import in_words
from searchlab.rankers.explanation import Account, Difference, Share, set_against, tell_lead
from searchlab.rankers.systems import System
from searchlab.retrieval.results import Query
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.parameters import DOCUMENT, FILTER, INDEX, QUERY, RANKER, Parameter
from searchlab.web.api.search import find_document, ranker_record, require_document, short
from searchlab.web.http_errors import Failure
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Opened


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
        "sentence": _tell_missing(accounts, filter),
    }
    if against:
        higher, lower = sorted(accounts, key=lambda own: (own.score, own.docno.encode()), reverse=True)
        apart = set_against(*accounts)
        answer |= {
            "against": account_record(opened, accounts[1]),
            "differences": [difference_record(each) for each in apart],
            "sentence": answer["sentence"] or tell_lead(higher, lower, set_against(higher, lower), call),
        }
    return answer


def _tell_missing(accounts: Sequence[Account], filters: Sequence[str]) -> str:
    """What is wrong with asking why documents are where they are: some are nowhere."""
    missing = [account.docno for account in accounts if not account.found]
    if not missing:
        return ""
    are = "is" if len(missing) == 1 else "are"
    told = f"{' and '.join(missing)} {are} not found by this query{' with these filters' * bool(filters)}"
    return f"{told}: below is what would add up to a score, if it counted"


def account_record(opened: Opened, account: Account) -> dict[str, Any]:
    """A score and what it consists of."""
    return {
        "id": account.docno,
        "title": find_document(opened, account.docno).title,
        "score": account.score,
        "found": account.found,
        "parts": [_part(share) for share in account.shares],
    }


def _part(share: Share) -> dict[str, Any]:
    words, raw, how = in_words(share.label), share.raw, list(share.how)
    if not words and not how and raw is not None and not float(raw).is_integer():
        # BM25F counts what stands in one text more than what stands in another: these are no occurrences.
        raw, how = None, [f"weighed frequency {raw:.4g}"]
    return {
        "label": share.label,
        "words": words,
        "amount": share.amount,
        "raw": raw,
        "meaning": share.meaning,
        "how": how,
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
