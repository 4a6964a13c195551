"""Training time and memory of the Ranking SVM, compared with explicit pairs.

    python benchmarks/training.py DIR                           # all sections: a few minutes
    python benchmarks/training.py DIR --sections pairs,path
    python benchmarks/training.py --sections large,query        # these two need no data

DIR holds LETOR files, such as OHSUMED's QueryLevelNorm; its `Fold1/train.txt` is used.

    pairs    searchlab to a duality gap of 1e-5, and scikit-learn's LinearSVC on all pairs at the same quality
    rankers  RSVM, MHR (a solution for each two grades), OrdRank (each two adjacent ones), and the paper's minutes
    path     ten values of C, and three single fits
    descent  gradient descent, and the solver
    large    74,276 rows of 426 features, 6 grades, 2,198 queries: seconds and memory, in its own process
    query    one query with 10,000 documents, likewise

Seconds are CPU seconds, which vary less than wall-clock time on a shared machine; all run in one thread. Each is the
best of several rounds after compilation.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from report import Target, table

from searchlab.features.letor.letor_files import read_letor
from searchlab.rankers.solvers.gradient_descent import solve_by_gradient_descent
from searchlab.rankers.solvers.pair_weights import count_pairs, query_factors, rank_factors
from searchlab.rankers.solvers.pairwise_hinge import Cost, Solution, solve, solve_path

SECTIONS = ("pairs", "rankers", "path", "descent", "large", "query")
NEED_DATA = SECTIONS[:4]
TOLERANCE = 1e-5
CS = (1e-4, 1e-3, 1e-2, 1e-1)
ROUNDS = 5
# Sun et al., OrdRank, Table III: minutes a trial.
PAPER_MINUTES = {"RSVM": 1521.56, "MHR": 536.98, "OrdRank": 334.47}
# LinearSVC is not asked for more than this.
MOST_SECONDS = 120


class Data(NamedTuple):
    """Rows of features grouped by query, and their grades."""

    X: np.ndarray
    offsets: np.ndarray
    grades: np.ndarray


def lam(c: float) -> float:
    """λ‖w‖² + Σ hinge has the weights of ½‖w‖² + C Σ hinge."""
    return 1 / (2 * c)


def paper_cost(data: Data) -> Cost:
    """c = τ·μ."""
    rank, query = rank_factors(data.offsets, data.grades), query_factors(data.offsets, data.grades)
    return lambda q, high, low: rank[high, low] * query[q]


def timed(work: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, object]:
    """The least seconds of some rounds, and what came of the last."""
    seconds, found = math.inf, None
    for _ in range(rounds):
        begin = time.process_time()
        found = work()
        seconds = min(seconds, time.process_time() - begin)
    return seconds, found


def explicit_pairs(data: Data) -> np.ndarray:
    """Differences of all pairs."""
    found = []
    for begin, end in pairwise(data.offsets.tolist()):
        grades = data.grades[begin:end]
        winners, losers = np.nonzero(grades[:, None] > grades[None, :])
        found.append(data.X[begin + winners] - data.X[begin + losers])
    return np.concatenate(found)


def linear_svc(differences: np.ndarray, c: float, objective: float) -> tuple[float, float]:
    """Seconds of the LinearSVC of fewest iterations, doubled each time, that comes within 1e-5 of an objective.

    And how far above it is. Its own stop condition is set out of reach: only the number of iterations ends it.
    """
    from sklearn.svm import LinearSVC

    # Two classes are needed: every other pair is turned round.
    signs = np.where(np.arange(len(differences)) % 2, -1, 1)
    X = differences * signs[:, None]
    begin, max_iter = time.perf_counter(), 5
    while True:
        model = LinearSVC(
            loss="hinge", dual=True, fit_intercept=False, C=c, tol=1e-12, max_iter=max_iter, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, _ = timed(lambda model=model: model.fit(X, signs), 1)
        weights = model.coef_[0]
        found = lam(c) * weights @ weights + np.maximum(0, 1 - differences @ weights).sum()
        if found <= objective * (1 + TOLERANCE):
            return seconds, found / objective - 1
        if time.perf_counter() - begin > MOST_SECONDS:
            return math.inf, found / objective - 1
        max_iter *= 2


def compare_pairs(data: Data) -> Iterator[str]:
    rows, ratios = [], []
    for c in CS:
        ours, found = timed(lambda c=c: solve(*data, None, lam(c), tolerance=TOLERANCE))
        building, differences = timed(lambda: explicit_pairs(data), 2)
        theirs, excess = linear_svc(differences, c, found.objective)
        ratios.append((building + theirs) / ours)
        figures = [f"{ours:.3f}", f"{found.gap:.1e}", f"{building:.2f}", f"{theirs:.2f}", f"{excess:+.1e}"]
        rows.append([f"{c:g}", *figures, f"{ratios[-1]:.1f}"])
    header = ["C", "searchlab s", "gap", "listing pairs s", "LinearSVC s", "its objective", "times as fast"]
    yield f"{len(data.X):,} rows, {len(differences):,} pairs, c = 1\n\n" + table(header, rows)
    yield str(Target("at least 4 times as fast as LinearSVC at each C", min(ratios), "times", 4))


def compare_rankers(data: Data) -> Iterator[str]:
    grades = sorted(set(data.grades.tolist()))

    def fit(chosen: list[tuple[float, float]]) -> list[Solution]:
        return [solve(*data, lambda _, *two, pair=pair: float(two == pair), lam(1e-3)) for pair in chosen]

    adjacent = [(high, low) for low, high in pairwise(grades)]
    every = [(high, low) for high in grades for low in grades if high > low]
    ways = {"RSVM": lambda: solve(*data, None, lam(1e-3)), "MHR": lambda: fit(every), "OrdRank": lambda: fit(adjacent)}
    rows = []
    for name, way in ways.items():
        seconds, _ = timed(way)
        minutes = PAPER_MINUTES[name]
        rows.append([name, f"{seconds:.3f}", f"{minutes:,.2f}", f"{60 * minutes / seconds:,.0f}"])
    yield "C = 1e-3\n\n" + table(["ranker", "searchlab s", "paper, minutes", "times as fast"], rows)


def compare_path(data: Data) -> Iterator[str]:
    rows, ratios = [], []
    for name, cost in (("1", None), ("τμ", paper_cost(data))):
        for low, high in ((-5, -2), (-4, -1)):
            lams = [lam(c) for c in np.logspace(low, high, 10)]
            # One after the other in each round, so that a slow time of the machine hits both.
            singles, path = [math.inf] * len(lams), math.inf
            for _ in range(ROUNDS):
                for place, each in enumerate(lams):
                    took, _ = timed(lambda each=each, cost=cost: solve(*data, cost, each, tolerance=TOLERANCE), 1)
                    singles[place] = min(singles[place], took)
                took, found = timed(
                    lambda lams=lams, cost=cost: list(solve_path(*data, cost, lams, tolerance=TOLERANCE)), 1
                )
                path = min(path, took)
            worst = max(solution.gap for solution in found)
            ratios.append(path / np.mean(singles))
            figures = [f"{path:.3f}", f"{np.mean(singles):.3f}", f"{ratios[-1]:.2f}", f"{worst:.1e}"]
            rows.append([name, f"1e{low} … 1e{high}", *figures])
    header = ["c", "ten values of C", "path s", "mean single fit s", "single fits a path", "largest gap"]
    yield table(header, rows, n_labels=2)
    yield str(Target("a path of ten costs less than three single fits", max(ratios), "single fits", below=3))


def compare_descent(data: Data) -> Iterator[str]:
    rows = []
    for name, cost in (("1", None), ("τμ", paper_cost(data))):
        for c in CS:
            ours, best = timed(lambda c=c, cost=cost: solve(*data, cost, lam(c), tolerance=TOLERANCE), 2)
            seconds, found = timed(lambda c=c, cost=cost: solve_by_gradient_descent(*data, cost, lam(c)), 1)
            excess = found.objective / best.objective - 1
            figures = [f"{ours:.3f}", f"{seconds:.2f}", f"{found.n_iterations:,}", f"{found.gap:.1e}", f"{excess:+.1e}"]
            rows.append([name, f"{c:g}", *figures])
    yield table(["c", "C", "solver s", "descent s", "steps", "gap", "its objective"], rows, n_labels=2)


def make_data(n_rows: int, n_features: int, n_grades: int, n_queries: int) -> Data:
    """Features that go along with each other, queries of uneven sizes, grades of which high ones are rare."""
    random = np.random.default_rng(0)
    cuts = np.sort(random.choice(np.arange(1, n_rows), n_queries - 1, replace=False))
    offsets = np.concatenate([[0], cuts, [n_rows]])
    n_hidden = max(2, n_features // 10)
    hidden = random.normal(size=(n_rows, n_hidden))
    X = hidden @ random.normal(size=(n_hidden, n_features)) / math.sqrt(n_hidden)
    X += random.normal(size=X.shape)
    signal = hidden @ random.normal(size=n_hidden) / math.sqrt(n_hidden) + 0.3 * X[:, :5].sum(axis=1)
    levels = signal + 1.5 * random.normal(size=n_rows)
    levels += np.repeat(random.normal(size=n_queries), np.diff(offsets))
    places = np.quantile(levels, 1 - 0.55 ** np.arange(1, n_grades))
    return Data(X, offsets, np.searchsorted(places, levels))


def measure_alone(section: str, cost_name: str) -> dict[str, float]:
    """Seconds and the peak of memory of one problem; run in a process of its own."""
    data = make_data(74_276, 426, 6, 2198) if section == "large" else make_data(10_000, 45, 5, 1)
    cost = paper_cost(data) if cost_name == "τμ" else None
    tiny = Data(data.X[:200], np.array([0, 200]), data.grades[:200])
    solve(*tiny, None, 1.0)
    before = peak_memory()
    n_pairs = sum(sum(pairs.values()) for pairs in count_pairs(data.offsets, data.grades))
    seconds, found = timed(lambda: solve(*data, cost, lam(1e-3), tolerance=TOLERANCE), 1)
    return {
        "pairs": n_pairs,
        "seconds": seconds,
        "gap": found.gap,
        "steps": found.n_iterations,
        "table": data.X.nbytes / 2**20,
        "before": before,
        "peak": peak_memory(),
        "listed": n_pairs * data.X.shape[1] * 8 / 2**20,
    }


def peak_memory() -> float:
    """MB; ru_maxrss is in kB, but in bytes on a Mac."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def compare_alone(section: str) -> Iterator[str]:
    rows, worst, peak = [], 0.0, 0.0
    for cost in ("1", "τμ"):
        command = [sys.executable, __file__, "--alone", section, cost]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        worst, peak = max(worst, found["seconds"]), max(peak, found["peak"])
        figures = [f"{found['seconds']:.2f}", f"{found['gap']:.1e}", f"{found['steps']}"]
        figures += [f"{found[name]:,.0f}" for name in ("table", "before", "peak", "listed")]
        rows.append([cost, f"{found['pairs']:,.0f}", *figures])
    header = ["c", "pairs", "seconds", "gap", "steps", "table MB", "peak MB before", "peak MB", "pairs listed, MB"]
    yield table(header, rows)
    if section == "large":
        yield str(Target("within 60 s", worst, "s", below=60))
        yield str(Target("within 3 GB", peak / 1024, "GB", below=3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR")
    parser.add_argument("--sections", default=",".join(SECTIONS), help="some of them, with commas between")
    parser.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(measure_alone(*options.alone)))
        return
    sections = options.sections.split(",")
    if unknown := set(sections) - set(SECTIONS):
        parser.error(f"unknown section {', '.join(sorted(unknown))}; there is: {', '.join(SECTIONS)}")
    data = None
    if set(sections) & set(NEED_DATA):
        if options.folder is None or not (options.folder / "Fold1" / "train.txt").is_file():
            parser.error(f"expected a folder with Fold1/train.txt for {', '.join(NEED_DATA)}")
        rows = read_letor(options.folder / "Fold1" / "train.txt")
        data = Data(np.asarray(rows.values), np.asarray(rows.group_offsets), np.asarray(rows.grades))
        solve(*data, None, 1.0)
    ways = {"pairs": compare_pairs, "rankers": compare_rankers, "path": compare_path, "descent": compare_descent}
    for section in sections:
        print(f"\n## {section}\n", flush=True)
        for text in ways[section](data) if section in ways else compare_alone(section):
            print(text, flush=True)


if __name__ == "__main__":
    main()
