"""The targets of fuzzing: each takes any bytes and hands them to a reader or parser of searchlab."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import searchlab
from benchmarks.attack import make_index
from benchmarks.attacks import fuzz_seeds as seeds
from searchlab.cli.search_options import SearchOptions, pairs
from searchlab.corpus.trec import fast_lines
from searchlab.errors import SearchlabError
from searchlab.evaluation.file_checks.consistency import check_files
from searchlab.evaluation.measures import parse_measures
from searchlab.experiments.plan_file import read_plan
from searchlab.features.feature_sets import read_feature_set
from searchlab.rankers.systems import make_system
from searchlab.retrieval.suggest.autocomplete import complete_word
from searchlab.retrieval.suggest.spelling import correct_spelling

Attack = Callable[[bytes, random.Random], object]
# Rankers whose models are of different kinds.
BUNDLE_RANKERS = ("rsvm-ir", "rankboost", "mhr", "ordrank", "maxent", "single", "rsvm-knn")
SUFFIXES = (".txt", ".jsonl", ".csv", ".tsv", ".html", ".md", ".xml", ".bib", ".ris", ".nbib", "", ".gz")
SCORERS = ("bm25", "dirichlet", "jm", "absolute", "tfidf", "bm25f", "two-stage", "mixture")
EVALUATED = ("AP", "nDCG@10", "P@5", "RR")


@dataclass(frozen=True)
class Target:
    """Something to attack: valid inputs, further pieces of its syntax, and what is done with an input.

    `share` says how many cases it gets, compared with other targets.
    """

    name: str
    seeds: tuple[bytes, ...]
    attack: Attack
    tokens: tuple[bytes, ...] = ()
    share: int = 4


class WrongResult(Exception):
    """A result that cannot be right."""


def make_targets(folder: Path) -> list[Target]:
    """All targets; their files are in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / "index"
    if not index.exists():
        make_index(index, 120)
    return [*_file_targets(folder), *_search_targets(index), *_setting_targets(), *_plan_targets(folder)]


def _file_targets(folder: Path) -> list[Target]:
    words = tuple({piece for content in seeds.DOCUMENTS.values() for piece in content.split()[:12]})
    documents = [
        Target(f"documents {name}", (content,), partial(_read_documents, folder, name), words)
        for name, content in seeds.DOCUMENTS.items()
    ]
    topics = [
        Target(f"topics {name}", (content,), partial(_read_topics, folder, name))
        for name, content in seeds.TOPICS.items()
    ]
    every = (*seeds.DOCUMENTS.values(), *seeds.TOPICS.values(), *seeds.QRELS, *seeds.RUNS, *seeds.LETOR)
    return [
        *documents,
        Target("documents detected", every, partial(_read_documents, folder, None), words),
        *topics,
        Target("topics detected", tuple(seeds.TOPICS.values()), partial(_read_topics, folder, None)),
        Target("qrels", seeds.QRELS, partial(_read_twice, folder, searchlab.read_qrels)),
        Target("runs", seeds.RUNS, partial(_read_twice, folder, searchlab.read_run)),
        Target("runs evaluated", seeds.RUNS, partial(_evaluate_run, folder), share=2),
        Target("letor", seeds.LETOR, partial(_read_letor, folder), (b" qid:", b" 1:", b"#docid = ", b"NULL")),
        Target("files checked", every, partial(_check_file, folder), share=2),
    ]


def _search_targets(index: Path) -> list[Target]:
    engine = searchlab.open(index)
    words = (
        b" AND ",
        b" OR ",
        b" NOT ",
        b"~2",
        b"^3",
        b"[a TO b]",
        b"title:",
        b"year:",
        b'"',
        b"*",
        b"NEAR(",
        b"mesh:",
    )
    return [
        Target("queries full", seeds.QUERIES, partial(_search, engine, "full"), words),
        Target("queries plain", seeds.QUERIES, partial(_search, engine, "plain"), words, share=2),
        Target("filters", seeds.FILTERS, partial(_filter, engine), (b"=[", b" TO ", b"]", b"{", b"}", b"*")),
        Target("suggestions", seeds.QUERIES, partial(_suggest, engine), share=1),
        Target(
            "systems", seeds.SYSTEMS, partial(_search_system, engine), (b"+rm3", b":", b"k1=", b",", b"jm"), share=2
        ),
    ]


