"""The simulation: drawn and measured as in the paper, reproducible by seed, and reported faithfully."""

import math

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.report.content import Table
from searchlab.reproduction.simulation import (
    POSITIONS,
    RANKERS,
    Instances,
    SimulatedRanker,
    Simulation,
    format_simulation,
    simulate,
    simulation_report,
)


@pytest.fixture(scope="module")
def found():
    return simulate(seed=3, n_runs=2)


def test_instances_are_drawn_around_three_means():
    drawn = Instances.draw(np.random.default_rng(1))
    assert np.bincount(drawn.grades).tolist() == [1000, 200, 100]
    for grade, mean in enumerate([(0, -0.5), (0, 2), (2, 2.5)]):
        points = drawn.points[drawn.grades == grade]
        assert np.mean(points, axis=0) == pytest.approx(mean, abs=4 / math.sqrt(len(points)))
        np.testing.assert_allclose(np.cov(points.T), np.eye(2), atol=0.5)


def test_ndcg_follows_the_paper():
    # Ranked by x: grades 0, 1, 2. Gains 0, 1, 3 with 1/log2(1 + rank), over the ideal 3 and 1.
    instances = Instances(np.array([[3.0, 0], [2, 0], [1, 0]]), np.array([0, 1, 2]))
    values = instances.ndcg(np.array([1.0, 0.0]))
    assert len(values) == len(POSITIONS) == 11
    assert values[0] == 0
    expected = (1 / math.log2(3) + 3 / 2) / (3 + 1 / math.log2(3))
    assert values[1:] == pytest.approx([expected] * 10)


def test_the_same_seed_gives_the_same_numbers(found):
    again, other = simulate(seed=3, n_runs=2), simulate(seed=4, n_runs=1)
    for name in RANKERS:
        np.testing.assert_array_equal(found.rankers[name].unseen, again.rankers[name].unseen)
        assert found.rankers[name].trained.shape == (2, 11)
    assert not np.array_equal(other.rankers["rsvm"].weights[0], found.rankers["rsvm"].weights[0])


def test_the_cost_sensitive_svm_gives_more_weight_to_what_marks_the_highest_rank(found):
    # Only the highest rank differs from the others in x1; most pairs are of the two lower ranks, which differ in x2.
    steep, plain = (found.rankers[name].weights for name in RANKERS)
    assert np.all(steep[:, 0] / steep[:, 1] > 2 * plain[:, 0] / plain[:, 1])
    assert np.all(plain > 0)


def made_up(ours, plain):
    """A simulation with the same NDCG at all positions."""
    none = Instances(np.zeros((0, 2)), np.zeros(0, dtype=np.int64))
    rankers = {
        name: SimulatedRanker(np.ones((len(values), 2)), *[np.repeat(np.array(values)[:, None], 11, axis=1)] * 2)
        for name, values in zip(RANKERS, (ours, plain), strict=True)
    }
    return Simulation(0, len(ours), rankers, none)


def test_the_verdict_reports_the_result():
    holds = made_up([1.0, 1.0, 1.0], [0.5, 0.5, 0.8])
    assert holds.holds
    assert holds.gains() == pytest.approx([0.5, 0.5, 0.2])
    # Three wins of three: p = 2 · ½³.
    assert "claim holds here: on unseen instances, mean NDCG over positions .6000 → 1.0000" in holds.verdict()
    assert "better in 3 of 3 runs (p = .25, sign test), and at 11 of 11 positions" in holds.verdict()
    assert "it stays at 1 to position 100" in holds.verdict()
    fails = made_up([0.9, 0.2], [1.0, 0.1])
    assert not fails.holds
    assert "claim does not hold here" in fails.verdict()
    assert "it falls below 1 by position 1, and is .5500 at 90" in fails.verdict()


def test_a_higher_mean_in_few_runs_is_not_enough():
    assert not made_up([1.0, 0.4, 0.4], [0.0, 0.5, 0.5]).holds


def test_the_table_and_the_report_have_the_numbers(found):
    lines = format_simulation(found).splitlines()
    assert lines[1].split() == ["position", *RANKERS, *RANKERS]
    assert [line.split()[0] for line in lines[2:]] == [str(position) for position in POSITIONS]
    mean = float(np.mean(found.rankers["rsvm"].unseen[:, -1]))
    assert lines[-1].split()[2] == f"{mean:.4f}".lstrip("0")
    report = simulation_report(found)
    numbers, functions = (block for block in report.sections[0].blocks if isinstance(block, Table))
    assert numbers.rows[-1][2] == pytest.approx(mean)
    assert functions.rows[0][4:6] == (2.85, 3.01)
    assert report.facts["seed"] == "3"


@pytest.mark.parametrize(("seed", "runs"), [(-1, 1), (0, 0), (0, 10**6), (True, 1)])
def test_settings_out_of_range_are_refused(seed, runs):
    with pytest.raises(SettingError, match="expected a whole number from"):
        simulate(seed, runs)
