"""How are the experiments of the papers run from the command line?

    letor        every ranker on folds of features: the experiments of RSVM-IR and OrdRank
    simulation   cost-sensitive against plain Ranking SVM on three Gaussians
    retrieval    searches, language models and re-rankers on collections of one's own

With -o each writes a report, with the figures and tables of the papers.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.app import app, count, note, warn_of_latin1
from searchlab.cli.progress import reading_bar, stage_bar
from searchlab.cli.search_options import pairs
from searchlab.errors import SettingError, SourceError, WriteFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from searchlab.corpus import Collection
    from searchlab.report.content import Report
    from searchlab.reproduction.letor import RankerResult
    from searchlab.reproduction.retrieval import Outcome

ReportOption = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FOLDER", help="Write a report with figures and tables here")
]

reproduce_app = typer.Typer(help="Run the experiments of the papers.", no_args_is_help=True)
app.add_typer(reproduce_app, name="reproduce")


@reproduce_app.command("letor")
def letor_command(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Folds: DIR/Fold1/{train,vali,test}.txt, …")],
    rankers: Annotated[
        str | None, typer.Option("--rankers", metavar="NAMES", help="Such as rsvm,rsvm-ir [default: all]")
    ] = None,
    output: ReportOption = None,
    json_file: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the results as JSON")] = None,
    queries: Annotated[
        str | None,
        typer.Option("--queries", metavar="A,B", help="Two queries to draw [default: with the fewest and most pairs]"),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the ranker, if there is one")
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", help="What settings are chosen by, on the validation set")
    ] = "AP",
    dialect: Annotated[
        str, typer.Option("--dialect", help="Rules of the measures: letor3, letor4, trec, paper")
    ] = "letor3",
    fill: Annotated[str, typer.Option("--fill", help="Undefined values")] = "query-minimum",
    normalise: Annotated[
        str, typer.Option("--normalise", help="How features are brought to one scale")
    ] = "query-minmax",
    bend: Annotated[str | None, typer.Option("--bend", help="none or powers [default: what suits the ranker]")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", help="How many processes [default: one a core]")] = None,
) -> None:
    """Train and test every ranker on LETOR folds; settings are chosen on the validation sets."""
    from searchlab.atomic_file import open_atomic
    from searchlab.reproduction.letor import USUAL, read_data, reproduce
    from searchlab.training.from_table import Recipe

    names = list(USUAL) if rankers is None else _listed(rankers, "--rankers", "rsvm,rsvm-ir")
    own = dict(pairs(settings or (), "--set", "C=0.01"))
    if own and len(names) != 1:
        raise SettingError(f"--set is for one ranker, found {len(names)}: expected --rankers with one name")
    if jobs is not None and jobs < 1:
        raise SettingError(f"--jobs is {jobs}, expected 1 or more")
    recipe = Recipe(
        names[0] if names else "",
        own,
        filling=fill,
        normalisation=normalise,
        bends=bend,
        measure=measure,
        dialect=dialect,
    )
    two = None if queries is None else _listed(queries, "--queries", "12,50")
    if two is not None and output is None:
        raise SettingError("--queries is for the figures of a report: expected -o FOLDER")
    _require_folder(output)
    data = read_data(folder)
    if two is not None:
        from searchlab.reproduction.figures import check_queries

        check_queries(data.whole, two)
    with stage_bar() as progress:
        results = reproduce(data, names, recipe=recipe, n_jobs=jobs, progress=progress)
        _print_table(results, recipe.judge().name, dialect)
        if output is not None:
            from searchlab.reproduction.letor_report import letor_report

            progress("drawing", 0, 1)
            report = letor_report(results, data, recipe, two, name=Path(folder).resolve().name)
    if output is not None:
        print(f"\n{report.lead}")
        _write(report, output)
    if json_file is not None:
        record = {
            "measure": recipe.judge().name,
            "dialect": dialect,
            "rankers": {name: result.to_json() for name, result in results.items()},
        }
        text = json.dumps(record, ensure_ascii=False, indent=2)
        if json_file == "-":
            sys.stdout.write(text + "\n")
        else:
            with open_atomic(json_file) as file:
                file.write(text + "\n")
            note(f"→ {json_file}")


@reproduce_app.command("simulation")
def simulation_command(
    output: ReportOption = None,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same numbers")] = 0,
    runs: Annotated[int, typer.Option("--runs", help="How often instances are drawn")] = 10,
) -> None:
    """Cost-sensitive against plain Ranking SVM on three Gaussians (Xu et al. 2006)."""
    from searchlab.reproduction.simulation import as_text, simulate, simulation_report

    _require_folder(output)
    with stage_bar() as progress:
        found = simulate(seed, runs, progress)
    print(as_text(found))
    print(f"\nNDCG, the mean of {count(runs, 'run')}, seed {seed}. {found.verdict()}")
    if output is not None:
        _write(simulation_report(found), output)


@reproduce_app.command("retrieval")
def retrieval_command(
    collections: Annotated[
        list[str], typer.Argument(metavar="COLLECTION...", help="Folders with documents, topics and qrels")
    ],
    output: ReportOption = None,
    features: Annotated[
        str, typer.Option("--features", metavar="SETS", help="Sets of features to re-rank with")
    ] = "table1,letor45,semantic",
    rankers: Annotated[str, typer.Option("--rankers", metavar="NAMES", help="What learns")] = "rsvm,rsvm-ir",
    folds: Annotated[int, typer.Option("--folds", help="Folds of the cross-validation over topics")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="For the folds and the tests")] = 0,
) -> None:
    """BM25, language models, RM3 and re-rankers on collections with judgments, compared with BM25.

    Indexes are made in FOLDER/indexes, or in indexes/ without -o.
    """
    from searchlab.features.sets import make_set
    from searchlab.reproduction.retrieval import make_recipes
    from searchlab.reproduction.retrieval_report import as_text, retrieval_report, where_we_stand

    sets = _listed(features, "--features", "table1,semantic")
    names = _listed(rankers, "--rankers", "rsvm,rsvm-ir")
    _ = [make_set(name) for name in sets], make_recipes(names, folds, seed)
    _require_folder(output)
    found = _find_collections(collections)
    outcomes: list[Outcome] = []
    for name, collection in found.items():
        outcomes.append(_try_collection(name, collection, output, sets, names, folds, seed))
        print(as_text(outcomes[-1]) + "\n")
        for sentence in outcomes[-1].sentences():
            print(f"{sentence}.")
        for reason in outcomes[-1].left_out:
            note(f"left out: {reason}")
        print()
    print(
        f"Re-rankers and the mixture: held-out topics of {folds} folds, seed {seed}. "
        "↑ ↓: significantly better or worse than BM25 (randomisation test, Holm, p < .05)."
    )
    print(where_we_stand(outcomes))
    if output is not None:
        _write(retrieval_report(outcomes, seed), output)


def _find_collections(folders: list[str]) -> dict[str, Collection]:
    """The collections by their names; all are looked at before any work is done."""
    import searchlab

    found: dict[str, Collection] = {}
    for folder in folders:
        collection = searchlab.find_collection(folder)
        if collection is None:
            raise SourceError(folder, "expected a folder with one file of documents (docs.*, documents.* or corpus.*)")
        if not collection.topics or not collection.qrels:
            missing = "topics" if not collection.topics else "qrels"
            raise SourceError(folder, f"no {missing} found, expected a collection with topics and qrels")
        name = collection.folder.resolve().name
        if name in found:
            raise SettingError(f"two collections are called {name}, expected folders of different names")
        found[name] = collection
    return found


def _try_collection(
    name: str, collection: Collection, output: str | None, sets: list[str], rankers: list[str], folds: int, seed: int
) -> Outcome:
    import searchlab
    from searchlab.indexing.index_names import default_folder
    from searchlab.reproduction.retrieval import run_retrieval

    source = str(collection.folder)
    folder = default_folder([source]) if output is None else Path(output) / "indexes" / name
    _refuse_strangers(folder, source)
    notes = searchlab.ReadingNotes()
    with reading_bar(notes) as reading:
        searchlab.index([source], folder, notes=notes, progress=reading)
    topics = list(searchlab.read_topics(collection.topics[0], notes=notes))
    qrels = searchlab.read_qrels(collection.qrels[0], notes=notes)
    warn_of_latin1(notes)
    with searchlab.open(folder) as engine, stage_bar() as progress:
        return run_retrieval(
            engine,
            topics,
            qrels,
            name=name,
            features=sets,
            rankers=rankers,
            n_folds=folds,
            seed=seed,
            progress=lambda stage, done, of: progress(f"{name}: {stage}", done, of),
        )


def _refuse_strangers(folder: Path, source: str) -> None:
    """An index of other documents is left alone."""
    from searchlab.indexing.index_names import absolute_source
    from searchlab.indexing.storage.layout import MANIFEST
    from searchlab.indexing.storage.manifest import read_index_manifest

    if (folder / MANIFEST).exists():
        sources = list(read_index_manifest(folder).sources)
        if sources != [absolute_source(source)]:
            made = ", ".join(sources) or "a program"
            raise SettingError(f"{folder}: was made from {made}, expected an index of {source}; -o keeps others apart")


def _listed(names: str, option: str, example: str) -> list[str]:
    """Names with commas between them, each once."""
    found = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not found:
        raise SettingError(f"{option} is {names!r}, expected at least one name, such as {example}")
    return found


def _require_folder(output: str | None) -> None:
    """Experiments take time: say beforehand that their report could not be written."""
    if output is None:
        return
    path = Path(output).absolute()
    there = next(each for each in (path, *path.parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        why = "it is no folder" if not there.is_dir() else "no permission"
        raise WriteFailed(f"{output}: cannot be written ({there}: {why})")


def _write(report: Report, output: str) -> None:
    from searchlab.report.writer import write_report

    first, *others = write_report(report, output)
    note(f"→ {first}, and {count(len(others), 'file')} beside it")


def _print_table(results: Mapping[str, RankerResult], measure: str, dialect: str) -> None:
    from searchlab.evaluation.dialects import make_dialect
    from searchlab.reproduction.letor import MEASURES

    width = max(map(len, results))
    best = {name: max(result.mean(name) for result in results.values()) for name in MEASURES}
    print(f"{'':{width}}  " + " ".join(f"{name:>8}" for name in MEASURES) + "    seconds      pairs      gap")
    for name, result in results.items():
        shown = [
            f"{result.mean(own):.4f}".lstrip("0") + ("*" if result.mean(own) == best[own] else " ") for own in MEASURES
        ]
        n_pairs = "–" if result.n_pairs is None else f"{result.n_pairs:,.0f}"
        gap = "–" if result.gap is None else f"{result.gap:.0e}"
        line = " ".join(f"{value:>8}" for value in shown)
        print(f"{name:{width}}  {line} {result.train_seconds:>10.2f} {n_pairs:>10} {gap:>8}")
    folds = count(len(next(iter(results.values())).folds), "fold")
    chosen = f"settings chosen by {measure} on validation sets"
    print(f"\nMeans over the test sets of {folds}, * the best of a column; {chosen}.")
    print("Seconds: one fit of the chosen setting. Gap: certified, relative; – where a ranker has no certificate.")
    rules = make_dialect(dialect).describe()
    print(f"{rules[0].upper()}{rules[1:]}.")
