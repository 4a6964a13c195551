"""Training jobs: models to train, one at a time, each in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence

from searchlab.web.jobs.job_queue import PYTHON, JobQueue

TRAINING_COMMAND = (*PYTHON, "searchlab.web.jobs.training_process")


class TrainingJobs(JobQueue):
    """All training jobs of a server; may be used by any thread."""

    kind = "training"
    already = "is being trained on these judgments already"
    name_field = "name"

    def __init__(self, command: Sequence[str] = TRAINING_COMMAND) -> None:
        super().__init__(command)
