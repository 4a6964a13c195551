"""How is the plan of an experiment read from a TOML file?

`plan.py` shows the format. What the file says is checked before anything is done: names of measures, scorers, rankers
and features, settings and their ranges, each against what it stands for.
"""

from __future__ import annotations

import os
from pathlib import Path

from searchlab.corpus.ir_datasets import is_dataset
from searchlab.errors import unknown_name
from searchlab.evaluation.comparison import refuse_totals
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.measures import parse_measures
from searchlab.experiments.plan import MEASURES, FoldPlan, Plan, System
from searchlab.experiments.toml_section import Section, read_toml
from searchlab.features.sets import FeatureSet, make_set
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.ranker_registry import RANKERS, make_ranker
from searchlab.retrieval.expansion import RM3
from searchlab.scorers.registry import SCORERS, make_scorer
from searchlab.training.from_table import Recipe

FEATURES = "semantic"


def read_plan(path: str | Path) -> Plan:
    """Read a plan, or say in one line what is wrong with the file."""
    top = read_toml(path)
    file = top.file
    seed = top.whole("seed", 0)
    measures = top.texts("measures", MEASURES)
    top.make("measures", lambda: _check_measures(measures))
    dialect = top.text("dialect", "trec") or ""
    top.make("dialect", lambda: make_dialect(dialect))
    title = top.text("title", file.stem) or ""
    output = top.text("output", f"results/{file.stem}") or ""
    given = {key: top.text(key) for key in ("index", "collection", "topics", "qrels")}
    folds = _read_folds(top.section("folds"), file, seed)
    first_stage = _read_first_stage(top.section("first_stage"))
    features = _read_features(top.section("features"), file)
    systems = tuple(
        _read_system(section, features, measures[0], dialect, seed, file) for section in top.sections("systems")
    )
    baseline = top.text("baseline", systems[0].name if systems else "")
    top.close()
    if not systems:
        raise top.error("systems", "found none, expected at least one [[systems]]")
    _check_names(top, systems, baseline or "")
    index = given["index"]
    if index is not None and len(Path(index).parts) > 1:
        index = str(_beside(file, index))
    if (given["topics"] is None) != (given["qrels"] is None):
        absent, there = ("topics", "qrels") if given["topics"] is None else ("qrels", "topics")
        raise top.error(absent, f"found nothing beside {there}, expected both or neither")
    collection, topics, qrels = (
        None if given[key] is None else _beside(file, str(given[key])) for key in ("collection", "topics", "qrels")
    )
    return Plan(
        file,
        title,
        _beside(file, output),
        systems,
        index,
        collection,
        topics,
        qrels,
        measures,
        dialect,
        baseline or "",
        seed,
        folds,
        first_stage,
    )


def _beside(file: Path, name: str) -> Path:
    """A path that is relative to the plan's file; one that is absolute stays so."""
    if is_dataset(name):
        return Path(name)
    # Without what a/../b has too much: paths are shown to people.
    return Path(os.path.normpath(file.parent / name))


def _check_measures(names: tuple[str, ...]) -> None:
    parse_measures(names)
    for name in names:
        refuse_totals(name)


def _check_names(top: Section, systems: tuple[System, ...], baseline: str) -> None:
    known: dict[str, str] = {}
    for number, system in enumerate(systems, start=1):
        section = Section(top.file, f"systems {number}", {})
        if not system.slug:
            raise section.error("name", f"found {system.name!r}, expected a name with a letter or digit")
        if system.slug in known:
            other = known[system.slug]
            raise section.error("name", f"found {system.name!r} beside {other!r}, expected distinct names")
        known[system.slug] = system.name
    names = [system.name for system in systems]
    if baseline not in names:
        top.make("baseline", lambda: _refuse("system", baseline, names))


def _refuse(kind: str, name: str, known: list[str]) -> None:
    raise unknown_name(kind, name, known)


def _read_folds(section: Section, file: Path, seed: int) -> FoldPlan:
    number, own_seed = section.whole("number", 5, 2), section.whole("seed", seed)
    queries, listed = section.lists("queries"), section.text("file")
    section.close()
    if sum([section.has("queries"), section.has("file"), section.has("number") or section.has("seed")]) > 1:
        raise section.error("", "found several ways to deal topics out, expected number and seed, queries or file")
    if listed is not None:
        queries = _read_fold_file(section, _beside(file, listed))
    if section.has("queries") or listed is not None:
        if len(queries) < 2:
            raise section.error("queries", f"found {len(queries)} fold, expected at least 2")
        seen: dict[str, int] = {}
        for place, fold in enumerate(queries, start=1):
            for qid in fold:
                if seen.setdefault(qid, place) != place or fold.count(qid) > 1:
                    raise section.error(
                        "queries", f"found topic {qid} in fold {seen[qid]} and {place}, expected it once"
                    )
    return FoldPlan(number, own_seed, queries)


