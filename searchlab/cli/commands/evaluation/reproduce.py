"""`searchlab reproduce`: the experiments of the papers.

    letor        every ranker on folds of features: the experiments of RSVM-IR and OrdRank
    simulation   cost-sensitive against plain Ranking SVM on three Gaussians
    retrieval    searches, language models and re-rankers on collections with judgments

With -o each writes a report with the figures and tables of the papers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import searchlab
from searchlab.cli.app import add_group
from searchlab.cli.messages import note, warn, warn_of_latin1
from searchlab.cli.options import JobsOption, ReportOption, require_jobs, split_names
from searchlab.cli.output import STANDARD_OUTPUT, open_output, require_writable_folder
from searchlab.cli.printing.terminal_text import pluralize
from searchlab.cli.progress import reading_bar, stage_bar
from searchlab.cli.search_options import pairs
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from searchlab.corpus import Collection
    from searchlab.report.content import Report
    from searchlab.reproduction.letor import RankerResult
    from searchlab.reproduction.retrieval import RetrievalResult

reproduce_app = add_group("reproduce", "Run the experiments of the papers.")


@reproduce_app.command("letor")
def letor_command(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Folds: FOLDER/Fold1/{train,vali,test}.txt, …")],
    rankers: Annotated[
        str | None,
        typer.Option("--rankers", metavar="NAMES", help="Rankers separated by commas, such as rsvm,mhr [default: all]"),
    ] = None,
    output: ReportOption = None,
    json_file: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the results as JSON")] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            "--queries", metavar="QID,QID", help="Two queries to draw [default: those with the fewest and most pairs]"
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the ranker, if only one is named"),
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", metavar="NAME", help="The measure to choose settings by, on the validation set")
    ] = "AP",
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect", metavar="trec|letor3|letor4|paper", help="The evaluation tool whose rules are followed"
        ),
    ] = "letor3",
    fill: Annotated[
        str,
        typer.Option(
            "--fill", metavar="NAME", help="How undefined values are filled: indicator, letor, query-minimum or zero"
        ),
    ] = "query-minimum",
    normalise: Annotated[
        str,
        typer.Option(
            "--normalise",
            metavar="NAME",
            help="How features are scaled: none, query-minmax, query-rank, query-zscore or standard",
        ),
    ] = "query-minmax",
    bend: Annotated[
        str | None,
        typer.Option(
            "--bend",
            metavar="none|powers",
            help="powers adds the square and the root of each feature [default: what suits the ranker]",
        ),
    ] = None,
    jobs: JobsOption = None,
) -> None:
    """Train and test every ranker on LETOR folds.

    Settings are chosen on the validation sets (Cao et al. 2006; OrdRank).
    """
    from searchlab.reproduction.letor import DEFAULT_RANKERS, read_data, reproduce

    names = list(DEFAULT_RANKERS) if rankers is None else split_names(rankers, "--rankers", "rsvm,rsvm-ir")
    ranker_settings = dict(pairs(settings or (), "--set", "C=0.01"))
    if ranker_settings and len(names) != 1:
        raise SettingError(f"--set is for one ranker, found {len(names)}: expected --rankers with one name")
    require_jobs(jobs)
    recipe = searchlab.Recipe(
        names[0] if names else "",
        ranker_settings,
        filling=fill,
        normalisation=normalise,
        bends=bend,
        measure=measure,
        dialect=dialect,
    )
    drawn_queries = None if queries is None else split_names(queries, "--queries", "12,50")
    if drawn_queries is not None and output is None:
        raise SettingError("--queries is for the figures of a report: expected -o FOLDER")
    require_writable_folder(output)
    data = read_data(folder)
    if drawn_queries is not None:
        from searchlab.reproduction.figures import check_queries

        check_queries(data.whole, drawn_queries)
    with stage_bar() as progress:
        results = reproduce(data, names, recipe=recipe, n_jobs=jobs, progress=progress)
        _print_rankers(results, recipe.validation_measure().name, dialect)
        if output is not None:
            from searchlab.reproduction.letor_report import letor_report

            progress("drawing", 0, 1)
            report = letor_report(results, data, recipe, drawn_queries, name=Path(folder).resolve().name)
    if output is not None:
        print(f"\n{report.summary}")
        _write_report(report, output)
    if json_file is not None:
        record = {
            "measure": recipe.validation_measure().name,
            "dialect": dialect,
            "rankers": {name: result.to_json() for name, result in results.items()},
        }
        with open_output(json_file) as file:
            file.write(json.dumps(record, ensure_ascii=False, indent=2) + "\n")
        if json_file != STANDARD_OUTPUT:
            note(f"results → {json_file}")


@reproduce_app.command("simulation")
def simulation_command(
    output: ReportOption = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The same seed gives the same numbers")] = 0,
    runs: Annotated[int, typer.Option("--runs", metavar="N", help="How often instances are drawn")] = 10,
) -> None:
    """Cost-sensitive against plain Ranking SVM.

    On three Gaussians (Xu et al. 2006).
    """
    from searchlab.reproduction.simulation import format_simulation, simulate, simulation_report

    require_writable_folder(output)
    with stage_bar() as progress:
        simulation = simulate(seed, runs, progress)
    print(format_simulation(simulation))
    print(f"\nNDCG, the mean of {pluralize(runs, 'run')}, seed {seed}. {simulation.verdict()}")
    if output is not None:
        _write_report(simulation_report(simulation), output)


@reproduce_app.command("retrieval")
def retrieval_command(
    collections: Annotated[
        list[str], typer.Argument(metavar="COLLECTION", help="Folders with documents, topics and qrels")
    ],
    output: ReportOption = None,
    features: Annotated[
        str, typer.Option("--features", metavar="NAMES", help="Feature sets to re-rank with, separated by commas")
    ] = "table1,letor45,semantic",
    rankers: Annotated[
        str, typer.Option("--rankers", metavar="NAMES", help="Rankers, separated by commas")
    ] = "rsvm,rsvm-ir",
    folds: Annotated[int, typer.Option("--folds", metavar="N", help="Folds of the cross-validation over topics")] = 5,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed for the folds and the tests")] = 0,
) -> None:
    """Compare language models, RM3 and re-rankers with BM25.

    On collections with judgments. Indexes are made in FOLDER/indexes, or in indexes/ without -o.
    """
    from searchlab.features.feature_sets import make_feature_set
    from searchlab.reproduction.judged_collections import find_judged_collections
    from searchlab.reproduction.retrieval import make_recipes
    from searchlab.reproduction.retrieval_report import compare_with_paper, format_retrieval_table, retrieval_report

    feature_sets = split_names(features, "--features", "table1,semantic")
    ranker_names = split_names(rankers, "--rankers", "rsvm,rsvm-ir")
    # Misspelt names are refused before any work is done.
    _ = [make_feature_set(name) for name in feature_sets], make_recipes(ranker_names, folds, seed)
    require_writable_folder(output)
    outcomes: list[RetrievalResult] = []
    for name, collection in find_judged_collections(collections).items():
        outcomes.append(_run_collection(name, collection, output, feature_sets, ranker_names, folds, seed))
        print(format_retrieval_table(outcomes[-1]) + "\n")
        for sentence in outcomes[-1].sentences():
            print(f"{sentence}.")
        for reason in outcomes[-1].left_out:
            warn(f"left out: {reason}")
        print()
    print(
        f"Re-rankers and the mixture: held-out topics of {folds} folds, seed {seed}. "
        "↑ ↓: significantly better or worse than BM25 (randomisation test, Holm, p < .05)."
    )
    print(compare_with_paper(outcomes))
    if output is not None:
        _write_report(retrieval_report(outcomes, seed), output)


def _run_collection(
    name: str, collection: Collection, output: str | None, sets: list[str], rankers: list[str], folds: int, seed: int
) -> RetrievalResult:
    from searchlab.indexing.index_names import default_folder
    from searchlab.reproduction.judged_collections import refuse_index_of_other_source
    from searchlab.reproduction.retrieval import run_retrieval

    source = str(collection.folder)
    folder = default_folder([source]) if output is None else Path(output) / "indexes" / name
    refuse_index_of_other_source(folder, source)
    notes = searchlab.ReadingNotes()
    with reading_bar(notes) as reading:
        searchlab.index([source], folder, notes=notes, progress=reading)
    topics = searchlab.read_topics(collection.topics[0], notes=notes)
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
            progress=lambda stage, done, total: progress(f"{name}: {stage}", done, total),
        )


def _write_report(report: Report, output: str) -> None:
    from searchlab.report.writer import write_report

    first, *others = write_report(report, output)
    note(f"report → {first}, and {pluralize(len(others), 'file')} next to it")


def _print_rankers(results: Mapping[str, RankerResult], measure: str, dialect: str) -> None:
    """Print the test measures of the rankers, with training times and certified gaps."""
    from searchlab.evaluation.dialects import make_dialect
    from searchlab.reproduction.letor import MEASURES

    width = max(map(len, results))
    best = {name: max(result.mean(name) for result in results.values()) for name in MEASURES}
    print(f"{'':{width}}  " + " ".join(f"{name:>8}" for name in MEASURES) + "    seconds      pairs      gap")
    for name, result in results.items():
        means = {each: result.mean(each) for each in MEASURES}
        cells = [f"{mean:.4f}".lstrip("0") + ("*" if mean == best[each] else " ") for each, mean in means.items()]
        n_pairs = "–" if result.n_pairs is None else f"{result.n_pairs:,.0f}"
        gap = "–" if result.gap is None else f"{result.gap:.0e}"
        line = " ".join(f"{cell:>8}" for cell in cells)
        print(f"{name:{width}}  {line} {result.train_seconds:>10.2f} {n_pairs:>10} {gap:>8}")
    folds = pluralize(len(next(iter(results.values())).folds), "fold")
    chosen = f"settings chosen by {measure} on validation sets"
    print(f"\nMeans over the test sets of {folds}, * the best of a column; {chosen}.")
    print("Seconds: one fit with the chosen setting. Gap: the relative duality gap; – for rankers without one.")
    rules = make_dialect(dialect).describe()
    print(f"{rules[0].upper()}{rules[1:]}.")
