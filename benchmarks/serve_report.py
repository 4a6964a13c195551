"""What do the figures of `serve.py` say? Tables in Markdown, and whether the targets are met."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from statistics import fmean, quantiles
from typing import Any

from report import OURS, Target, table

# A load on a server: what was asked for, how, and what came of it.
Figure = Mapping[str, Any]
# Requests so far, megabytes of the server's own, and all that are resident.
Look = tuple[int, float, float]
PATIENT = 50  # ms


def describe(packages: Sequence[str]) -> str:
    """The machine, and the packages that are installed."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages if find_spec(name))
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}. {versions}."


def tell(rate: float, bare: Mapping[str, list[float]], figures: Sequence[Figure], looks: Sequence[Look]) -> None:
    """Print everything; `bare` are milliseconds of the engine without a server, by ranker."""
    print(f"## The bare engine, in one thread\n\n{bare_table(bare)}\n")
    print(f"## The servers\n\n{server_table(figures)}\n")
    ratios = list(compare(figures))
    if ratios:
        print(table(["search", "requests/s, times the peer's", "processor time, times the peer's"], ratios), end="\n\n")
    print(f"## Memory over {looks[-1][0]:,} requests of all kinds\n\n{memory_table(looks)}\n")
    print("## Targets\n", *targets(rate, figures, looks), sep="\n")


def bare_table(bare: Mapping[str, list[float]]) -> str:
    rows = [
        [f"{ranker}, with snippets", f"{fmean(own):.2f}", f"{percentile(own, 99):.2f}", f"{1000 / fmean(own):,.0f}"]
        for ranker, own in bare.items()
    ]
    return table(["the 10 best", "mean ms", "p99 ms", "at most /s"], rows)


def server_table(figures: Sequence[Figure]) -> str:
    header = ["requests", "server", "connections, or rate", "requests/s", "p50 ms", "p95 ms", "p99 ms"]
    return table([*header, "processor ms", "kB", "failed"], map(row_of, figures), 2)


def row_of(own: Figure) -> list[str]:
    how = f"{own['rate']:g}/s" if "rate" in own else str(own["connections"])
    numbers = [f"{own[name]:.1f}" for name in ("p50", "p95", "p99")]
    cost = [f"{own['processor']:.2f}", f"{own['kilobytes']:.1f}", str(own["failed"])]
    return [own["paths"], own["server"], how, f"{own['per_second']:,.0f}", *numbers, *cost]


def compare(figures: Sequence[Figure]) -> Iterator[list[str]]:
    """Searches of ours beside those of the peer, over as many connections."""
    closed = [own for own in figures if own["paths"] == "search" and "rate" not in own]
    peers = {own["connections"]: own for own in closed if own["server"] != OURS}
    for own in closed:
        peer = peers.get(own["connections"])
        if own["server"] == OURS and peer is not None:
            ratios = [own[name] / peer[name] for name in ("per_second", "processor")]
            yield [f"over {own['connections']} connections", *(f"{ratio:.2f}" for ratio in ratios)]


def memory_table(looks: Sequence[Look]) -> str:
    shown = [looks[place] for place in (0, 1, len(looks) // 2, -1)]
    rows = [[f"{number:,}", f"{own:.0f}", f"{resident:.0f}"] for number, own, resident in shown]
    return table(["after requests", "own MB", "resident MB, pages of the index included"], rows)


def targets(rate: float, figures: Sequence[Figure], looks: Sequence[Look]) -> list[Target]:
    ours = [own for own in figures if own["server"] == OURS]
    closed = [own for own in ours if "rate" not in own]
    prompt = [own["per_second"] for own in closed if own["paths"] == "search" and own["p99"] < PATIENT]
    fixed = next(own["p99"] for own in ours if own["paths"] == "search" and "rate" in own)
    reranked = max(own["per_second"] for own in closed if own["paths"] == "re-ranking")
    # In the first half it meets the words of the index, and remembers them; then it must not grow.
    middle = looks[len(looks) // 2]
    grown = 100 * (looks[-1][1] / middle[1] - 1)
    return [
        Target(f"at least 300 searches/s with p99 below {PATIENT} ms", max(prompt, default=0.0), "/s", 300),
        Target(f"p99 below {PATIENT} ms at {rate:g} searches/s", fixed, "ms", below=PATIENT),
        Target("re-ranks 100 candidates by 45 features at least 100 times/s", reranked, "/s", 100),
        Target(f"memory grows by less than 5 % from request {middle[0]:,} on", grown, "%", -100, 5),
    ]


def percentile(times: Sequence[float], percent: int) -> float:
    return quantiles(times, n=100, method="inclusive")[percent - 1]
