"""A model of what indexes and queries cost on a cluster, fitted to measurements of `cluster.py`.

    build                  f + s · documents + a · documents / workers     seconds
    query, one worker      b + c · shards + d · documents           mean at k = 1000, p50 and p99 at k = 10
    merging                l + m · documents                        seconds of one worker
    scatter and gather     g + h · workers                          p50 and p99 of a question to all of them

Constants are not negative, and minimise the squares of relative errors. What the client does of a build, s, is its own
processor time, which no further worker shortens. A query on n workers takes as long as the one of them with the most
documents, and the scatter and gather.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from report import table
from scipy.optimize import nnls

MAX_ERROR = 0.2
QUERY_TIMES = ("mean", "p50", "p99")

# The machines of the extrapolation.
CORES = 32
MEMORY_GB = 128
# The share of a machine's memory that can hold columns; the rest is for programs and their heaps.
MEMORY_SHARE = 0.75
DISK_MB_PER_SECOND = 1000
NETWORK_MS = 0.5
# A task of `index` becomes a shard of this much source; `merge` makes two of them one.
PART_BYTES = 128 * 2**20


@dataclass(frozen=True)
class Point:
    """What an index of one size took: seconds to build by one worker and to merge, and seconds of a query.

    `client` are the seconds of processor time that the client took of the build.
    """

    n_docs: int
    n_shards: int
    build: float
    client: float
    merge: float
    query: Mapping[str, float]
    index_bytes: int
    column_bytes: int
    source_bytes: int


def fit(factors: Sequence[Sequence[float]], values: Sequence[float]) -> np.ndarray:
    """Constants that are not negative, whose products with the factors are closest to the values, relatively."""
    measured = np.array(values)
    constants, _ = nnls(np.array(factors, float) / measured[:, None], np.ones(len(measured)))
    return constants


@dataclass(frozen=True)
class CostModel:
    """The constants of the formulas above."""

    build: np.ndarray
    client: np.ndarray
    merge: np.ndarray
    query: Mapping[str, np.ndarray]
    gather: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, points: Sequence[Point], gathers: Mapping[int, Mapping[str, float]]) -> CostModel:
        """The model of points, and of questions to several workers by their number."""
        sizes = [(1, point.n_docs) for point in points]
        shapes = [(1, point.n_shards, point.n_docs) for point in points]
        merged = [point for point in points if point.merge]
        return cls(
            fit(sizes, [point.build for point in points]),
            fit(sizes, [point.client for point in points]),
            fit([(1, point.n_docs) for point in merged], [point.merge for point in merged]),
            {name: fit(shapes, [point.query[name] for point in points]) for name in QUERY_TIMES},
            {
                name: fit([(1, number) for number in gathers], [times[name] for times in gathers.values()])
                for name in ("p50", "p99")
            },
        )

    def build_seconds(self, n_docs: float, n_workers: int = 1) -> float:
        serial = min(self.client[1], self.build[1])
        return float(self.build[0] + serial * n_docs + (self.build[1] - serial) * n_docs / n_workers)

    def merge_seconds(self, n_docs: float) -> float:
        return float(self.merge @ (1, n_docs))

    def query_seconds(self, name: str, n_docs: float, n_shards: float) -> float:
        return float(self.query[name] @ (1, n_shards, n_docs))

    def gather_seconds(self, name: str, n_workers: int) -> float:
        return float(self.gather[name] @ (1, n_workers))


def compare(model: CostModel, points: Sequence[Point], largest: Point) -> bool:
    """Print what the model gives for all points; whether it is close for the largest, which it was not fitted to."""
    rows, errors = [], []
    for point in [*points, largest]:
        pairs = [(point.build, model.build_seconds(point.n_docs), 1)]
        pairs += [
            (point.query[name], model.query_seconds(name, point.n_docs, point.n_shards), 1000) for name in QUERY_TIMES
        ]
        pairs += [(point.merge, model.merge_seconds(point.n_docs), 1)] if point.merge else []
        errors = [expected / measured - 1 for measured, expected, _ in pairs]
        cells = [
            f"{measured * unit:.3g} / {expected * unit:.3g} ({error:+.0%})"
            for (measured, expected, unit), error in zip(pairs, errors, strict=True)
        ]
        rows.append([f"{point.n_docs:,}", str(point.n_shards), *cells, *[""] * (5 - len(cells))])
    head = ["documents", "shards", "build s", "mean ms, k=1000", "p50 ms, k=10", "p99 ms, k=10", "merge s"]
    print("Measured / by the model; the last line was not fitted.\n")
    print(table(head, rows))
    return all(abs(error) <= MAX_ERROR for error in errors)


def compare_builds(model: CostModel, n_docs: int, builds: Mapping[int, float]) -> bool:
    """Print builds by several workers, to which nothing was fitted; whether the model is close for all of them."""
    rows, is_close = [], True
    for number, seconds in sorted(builds.items()):
        expected = model.build_seconds(n_docs, number)
        is_close &= abs(expected / seconds - 1) <= MAX_ERROR
        rows.append([str(number), f"{seconds:.3g} / {expected:.3g} ({expected / seconds - 1:+.0%})"])
    print(f"\nBuilds of {n_docs:,} documents, measured / by the model; none was fitted.\n")
    print(table(["workers", "build s"], rows))
    return is_close


def compare_gathering(model: CostModel, gathers: Mapping[int, Mapping[str, float]]) -> bool:
    """Print scatter and gather; whether the model's p50 is close for the most workers, which it was not fitted to."""
    rows, error = [], 0.0
    for number, times in sorted(gathers.items()):
        cells = []
        for name in ("p99", "p50"):
            expected = model.gather_seconds(name, number)
            error = expected / times[name] - 1
            cells.insert(0, f"{times[name] * 1000:.3g} / {expected * 1000:.3g} ({error:+.0%})")
        rows.append([str(number), *cells])
    print("\nScatter and gather, measured / by the model; the last line was not fitted.\n")
    print(table(["workers", "p50 ms", "p99 ms"], rows))
    return abs(error) <= MAX_ERROR


