"""Scorers that a user registers: by name everywhere, exact by the formula alone, and mistakes reported by name."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest

import searchlab
from searchlab.errors import SettingError, SourceError
from searchlab.extensions import origin_of
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.bm25 import BM25, length_norm, never_negative_idf
from searchlab.scorers.custom_scorers import scorer
from searchlab.scorers.gains import SATURATION
from searchlab.scorers.registry import SCORER, make_scorer
from tests.scorers.contract import QUERIES, check_arrays, check_search, check_value, contract_engines

pytestmark = pytest.mark.usefixtures("registered_here")


@dataclass(frozen=True)
class PlainBM25(searchlab.FormulaScorer):
    """BM25 as a formula alone: the same scores as by the kernel."""

    k1: float = 1.2
    b: float = 0.75

    label = "BM25 by its formula"

    def weigh(self, tf, length, term, unique_length):
        norm = self.k1 * length_norm(self.b, length, term.mean_length)
        return never_negative_idf(term) * tf * (self.k1 + 1) / (tf + norm)


@dataclass(frozen=True)
class AdditiveModel(searchlab.FormulaScorer):
    """A language model: documents without a term have a weight, too, and all weights are below 0."""

    delta: float = 0.5

    label = "additive"

    def weigh(self, tf, length, term, unique_length):
        return np.log((tf + self.delta) / (length + 1000 * self.delta))


@pytest.fixture(scope="module")
def engines(build):
    return contract_engines(build)


@pytest.mark.parametrize("kind", [PlainBM25, AdditiveModel])
def test_a_formula_keeps_the_contract_of_scorers(engines, kind):
    scorer("mine")(kind)
    check_value(kind)
    check_arrays(kind())
    check_search(engines, make_scorer("mine"))


def test_a_formula_alone_gives_the_scores_of_the_compiled_kernel(engines):
    for query in QUERIES:
        hits = engines[0].search(query, k=None, scorer=PlainBM25())
        expected = engines[0].search(query, k=None, scorer=BM25())
        assert dict(zip(hits.docnos, hits.scores, strict=True)) == pytest.approx(
            dict(zip(expected.docnos, expected.scores, strict=True))
        )


def test_a_formula_is_scored_and_explained_by_hand(build):
    # weigh = tf·(number of distinct words): "x y" has 2, "x x x z" has 2.
    @scorer("simple")
    @dataclass(frozen=True)
    class Simple(searchlab.FormulaScorer):
        def weigh(self, tf, length, term, unique_length):
            return tf * unique_length

    engine = SearchEngine(build([Document("short", "", "x y"), Document("long", "", "x x x z")]))
    hits = engine.search("x y", scorer=make_scorer("simple"))
    assert list(zip(hits.docnos, hits.scores.tolist(), strict=True)) == [("long", 6.0), ("short", 4.0)]
    parts = engine.explain("x y", "long", scorer=Simple()).parts
    assert [(part.label, part.raw, part.amount) for part in parts] == [("x", 3, 6.0), ("y", 0, 0.0)]
    assert Simple.label == "simple"


def test_registering_again_replaces_and_built_in_names_are_refused():
    scorer("mine")(PlainBM25)
    assert make_scorer("mine") == PlainBM25()
    scorer("mine")(AdditiveModel)
    assert make_scorer("mine") == AdditiveModel()
    with pytest.raises(SettingError, match=r"^scorer bm25 is built in, expected another name$"):
        scorer("bm25")(PlainBM25)
    with pytest.raises(SettingError, match=r"unknown scorer 'min' \(did you mean mine\?\)"):
        make_scorer("min")


def formula(weigh, base=searchlab.FormulaScorer, **members):
    return dataclass(frozen=True)(type("Mine", (base,), {"weigh": weigh, "__module__": __name__} | members))


def test_a_posting_scorer_whose_parts_do_not_add_up_is_refused():
    parts = {
        "shape": SATURATION,
        "term_weight": lambda self, term: 2.0,
        "doc_norm": lambda self, length, unique, mean: 0 * length + 1.0,
    }

    def right(self, tf, length, term, unique_length=None):
        return 2 * tf / (tf + 1.0)

    def wrong(self, tf, length, term, unique_length=None):
        return 3 * tf / (tf + 1.0)

    kind = scorer("parts")(formula(right, searchlab.PostingScorer, **parts))
    assert kind().weigh(1.0, 5, None) == 1.0
    with pytest.raises(SettingError, match=r"^scorer parts: its parts do not add up for a tf of 40: .* by weigh$"):
        scorer("parts")(formula(wrong, searchlab.PostingScorer, **parts))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (3, "scorer mine is int, expected a class derived from searchlab.FormulaScorer"),
        (str, "scorer mine is str, expected a class derived"),
        (dataclass(frozen=True)(type("Mine", (searchlab.FormulaScorer,), {})), "scorer mine: Mine lacks weigh"),
        (type("Mine", (searchlab.FormulaScorer,), {"weigh": lambda *a: 1}), "scorer mine: Mine is not a frozen data"),
        (formula(lambda *a: 1, __annotations__={"x": float}), "scorer mine: setting x has no default"),
        (formula(lambda s, tf, *a: np.log(tf)), "scorer mine: weigh returned -inf, expected finite numbers, also for"),
        (formula(lambda s, tf, *a: tf[:2]), r"scorer mine: weigh returned .* shape \(2,\), expected .* shape \(4,\)"),
        (formula(lambda s, tf, *a: "x"), "scorer mine: weigh returned str of .*, expected numbers"),
        (formula(lambda s, tf, *a: tf.nothing), r"scorer mine: weigh failed: AttributeError: .*\(test_custom_scorers"),
        (formula(lambda s: 1), "scorer mine: weigh failed: TypeError: "),
    ],
)
def test_mistakes_of_an_author_are_reported_with_the_name(kind, message):
    with pytest.raises(SettingError, match=f"^{message}"):
        scorer("mine")(kind)


def test_a_failure_with_other_settings_is_reported_when_it_happens(build):
    @scorer("power")
    @dataclass(frozen=True)
    class Power(searchlab.FormulaScorer):
        power: float = 1.0

        def __post_init__(self):
            if self.power > 2:
                raise ValueError("too large")

        def weigh(self, tf, length, term, unique_length):
            return 1 / tf if self.power == 2 else tf

    engine = SearchEngine(build([Document("a", "", "x"), Document("b", "", "y")]))
    assert len(engine.search("x y", scorer=make_scorer("power"))) == 2
    with pytest.raises(SettingError, match=r"^scorer power: weigh returned inf, expected finite numbers"):
        engine.search("x y", scorer=Power(2))
    with pytest.raises(SettingError, match=r"^scorer power failed with its settings: ValueError: too large \(test_"):
        make_scorer("power", {"power": "3"})


def test_a_first_stage_records_where_its_scorer_comes_from_and_refuses_another():
    scorer("mine")(PlainBM25)
    record = FirstStage(scorer="mine", settings={"k1": 2.0}).to_json()
    assert record["origin"] == origin_of(SCORER, "mine").to_json()
    assert "origin" not in FirstStage().to_json()
    again = FirstStage.from_json(record)
    assert again.make_scorer() == PlainBM25(2.0)
    assert again.to_json() == record
    changed = FirstStage.from_json(record | {"origin": record["origin"] | {"digest": "0" * 16}})
    with pytest.raises(SettingError, match=r"^scorer mine of this model: module \S+ has changed since \(hash 0{16}, "):
        changed.make_scorer()
    missing = FirstStage.from_json(record | {"scorer": "gone"})
    with pytest.raises(SettingError, match=r"^scorer gone of this model comes from module \S+, which is not loaded: "):
        missing.make_scorer()


def test_a_model_found_by_a_scorer_of_an_extension_is_refused_without_it(engines, tmp_path):
    from searchlab.features.preprocessing.preprocessor import Preprocessor
    from searchlab.rankers.bundle import Bundle, load_bundle
    from searchlab.rankers.models.linear_model import LinearModel

    scorer("mine")(PlainBM25)
    bundle = Bundle(
        "linear",
        {},
        LinearModel(np.ones(1)),
        ("bm25.both",),
        Preprocessor.named(),
        first_stage=FirstStage(scorer="mine", expanded=False),
    )
    path = tmp_path / "model.json"
    bundle.save(path)
    record = json.loads(path.read_text().replace('"scorer": "mine"', '"scorer": "other"'))
    del record["checksum"]
    path.write_text(json.dumps(record))
    loaded = load_bundle(path)
    with pytest.raises(SettingError, match=r"^scorer other of this model comes from module \S+, which is not loaded"):
        loaded.check_index(engines[0])
    path.write_text(path.read_text().replace('"module"', '"modul"'))
    with pytest.raises(SourceError, match="origin"):
        load_bundle(path)


def test_weights_are_floats_for_numbers_and_arrays():
    scorer("mine")(PlainBM25)
    term = searchlab.TermStats(2, 20, 1, 1)
    assert PlainBM25().weigh(1, 10, term, 5) == pytest.approx(math.log(2))
    assert PlainBM25().weigh(np.ones(2), np.full(2, 10), term, np.ones(2)).tolist() == pytest.approx([math.log(2)] * 2)
