"""Language model over the latent topics of words (word topic model)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from searchlab.scorers.plsa import PLSA


@dataclass(frozen=True)
class WTM(PLSA):
    """The model of PLSA over the topics of words, `searchlab topic-model --method wtm`.

    P(T|D) = Σ_w P(w|D)·P(T|w)
    """

    topics: str = "wtm"

    label = "word topics"
    defaults: ClassVar[tuple[float, float]] = (0.6, 0.6)