def print_formulas(
    model: CostModel, largest: Point, builds: Mapping[int, float], gathers: Mapping[int, Mapping[str, float]]
) -> None:
    """Print the formulas, and for the largest size what was measured beside what they give."""
    build, gather, most = model.build, model.gather["p50"], max(gathers)
    serial = min(model.client[1], build[1])
    formula = (
        f"{build[0]:.2f} s + {serial * 1e6:.2f} µs a document + {(build[1] - serial) * 1e6:.1f} µs a document / workers"
    )
    rows = [("build, one worker", formula, largest.build, model.build_seconds(largest.n_docs), "s")]
    rows += [
        (f"build, {number} workers", "the same", seconds, model.build_seconds(largest.n_docs, number), "s")
        for number, seconds in sorted(builds.items())
        if number > 1
    ]
    formula = f"{model.merge[0]:.2f} s + {model.merge[1] * 1e6:.1f} µs a document"
    rows += [("merge", formula, largest.merge, model.merge_seconds(largest.n_docs), "s")] if largest.merge else []
    names = {"mean": "a topic of a batch, k = 1000", "p50": "a query, k = 10, p50", "p99": "a query, k = 10, p99"}
    for name, title in names.items():
        base, shard, doc = model.query[name]
        formula = f"{1e3 * base:.3f} ms + {1e3 * shard:.3f} ms a shard + {1e9 * doc:.3f} ns a document"
        expected = model.query_seconds(name, largest.n_docs, largest.n_shards)
        rows.append((title, formula, 1000 * largest.query[name], 1000 * expected, "ms"))
    formula = f"{1e3 * gather[0]:.1f} ms + {1e3 * gather[1]:.2f} ms a worker"
    asked = 1000 * gathers[most]["p50"], 1000 * model.gather_seconds("p50", most)
    rows.append((f"scatter and gather, {most} workers, p50", formula, *asked, "ms"))
    cells = [
        [title, formula, f"{measured:.3g} {unit}", f"{expected:.3g} {unit} ({expected / measured - 1:+.0%})"]
        for title, formula, measured, expected, unit in rows
    ]
    head = ["", "formula", f"{largest.n_docs:,} documents, {largest.n_shards} shards: measured", "by the model"]
    print(f"\nThe model, fitted to the smaller sizes, and the largest.\n\n{table(head, cells)}\n")


def extrapolate(model: CostModel, largest: Point, n_docs: float) -> dict[str, str]:
    """What an index of this many documents of the same length would take."""
    index, columns, source = (
        each / largest.n_docs * n_docs for each in (largest.index_bytes, largest.column_bytes, largest.source_bytes)
    )
    machines = max(1, int(np.ceil(columns / (MEMORY_GB * 1e9 * MEMORY_SHARE))))
    workers = machines * CORES
    shards = source / PART_BYTES / 2
    times = [
        1000 * (model.query_seconds(name, n_docs / workers, shards / workers) + model.gather_seconds(name, workers))
        + NETWORK_MS
        for name in ("p50", "p99")
    ]
    topics = model.query_seconds("mean", n_docs, shards) / workers
    hours = (model.build_seconds(n_docs, workers) + model.merge_seconds(n_docs) / workers) / 3600
    transfer = (source + 2 * index) / (machines * DISK_MB_PER_SECOND * 1e6) / 3600
    return {
        "source, index on disk": f"{source / 1e9:,.0f} GB, {index / 1e9:,.0f} GB",
        "columns, which searching reads": f"{columns / 1e9:,.0f} GB",
        f"machines of {CORES} cores and {MEMORY_GB} GB that hold these in memory": f"{machines}",
        "building and merging": f"{hours:.1f} hours of processors, {transfer:.1f} hours of disks",
        "shards after merging": f"{shards:,.0f}",
        "a query, k = 10": f"p50 {times[0]:.0f} ms, p99 {times[1]:.0f} ms",
        "1,000 topics, k = 1000": f"{1000 * topics:.1f} s",
    }


def print_extrapolation(model: CostModel, largest: Point) -> None:
    """Print what 10⁸ and 10⁹ documents would take."""
    columns = [extrapolate(model, largest, n_docs) for n_docs in (1e8, 1e9)]
    rows = [[name, *(column[name] for column in columns)] for name in columns[0]]
    print(table(["", "10⁸ documents", "10⁹ documents"], rows))
