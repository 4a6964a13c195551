"""Memory of a process and all its children while it works, sampled.

The proportional set size (PSS) counts a page that several processes share once, so that the sum over processes is what
they really take. Linux only.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

SAMPLE_SECONDS = 0.05


class PeakMemory:
    """Within it the memory is sampled; `peak` is the largest sum in bytes, None where it cannot be measured."""

    def __init__(self) -> None:
        self.peak: int | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Self:
        if Path("/proc/self/smaps_rollup").exists():
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()

    def _sample(self) -> None:
        while not self._done.wait(SAMPLE_SECONDS):
            total = sum(map(proportional_size, process_tree(os.getpid())))
            self.peak = max(self.peak or 0, total)


def process_tree(process: int) -> list[int]:
    """A process and its children, and theirs."""
    found = [process]
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [number for child in children.read_text().split() for number in process_tree(int(child))]
        except OSError:
            continue  # it has ended
    return found


def proportional_size(process: int) -> int:
    """The bytes of a process, 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
