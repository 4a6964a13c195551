"""Reading the plan of an experiment from a TOML file.

`plan.py` shows the format. All names of measures, scorers, rankers and features, and all settings with their ranges,
are checked before any work is done.
"""

from __future__ import annotations

import os
from pathlib import Path

from searchlab.corpus.ir_datasets import is_dataset
from searchlab.corpus.text_files import read_text_file
from searchlab.errors import SourceError, unknown_name
from searchlab.evaluation.comparison import check_comparable
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.measures import parse_measures
from searchlab.experiments.plan import MEASURES, ExperimentPlan, FoldPlan, SystemPlan
from searchlab.experiments.toml_section import TomlSection, read_toml
from searchlab.features.feature_sets import DEFAULT_SET, FeatureSet, make_feature_set
from searchlab.features.user_defined.external_features import external_feature
from searchlab.rankers.builtin import BUILTIN
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.ranker_registry import RANKERS, make_ranker
from searchlab.retrieval.expansion import RM3
from searchlab.scorers.registry import SCORERS, make_scorer
from searchlab.training.recipe import AUTO, NO_PRIOR, RECIPES, SEARCH_DEFAULTS, TUNED, Recipe


def read_plan(path: str | Path) -> ExperimentPlan:
    """Read a plan; an error names the file, the section, the key, and what was expected."""
    top = read_toml(path)
    file = top.file
    seed = top.integer("seed", 0)
    written = top.strings("measures", MEASURES)
    measures = top.make("measures", lambda: _read_measures(written))
    dialect = top.string("dialect", "trec") or ""
    top.make("dialect", lambda: make_dialect(dialect))
    title = top.string("title", file.stem) or ""
    output = top.string("output", f"results/{file.stem}") or ""
    sources = {key: top.string(key) for key in ("index", "collection", "topics", "qrels")}
    folds = _read_folds(top.section("folds"), file, seed)
    first_stage = _read_first_stage(top.section("first_stage"))
    features = _read_features(top.section("features"), file)
    systems = tuple(
        _read_system(section, features, measures[0], dialect, seed, file) for section in top.sections("systems")
    )
    baseline = top.string("baseline", systems[0].name if systems else "")
    top.refuse_unknown_keys()
    if not systems:
        raise top.error("systems", "found none, expected at least one [[systems]]")
    _check_names(top, systems, baseline or "")
    index = sources["index"]
    if index is not None and len(Path(index).parts) > 1:
        index = str(_beside(file, index))
    if (sources["topics"] is None) != (sources["qrels"] is None):
        absent, present = ("topics", "qrels") if sources["topics"] is None else ("qrels", "topics")
        raise top.error(absent, f"missing, but {present} is given; expected both or neither")
    collection, topics, qrels = (
        None if sources[key] is None else _beside(file, str(sources[key])) for key in ("collection", "topics", "qrels")
    )
    return ExperimentPlan(
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
    """A path relative to the plan's file; an absolute one stays as it is."""
    if is_dataset(name):
        return Path(name)
    # Paths are shown to users, so a/../b becomes b.
    return Path(os.path.normpath(file.parent / name))


def _read_measures(written: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(measure.name for measure in parse_measures(written))
    for name in names:
        check_comparable(name)
    return names


def _check_names(top: TomlSection, systems: tuple[SystemPlan, ...], baseline: str) -> None:
    known: dict[str, str] = {}
    for number, system in enumerate(systems, start=1):
        section = TomlSection(top.file, f"systems {number}", {})
        if not system.slug:
            raise section.error("name", f"found {system.name!r}, expected a name with a letter or digit")
        if system.slug in known:
            other = known[system.slug]
            raise section.error("name", f"found {system.name!r} and {other!r}, expected distinct names")
        known[system.slug] = system.name
    names = [system.name for system in systems]
    if baseline not in names:
        top.make("baseline", lambda: _refuse("system", baseline, names))


def _refuse(kind: str, name: str, known: list[str]) -> None:
    raise unknown_name(kind, name, known)


def _read_folds(section: TomlSection, file: Path, seed: int) -> FoldPlan:
    number, own_seed = section.integer("number", 5, 2), section.integer("seed", seed)
    queries, listed = section.name_lists("queries"), section.string("file")
    section.refuse_unknown_keys()
    if sum([section.has("queries"), section.has("file"), section.has("number") or section.has("seed")]) > 1:
        raise section.error("", "found several definitions of the folds, expected number and seed, queries or file")
    if listed is not None:
        queries = _read_fold_file(section, _beside(file, listed))
    if section.has("queries") or listed is not None:
        if len(queries) < 2:
            raise section.error("queries", f"found {len(queries)} fold, expected at least 2")
        seen: dict[str, int] = {}
        for fold_number, fold in enumerate(queries, start=1):
            for qid in fold:
                if seen.setdefault(qid, fold_number) != fold_number or fold.count(qid) > 1:
                    raise section.error(
                        "queries", f"found topic {qid} in fold {seen[qid]} and {fold_number}, expected it once"
                    )
    return FoldPlan(number, own_seed, queries)


def _read_fold_file(section: TomlSection, path: Path) -> tuple[tuple[str, ...], ...]:
    """The topics of each fold, in the order in which folds first occur."""
    folds: dict[str, list[str]] = {}
    try:
        lines = read_text_file(path).splitlines()
    except SourceError as error:
        raise section.error("file", str(error)) from None
    except UnicodeDecodeError:
        raise section.error("file", f"{path} is not UTF-8 text") from None
    for number, line in enumerate(lines, start=1):
        columns = line.split()
        if columns and len(columns) != 2:
            raise section.error("file", f"{path}:{number}: found {len(columns)} columns, expected 2 (qid, fold)")
        if columns:
            folds.setdefault(columns[1], []).append(columns[0])
    return tuple(tuple(fold) for fold in folds.values())


def _read_first_stage(section: TomlSection) -> FirstStage:
    scorer, settings = section.string("scorer", "bm25") or "", section.settings("settings")
    k, rm3 = section.integer("k", 200, 1), section.boolean("rm3", True)
    section.refuse_unknown_keys()
    return section.make("", lambda: FirstStage(k, scorer, settings, rm3))


def _read_features(section: TomlSection, file: Path) -> FeatureSet:
    name, names, external = section.string("set"), section.strings("names"), section.settings("external")
    section.refuse_unknown_keys()
    if name is not None and names:
        raise section.error("", "found set and names, expected one of the two")
    if names:
        chosen = section.make("names", lambda: make_feature_set(names))
    else:
        chosen = section.make("set", lambda: _named_set(name or DEFAULT_SET, file))
    scored = [
        section.make("external", lambda key=key, path=path: external_feature(key, _beside(file, str(path))))  # type: ignore[misc]
        for key, path in external.items()
    ]
    return FeatureSet(chosen.name, (*chosen.features, *scored))


def _named_set(name: str, file: Path) -> FeatureSet:
    return make_feature_set(_beside(file, name) if name.endswith(".toml") else name)


def _read_system(
    section: TomlSection, features: FeatureSet, measure: str, dialect: str, seed: int, file: Path
) -> SystemPlan:
    if section.has("scorer") == section.has("ranker"):
        found = "both scorer and ranker" if section.has("scorer") else "neither scorer nor ranker"
        raise section.error("", f"found {found}, expected one of them")
    return (_read_ranker if section.has("ranker") else _read_scorer)(section, features, measure, dialect, seed, file)


def _read_scorer(
    section: TomlSection, features: FeatureSet, measure: str, dialect: str, seed: int, file: Path
) -> SystemPlan:
    scorer = section.string("scorer") or ""
    settings, grid = section.settings("settings"), section.grid("grid")
    expansion = _read_expansion(section)
    label = {"bm25": "BM25", "bm25f": "BM25F"}.get(scorer, scorer)
    name = section.string("name", "RM3" if expansion else label) or ""
    section.refuse_unknown_keys()
    if scorer not in SCORERS:
        section.make("scorer", lambda: _refuse("scorer", scorer, list(SCORERS)))
    system = SystemPlan(name, scorer, settings, grid, expansion)
    for key in settings:
        if key in grid:
            raise section.error("grid", f"found {key}, which is in settings too, expected it in one of them")
    for point in section.make("grid", system.points):
        section.make("grid" if grid else "settings", lambda point=point: make_scorer(scorer, point))  # type: ignore[misc]
    return system


def _read_expansion(section: TomlSection) -> RM3 | None:
    if isinstance(section.values.get("rm3", False), bool):
        return RM3() if section.boolean("rm3", False) else None
    rm3 = section.section("rm3")
    rm3.name = f"{section.name}.rm3"
    default = RM3()
    documents, terms = rm3.integer("documents", default.documents, 1), rm3.integer("terms", default.terms, 1)
    weight = rm3.number("weight", default.weight, 0, 1)
    rm3.refuse_unknown_keys()
    return rm3.make("", lambda: RM3(documents, terms, weight))


def _read_ranker(
    section: TomlSection, features: FeatureSet, measure: str, dialect: str, seed: int, file: Path
) -> SystemPlan:
    ranker = section.string("ranker") or ""
    settings = section.settings("settings")
    recipe_name = section.string("recipe", TUNED) or ""
    n_parts = section.integer("parts", 4, 2)
    imputation = section.string("impute", SEARCH_DEFAULTS["imputation"]) or ""
    normalisation = section.string("normalise", "query-minmax") or ""
    powers = section.boolean("powers", False) if section.has("powers") else None
    n_best = section.integer("n_best", 1, 1) if section.has("n_best") else None
    prior = section.string("prior", AUTO) or ""
    if prior not in (AUTO, NO_PRIOR, BUILTIN):
        prior = str(_beside(file, prior))
    if section.has("features"):
        if isinstance(section.values["features"], list):
            names = section.strings("features")
            features = section.make("features", lambda: make_feature_set(names))
        else:
            set_name = section.string("features") or ""
            features = section.make("features", lambda: _named_set(set_name, file))
    given_name = section.string("name")
    section.refuse_unknown_keys()
    if recipe_name not in RECIPES:
        section.make("recipe", lambda: _refuse("recipe", recipe_name, list(RECIPES)))
    if ranker not in RANKERS:
        section.make("ranker", lambda: _refuse("ranker", ranker, list(RANKERS)))
    section.make("settings", lambda: make_ranker(ranker, settings))
    recipe = section.make(
        "",
        lambda: Recipe(
            ranker,
            settings,
            imputation,
            normalisation,
            powers,
            measure,
            dialect,
            n_parts,
            n_folds=0,
            seed=seed,
            name=recipe_name,
            n_best=n_best,
            from_search=True,
            prior=prior,
        ),
    )
    return SystemPlan(given_name or recipe.label, settings=settings, recipe=recipe, features=features)
