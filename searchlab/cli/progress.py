"""How far is the work?

Bars on standard error, if it is a terminal; elsewhere nothing is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

    from searchlab.corpus import ReadingNotes


@contextmanager
def reading_bar(notes: ReadingNotes) -> Iterator[Callable[[str, int, int], None]]:
    """A bar that moves with the bytes read; once all is read, one that moves to and fro, since no end is known."""
    if not sys.stderr.isatty():
        yield lambda stage, n_docs, total: None
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = [
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[documents]:,} documents"),
        TextColumn("{task.fields[rate]:,.0f}/s"),
        TimeElapsedColumn(),
    ]
    with _bar(*columns) as bar:
        reading = bar.add_task("reading", total=None, documents=0, rate=0.0)
        other = bar.add_task("writing", total=None, documents=0, rate=0.0, visible=False)

        def show(stage: str, n_docs: int, total: int) -> None:
            rate = n_docs / (bar.tasks[0].elapsed or 1e-9)
            if stage == "reading":
                bar.update(
                    reading, total=notes.bytes_total or None, completed=notes.bytes_read, documents=n_docs, rate=rate
                )
            else:
                bar.update(reading, visible=False)
                bar.update(other, description=stage, visible=True, documents=n_docs, rate=rate)

        yield show


@contextmanager
def stage_bar() -> Iterator[Callable[..., None]]:
    """A bar for work in stages: called with a stage, how much is done, and, if it is known, of how much."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

    with _bar(SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task("", total=None)
        yield lambda stage, done, total: bar.update(task, description=stage, completed=done, total=total or None)


def tracked(topics: list[Any]) -> Iterator[Any]:
    """Topics with a bar."""
    if not sys.stderr.isatty() or len(topics) < 20:
        yield from topics
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(topics, "searching", console=Console(stderr=True), transient=True)


def _bar(*columns: Any) -> Progress:
    from rich.console import Console
    from rich.progress import Progress

    return Progress(*columns, console=Console(stderr=True), transient=True)
