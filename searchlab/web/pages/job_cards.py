"""The jobs that the card of a page shows: of trainings, or of experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class JobCard:
    """The job that a card is about, those that wait, and the one that was cancelled last, if it is not shown."""

    shown: dict[str, Any] | None
    waiting: list[dict[str, Any]]
    cancelled: dict[str, Any] | None


def choose_shown_job(jobs: Sequence[dict[str, Any]]) -> JobCard:
    """The card for the jobs of an index, the latest first.

    A job that runs is shown rather than one that waits, and one that has finished rather than a later one that was
    cancelled: its outcome is what was waited for.
    """
    waiting = [job for job in reversed(jobs) if job["state"] == "waiting"]
    active = [job for job in jobs if job["state"] == "running"] or waiting[:1]
    ended = sorted((job for job in jobs if job not in active), key=lambda job: job["state"] == "cancelled")
    shown = next(iter(active or ended), None)
    is_cancelled = bool(jobs) and jobs[0]["state"] == "cancelled" and jobs[0] is not shown
    return JobCard(shown, [job for job in waiting if job is not shown], jobs[0] if is_cancelled else None)
