"""Every reader and parser survives fuzzing, and a failure is found; `benchmarks/attacks/fuzz.py` has longer runs."""

import random
from collections import Counter
from contextlib import suppress

import pytest

from benchmarks.attacks import fuzz as fuzzing
from benchmarks.attacks.fuzz import ERROR, FAILURE, RESULT, describe, fuzz, make_case, plan_cases
from benchmarks.attacks.fuzz_targets import Target, make_targets
from benchmarks.attacks.mutation import MAX_BYTES, mutate
from benchmarks.parts import Part
from searchlab.errors import SearchlabError

N_CASES = 2000


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    made = make_targets(tmp_path_factory.mktemp("fuzz"))
    # Compiled loops are compiled now: in a new installation that takes as long as a case may.
    for target in made:
        for content in target.seeds:
            with suppress(SearchlabError):
                target.attack(content, random.Random(2))
    return made


def raising(error):
    def attack(content, draw):
        raise error

    return Target("raising", (b"abc",), attack)


def spin(content, draw):
    while True:
        pass


def test_every_input_gives_a_result_or_an_error_of_searchlab(targets):
    result = fuzz(targets, N_CASES, seed=2)
    assert result.failures == {}
    assert result.n_cases == N_CASES
    assert result.outcomes.keys() == {target.name for target in targets}
    total = sum(result.outcomes.values(), start=Counter())
    assert min(total[RESULT], total[ERROR]) > N_CASES / 5


def test_seeds_are_valid(targets):
    named = [target for target in targets if not target.name.endswith("detected")]
    assert len(named) > 30
    for target in named:
        for content in target.seeds:
            target.attack(content, random.Random(2))


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (SearchlabError("one line"), ERROR),
        (SearchlabError("two\nlines"), FAILURE),
        (KeyError("x"), FAILURE),
        (MemoryError(), FAILURE),
        (UserWarning("careless"), FAILURE),
    ],
)
def test_only_an_error_of_searchlab_in_one_line_is_expected(error, outcome):
    result = fuzz([raising(error)], 8, seed=1)
    assert result.outcomes == {"raising": {outcome: 8}}
    assert list(result.n_failures.values()) == [8] * (outcome == FAILURE)
    assert ("case 0" in describe(result)) == (outcome == FAILURE)


def test_a_case_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr(fuzzing, "CASE_SECONDS", 0.05)
    assert list(fuzz([Target("spinning", (b"a",), spin)], 1, seed=1).failures) == ["spinning: stuck"]


def test_a_case_is_drawn_by_its_number_alone(targets):
    target = targets[0]
    first, again, other = (make_case(target, 1, number)[0] for number in (7, 7, 8))
    assert first == again != other


def test_parts_make_up_the_whole():
    targets = [Target("a", (b"a",), spin, share=2), Target("b", (b"b",), spin, share=1)]
    whole = [(target.name, number) for target, number in plan_cases(targets, range(7))]
    # By hand: turns of a, a, b.
    assert whole == [("a", 0), ("a", 1), ("b", 0), ("a", 2), ("a", 3), ("b", 1), ("a", 4)]
    parts = [list(plan_cases(targets, Part(number, 3).of(range(7)))) for number in (1, 2, 3)]
    assert sorted((target.name, number) for part in parts for target, number in part) == sorted(whole)


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/2/3"])
def test_a_part_that_does_not_exist_is_refused(text):
    with pytest.raises(ValueError, match=r"expected I/N|invalid literal|values to unpack"):
        Part.parse(text)


def test_a_part_is_written_as_number_and_count():
    assert Part.parse("2/3") == Part(2, 3)


def test_mutants_differ_and_stay_small():
    seed = b'{"a": [1, 2.5], "b": {"c": "x"}}\n{"a": 3}\n'
    mutants = {mutate([seed], (b"token",), random.Random(number)) for number in range(300)}
    assert len(mutants) > 200
    assert max(map(len, mutants)) <= MAX_BYTES
