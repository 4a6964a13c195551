"""A new family of scorers is one module and one line in the registry.

Two families are defined here, as another package would define them: one by a formula over tf, one that scores every
document. Registered by a line, they are made by name, searched with, explained and compared like all others.
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given

import searchlab
from searchlab.errors import SettingError
from searchlab.rankers.systems import make_system
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.base import MIN_SETTING, PostingScorer, Scorer, require
from searchlab.scorers.execution.dense_scoring import BoundDenseScorer
from searchlab.scorers.gains import SATURATION
from searchlab.scorers.registry import SCORERS, make_scorer
from tests.scorers.contract import (
    check_arrays,
    check_finite_and_monotone,
    check_formula,
    check_rarer_term_gains_more,
    check_search,
    check_value,
    contract_engines,
    situations,
)


@dataclass(frozen=True)
class InL2(PostingScorer):
    """Divergence from randomness, InL2 (Amati, van Rijsbergen, ACM TOIS 2002).

    w = tfn/(tfn + 1) · log2((N + 1)/(df + ½)),   tfn = tf·log2(1 + c·avgdl/|d|)

    tfn/(tfn + 1) = tf/(tf + norm) with norm = 1/log2(1 + c·avgdl/|d|).
    """

    c: float = 1.0

    label = "InL2"
    shape = SATURATION

    def __post_init__(self):
        require(self, "c", MIN_SETTING)

    def weigh(self, tf, length, term, unique_length=None):
        tfn = tf * np.log2(1 + self.c * term.mean_length / np.maximum(length, 1))
        return tfn / (tfn + 1) * self.term_weight(term)

    def term_weight(self, term):
        return math.log2((term.n_docs + 1) / (term.doc_freq + 0.5))

    def doc_norm(self, length, unique_length, mean_length):
        return 1 / np.log2(1 + self.c * mean_length / np.maximum(length, 1))


@dataclass(frozen=True)
class Additive(Scorer):
    """A language model with additive smoothing, which every document has for every word.

    w = ln((tf + δ) / (|d| + δ·1000))
    """

    delta: float = 0.5

    label = "additive smoothing"

    def bind(self, reader, stream):
        return BoundAdditive(self, reader, stream)


class BoundAdditive(BoundDenseScorer):
    """The scorer over one index."""

    def __init__(self, scorer, reader, stream):
        super().__init__(reader, stream)
        self._delta = scorer.delta

    def weigh(self, query, shard_index, docs):
        rows = []
        for term in query.terms:
            stream = self.stream_of(query, term)
            column = self.reader.column(shard_index, stream)
            tfs = np.zeros(len(column.lengths))
            having, frequencies = self.reader.occurrences(shard_index, stream, term.variants)
            tfs[having] = frequencies
            rows.append(np.log((tfs[docs] + self._delta) / (column.lengths[docs] + 1000 * self._delta)))
        return np.array(rows)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """The lines in the registry."""
    monkeypatch.setitem(SCORERS, "inl2", InL2)
    monkeypatch.setitem(SCORERS, "additive", Additive)


@pytest.fixture(scope="module")
def engines(build):
    return contract_engines(build)


@given(situation=situations())
def test_a_new_formula_keeps_the_contract(situation):
    for scorer in (InL2(), InL2(0.1), InL2(50)):
        check_formula(scorer, situation)
        check_finite_and_monotone(scorer, situation)
        check_rarer_term_gains_more(scorer, situation)


def test_a_new_formula_takes_arrays():
    check_arrays(InL2())


@pytest.mark.parametrize("kind", [InL2, Additive])
def test_new_scorers_are_values(kind):
    check_value(kind)


@pytest.mark.parametrize("scorer", [InL2(), InL2(7), Additive(), Additive(0.01)], ids=repr)
def test_searches_by_new_scorers_keep_the_contract(engines, scorer):
    check_search(engines, scorer)


def test_new_scorers_are_made_by_name_with_settings():
    assert make_scorer("inl2", {"c": "2"}) == InL2(2.0)
    assert searchlab.make_scorer("additive") == Additive()
    with pytest.raises(SettingError, match="unknown setting of inl2 'k1'; there is: c"):
        make_scorer("inl2", {"k1": "1"})
    with pytest.raises(SettingError, match=r"unknown scorer 'inl' .*additive.*inl2"):
        make_scorer("inl")


def test_a_new_formula_scores_and_explains_by_hand(build):
    # N = 2, avgdl = 3. "x" is in both documents: log2(3/2.5); "y" in one: log2(3/1.5) = 1.
    # |d| = 2: tfn = log2(1 + 3/2); |d| = 4 with tf = 3: tfn = 3·log2(1 + 3/4).
    engine = SearchEngine(build([Document("short", "", "x y"), Document("long", "", "x x x z")]))
    short, long = math.log2(2.5), 3 * math.log2(1.75)
    hits = engine.search("x y", scorer=make_scorer("inl2"))
    assert hits.docnos == ["short", "long"]
    by_hand = [short / (short + 1) * (math.log2(1.2) + 1), long / (long + 1) * math.log2(1.2)]
    assert hits.scores.tolist() == pytest.approx(by_hand)
    parts = engine.explain("x y", "long", scorer=make_scorer("inl2")).parts
    assert [(part.label, part.query_count, part.raw) for part in parts] == [("x", 1, 3), ("y", 1, 0)]
    assert [part.amount for part in parts] == pytest.approx([by_hand[1], 0])


def test_a_new_dense_scorer_ranks_documents_without_any_word_of_the_query(engines):
    hits = engines[0].search("apple", k=None, scorer=make_scorer("additive"))
    assert len(hits) == len(engines[0])


def test_the_command_line_takes_new_scorers_by_name(here, run_cli):
    code, output, errors = run_cli("query", "lymphoma", "--scorer", "inl2", "--set", "c=2", "--explain")
    assert code == 0, errors
    assert "med-1" in output
    code, output, errors = run_cli("query", "lymphoma", "--scorer", "inl3")
    assert code != 0
    assert "did you mean inl2?" in errors


def test_a_new_scorer_is_a_system_with_its_label(engines):
    system = make_system(engines[0], "inl2:c=2")
    assert system.label == "InL2 (c=2)"
    assert len(system.search("apple pear", k=3)) == 3
