"""Progress bars on standard error, if it is a terminal; with --verbose also the seconds of each stage."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from searchlab.cli.messages import detail, is_quiet, is_verbose
from searchlab.cli.printing.terminal_text import filter_streams, printable, unfiltered

if TYPE_CHECKING:
    from rich.progress import Progress

    from searchlab.corpus import ReadingNotes


@contextmanager
def reading_bar(notes: ReadingNotes) -> Iterator[Callable[[str, int, int], None]]:
    """A bar that moves with the bytes read; in later stages, whose end is not known, it moves back and forth."""
    if not _shows_bars():
        with _stage_times() as report:
            yield report
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = [
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[documents]:,} documents"),
        TextColumn("{task.fields[rate]:,.0f}/s"),
        TimeElapsedColumn(),
    ]
    with _stage_times() as report, _bar(*columns) as bar:
        reading = bar.add_task("reading", total=None, documents=0, rate=0.0)
        other = bar.add_task("writing", total=None, documents=0, rate=0.0, visible=False)

        def show(stage: str, n_docs: int, total: int) -> None:
            report(stage, n_docs, total)
            rate = n_docs / (bar.tasks[0].elapsed or 1e-9)
            if stage == "reading":
                bar.update(
                    reading, total=notes.bytes_total or None, completed=notes.bytes_read, documents=n_docs, rate=rate
                )
            else:
                bar.update(reading, visible=False)
                bar.update(other, description=printable(stage), visible=True, documents=n_docs, rate=rate)

        yield show


@contextmanager
def stage_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for work in stages: called with a stage, the steps done, and the steps in all (0 if not known)."""
    if not _shows_bars():
        with _stage_times() as report:
            yield report
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()]
    with _stage_times() as report, _bar(*columns) as bar:
        task = bar.add_task("", total=None)

        def show(stage: str, done: int, total: int) -> None:
            report(stage, done, total)
            bar.update(task, description=printable(stage), completed=done, total=total or None)

        yield show


def _shows_bars() -> bool:
    return sys.stderr.isatty() and not is_quiet()


@contextmanager
def _stage_times() -> Iterator[Callable[[str, int, int], None]]:
    """Print how long each stage took when it ends, if the user wants details."""
    if not is_verbose():
        yield lambda stage, done, total: None
        return
    current, began = "", time.perf_counter()

    def report(stage: str, done: int, total: int) -> None:
        nonlocal current, began
        if stage == current:
            return
        now = time.perf_counter()
        if current:
            detail(f"{current}: {now - began:.2f} s")
        current, began = stage, now

    try:
        yield report
    finally:
        report("", 0, 0)


@contextmanager
def _bar(*columns: Any) -> Iterator[Progress]:
    """A progress bar. What is printed during it goes through the bar to the terminal, and is filtered before."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(file=unfiltered(sys.stderr))
    with Progress(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as bar:
        redirected = sys.stdout, sys.stderr
        filter_streams()
        try:
            yield bar
        finally:
            sys.stdout, sys.stderr = redirected
