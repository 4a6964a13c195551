"""What the systems of a cross-validation score on each held-out topic: the numbers behind the verdict's pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from searchlab.evaluation.significance import bootstrap_interval
from searchlab.types import Floats

# Interpolated precision at recall 0, .1, …, 1.
RECALL_MEASURES = tuple(f"IPrec@{tenths / 10:g}" for tenths in range(11))


@dataclass(frozen=True, eq=False)
class HeldOutTopics:
    """The value of each system, by name, on each topic, which no part of the system has learnt from.

    `precision` has the mean of each of RECALL_MEASURES.
    """

    measure: str
    qids: tuple[str, ...]
    values: Mapping[str, Floats]
    precision: Mapping[str, Floats]

    def to_json(self, seed: int = 0) -> dict[str, Any]:
        """The values as plain JSON, with bootstrap intervals (95 %) of their means."""
        intervals = {name: bootstrap_interval(values, seed=seed) for name, values in self.values.items()}
        return {
            "measure": self.measure,
            "qids": list(self.qids),
            "values": {name: values.tolist() for name, values in self.values.items()},
            "intervals": {name: [interval.low, interval.high] for name, interval in intervals.items()},
            "precision_recall": {name: precision.tolist() for name, precision in self.precision.items()},
        }
