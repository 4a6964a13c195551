"""Why does a document have its score, and why is it above another? The answers, for people to read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from searchlab.cli.app import app
from searchlab.cli.messages import note
from searchlab.cli.model_printing import NORMALISATIONS
from searchlab.cli.options import IndexOption, choose_index
from searchlab.cli.printing import INDENT, print_explanation
from searchlab.cli.rerank_options import RerankOption, open_reranker, refuse_what_a_model_brings
from searchlab.cli.search_options import Asking, ExpandOption, ScorerOption, SetOption, StreamOption, WeightsOption
from searchlab.cli.terminal_text import print_columns
from searchlab.cli.terminal_text import printable as visible
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.rankers.bundle import Bundle
    from searchlab.rankers.explanation import Contribution, ScoreExplanation
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.results import Query

# So many shares are shown one by one; what the others add is said in one line.
SHOWN = 10


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
        refuse_what_a_model_brings(context)
    asking = Asking.of(scorer, settings, stream, None, expand, full=not plain, weights=weights)
    with searchlab.open(choose_index(index), compiled=False) as engine:
        if rerank is not None:
            reranker = open_reranker(rerank, engine)
            bundle: Bundle | None = reranker.bundle
            accounts = reranker.explain(reranker.parse(text, asking.syntax), docnos)
        else:
            bundle, asking = None, asking.at(engine)
            query = asking.understand(engine, text)
            explanations = [asking.explain(engine, query, docno) for docno in docnos]
            accounts = list(map(explain_terms, explanations))
            _warn_of_missing(engine, asking, query, docnos)
    if as_json:
        print(json.dumps(_as_record(text, accounts), ensure_ascii=False, indent=2))
    elif len(accounts) == 2:
        _print_comparison(accounts[0], accounts[1], bundle)
    elif bundle is None:
        print(visible(docnos[0]))
        print_explanation(explanations[0])
    else:
        print(visible(docnos[0]))
        print_account(accounts[0], bundle)
    if bundle is not None and not as_json:
        tell_scale(bundle)


def _warn_of_missing(engine: SearchEngine, asking: Asking, query: Query, docnos: Sequence[str]) -> None:
    """Say which documents do not match the query: they have no place, whatever they would score."""
    from searchlab.rankers.systems import finds

    for docno in docnos:
        if not finds(engine, query, docno, scorer=asking.scorer, stream=asking.stream):
            note(f"{docno} is not found by this query: this is what would add up to its score")


def print_account(account: ScoreExplanation, bundle: Bundle) -> None:
    """A table of the largest shares, which add up to the score with what the others add."""
    header = _HEADERS[bundle.model.kind]
    rows = [["feature", "value", header, "share"]]
    rows += [
        [share.label, _value(share), _how(share, bundle), f"{share.amount:+.4f}"]
        for share in account.contributions[:SHOWN]
    ]
    if len(account.contributions) > SHOWN:
        rest = _rest(account.score, [share.amount for share in account.contributions[:SHOWN]])
        rows.append([f"{len(account.contributions) - SHOWN} others", "", "", f"{rest:+.4f}"])
    rows.append(["score", "", "", f"{account.score:.4f}"])
    print()
    print_columns(rows, indent=len(INDENT))
    print()


_HEADERS = {"linear": "weight × scaled", "votes": "votes", "rules": "rules that hold", "kernel": "scaled"}


def tell_scale(bundle: Bundle) -> None:
    """What readers of accounts should know."""
    name = bundle.preprocessor.normalisation.name
    note(f"values are {NORMALISATIONS.get(name, name)}; `searchlab features --list` says what the features are")


def account_record(account: ScoreExplanation) -> list[dict[str, Any]]:
    """All shares of a score as JSON values."""
    return [
        {
            "label": share.label,
            "share": share.amount,
            "raw": share.raw,
            "meaning": share.meaning,
            "how": list(share.how),
        }
        for share in account.contributions
    ]


def _as_record(text: str, accounts: Sequence[ScoreExplanation]) -> dict[str, Any]:
    from searchlab.rankers.explanation import compare_explanations

    record: dict[str, Any] = {
        "query": text,
        "documents": [
            {"docno": account.docno, "score": account.score, "shares": account_record(account)} for account in accounts
        ],
    }
    if len(accounts) == 2:
        first, second = accounts
        apart = [{"label": each.label, "difference": each.amount} for each in compare_explanations(first, second)]
        record |= {"difference": first.score - second.score, "differences": apart}
    return record


def _print_comparison(one: ScoreExplanation, other: ScoreExplanation, bundle: Bundle | None) -> None:
    """A sentence, and a table of what makes the difference; the higher document comes first."""
    from searchlab.rankers.explanation import compare_explanations, describe_lead

    first, second = sorted([one, other], key=lambda account: (account.score, account.docno.encode()), reverse=True)
    differences = compare_explanations(first, second)
    print(visible(describe_lead(first, second, differences)))
    rows = [["term" if bundle is None else "feature", first.docno, second.docno, "difference"]]
    # Votes have no value of a feature: what they add stands there instead.
    show = _amount if bundle is not None and bundle.model.kind == "votes" else _value
    rows += [[each.label, show(each.first), show(each.second), f"{each.amount:+.4f}"] for each in differences[:SHOWN]]
    lead = round(first.score, 4) - round(second.score, 4)
    if len(differences) > SHOWN:
        rest = _rest(lead, [each.amount for each in differences[:SHOWN]])
        rows.append([f"{len(differences) - SHOWN} others", "", "", f"{rest:+.4f}"])
    rows.append(["score", f"{first.score:.4f}", f"{second.score:.4f}", f"{lead:+.4f}"])
    print()
    print_columns(rows, indent=2)


def _rest(total: float, amounts: Sequence[float]) -> float:
    """What is left of a total, so that the numbers add up as they are printed."""
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
    """How a share came about, in a few words."""
    if bundle.model.kind == "linear":
        return " + ".join(share.how)
    if bundle.model.kind == "rules" and len(share.how) > 1:
        value, _, _ = share.how[0].partition(" > ")
        thresholds = [text.partition(" > ")[2] for text in share.how]
        return f"{value} > {', '.join(thresholds[:3])}{', …' if len(thresholds) > 3 else ''}"
    first, *others = dict.fromkeys(share.how) or [""]
    return f"{len(share.how)} hyperplanes, first {first}" if others else first