def _setting_targets() -> list[Target]:
    values = (b"=", b"[", b"null", b"true", b'"a"', b"1e400", b" mu=", b" C=", b" b=", b"{}")
    measures = (b"nDCG", b"AP", b"@", b"(rel=", b")", b"judged_only=True", b"P@", b"recall_", b"ndcg_cut_")
    expansions = (b"rm3", b"rm3:documents=5,terms=10,weight=0.5", b"rm3:weight=1")
    return [
        Target("measures", seeds.MEASURES, _parse_measures, measures),
        Target("scorer settings", seeds.SCORER_SETTINGS, _make_scorer, (*values, *map(str.encode, SCORERS))),
        Target("ranker settings", seeds.RANKER_SETTINGS, _make_ranker, values),
        Target("expansions", expansions, _make_expansion, values, share=1),
    ]


def _plan_targets(folder: Path) -> list[Target]:
    toml = (
        b"[[systems]]\n",
        b"[a]\n",
        b' = "',
        b" = 1\n",
        b" = [",
        b" = {",
        b"true",
        b'"""',
        b"1979-05-27",
        b"a.b = 1\n",
    )
    return [
        Target("plans", seeds.PLANS, partial(_read_plan, folder), toml),
        Target("feature sets", seeds.FEATURE_SETS, partial(_read_feature_set, folder), toml),
        Target("bundles", tuple(_make_bundles(folder)), partial(_load_bundle, folder), share=3),
        Target("mixture weights", seeds.MIXTURE_WEIGHTS, partial(_read_weights, folder), share=2),
    ]


def _write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _read_documents(folder: Path, format: str | None, content: bytes, draw: random.Random) -> None:
    suffix = draw.choice(SUFFIXES) if format is None else Path(seeds.NAMES.get(format, "file.txt")).suffix
    path = _write(folder, f"documents{suffix}", content)
    for _ in searchlab.read_documents(path, format=format, strict=draw.random() < 0.5):
        pass


def _read_topics(folder: Path, format: str | None, content: bytes, draw: random.Random) -> None:
    path = _write(folder, "topics.txt", content)
    searchlab.read_topics(path, format=format, fields=draw.choice((None, None, "title", ("title", "desc"))))


def _read_twice(folder: Path, read: Callable[..., object], content: bytes, draw: random.Random) -> None:
    """Read line by line, and by the compiled pass for large files: both must give the same."""
    path = _write(folder, "columns.txt", content)
    strict = draw.random() < 0.5
    usual = fast_lines.MIN_FAST_BYTES
    results = []
    for least in (usual, 0):
        fast_lines.MIN_FAST_BYTES = least
        try:
            results.append(repr(read(path, strict=strict)))
        except SearchlabError as error:
            results.append(f"{type(error).__name__}: {error}")
        finally:
            fast_lines.MIN_FAST_BYTES = usual
    if results[0] != results[1]:
        raise WrongResult(f"{results[0][:300]}; compiled: {results[1][:300]}")


def _evaluate_run(folder: Path, content: bytes, draw: random.Random) -> None:
    qrels = searchlab.read_qrels(_write(folder, "qrels.txt", seeds.QRELS[0]))
    dialect = draw.choice(("trec", "letor3", "letor4", "paper"))
    run = searchlab.read_run(_write(folder, "run.txt", content))
    searchlab.evaluate_run(qrels, run, EVALUATED, dialect=dialect)
    searchlab.fuse([run, run], draw.choice(("rrf", "combsum", "combmnz", "borda")))


def _read_letor(folder: Path, content: bytes, draw: random.Random) -> None:
    searchlab.read_letor(_write(folder, "letor.txt", content), missing=draw.choice((None, "zero", "nan")))


