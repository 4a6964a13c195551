"""Report of the figures of `retrieval.py`: tables in Markdown, and whether the targets are met."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

OURS = "searchlab"
LIMITS = (10, 1000)  # k: how many results a query asks for


@dataclass(frozen=True)
class Measurement:
    """One engine on one collection; times are in seconds, memory and sizes in bytes.

    `times["10"]` are the times of all queries for k = 10, round after round; `times["10 docnos"]` the same with
    the docnos looked up.
    """

    engine: str
    n_docs: int
    n_queries: int
    index_seconds: float
    index_bytes: int
    source_bytes: int
    index_peak: int
    open_seconds: float
    first_query_seconds: float
    query_peak: int
    times: dict[str, list[float]]

    @property
    def docs_per_second(self) -> float:
        return self.n_docs / self.index_seconds

    @property
    def size_ratio(self) -> float:
        """The size of the index, times that of the source."""
        return self.index_bytes / self.source_bytes

    def percentile(self, percent: int, k: int, *, docnos: bool = False, n_queries: int | None = None) -> float:
        """A percentile of the times, in milliseconds, over all queries or the first few."""
        times = self.times[f"{k} docnos" if docnos else str(k)]
        chosen = [t for place, t in enumerate(times) if place % self.n_queries < (n_queries or self.n_queries)]
        return 1000 * quantiles(chosen, n=100, method="inclusive")[percent - 1]


@dataclass(frozen=True)
class ColdStart:
    """Seconds that a command takes in a shell."""

    query: float
    help: float


@dataclass(frozen=True)
class Comparison:
    """How many times as fast as a peer searchlab is, on the queries that the peer was asked."""

    peer: str
    indexing: float
    p50: dict[int, float]
    p95: dict[int, float]

    @classmethod
    def of(cls, ours: Measurement, peer: Measurement) -> Comparison:
        n = peer.n_queries
        p50, p95 = (
            {k: peer.percentile(percent, k) / ours.percentile(percent, k, n_queries=n) for k in LIMITS}
            for percent in (50, 95)
        )
        return cls(peer.engine, ours.docs_per_second / peer.docs_per_second, p50, p95)


def compare(measurements: Iterable[Measurement]) -> list[Comparison]:
    ours, *peers = measurements
    return [Comparison.of(ours, peer) for peer in peers]


def engine_table(measurements: Iterable[Measurement]) -> str:
    header = ["engine", "documents/s", "index MB", "index / source", "open ms", "first query ms"]
    for k in LIMITS:
        header += [f"k={k} p50 ms", "p95 ms", "p50 with docnos"]
    header += ["peak MB, indexing", "peak MB, searching"]
    return table(header, map(_engine_row, measurements))


def _engine_row(m: Measurement) -> list[str]:
    row = [m.engine, f"{m.docs_per_second:,.0f}", f"{m.index_bytes / 1e6:,.1f}", f"{m.size_ratio:.2f}"]
    row += [f"{1000 * seconds:,.0f}" for seconds in (m.open_seconds, m.first_query_seconds)]
    for k in LIMITS:
        times = m.percentile(50, k), m.percentile(95, k), m.percentile(50, k, docnos=True)
        row += [f"{time:,.3f}" for time in times]
    return [*row, f"{m.index_peak / 1e6:,.0f}", f"{m.query_peak / 1e6:,.0f}"]


def ratio_table(comparisons: Sequence[Comparison]) -> str:
    figures = [f"k={k} p{percent}" for k in LIMITS for percent in (50, 95)]
    header = ["times as fast as", *figures, "indexing"]
    rows = ([*(each for k in LIMITS for each in (c.p50[k], c.p95[k])), c.indexing] for c in comparisons)
    return table(header, ([c.peer, *(f"{each:.2f}" for each in row)] for c, row in zip(comparisons, rows, strict=True)))


def pruning_table(measured: Sequence[dict[str, Any]]) -> str:
    """Pruned against exhaustive scoring, a row for each `exhaustive.Pruning`, given as a dict."""
    header = ["scorer", "k", "terms", "pruned p50 ms", "exhaustive p50 ms", "times as fast"]
    return table(header, map(_pruning_row, measured), n_labels=2)


def _pruning_row(measured: dict[str, Any]) -> list[str]:
    pruned, exhaustive = (1000 * median(measured[name]) for name in ("pruned", "exhaustive"))
    times = f"{pruned:.3f}", f"{exhaustive:.3f}", f"{exhaustive / pruned:.2f}"
    return [measured["scorer"], str(measured["k"]), f"{measured['mean_terms']:.1f}", *times]


def growth_table(measurements: Iterable[Measurement]) -> str:
    header = ["documents", "documents/s", "index MB", "index / source", "peak MB, indexing"]
    header += [f"k={k} p50 ms" for k in LIMITS]
    return table(
        header,
        (
            [
                f"{m.n_docs:,}",
                f"{m.docs_per_second:,.0f}",
                f"{m.index_bytes / 1e6:,.1f}",
                f"{m.size_ratio:.2f}",
                f"{m.index_peak / 1e6:,.0f}",
                *(f"{m.percentile(50, k):.3f}" for k in LIMITS),
            ]
            for m in measurements
        ),
    )


def table(header: Sequence[str], rows: Iterable[Sequence[str]], n_labels: int = 1) -> str:
    """A Markdown table: the first columns are labels and go to the left, numbers to the right."""
    rule = [":--"] * n_labels + ["--:"] * (len(header) - n_labels)
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


@dataclass(frozen=True)
class Target:
    """What should hold: least ≤ figure < below."""

    text: str
    figure: float | None
    unit: str
    least: float = 0
    below: float = math.inf

    def __str__(self) -> str:
        if self.figure is None:
            return f"- {self.text}: not measured"
        met = self.least <= self.figure < self.below
        return f"- {self.text}: {'met' if met else 'not met'} ({self.figure:.3g} {self.unit})"


# Searching takes at most this share of bm25s's time, by percentile and k; the second with another core busy.
SHARES_OF_BM25S = {(50, 10): (0.5, 0.6), (50, 1000): (0.6, 0.75), (95, 1000): (0.8, 1.0)}
LEAST_PRUNING = 3


def make_targets(
    comparisons: Iterable[Comparison], cold: ColdStart, pruning: Iterable[dict[str, Any]], *, busy: bool
) -> list[Target]:
    by_peer = {c.peer: c for c in comparisons}

    def faster(peer: str, percent: int, k: int) -> float | None:
        return None if peer not in by_peer else (by_peer[peer].p50 if percent == 50 else by_peer[peer].p95)[k]

    speed = [
        Target(
            f"p{percent} at k={k} at most {shares[busy]} of bm25s's",
            faster("bm25s", percent, k),
            "times as fast",
            1 / shares[busy],
        )
        for (percent, k), shares in SHARES_OF_BM25S.items()
    ]
    speed += [
        Target(f"p50 at k={k} {text}", faster(peer, 50, k), "times as fast", least)
        for peer, text, least in (
            ("tantivy", "below tantivy's", 1),
            ("whoosh", "at most a hundredth of Whoosh's", 100),
        )
        for k in LIMITS
    ]
    speed += [
        Target(
            f"{each['scorer']} at k={each['k']} at least {LEAST_PRUNING} times as fast as exhaustive scoring",
            median(each["exhaustive"]) / median(each["pruned"]),
            "times as fast",
            LEAST_PRUNING,
        )
        for each in pruning
    ]
    indexing = by_peer["whoosh"].indexing if "whoosh" in by_peer else None
    return [
        *speed,
        Target("indexes at least 2.5 times as many documents/s as Whoosh", indexing, "times", 2.5),
        Target("`searchlab query` from a cold start takes less than 1 s", cold.query, "s", below=1),
        Target("`searchlab --help` takes less than 0.3 s", cold.help, "s", below=0.3),
    ]
