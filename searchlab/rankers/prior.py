"""Priors: the model that learning starts from.

A linear ranker with a prior minimises its loss around the weights w₀ of another model instead of around 0 (see
`softmax.py` and `ranksvm.py`): with few judgments it stays near the other model, with many it moves away from it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from searchlab.errors import SettingError, name_some
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.builtin import as_bundle
from searchlab.rankers.bundle import Bundle, columns_of
from searchlab.rankers.models.linear_model import LinearModel

# Digits of the fingerprint of a prior.
FINGERPRINT_DIGITS = 16


@dataclass(frozen=True, eq=False)
class Prior:
    """A linear model under the name that it was given by."""

    name: str
    bundle: Bundle
    model: LinearModel

    @classmethod
    def of(cls, model: str | Path | Bundle) -> Self:
        """The prior of a bundle, the path of one, or `builtin`; only linear models can be priors."""
        bundle = as_bundle(model)
        name = bundle.label if isinstance(model, Bundle) else Path(model).name
        if not isinstance(bundle.model, LinearModel):
            raise SettingError(f"prior {name} is a model of {bundle.ranker}, expected linear weights")
        return cls(name, bundle, bundle.model)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that the weights belong to."""
        return columns_of(self.bundle.features, self.bundle.preprocessor)

    def to_json(self) -> dict[str, Any]:
        """The name, and a checksum of what learning depends on."""
        parts = [list(self.columns), self.bundle.preprocessor.label, self.model.weights.tolist()]
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        return {"name": self.name, "fingerprint": digest[:FINGERPRINT_DIGITS]}

    def find_misfit(self, columns: Sequence[str], preprocessor: Preprocessor) -> str:
        """Why the prior does not fit these columns, prepared in this way; empty if it does."""
        ours, theirs = self.bundle.preprocessor.label, preprocessor.label
        if ours != theirs:
            return f"its features are prepared by {ours}, those to learn from by {theirs}"
        missing = [name for name in self.columns if name not in set(columns)]
        if missing:
            return f"it needs {name_some(missing)}, which the features to learn from lack"
        return ""

    def weights_for(self, columns: Sequence[str]) -> tuple[float, ...]:
        """The weight of each column; 0 for columns that the prior does not know."""
        known = dict(zip(self.columns, self.model.weights.tolist(), strict=True))
        return tuple(known.get(name, 0.0) for name in columns)
