"""How is a re-ranker trained, looked at and used from the command line?"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from searchlab.cli.app import IndexOption, app, choose_index, count, note, require_writable, warn_of_latin1
from searchlab.cli.collection_files import own_topics, read_judgments
from searchlab.cli.progress import stage_bar
from searchlab.cli.rerank_options import source_of
from searchlab.cli.search_options import pairs
from searchlab.errors import SettingError, SourceError

if TYPE_CHECKING:
    from searchlab.features.feature_table import FeatureTable
    from searchlab.rankers.bundle import Bundle
    from searchlab.records import Ranking
    from searchlab.training.recipe import Recipe

# What only goes with an index, and what only with a file of features.
OF_AN_INDEX = ("index", "topics", "qrels", "features", "k", "no_rm3", "scorer", "scorer_settings")
OF_A_FILE = ("valid",)

ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help="A model, as train writes it")]

model_app = typer.Typer(name="model", rich_markup_mode=None, add_completion=False)
app.add_typer(model_app)


@app.command("train")
def train_command(
    context: typer.Context,
    train: Annotated[
        str | None,
        typer.Argument(metavar="TRAIN", help="Features and grades, a LETOR file [default: computed from an index]"),
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="MODEL", help="Write the model here, as JSON")
    ] = None,
    ranker: Annotated[str, typer.Option("--ranker", help="What learns; --list lists all")] = "rsvm-ir",
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the ranker, such as C=0.01")
    ] = None,
    valid: Annotated[
        str | None,
        typer.Option("--valid", metavar="VALID", help="A LETOR file to choose by [default: parts of TRAIN in turn]"),
    ] = None,
    index: IndexOption = None,
    topics: Annotated[
        str | None,
        typer.Option("--topics", metavar="FILE", help="Topics to learn from [default: those of the collection]"),
    ] = None,
    qrels: Annotated[
        str | None,
        typer.Option("--qrels", metavar="FILE", help="Judgments [default: those of the collection, with its topics]"),
    ] = None,
    features: Annotated[
        str, typer.Option("--features", metavar="SET", help="A set of features, as for `searchlab features --set`")
    ] = "semantic",
    k: Annotated[int, typer.Option("-k", help="Candidates: so many of the first search, and of RM3")] = 200,
    no_rm3: Annotated[bool, typer.Option("--no-rm3", help="Candidates: only those of the first search.")] = False,
    scorer: Annotated[str, typer.Option("--scorer", help="Candidates: the scorer of the first search")] = "bm25",
    scorer_settings: Annotated[
        list[str] | None,
        typer.Option("--scorer-set", metavar="NAME=VALUE", help="A setting of the scorer of the first search"),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option("--measure", metavar="NAME", help="What is chosen by [default: nDCG@10; with TRAIN AP]"),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option("--dialect", help="Its rules: trec, letor3, letor4 or paper [default: trec, or letor3]"),
    ] = None,
    fill: Annotated[
        str | None,
        typer.Option(
            "--fill",
            help="Undefined values: indicator, letor, query-minimum, zero [default: letor; TRAIN: query-minimum]",
        ),
    ] = None,
    normalise: Annotated[
        str, typer.Option("--normalise", help="none, query-minmax, query-rank, query-zscore or standard")
    ] = "query-minmax",
    bend: Annotated[
        str | None,
        typer.Option(
            "--bend", help="powers: square and root beside each feature; none [default: none; TRAIN: ranker's]"
        ),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", help="Folds of the cross-validation; 0 leaves it out")] = 5,
    parts: Annotated[int, typer.Option("--parts", help="Parts of the queries that are held out to choose by")] = 4,
    seed: Annotated[int, typer.Option("--seed", help="For dealing queries into folds and parts")] = 0,
    listing: Annotated[bool, typer.Option("--list", help="List all rankers with their settings, and end.")] = False,
) -> None:
    """Train a re-ranker, and say whether it helps.

    From an index with judged topics, or from a file of features with grades (TRAIN).
    """
    if listing:
        _list_rankers()
        return
    if output is None:
        raise SettingError("nowhere to write the model: expected -o MODEL")
    _refuse_strangers(context, from_file=train is not None)
    if output == "-":
        raise SettingError("standard output tells how training went, expected -o with a file for the model")
    require_writable(output)
    from searchlab.training.from_index import USUAL
    from searchlab.training.recipe import Recipe

    usual: dict[str, Any] = {} if train is not None else dict(USUAL)
    given = {"filling": fill, "bends": bend, "measure": measure, "dialect": dialect}
    recipe = Recipe(
        ranker=ranker,
        settings=dict(pairs(settings or (), "--set", "C=0.01")),
        normalisation=normalise,
        n_parts=parts,
        n_folds=folds,
        seed=seed,
        **usual | {name: value for name, value in given.items() if value is not None},
    )
    if train is not None:
        bundle = _train_from_file(recipe, train, valid)
    else:
        first_stage = {"k": k, "scorer": scorer, "settings": dict(pairs(scorer_settings or (), "--scorer-set"))}
        bundle = _train_from_index(recipe, index, topics, qrels, features, first_stage | {"expanded": not no_rm3})
    bundle.save(output)
    _tell(bundle, output)


@model_app.callback(invoke_without_command=True)
def model_command(context: typer.Context) -> None:
    """Look at a trained model."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@model_app.command("show")
