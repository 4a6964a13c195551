"""The command explain: why a document has its score, or ranks above another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from searchlab.cli.app import app
from searchlab.cli.messages import note
from searchlab.cli.options import IndexOption, choose_index
from searchlab.cli.printing.hit_printing import INDENT, print_explanation
from searchlab.cli.printing.model_printing import NORMALISATIONS
from searchlab.cli.printing.terminal_text import print_columns
from searchlab.cli.printing.terminal_text import printable as visible
from searchlab.cli.rerank_options import RerankOption, open_reranker, refuse_first_stage_options
from searchlab.cli.search_options import (
    ExpandOption,
    ScorerOption,
    SearchOptions,
    SetOption,
    StreamOption,
    WeightsOption,
)
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.rankers.bundle import Bundle
    from searchlab.rankers.explanation import Contribution, ScoreExplanation
    from searchlab.retrieval.pipeline import PipelineSearch

# How many shares are shown one by one; the sum of the others is shown in one line.
MAX_SHOWN = 10


@app.command("explain")
def explain_command(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="QUERY", help="What was searched for")],
    docnos: Annotated[list[str], typer.Argument(metavar="DOCNO", help="A document, or two to compare")],
    index: IndexOption = None,
    rerank: RerankOption = None,
    scorer: ScorerOption = "bm25",
    settings: SetOption = None,
    weights: WeightsOption = None,
    stream: StreamOption = "both",
    expand: ExpandOption = None,
    plain: Annotated[bool, typer.Option("--plain", help="Take the query for plain words.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Say why a document has its score, or is above another."""
    import searchlab
    from searchlab.rankers.explanation import explain_terms

    if len(docnos) > 2 or len(set(docnos)) < len(docnos):
        raise SettingError(f"{len(docnos)} documents ({', '.join(docnos)}), expected one, or two different ones")
    if rerank is not None:
        refuse_first_stage_options(context)
    options = SearchOptions.read(scorer, settings, stream, None, expand, full=not plain, weights=weights)
    with searchlab.open(choose_index(index), compiled=False) as engine:
        if rerank is not None:
            reranker = open_reranker(rerank, engine)
            bundle: Bundle | None = reranker.bundle
            explanations: list[ScoreExplanation] = reranker.pipeline().explain(text, docnos, syntax=options.syntax)
        else:
            bundle = None
            search = options.for_index(engine).pipeline(engine).start(text, syntax=options.syntax)
            by_term = search.explain(docnos)
            explanations = list(map(explain_terms, by_term))
            _warn_of_missing(search, docnos)
    if as_json:
        print(json.dumps(_as_record(text, explanations), ensure_ascii=False, indent=2))
    elif len(explanations) == 2:
        _print_comparison(explanations[0], explanations[1], bundle)
    elif bundle is None:
        print(visible(docnos[0]))
        print_explanation(by_term[0])
    else:
        print(visible(docnos[0]))
        print_model_explanation(explanations[0], bundle)
    if bundle is not None and not as_json:
        print_scale(bundle)


def _warn_of_missing(search: PipelineSearch, docnos: Sequence[str]) -> None:
    """Say which documents the query does not find: they have no rank, whatever their score would be."""
    for docno in docnos:
        if not search.finds(docno):
            note(f"{docno} is not found by this query: this is what would add up to its score")


def print_model_explanation(explanation: ScoreExplanation, bundle: Bundle) -> None:
    """Print a table of the largest shares of a score, and the sum of the others."""
    header = _HEADERS[bundle.model.kind]
    rows = [["feature", "value", header, "share"]]
    rows += [
        [share.label, _value(share), _how(share, bundle), f"{share.amount:+.4f}"]
        for share in explanation.contributions[:MAX_SHOWN]
    ]
    if len(explanation.contributions) > MAX_SHOWN:
        rest = _remainder(explanation.score, [share.amount for share in explanation.contributions[:MAX_SHOWN]])
        rows.append([f"{len(explanation.contributions) - MAX_SHOWN} others", "", "", f"{rest:+.4f}"])
    rows.append(["score", "", "", f"{explanation.score:.4f}"])
    print()
    print_columns(rows, indent=len(INDENT))
    print()


