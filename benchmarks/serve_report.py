"""Report of the figures of `serve.py`: tables in Markdown, and whether the targets are met."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from statistics import fmean, quantiles
from typing import Any

from report import OURS, Target, table

# One load on a server: the requests, their rate, and the measurements.
Figure = Mapping[str, Any]
# Requests so far, megabytes of private memory, and of all resident memory.
Sample = tuple[int, float, float]
MAX_P99_MILLISECONDS = 50


def describe_machine(packages: Sequence[str]) -> str:
    """The machine, and the versions of installed packages."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages if find_spec(name))
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}. {versions}."


def print_report(
    rate: float, bare: Mapping[str, list[float]], figures: Sequence[Figure], samples: Sequence[Sample]
) -> None:
    """Print everything; `bare` are milliseconds of the engine without a server, by system."""
    print(f"## The bare engine, in one thread\n\n{bare_table(bare)}\n")
    print(f"## The servers\n\n{server_table(figures)}\n")
    ratios = list(compare_with_peer(figures))
    if ratios:
        print(table(["search", "requests/s, times the peer's", "processor time, times the peer's"], ratios), end="\n\n")
    print(f"## Memory over {samples[-1][0]:,} requests of all kinds\n\n{memory_table(samples)}\n")
    print("## Targets\n", *targets(rate, figures, samples), sep="\n")


def bare_table(bare: Mapping[str, list[float]]) -> str:
    rows = [
        [
            f"{system}, with snippets",
            f"{fmean(times):.2f}",
            f"{percentile(times, 99):.2f}",
            f"{1000 / fmean(times):,.0f}",
        ]
        for system, times in bare.items()
    ]
    return table(["the 10 best", "mean ms", "p99 ms", "at most /s"], rows)


def server_table(figures: Sequence[Figure]) -> str:
    header = ["requests", "server", "connections, or rate", "requests/s", "p50 ms", "p95 ms", "p99 ms"]
    return table([*header, "processor ms", "kB", "failed"], map(row_of, figures), 2)


def row_of(figure: Figure) -> list[str]:
    load = f"{figure['rate']:g}/s" if "rate" in figure else str(figure["connections"])
    latencies = [f"{figure[name]:.1f}" for name in ("p50", "p95", "p99")]
    cost = [f"{figure['processor']:.2f}", f"{figure['kilobytes']:.1f}", str(figure["failed"])]
    return [figure["paths"], figure["server"], load, f"{figure['per_second']:,.0f}", *latencies, *cost]


def compare_with_peer(figures: Sequence[Figure]) -> Iterator[list[str]]:
    """The searches of searchlab and of the peer over the same number of connections."""
    closed = [figure for figure in figures if figure["paths"] == "search" and "rate" not in figure]
    peers = {figure["connections"]: figure for figure in closed if figure["server"] != OURS}
    for figure in closed:
        peer = peers.get(figure["connections"])
        if figure["server"] == OURS and peer is not None:
            ratios = [figure[name] / peer[name] for name in ("per_second", "processor")]
            yield [f"over {figure['connections']} connections", *(f"{ratio:.2f}" for ratio in ratios)]


def memory_table(samples: Sequence[Sample]) -> str:
    shown = [samples[position] for position in (0, 1, len(samples) // 2, -1)]
    rows = [[f"{number:,}", f"{private:.0f}", f"{resident:.0f}"] for number, private, resident in shown]
    return table(["after requests", "private MB", "resident MB, pages of the index included"], rows)


def targets(rate: float, figures: Sequence[Figure], samples: Sequence[Sample]) -> list[Target]:
    ours = [figure for figure in figures if figure["server"] == OURS]
    closed = [figure for figure in ours if "rate" not in figure]
    searches = [figure for figure in closed if figure["paths"] == "search"]
    prompt = [figure["per_second"] for figure in searches if figure["p99"] < MAX_P99_MILLISECONDS]
    fixed = next(figure["p99"] for figure in ours if figure["paths"] == "search" and "rate" in figure)
    reranked = max(figure["per_second"] for figure in closed if figure["paths"] == "re-ranking")
    costs = {kind: min(each["processor"] for each in closed if each["paths"] == kind) for kind in ("search", "page")}
    # In the first half the server caches words of the index; after that its memory must not grow.
    middle = samples[len(samples) // 2]
    grown = 100 * (samples[-1][1] / middle[1] - 1)
    return [
        Target(
            f"at least 300 searches/s with p99 below {MAX_P99_MILLISECONDS} ms", max(prompt, default=0.0), "/s", 300
        ),
        Target(f"p99 below {MAX_P99_MILLISECONDS} ms at {rate:g} searches/s", fixed, "ms", below=MAX_P99_MILLISECONDS),
        Target("re-ranks up to 400 candidates by the default features at least 150 times/s", reranked, "/s", 150),
        Target("a page with ten results takes at most 4 ms of processor time", costs["page"], "ms", below=4),
        Target(
            "a page takes at most twice the processor time of its search by the API",
            costs["page"] / costs["search"],
            "times",
            below=2,
        ),
        Target(f"memory grows by less than 5 % from request {middle[0]:,} on", grown, "%", -100, 5),
    ]


def percentile(times: Sequence[float], percent: int) -> float:
    return quantiles(times, n=100, method="inclusive")[percent - 1]
