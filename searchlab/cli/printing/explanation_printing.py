"""Printed explanations of scores: tables of terms or features, comparisons of two documents, and their JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from searchlab.cli.messages import note
from searchlab.cli.printing.model_printing import NORMALISATIONS
from searchlab.cli.printing.terminal_text import print_columns, print_line, printable

if TYPE_CHECKING:
    from searchlab.rankers.bundle import Bundle
    from searchlab.retrieval.results import Contribution, Explanation

# Tables below a hit are indented as its snippet is.
TABLE_INDENT = 5
# Further contributions are added up in one line.
MAX_CONTRIBUTIONS = 10

# The column that shows how a contribution was computed, by the kind of model.
_COMPUTATION_HEADERS = {
    "linear": "weight × scaled",
    "votes": "votes",
    "rules": "rules that hold",
    "kernel": "scaled",
    "trees": "scaled",
    "neighbourhoods": "weight × scaled",
}


def print_explanation(explanation: Explanation, bundle: Bundle | None) -> None:
    """Print a table of what adds up to a score: terms, or features if a model gave the score."""
    if bundle is None:
        _print_terms(explanation)
    else:
        _print_features(explanation, bundle)


def _print_terms(explanation: Explanation) -> None:
    """Print a table of the terms, whose weights add up to the score."""
    terms = [printable(part.label) for part in explanation.parts]
    width = max(map(len, ["score", *terms]))
    indent = " " * TABLE_INDENT
    print(f"\n{indent}{'term':{width}}  in query  in document     weight")
    for term, part in zip(terms, explanation.parts, strict=True):
        print(f"{indent}{term:{width}}  {part.query_count:>8.4g}  {part.raw:>11.4g}  {part.amount:>9.4f}")
    print(f"{indent}{'score':{width}}  {'':>8}  {'':>11}  {explanation.score:>9.4f}\n")


def _print_features(explanation: Explanation, bundle: Bundle) -> None:
    """Print a table of the largest contributions to a model's score, and the sum of the others."""
    shown = explanation.parts[:MAX_CONTRIBUTIONS]
    rows = [["feature", "value", _COMPUTATION_HEADERS[bundle.model.kind], "contribution"]]
    rows += [[each.label, _raw_value(each), _computation(each, bundle), f"{each.amount:+.4f}"] for each in shown]
    n_others = len(explanation.parts) - len(shown)
    if n_others:
        remainder = _remainder(explanation.score, [each.amount for each in shown])
        rows.append([f"{n_others} others", "", "", f"{remainder:+.4f}"])
    rows.append(["score", "", "", f"{explanation.score:.4f}"])
    print()
    print_columns(rows, indent=TABLE_INDENT)
    print()


def print_comparison(one: Explanation, other: Explanation, bundle: Bundle | None) -> None:
    """Print why one document scores higher than another: a sentence, and a table with the higher document first."""
    from searchlab.rankers.explanation import compare_explanations, describe_lead

    first, second = sorted([one, other], key=lambda each: (each.score, each.docno.encode()), reverse=True)
    differences = compare_explanations(first, second)
    print_line(describe_lead(first, second, differences))
    rows = [["term" if bundle is None else "feature", first.docno, second.docno, "difference"]]
    # Votes have no value of a feature: their amounts are shown instead.
    show = _amount if bundle is not None and bundle.model.kind == "votes" else _raw_value
    shown = differences[:MAX_CONTRIBUTIONS]
    rows += [[each.label, show(each.first), show(each.second), f"{each.amount:+.4f}"] for each in shown]
    lead = round(first.score, 4) - round(second.score, 4)
    n_others = len(differences) - len(shown)
    if n_others:
        remainder = _remainder(lead, [each.amount for each in shown])
        rows.append([f"{n_others} others", "", "", f"{remainder:+.4f}"])
    rows.append(["score", f"{first.score:.4f}", f"{second.score:.4f}", f"{lead:+.4f}"])
    print()
    print_columns(rows, indent=2)


def note_scaling(bundle: Bundle) -> None:
    """Note how the values in an explanation are scaled."""
    name = bundle.preprocessor.normalisation.name
    note(f"values are {NORMALISATIONS.get(name, name)}; `searchlab features --list` describes the features")


def explanations_record(query: str, explanations: Sequence[Explanation]) -> dict[str, Any]:
    """The explanations of one document, or of two and their differences, as JSON values."""
    from searchlab.rankers.explanation import compare_explanations

    record: dict[str, Any] = {"query": query, "documents": [each.to_json() for each in explanations]}
    if len(explanations) == 2:
        first, second = explanations
        differences = [{"label": each.label, "amount": each.amount} for each in compare_explanations(first, second)]
        record |= {"difference": first.score - second.score, "differences": differences}
    return record


def _remainder(total: float, amounts: Sequence[float]) -> float:
    """The total without these amounts, rounded so that the printed numbers add up."""
    return round(round(total, 4) - sum(round(amount, 4) for amount in amounts), 4) + 0.0


def _raw_value(contribution: Contribution | None) -> str:
    if contribution is None:
        return ""
    if contribution.raw is None:
        return "undefined" if contribution.meaning else ""
    return f"{contribution.raw:.4g}"


def _amount(contribution: Contribution | None) -> str:
    return "" if contribution is None else f"{contribution.amount:+.4f}"


def _computation(contribution: Contribution, bundle: Bundle) -> str:
    """How a contribution was computed, in a few words."""
    if bundle.model.kind in ("linear", "neighbourhoods"):
        return " + ".join(contribution.how)
    if bundle.model.kind == "rules" and len(contribution.how) > 1:
        value, _, _ = contribution.how[0].partition(" > ")
        thresholds = [text.partition(" > ")[2] for text in contribution.how]
        return f"{value} > {', '.join(thresholds[:3])}{', …' if len(thresholds) > 3 else ''}"
    first, *others = dict.fromkeys(contribution.how) or [""]
    return f"{len(contribution.how)} hyperplanes, first {first}" if others else first