def show_command(
    model: ModelArgument,
    everything: Annotated[bool, typer.Option("--all", help="Show all weights, not only the most influential.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print what a model is, how it was trained, and its weights."""
    from searchlab.cli.model_printing import print_model
    from searchlab.rankers.bundle import load_bundle

    bundle = load_bundle(model)
    if as_json:
        influences = [{"label": share.label, "weight": share.amount} for share in bundle.influences()]
        print(json.dumps(bundle.to_json() | {"influences": influences}, ensure_ascii=False, indent=2))
        return
    try:
        print_model(bundle, everything=everything)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise SourceError(model, f"malformed model ({type(error).__name__}: {error})") from None


@app.command("rerank")
def rerank_command(
    model: ModelArgument,
    features: Annotated[str, typer.Argument(metavar="FEATURES", help="A LETOR file; - is standard input")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="RUN", help="- is standard output")] = "-",
    tag: Annotated[str | None, typer.Option("--tag", help="The run's name [default: the ranker's]")] = None,
) -> None:
    """Rank the rows of a file of features by a model.

    Writes a TREC run. Rows without a docno are called by query and row, such as 10-1.
    """
    import searchlab
    from searchlab.atomic_file import open_atomic
    from searchlab.rankers.bundle import load_bundle

    bundle = load_bundle(model)
    notes = searchlab.ReadingNotes()
    table = searchlab.read_letor(features, notes=notes)
    warn_of_latin1(notes)
    rankings = _rank(bundle, table)
    with nullcontext(sys.stdout) if output == "-" else open_atomic(output) as file:
        searchlab.write_run(file, rankings, tag or bundle.ranker)
    where = "" if output == "-" else f" → {output}"
    n = f"{table.n_queries:,} {'query' if table.n_queries == 1 else 'queries'}"
    note(f"{n}, {count(table.n_rows, 'result')}{where}")


def _list_rankers() -> None:
    from searchlab.rankers.ranker_registry import RANKERS, make_ranker

    width = max(map(len, RANKERS))
    for name, kind in RANKERS.items():
        ranker = make_ranker(name)
        known = {
            key: "chosen" if key == ranker.tuned else json.dumps(value) for key, value in ranker.get_params().items()
        }
        print(f"{name:{width}}  {kind.description}")
        print(f"{'':{width}}    {', '.join(f'{key}={value}' for key, value in known.items())}")
    print("\nUnless --set gives it, a setting that is `chosen` is tried out on held-out queries,")
    print("and depth is the k of the nDCG@k to choose by, if --measure is one.")


def _refuse_strangers(context: typer.Context, *, from_file: bool) -> None:
    """Options that do not go with what is trained from."""
    names = {parameter.name: parameter.opts[-1] for parameter in context.command.params}
    for name in OF_AN_INDEX if from_file else OF_A_FILE:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            why = (
                "is for training from an index, expected no TRAIN" if from_file else "goes with TRAIN, expected a file"
            )
            raise SettingError(f"{names[name]} {why}")


def _train_from_file(recipe: Recipe, train: str, valid: str | None) -> Bundle:
    import searchlab
    from searchlab.training.from_table import train_from_table

    notes = searchlab.ReadingNotes()
    table = searchlab.read_letor(train, notes=notes)
    aside = None if valid is None else searchlab.read_letor(valid, notes=notes)
    warn_of_latin1(notes)
    with stage_bar() as progress:
        source = train if valid is None else f"{train}, chosen by {valid}"
        return train_from_table(recipe, table, aside, source=source, progress=progress)


def _train_from_index(
    recipe: Recipe,
    index: str | None,
    topics: str | None,
    qrels: str | None,
    features: str,
    candidates: dict[str, Any],
) -> Bundle:
    import searchlab
    from searchlab.features.feature_sets import make_feature_set
    from searchlab.rankers.first_stage import FirstStage
    from searchlab.training.from_index import train_from_index

    chosen, first_stage = make_feature_set(features), FirstStage(**candidates)
    folder = choose_index(index)
    notes = searchlab.ReadingNotes()
    asked = searchlab.read_topics(topics or own_topics(folder), notes=notes)
    grades = read_judgments(folder, qrels, own=topics is None, notes=notes)
    if grades is None:
        raise SettingError("no judgments to learn from: expected --qrels")
    warn_of_latin1(notes)
    with searchlab.open(folder) as engine, stage_bar() as progress:
        return train_from_index(
            engine,
            asked,
            grades,
            chosen,
            recipe=recipe,
            first_stage=first_stage,
            source=source_of(topics, qrels),
            progress=progress,
        )


def _tell(bundle: Bundle, output: str) -> None:
    from searchlab.cli.model_printing import print_training, print_trial

    print_training(bundle)
    print()
    print_trial(bundle)
    print(f"\n→ {output}")
    if bundle.first_stage is not None:
        note(f"`searchlab query QUERY --rerank {output}` uses it, `searchlab model show {output}` shows its weights")
    else:
        note(f"`searchlab rerank {output} FEATURES` uses it, `searchlab model show {output}` shows its weights")


def _rank(bundle: Bundle, table: FeatureTable) -> list[Ranking]:
    """The rows of each query by their scores; equal ones by docno, descending."""
    from searchlab.rankers.reranking import best_first
    from searchlab.records import Ranking

    scores = bundle.scores(table)
    rankings, n_nameless, called = [], 0, ""
    for qid, rows in table.queries():
        docnos = table.docnos[rows].tolist()
        nameless = [place for place, docno in enumerate(docnos) if not docno]
        for place in nameless:
            docnos[place] = f"{qid}-{place + 1}"
            called = called or docnos[place]
        if nameless and len(set(docnos)) < len(docnos):
            raise SettingError(f"query {qid}: rows without a docno would be called as others are, expected docnos")
        n_nameless += len(nameless)
        order, own = best_first(scores[rows], docnos), scores[rows]
        rankings.append(Ranking(qid, [docnos[place] for place in order.tolist()], own[order].tolist()))
    if n_nameless:
        note(f"{count(n_nameless, 'row')} without a docno, called by query and row, such as {called}")
    return rankings
