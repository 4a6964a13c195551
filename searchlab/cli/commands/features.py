"""How are features computed from the command line?"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from searchlab.cli.app import IndexOption, app, choose_index, count, megabytes, note, warn_of_latin1
from searchlab.cli.collection_files import own_topics, read_judgments
from searchlab.cli.progress import stage_bar
from searchlab.cli.search_options import ExpandOption, ScorerOption, SearchOptions
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.features.candidates import Candidates
    from searchlab.features.feature_sets import FeatureSet
    from searchlab.features.feature_table import FeatureTable
    from searchlab.records import Qrels, Topic
    from searchlab.retrieval.engine import SearchEngine


@app.command("features")
def features_command(
    topics: Annotated[
        str | None,
        typer.Argument(metavar="TOPICS", help="A file of topics [default: those of the collection that was indexed]"),
    ] = None,
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="- is standard output")] = "-",
    index: IndexOption = None,
    set_name: Annotated[
        str | None,
        typer.Option(
            "--set",
            metavar="SET",
            help="full, letor45, nallapati, ordrank, semantic, table1, topics, or a .toml file [default: letor45]",
        ),
    ] = None,
    qrels: Annotated[
        str | None,
        typer.Option("--qrels", metavar="FILE", help="Judgments [default: those of the collection, with its topics]"),
    ] = None,
    run: Annotated[str | None, typer.Option("--run", metavar="FILE", help="Candidates: the documents of a run")] = None,
    k: Annotated[int | None, typer.Option("-k", help="Candidates: so many of a first search, or of the run")] = None,
    scorer: ScorerOption = "bm25",
    settings: Annotated[
        list[str] | None,
        typer.Option("--scorer-set", metavar="NAME=VALUE", help="A setting of the scorer of the first search"),
    ] = None,
    expand: ExpandOption = None,
    union: Annotated[
        bool, typer.Option("--union", help="Take the judged documents too, beside those of the run or the search.")
    ] = False,
    unjudged: Annotated[str, typer.Option("--unjudged", help="Candidates without a grade: zero or drop")] = "zero",
    fill: Annotated[
        str | None,
        typer.Option("--fill", help="Undefined values: indicator, letor, query-minimum or zero [default: NULL]"),
    ] = None,
    normalise: Annotated[
        str | None,
        typer.Option("--normalise", help="none, query-minmax, query-rank, query-zscore or standard [default: none]"),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at a document that the index does not hold.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List all features, or those of the set, and end.")] = False,
) -> None:
    """Compute the features of candidate documents, and write them as a LETOR file."""
    import searchlab
    from searchlab.atomic_file import open_atomic
    from searchlab.features.feature_sets import make_feature_set
    from searchlab.features.letor.letor_files import write_letor
    from searchlab.features.prerequisites import build_prerequisites

    if listing:
        _list_features(None if set_name is None else make_feature_set(set_name))
        return
    chosen = make_feature_set(set_name or "letor45")
    steps = _steps(fill, normalise)
    options = SearchOptions.read(scorer, settings, expand=expand)
    folder = choose_index(index)
    notes = searchlab.ReadingNotes()
    wanted = searchlab.read_topics(topics or own_topics(folder), notes=notes)
    grades = read_judgments(folder, qrels, own=topics is None, notes=notes)
    warn_of_latin1(notes)
    with searchlab.open(folder) as engine, stage_bar() as progress:
        for remark in build_prerequisites(engine, chosen, progress):
            note(remark)
        candidates = _candidates(engine, wanted, grades, run, k, options, union=union)
        table = searchlab.extract(
            engine, wanted, candidates, chosen, qrels=grades, unjudged=unjudged, strict=strict, progress=progress
        )
    for step in steps:
        table = step.fit(table).transform(table)
    with nullcontext(sys.stdout) if output == "-" else open_atomic(output) as file:
        write_letor(file, table)
    _tell(table, candidates, wanted, output)


@app.command("semantic")
def semantic_command(
    index: IndexOption = None,
    dims: Annotated[int, typer.Option("--dims", help="Dimensions")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="For the random start")] = 1990,
    update: Annotated[
        bool, typer.Option("--update", help="Only add the documents that came since; the space stays as it is.")
    ] = False,
) -> None:
    """Make the latent semantic space of an index, from which some features are computed."""
    from searchlab.features.latent_semantics.semantic_space import build_space, update_space

    folder = choose_index(index)
    with stage_bar() as progress:
        if update:
            space = update_space(folder, progress=progress)
        else:
            space = build_space(folder, dims=dims, seed=seed, progress=progress)
    print(
        f"{folder}: {count(space.dims, 'dimension')} of {count(space.n_docs, 'document')}, {megabytes(space.n_bytes)}"
    )
    if space.staleness:
        advice = "; `searchlab semantic` makes it anew" if space.is_stale else ""
        print(f"  {space.staleness:.0%} of the documents came after it was made{advice}")


def _list_features(chosen: FeatureSet | None) -> None:
    """One line a feature: name, stream, source, formula."""
    from searchlab.features.catalogue import CATALOGUE

    features = list(CATALOGUE.values()) if chosen is None else chosen.features
    width = max(len(feature.name) for feature in features)
    sources = max(len(feature.source) for feature in features)
    for feature in features:
        print(f"{feature.name:{width}}  {feature.stream:5}  {feature.source:{sources}}  {feature.formula}")


def _steps(fill: str | None, normalise: str | None) -> list[Any]:
    from searchlab.features.preprocessing.imputation import make_imputation
    from searchlab.features.preprocessing.normalisation import make_normalisation

    steps: list[Any] = [] if fill is None else [make_imputation(fill)]
    return steps if normalise is None else [*steps, make_normalisation(normalise)]


def _candidates(
    engine: SearchEngine,
    topics: list[Topic],
    qrels: Qrels | None,
    run: str | None,
    k: int | None,
    options: SearchOptions,
    *,
    union: bool,
) -> Candidates:
    from searchlab.corpus.trec.runs import read_run
    from searchlab.features import candidates as choose

    if run is None and k is None:
        if qrels is None:
            raise SettingError("no candidates: expected --qrels, --run or -k")
        return choose.judged(engine, {topic.qid: qrels.get(topic.qid, {}) for topic in topics})
    if run is not None:
        found = choose.ranked(engine, read_run(run), k=k)
    else:
        found = choose.searched(options.pipeline(engine), topics, k=k or 100)
    if union and qrels is None:
        raise SettingError("--union takes the judged documents too: expected --qrels")
    return found.union(choose.judged(engine, qrels)) if union and qrels is not None else found


def _tell(table: FeatureTable, candidates: Candidates, topics: list[Topic], output: str) -> None:
    """What was written, and what was not."""
    if missing := candidates.describe_missing():
        note(missing)
    if empty := candidates.without_any(topics):
        more = ", …" if len(empty) > 10 else ""
        note(f"{count(len(empty), 'topic')} without candidates: {', '.join(empty[:10])}{more}")
    where = "" if output == "-" else f" → {output}"
    sizes = f"{count(table.n_rows, 'row')} of {count(table.n_features, 'feature')}"
    note(f"{sizes} for {count(table.n_queries, 'topic')}{where}")
