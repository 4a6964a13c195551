"""`searchlab explain`: why a document has its score, or ranks above another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.messages import note
from searchlab.cli.options import IndexOption, JsonOption, choose_index
from searchlab.cli.printing.explanation_printing import (
    explanations_record,
    note_scaling,
    print_comparison,
    print_explanation,
)
from searchlab.cli.printing.terminal_text import print_line
from searchlab.cli.rerank_options import RerankOption, open_ranking, refuse_first_stage_options
from searchlab.cli.search_options import (
    ExpandOption,
    LanguageOption,
    ScorerOption,
    SearchOptions,
    SetOption,
    StreamOption,
    SynonymsOption,
    SyntaxOption,
    WeightsOption,
)
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.rankers.bundle import Bundle
    from searchlab.retrieval.results import Explanation


@app.command("explain")
def explain_command(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The query, quoted if it has several words")],
    docnos: Annotated[list[str], typer.Argument(metavar="DOCNO", help="A document, or two to compare")],
    index: IndexOption = None,
    scorer: ScorerOption = "bm25",
    settings: SetOption = None,
    weights: WeightsOption = None,
    stream: StreamOption = "both",
    expand: ExpandOption = None,
    rerank: RerankOption = None,
    syntax: SyntaxOption = "full",
    language: LanguageOption = None,
    synonyms: SynonymsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain why a document has its score, or ranks above another.

    Prints what each term, or with --rerank each feature, adds to the score.
    """
    if len(docnos) > 2 or len(set(docnos)) < len(docnos):
        raise SettingError(f"{len(docnos)} documents ({', '.join(docnos)}), expected one, or two different ones")
    if rerank is not None:
        refuse_first_stage_options(context)
    options = SearchOptions.read(scorer, settings, stream, None, expand, syntax=syntax, weights=weights)
    with searchlab.open(choose_index(index), compiled=False, language=language, synonyms=synonyms) as engine:
        if rerank is not None:
            ranking = open_ranking(rerank, engine)
            bundle: Bundle | None = None if ranking.reranker is None else ranking.reranker.bundle
            pipeline = ranking.pipeline
        else:
            bundle = None
            pipeline = options.for_index(engine).pipeline(engine)
        explanations = pipeline.explain(query, docnos, syntax=syntax)
    _note_missing(explanations)
    if as_json:
        print(json.dumps(explanations_record(query, explanations), ensure_ascii=False, indent=2))
        return
    if len(explanations) == 2:
        print_comparison(explanations[0], explanations[1], bundle)
    else:
        print_line(docnos[0])
        print_explanation(explanations[0], bundle)
    if bundle is not None:
        note_scaling(bundle)


def _note_missing(explanations: Sequence[Explanation]) -> None:
    """Note which documents the query does not find: they have no rank, whatever their score would be."""
    for explanation in explanations:
        if not explanation.found:
            note(f"{explanation.docno} is not found by this query: the table shows what would add up to its score")