def _check_file(folder: Path, content: bytes, draw: random.Random) -> None:
    check_files([_write(folder, "checked.txt", content)])


def _text(content: bytes, draw: random.Random) -> str:
    """A text from bytes; as in the arguments of a command, bytes that are not UTF-8 may stay as surrogates."""
    return content.decode("utf-8", draw.choice(("replace", "surrogateescape")))


def _search(engine: searchlab.SearchEngine, syntax: str, content: bytes, draw: random.Random) -> None:
    query, scorer = _text(content, draw), searchlab.make_scorer(draw.choice(("bm25", "dirichlet", "tfidf")))
    hits = engine.search(query, k=draw.choice((1, 10, None)), scorer=scorer, syntax=syntax)
    for hit in list(hits)[:3]:
        str(hit.snippet)
    if draw.random() < 0.2:
        str(engine.explain(query, "d0003", scorer=scorer, syntax=syntax))


def _filter(engine: searchlab.SearchEngine, content: bytes, draw: random.Random) -> None:
    list(engine.search("heat wing", filters=[_text(content, draw)]))


def _suggest(engine: searchlab.SearchEngine, content: bytes, draw: random.Random) -> None:
    text = _text(content, draw)[:200]
    correct_spelling(engine.snapshot, text)
    complete_word(engine.snapshot, text)


def _search_system(engine: searchlab.SearchEngine, content: bytes, draw: random.Random) -> None:
    system = make_system(engine, _text(content, draw))
    str(system.label)
    hits = system.search("heat wing", k=5)
    if not np.isfinite(hits.scores).all():
        raise WrongResult(f"scores are {hits.scores}")


def _parse_measures(content: bytes, draw: random.Random) -> None:
    parse_measures(_text(content, draw).split(","))


def _make_scorer(content: bytes, draw: random.Random) -> None:
    name, *settings = _text(content, draw).split(" ")
    SearchOptions.read(name, settings)


def _make_ranker(content: bytes, draw: random.Random) -> None:
    name, *settings = _text(content, draw).split(" ")
    searchlab.make_ranker(name, dict(pairs(settings, "--set")))


def _make_expansion(content: bytes, draw: random.Random) -> None:
    SearchOptions.read("bm25", None, expand=_text(content, draw))


def _read_plan(folder: Path, content: bytes, draw: random.Random) -> None:
    read_plan(_write(folder, "plan.toml", content))


def _read_feature_set(folder: Path, content: bytes, draw: random.Random) -> None:
    read_feature_set(_write(folder, "features.toml", content))


def _make_bundles(folder: Path) -> Sequence[bytes]:
    """Small models of all kinds, as files."""
    table = _feature_table()
    bundles = []
    for ranker in BUNDLE_RANKERS:
        path = folder / f"{ranker}.json"
        if not path.exists():
            recipe = searchlab.Recipe(ranker, n_folds=0, n_parts=2, name="paper")
            searchlab.train_from_table(table, recipe=recipe).save(path)
        bundles.append(path.read_bytes())
    return bundles


def _feature_table() -> searchlab.FeatureTable:
    draw = np.random.default_rng(1)
    grades = np.tile([0, 1, 0, 2, 0], 4)
    values = np.stack([grades + draw.random(20), draw.random(20)], axis=1)
    qids = [str(number // 5) for number in range(20)]
    return searchlab.FeatureTable(("f1", "f2"), qids, [f"d{number}" for number in range(20)], values, grades)


def _load_bundle(folder: Path, content: bytes, draw: random.Random) -> None:
    """Load a model, score with it, and explain."""
    bundle = searchlab.load_bundle(_write(folder, "bundle.json", content))
    table = _feature_table()
    bundle.scores(table)
    bundle.influences()
    str(bundle.explain(table, 3))
    str((bundle.label, bundle.recipe_text))


def _read_weights(folder: Path, content: bytes, draw: random.Random) -> None:
    searchlab.read_weights(_write(folder, "weights.json", content)).learnt.scorer()
