"""Bundles: JSON round trip to the last bit, and refusal of tables, indexes and files that do not fit."""

import copy
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import SearchlabError, SettingError, SourceError, WriteFailed
from searchlab.features.catalogue import CATALOGUE
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.json_numbers import compact_numbers
from searchlab.rankers.bundle import (
    FORMAT,
    Bundle,
    analysis_record,
    columns_of,
    fingerprint_of,
    load_bundle,
)
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.models.kernel_model import KernelModel
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.models.rule_model import RuleModel
from searchlab.rankers.models.voting_model import VotingModel
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.training.from_table import train_from_table
from searchlab.training.recipe import Recipe

FEATURES = ("letor.both.bm25", "letor.title.bm25", "own")
RANDOM = np.random.default_rng(5)


def some_table(seed=1, n=14, names=FEATURES):
    random = np.random.default_rng(seed)
    values = random.normal(size=(n, len(names)))
    values[random.random(values.shape) < 0.15] = np.nan
    qids = np.repeat(["x", "y"], [n // 3, n - n // 3])
    return FeatureTable(names, qids, [f"d{row}" for row in range(n)], values, random.integers(0, 3, n))


def make_model(kind, n):
    random = np.random.default_rng(n)
    grades = ((2.0, 1.0), (1.0, 0.0))
    vectors, coefficients = random.normal(size=(5, n)), random.normal(size=5)
    return {
        "linear": lambda: LinearModel(random.normal(size=n)),
        "counted votes": lambda: VotingModel(random.normal(size=(2, n)), grades, "count"),
        "weighed votes": lambda: VotingModel(random.normal(size=(2, n)), grades, "score"),
        "rules": lambda: RuleModel(random.integers(0, n, 20), random.random(20), random.normal(size=20), n),
        "rbf": lambda: KernelModel(vectors, coefficients, 0.1, "rbf", gamma=0.3),
        "poly": lambda: KernelModel(vectors, coefficients, -0.1, "poly", gamma=0.3, degree=2),
        "linear kernel": lambda: KernelModel(vectors, coefficients, 1 / 3, "linear"),
    }[kind]()


KINDS = ("linear", "counted votes", "weighed votes", "rules", "rbf", "poly", "linear kernel")
RULES = {
    "plain": ("query-minimum", "query-minmax", False),
    "powers": ("query-minimum", "query-minmax", True),
    "learnt": ("indicator", "standard", False),
    "learnt powers": ("indicator", "standard", True),
    "ranks": ("zero", "query-rank", False),
}


def make_bundle(kind="linear", rules="plain", features=FEATURES, **changes):
    preprocessor = Preprocessor.named(*RULES[rules]).fit(some_table(names=features))
    model = make_model(kind, len(columns_of(features, preprocessor)))
    parts = {
        "ranker": "rsvm",
        "settings": {"C": 0.1, "depth": None},
        "definitions": {name: CATALOGUE[name].formula for name in features if name in CATALOGUE},
        "analyser": analysis_record(AnalysisSettings.from_names()),
        "first_stage": FirstStage(50, "bm25", {"k1": 1.5}),
        "training": {"source": "é [x]\n[", "details": [{"gap": 1e-7, "losses": [1.0, 0.5]}, {"gap": 0.5}]},
        "choice": {"tried": [{"value": 1.0, "mean": 0.5}], "chosen": [1.0]},
        "trial": {"helps": True, "verdict": "rsvm helps"},
    }
    return Bundle(model=model, features=features, preprocessor=preprocessor, **(parts | changes))


every_kind = pytest.mark.parametrize("kind", KINDS)
all_rules = pytest.mark.parametrize("rules", RULES)


@every_kind
@all_rules
def test_a_bundle_read_back_scores_the_same_to_the_last_bit(tmp_path, kind, rules):
    bundle = make_bundle(kind, rules)
    bundle.save(tmp_path / "model.json")
    again = load_bundle(tmp_path / "model.json")
    table = some_table(seed=2)
    scores = bundle.scores(table)
    assert len(set(scores.tolist())) > 3
    assert np.array_equal(again.scores(table), scores)
    assert again.to_json() == bundle.to_json()
    assert again.influences() == bundle.influences()
    assert repr(again.explain(table, 6)) == repr(bundle.explain(table, 6))
    assert (again.first_stage, again.version, again.features) == (bundle.first_stage, bundle.version, FEATURES)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_scores_are_those_of_the_prepared_rows():
    bundle, table = make_bundle("linear", "powers"), some_table(seed=2)
    prepared = bundle.preprocessor.transform(table)
    assert bundle.scores(table).tolist() == (prepared.values @ bundle.model.weights).tolist()


TRAINED = {
    "rsvm-ir": {},
    "mhr-weighted": {"C": 0.1},
    "rankboost": {"rounds": 15},
    "svm": {"kernel": "rbf"},
    "maxent": {},
    "rankboost-qd": {"decay": 0.5},
    "rsvm-knn": {"k": 2},
    "single": {},
}


def training_table():
    random = np.random.default_rng(8)
    grades = random.integers(0, 3, 32)
    values = random.normal(size=(32, 3)) + grades[:, None] * [0.6, 0.2, 0.0]
    docnos = [f"d{row}" for row in range(32)]
    return FeatureTable(["a", "b", "c"], np.repeat([f"q{n}" for n in range(4)], 8), docnos, values, grades)


@pytest.mark.parametrize("name", TRAINED)
def test_the_same_training_gives_the_same_file_byte_for_byte(tmp_path, name):
    recipe = Recipe(name, TRAINED[name], n_folds=0, n_parts=2)
    for number in (1, 2):
        trained = train_from_table(training_table(), recipe=recipe, source="here")
        trained.save(tmp_path / f"{number}.json")
    first = (tmp_path / "1.json").read_bytes()
    assert (tmp_path / "2.json").read_bytes() == first
    again = load_bundle(tmp_path / "1.json")
    assert np.array_equal(again.scores(training_table()), trained.scores(training_table()))
    train_from_table(training_table(), recipe=replace(recipe, seed=3), source="here").save(tmp_path / "3.json")
    assert (tmp_path / "3.json").read_bytes() != first


def test_the_file_is_readable(tmp_path):
    make_bundle("linear", "powers").save(tmp_path / "model.json")
    lines = (tmp_path / "model.json").read_text(encoding="utf-8").splitlines()
    assert lines[1] == f' "format": "{FORMAT}",'
    (weights,) = [line for line in lines if line.strip().startswith('"weights"')]
    assert weights.count(",") == 8
    assert weights.endswith("]")
    assert any("é [x]" in line for line in lines)


def test_unknown_values_are_null(tmp_path):
    bundle = make_bundle(training={"mean": math.nan, "all": [math.inf, 1.0], "n": np.int64(3)})
    bundle.save(tmp_path / "model.json")
    assert load_bundle(tmp_path / "model.json").training == {"mean": None, "all": [None, 1.0], "n": 3}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_lists_on_one_line_are_the_same_json(value):
    text = json.dumps(value, ensure_ascii=False, indent=1)
    compact = compact_numbers(text)
    assert json.loads(compact) == value
    assert len(compact.split("\n")) <= len(text.split("\n"))


def test_lists_of_numbers_are_on_one_line_and_others_are_not():
    kept = {"w": [1, -2.5, 1e-9], "m": [[1, 2], [3]], "names": ["1", "2"], "none": [], "mixed": [1, None]}
    assert compact_numbers(json.dumps(kept, indent=1)).split("\n") == [
        "{",
        ' "w": [1, -2.5, 1e-09],',
        ' "m": [',
        "  [1, 2],",
        "  [3]",
        " ],",
        ' "names": [',
        '  "1",',
        '  "2"',
        " ],",
        ' "none": [],',
        ' "mixed": [',
        "  1,",
        "  null",
        " ]",
        "}",
    ]


def test_a_file_that_cannot_be_written_is_reported(tmp_path):
    with pytest.raises(WriteFailed, match="a folder, expected a file"):
        make_bundle().save(tmp_path)
    (tmp_path / "model.json").write_text("older")
    with pytest.raises((ValueError, TypeError)):
        make_bundle(training={"what": object()}).save(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_text() == "older"


# Tables, indexes and files that a bundle refuses.


def test_a_table_may_have_further_columns_in_any_order():
    bundle, table = make_bundle(rules="learnt powers"), some_table(seed=2)
    wider = table.with_values(
        np.column_stack([table.values[:, ::-1], np.ones(table.n_rows)]), [*reversed(FEATURES), "more"]
    )
    assert np.array_equal(bundle.scores(wider), bundle.scores(table))
    assert repr(bundle.explain(wider, 3)) == repr(bundle.explain(table, 3))


def test_a_table_that_lacks_features_is_refused():
    bundle, table = make_bundle(), some_table()
    message = (
        r"the model needs features letor\.both\.bm25, letor\.title\.bm25, which the table lacks; it has feature own$"
    )
    with pytest.raises(SettingError, match=message):
        bundle.scores(table.select(["own"]))
    with pytest.raises(SettingError, match=message):
        bundle.explain(table.select(["own"]), 0)
    many = make_bundle(features=tuple("abcdef"))
    with pytest.raises(SettingError, match=r"the model needs a, b, c and 3 more features, which the table lacks"):
        many.scores(table)


def test_rows_out_of_range_have_no_explanation():
    for row in (-1, 14):
        with pytest.raises(SettingError, match=f"row is {row}, expected 0 to 13"):
            make_bundle().explain(some_table(), row)


@pytest.fixture(scope="module")
def engine(build):
    documents = [Document("d1", "heat flow", "flow over wings"), Document("d2", "wings", "heat")]
    with SearchEngine(build(documents, settings=AnalysisSettings.from_names())) as opened:
        yield opened


KNOWN = ("letor.both.bm25", "letor.title.bm25")


def test_an_index_that_fits_is_accepted(engine):
    make_bundle(features=KNOWN).check_index(engine)
    make_bundle(features=KNOWN, analyser=None, definitions={}).check_index(engine)


def test_an_index_of_another_analyser_is_refused(engine):
    other = analysis_record(AnalysisSettings.from_names("none", "none"))
    with pytest.raises(SettingError) as caught:
        make_bundle(features=KNOWN, analyser=other).check_index(engine)
    message = str(caught.value)
    assert message.startswith(f"{engine.snapshot.folder}: its texts have stemmer porter, stop list default (")
    assert "the model was trained on texts with stemmer none, stop list none (" in message
    assert "\n" not in message


def test_features_that_searchlab_does_not_compute_are_named(engine):
    with pytest.raises(SettingError, match="the model needs feature own, which searchlab does not compute from an ind"):
        make_bundle().check_index(engine)


def test_a_formula_that_has_changed_is_refused(engine):
    with pytest.raises(SettingError, match=r"trained with letor\.both\.bm25 as 2·c, now it is .*: retrain it"):
        make_bundle(features=KNOWN, definitions={"letor.both.bm25": "2·c"}).check_index(engine)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a JSON file"),
        (b"{", "not a JSON file"),
        (b"\xff\xfe", "not a JSON file"),
        (b"[" * 100_000, "not a JSON file"),
        (b"[]", "not a model of searchlab: format is 'list', expected 'searchlab model 1'"),
        (b"{}", "not a model of searchlab: format is None"),
        (b'{"format": "searchlab model 9"}', "format is 'searchlab model 9', expected 'searchlab model 1'"),
        (b'{"format": "searchlab model 1"}', "malformed model .KeyError: 'features'"),
    ],
)
def test_a_file_that_is_no_bundle_is_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=message) as caught:
        load_bundle(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_reported(tmp_path):
    with pytest.raises(SourceError, match=r"cannot be read .No such file"):
        load_bundle(tmp_path / "none.json")
    with pytest.raises(SourceError, match=r"cannot be read .Is a directory"):
        load_bundle(tmp_path)


def places(value, path=()):
    """Every path in a JSON value below its top, but only the first two items of lists."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, own in inner:
        yield (*path, key)
        yield from places(own, (*path, key))


def changed(kept, path, change):
    """A copy in which the value at one path is changed."""
    spoilt = copy.deepcopy(kept)
    home = spoilt
    for key in path[:-1]:
        home = home[key]
    change(home, path[-1])
    return spoilt


# The description of the training may be anything: nothing depends on it.
PROVENANCE = ("training", "choice", "cross_validation")


def delete(home, key):
    del home[key]


# Values of every type, and some that look right until they are used.
STRANGE = [None, True, "", "a\nb", -1, 10**400, math.nan, math.inf, [], [[]], {}, {"name": "x"}, [1, "a"]]


def is_harmless(bundle):
    """Use a bundle that was read: errors other than ours would be a traceback for a user."""
    table = some_table(seed=2)
    table = table if set(bundle.features) <= set(FEATURES) else some_table(seed=2, names=bundle.features)
    try:
        scores = bundle.scores(table)
        bundle.explain(table, 2)
        bundle.influences()
    except SearchlabError as error:
        return "\n" not in str(error)
    return bool(np.isfinite(scores).all()) or bundle.model.kind == "kernel"


@pytest.mark.parametrize(
    ("kind", "rules"),
    [("linear", "learnt powers"), ("weighed votes", "plain"), ("rules", "ranks"), ("poly", "plain")],
)
def test_any_change_of_a_file_is_refused_in_one_line_or_harmless(tmp_path, kind, rules, monkeypatch):
    kept = json.loads(json.dumps(make_bundle(kind, rules).to_json()))
    path = tmp_path / "model.json"
    path.write_text("{}")
    n_refused = n_harmless = 0
    for place in places({key: kept[key] for key in kept if key not in PROVENANCE}):
        changes = [delete] + [lambda home, key, value=value: home.__setitem__(key, value) for value in STRANGE]
        for change in changes:
            spoilt = changed(kept, place, change)
            # Faster than writing and parsing the text each time.
            monkeypatch.setattr("searchlab.rankers.bundle.parse_json", lambda text, spoilt=spoilt: spoilt)
            try:
                bundle = load_bundle(path)
            except SourceError as error:
                assert "\n" not in str(error), place
                n_refused += 1
            else:
                with np.errstate(all="ignore"):
                    assert is_harmless(bundle), (place, spoilt)
                n_harmless += 1
    assert n_refused > 4 * n_harmless
    assert n_harmless > 20


MUST_BE_REFUSED = {
    **{f"without {key}": ((key,), delete) for key in make_bundle().to_json() if key != "recipe"},
    "a recipe in words": (("recipe",), lambda home, key: home.__setitem__(key, "tuned")),
    "a recipe without summary": (("recipe",), lambda home, key: home.__setitem__(key, {"name": "a", "label": "b"})),
    "a ranker without name": (("ranker", "name"), delete),
    "settings in a list": (("ranker", "settings"), lambda home, key: home.__setitem__(key, [1])),
    "a feature twice": (("features", 0, "name"), lambda home, key: home.__setitem__(key, "own")),
    "a feature with a blank": (("features", 0, "name"), lambda home, key: home.__setitem__(key, "a b")),
    "a feature by number": (("features", 0, "name"), lambda home, key: home.__setitem__(key, 1)),
    "a feature less": (("features", 0), delete),
    "a weight less": (("model", "weights", 0), delete),
    "a weight that is none": (("model", "weights", 0), lambda home, key: home.__setitem__(key, None)),
    "a weight in words": (("model", "weights", 0), lambda home, key: home.__setitem__(key, "much")),
    "an unknown kind": (("model", "kind"), lambda home, key: home.__setitem__(key, "forest")),
    "no analyser but a word": (("analyser",), lambda home, key: home.__setitem__(key, "porter")),
    "an analyser without stemmer": (("analyser", "stemmer"), delete),
    "candidates below 1": (("first_stage", "k"), lambda home, key: home.__setitem__(key, 0)),
    "an unknown scorer": (("first_stage", "scorer"), lambda home, key: home.__setitem__(key, "bm52")),
    "an unknown setting": (("first_stage", "settings"), lambda home, key: home.__setitem__(key, {"k7": 1})),
    "an unknown imputation": (("preprocessor", "imputation", "name"), lambda home, key: home.__setitem__(key, "nil")),
    "an unknown normalisation": (
        ("preprocessor", "normalisation", "name"),
        lambda home, key: home.__setitem__(key, "nil"),
    ),
    "an unknown choice of powers": (("preprocessor", "powers"), lambda home, key: home.__setitem__(key, "cubes")),
    "no choice of powers": (("preprocessor", "powers"), delete),
    "a trial in words": (("cross_validation",), lambda home, key: home.__setitem__(key, "good")),
    "a training in pairs": (("training",), lambda home, key: home.__setitem__(key, [["a", 1]])),
}


@pytest.mark.parametrize(("place", "change"), MUST_BE_REFUSED.values(), ids=MUST_BE_REFUSED)
def test_required_values_must_be_present_and_valid(tmp_path, place, change):
    kept = json.loads(json.dumps(make_bundle().to_json()))
    path = tmp_path / "model.json"
    path.write_text(json.dumps(changed(kept, place, change)))
    with pytest.raises(SourceError) as caught:
        load_bundle(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["analyser", "first_stage", "cross_validation"])
def test_optional_values_are_null(tmp_path, key):
    kept = make_bundle().to_json() | {key: None}
    (tmp_path / "model.json").write_text(json.dumps(kept))
    assert load_bundle(tmp_path / "model.json").to_json() == kept


def test_a_recipe_is_kept_and_may_be_unknown(tmp_path):
    path = tmp_path / "model.json"
    recipe = {"name": "tuned", "label": "rsvm, tuned", "summary": "powers of the features", "averaged": 5}
    replace(make_bundle(), ranker="rsvm", recipe=recipe).save(path)
    bundle = load_bundle(path)
    assert bundle.recipe == recipe
    assert (bundle.label, bundle.recipe_text) == ("rsvm, tuned", "tuned: powers of the features")
    # Some rankers have no paper, and others a paper that is not improved on: the two recipes do the same with them.
    same = replace(bundle, recipe=recipe | {"label": "rsvm"})
    assert (same.label, same.recipe_text) == ("rsvm", "tuned (for rsvm the same as paper): powers of the features")
    record = bundle.to_json()
    del record["recipe"]
    path.write_text(json.dumps(record))
    assert (load_bundle(path).label, load_bundle(path).recipe_text) == ("rsvm", "")


def test_the_fingerprint_changes_with_any_row_value_or_grade():
    table = some_table()
    first = fingerprint_of(table)
    assert first == fingerprint_of(some_table())
    assert len(first) == 16
    values = table.values.copy()
    values[0, 0] += 1e-9
    grades = table.grades.copy()
    grades[3] += 1
    others = [
        table.with_values(values),
        table.with_grades(grades),
        table.with_grades(None),
        table.rows(slice(1, None)),
        table.select(reversed(FEATURES)),
        table.with_values(table.values, ["a", "b", "c"]),
    ]
    found = {fingerprint_of(other) for other in others} | {fingerprint_of(table, others[0]), first}
    assert len(found) == len(others) + 2


# What was learnt from.


def test_topics_that_were_learnt_from_are_known_by_their_texts():
    bundle = replace(make_bundle(), training={"topics": {"1": "Heat  flow", "2": "wings"}})
    never = lambda: pytest.fail("recorded topics need no others")  # noqa: E731
    assert bundle.has_learnt_from([Topic("9", "cells"), Topic("7", " heat FLOW")], "mine", never)
    assert not bundle.has_learnt_from([Topic("1", "heat")], "mine", never)
    assert not bundle.has_learnt_from([], "mine", never)


def test_without_recorded_topics_those_of_the_collection_count_if_it_was_trained_on_them():
    source = "topics of its collection, judgments of its collection"
    bundle = replace(make_bundle(), training={"source": source, "index": {"name": "mine"}})
    collection = [Topic("1", "heat flow")]
    assert bundle.has_learnt_from([Topic("7", "Heat flow")], "mine", lambda: collection)
    assert not bundle.has_learnt_from([Topic("7", "wings")], "mine", lambda: collection)
    assert not bundle.has_learnt_from(collection, "other", lambda: collection)
    other = replace(bundle, training={"source": "topics t.tsv, judgments q.txt", "index": {"name": "mine"}})
    assert not other.has_learnt_from(collection, "mine", lambda: collection)
    assert not replace(bundle, training={}).has_learnt_from(collection, "mine", lambda: collection)


def test_a_damaged_digit_is_found_by_the_checksum(tmp_path):
    path = tmp_path / "model.json"
    make_bundle().save(path)
    text = path.read_text()
    assert '"C": 0.1' in text
    path.write_text(text.replace('"C": 0.1', '"C": 0.3'))
    with pytest.raises(
        SourceError, match=r"model\.json: its checksum does not match; the file is damaged, or was changed"
    ):
        load_bundle(path)
    # A file without a checksum, as earlier versions wrote it, or as one who changes it by hand leaves it.
    record = json.loads(path.read_text())
    del record["checksum"]
    path.write_text(json.dumps(record))
    assert load_bundle(path).settings["C"] == 0.3


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity"])
def test_numbers_that_json_does_not_have_are_refused(tmp_path, number):
    path = tmp_path / "model.json"
    make_bundle().save(path)
    path.write_text(path.read_text().replace('"C": 0.1', f'"C": {number}'))
    with pytest.raises(SourceError, match="not a JSON file"):
        load_bundle(path)


def test_a_bundle_is_shown_in_a_few_words():
    assert repr(make_bundle()) == f"<Bundle {make_bundle().label}: {len(FEATURES)} features>"


def test_values_that_are_no_table_and_no_path_are_refused():
    bundle = make_bundle()
    with pytest.raises(SettingError, match="table is int, expected a FeatureTable"):
        bundle.scores(5)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="table is NoneType, expected a FeatureTable"):
        bundle.explain(None, 0)  # type: ignore[arg-type]
    for call in (load_bundle, bundle.save):
        with pytest.raises(SettingError, match="path is NoneType, expected a path"):
            call(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["a", "b"], "feature 1 is malformed, expected names with values"),
        ([{"name": "a"}, {"name": 3}], "feature 2 is malformed"),
        ("ab", "features is str, expected a list"),
    ],
)
def test_features_that_were_changed_by_hand_are_refused(tmp_path, features, message):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(make_bundle().to_json() | {"features": features}))
    with pytest.raises(SourceError, match=message):
        load_bundle(path)
