"""Explanations of scores: what a score consists of, and why one document ranks above another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from searchlab.analysis.tokenizer import split_words
from searchlab.features.descriptions import describe_feature
from searchlab.rankers.explanation import ContributionDifference, compare_explanations, describe_lead
from searchlab.rankers.systems import System
from searchlab.retrieval.results import Explanation, Query
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.search.search import check_query, find_stored, require_document, system_record
from searchlab.web.http_errors import HttpError
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState

AGAINST = Parameter("against", "string", "docno of another document to compare with", default="")


def explain_score(
    state: RequestState, *, q: str, docno: str, system: str, against: str, filter: list[str]
) -> dict[str, Any]:
    """The parts that add up to the score of a document; with `against`, the differences from another document."""
    index = state.index
    chosen = index.system(system)
    if against == docno:
        raise HttpError(400, f"against is the document itself, {docno[:200]!r}, expected another")
    docnos = [docno, against] if against else [docno]
    for wanted in docnos:
        require_document(index, wanted)
    query = chosen.parse(check_query(q, state.limits))
    explanations = chosen.explain(query, docnos, filters=filter)
    in_words = label_words(index, q)
    answer: dict[str, Any] = {
        "index": index.name,
        "query": q,
        "system": system_record(chosen),
        "filters": filter,
        "document": _document_record(index, explanations[0], in_words),
        "against": None,
        "differences": [],
        "sentence": _missing_sentence(explanations, filter),
    }
    if against:
        higher, lower = sorted(explanations, key=lambda each: (each.score, each.docno.encode()), reverse=True)
        answer |= {
            "against": _document_record(index, explanations[1], in_words),
            "differences": [difference_record(each, in_words) for each in compare_explanations(*explanations)],
            "sentence": answer["sentence"]
            or describe_lead(higher, lower, compare_explanations(higher, lower), in_words),
        }
    return answer


def _missing_sentence(explanations: Sequence[Explanation], filters: Sequence[str]) -> str:
    """A warning if the query does not find some of the documents."""
    missing = [explanation.docno for explanation in explanations if not explanation.found]
    if not missing:
        return ""
    verb = "is" if len(missing) == 1 else "are"
    fact = f"{' and '.join(missing)} {verb} not found by this query{' with these filters' * bool(filters)}"
    return f"{fact}: below are the parts of the score that it would have"


def _document_record(index: OpenIndex, explanation: Explanation, in_words: Callable[[str], str]) -> dict[str, Any]:
    """The explanation of a document's score, with its title and with features and terms in words."""
    return explanation.to_json() | {
        "title": find_stored(index, explanation.docno).title,
        "parts": [
            part.to_json() | {"words": _if_other(in_words(part.label), part.label)} for part in explanation.parts
        ],
    }


def difference_record(difference: ContributionDifference, in_words: Callable[[str], str]) -> dict[str, Any]:
    """What one term or feature contributes to the lead of a document."""
    words = _if_other(in_words(difference.label), difference.label)
    return {"label": difference.label, "words": words, "amount": difference.amount}


def _if_other(words: str, label: str) -> str:
    return "" if words == label else words


def label_words(index: OpenIndex, query: str) -> Callable[[str], str]:
    """What shows the label of a part in words: a feature by its description, a stem by a word that has it.

    This is a word of the query, or else the shortest one of the index.
    """
    snapshot = index.engine.snapshot
    of_query = split_words(query)

    def in_words(label: str) -> str:
        described = describe_feature(label)
        field, colon, term = label.rpartition(":")
        words = () if described else snapshot.words_of(term)
        if not words:
            return described or label
        chosen = next((word for word in of_query if word in words), term if term in words else min(words, key=len))
        return f"{field}{colon}{chosen}"

    return in_words


def explanations_by_docno(
    system: System, query: Query, docnos: list[str], filters: list[str]
) -> dict[str, Explanation]:
    """The explanations of the scores of documents, by docno."""
    return {explanation.docno: explanation for explanation in system.explain(query, docnos, filters=filters)}