_HEADERS = {"linear": "weight × scaled", "votes": "votes", "rules": "rules that hold", "kernel": "scaled"}


def print_scale(bundle: Bundle) -> None:
    """Say how the values of an explanation are scaled."""
    name = bundle.preprocessor.normalisation.name
    note(f"values are {NORMALISATIONS.get(name, name)}; `searchlab features --list` says what the features are")


def explanation_record(explanation: ScoreExplanation) -> list[dict[str, Any]]:
    """All shares of a score as JSON values."""
    return [
        {
            "label": share.label,
            "share": share.amount,
            "raw": share.raw,
            "meaning": share.meaning,
            "how": list(share.how),
        }
        for share in explanation.contributions
    ]


def _as_record(text: str, explanations: Sequence[ScoreExplanation]) -> dict[str, Any]:
    from searchlab.rankers.explanation import compare_explanations

    record: dict[str, Any] = {
        "query": text,
        "documents": [
            {"docno": each.docno, "score": each.score, "shares": explanation_record(each)} for each in explanations
        ],
    }
    if len(explanations) == 2:
        first, second = explanations
        differences = [{"label": each.label, "difference": each.amount} for each in compare_explanations(first, second)]
        record |= {"difference": first.score - second.score, "differences": differences}
    return record


def _print_comparison(one: ScoreExplanation, other: ScoreExplanation, bundle: Bundle | None) -> None:
    """Print a sentence, and a table of the differences; the higher document comes first."""
    from searchlab.rankers.explanation import compare_explanations, describe_lead

    first, second = sorted([one, other], key=lambda each: (each.score, each.docno.encode()), reverse=True)
    differences = compare_explanations(first, second)
    print(visible(describe_lead(first, second, differences)))
    rows = [["term" if bundle is None else "feature", first.docno, second.docno, "difference"]]
    # Votes have no value of a feature: their amounts are shown instead.
    show = _amount if bundle is not None and bundle.model.kind == "votes" else _value
    shown = differences[:MAX_SHOWN]
    rows += [[each.label, show(each.first), show(each.second), f"{each.amount:+.4f}"] for each in shown]
    lead = round(first.score, 4) - round(second.score, 4)
    if len(differences) > MAX_SHOWN:
        rest = _remainder(lead, [each.amount for each in shown])
        rows.append([f"{len(differences) - MAX_SHOWN} others", "", "", f"{rest:+.4f}"])
    rows.append(["score", f"{first.score:.4f}", f"{second.score:.4f}", f"{lead:+.4f}"])
    print()
    print_columns(rows, indent=2)


def _remainder(total: float, amounts: Sequence[float]) -> float:
    """The total without these amounts, rounded so that the printed numbers add up."""
    return round(round(total, 4) - sum(round(amount, 4) for amount in amounts), 4) + 0.0


def _value(share: Contribution | None) -> str:
    if share is None:
        return ""
    if share.raw is None:
        return "undefined" if share.meaning else ""
    return f"{share.raw:.4g}"


def _amount(share: Contribution | None) -> str:
    return "" if share is None else f"{share.amount:+.4f}"


def _how(share: Contribution, bundle: Bundle) -> str:
    """How a share was computed, in a few words."""
    if bundle.model.kind == "linear":
        return " + ".join(share.how)
    if bundle.model.kind == "rules" and len(share.how) > 1:
        value, _, _ = share.how[0].partition(" > ")
        thresholds = [text.partition(" > ")[2] for text in share.how]
        return f"{value} > {', '.join(thresholds[:3])}{', …' if len(thresholds) > 3 else ''}"
    first, *others = dict.fromkeys(share.how) or [""]
    return f"{len(share.how)} hyperplanes, first {first}" if others else first
