"""Experiment jobs: experiments to run, one at a time, each in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence

from searchlab.web.jobs.job_queue import PYTHON, JobQueue

EXPERIMENT_COMMAND = (*PYTHON, "searchlab.web.jobs.experiment_process")


class ExperimentJobs(JobQueue):
    """All experiment jobs of a server; may be used by any thread."""

    kind = "experiment"
    already = "is under way already"

    def __init__(self, command: Sequence[str] = EXPERIMENT_COMMAND) -> None:
        super().__init__(command)