def _read_fold_file(section: Section, path: Path) -> tuple[tuple[str, ...], ...]:
    """The topics of each fold, folds in the order in which they are first named."""
    folds: dict[str, list[str]] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise section.error("file", f"{path} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise section.error("file", f"{path} is not a text in UTF-8") from None
    for number, line in enumerate(lines, start=1):
        columns = line.split()
        if columns and len(columns) != 2:
            raise section.error("file", f"{path}:{number}: found {len(columns)} columns, expected 2 (qid, fold)")
        if columns:
            folds.setdefault(columns[1], []).append(columns[0])
    return tuple(tuple(own) for own in folds.values())


def _read_first_stage(section: Section) -> FirstStage:
    scorer, settings = section.text("scorer", "bm25") or "", section.settings("settings")
    k, rm3 = section.whole("k", 200, 1), section.yes("rm3", True)
    section.close()
    return section.make("", lambda: FirstStage(k, scorer, settings, rm3))


def _read_features(section: Section, file: Path) -> FeatureSet:
    name, names = section.text("set"), section.texts("names")
    section.close()
    if name is not None and names:
        raise section.error("", "found set and names, expected one of the two")
    if names:
        return section.make("names", lambda: make_set(names))
    return section.make("set", lambda: _named_set(name or FEATURES, file))


def _named_set(name: str, file: Path) -> FeatureSet:
    return make_set(_beside(file, name) if name.endswith(".toml") else name)


def _read_system(section: Section, features: FeatureSet, measure: str, dialect: str, seed: int, file: Path) -> System:
    if section.has("scorer") == section.has("ranker"):
        found = "both" if section.has("scorer") else "neither"
        raise section.error("", f"found {found} of scorer and ranker, expected one of them")
    return (_read_ranker if section.has("ranker") else _read_scorer)(section, features, measure, dialect, seed, file)


def _read_scorer(section: Section, features: FeatureSet, measure: str, dialect: str, seed: int, file: Path) -> System:
    scorer = section.text("scorer") or ""
    settings, grid = section.settings("settings"), section.grid("grid")
    expansion = _read_expansion(section)
    label = {"bm25": "BM25", "bm25f": "BM25F"}.get(scorer, scorer)
    name = section.text("name", "RM3" if expansion else label) or ""
    section.close()
    if scorer not in SCORERS:
        section.make("scorer", lambda: _refuse("scorer", scorer, list(SCORERS)))
    system = System(name, scorer, settings, grid, expansion)
    for key in settings:
        if key in grid:
            raise section.error("grid", f"found {key}, which is in settings too, expected it in one of them")
    for point in section.make("grid", system.points):
        section.make("grid" if grid else "settings", lambda point=point: make_scorer(scorer, point))  # type: ignore[misc]
    return system


def _read_expansion(section: Section) -> RM3 | None:
    if isinstance(section.values.get("rm3", False), bool):
        return RM3() if section.yes("rm3", False) else None
    own = section.section("rm3")
    own.name = f"{section.name}.rm3"
    usual = RM3()
    documents, terms = own.whole("documents", usual.documents, 1), own.whole("terms", usual.terms, 1)
    given = own.number("weight", usual.weight, 0, 1)
    own.close()
    return own.make("", lambda: RM3(documents, terms, given))


def _read_ranker(section: Section, features: FeatureSet, measure: str, dialect: str, seed: int, file: Path) -> System:
    ranker = section.text("ranker") or ""
    settings = section.settings("settings")
    name = section.text("name", ranker) or ""
    n_parts = section.whole("parts", 4, 2)
    filling = section.text("fill", "letor") or ""
    normalisation = section.text("normalise", "query-minmax") or ""
    bends = section.text("bend", "none")
    if section.has("features"):
        if isinstance(section.values["features"], list):
            names = section.texts("features")
            features = section.make("features", lambda: make_set(names))
        else:
            own = section.text("features") or ""
            features = section.make("features", lambda: _named_set(own, file))
    section.close()
    if ranker not in RANKERS:
        section.make("ranker", lambda: _refuse("ranker", ranker, list(RANKERS)))
    section.make("settings", lambda: make_ranker(ranker, settings))
    recipe = section.make(
        "",
        lambda: Recipe(
            ranker, settings, filling, normalisation, bends, measure, dialect, n_parts=n_parts, n_folds=0, seed=seed
        ),
    )
    return System(name, settings=settings, recipe=recipe, features=features)
