"""Recipes: which ranker learns from which features, and by which measure its settings are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from searchlab.errors import SettingError
from searchlab.evaluation.measures import parse_measure
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.estimators.base_ranker import Ranker
from searchlab.rankers.ranker_registry import make_ranker
from searchlab.training.selection import Choice, select_model
from searchlab.training.validation import ValidationMeasure
from searchlab.types import Progress, no_progress


@dataclass(frozen=True)
class Recipe:
    """A ranker, the preprocessing of its features, and how its settings are chosen.

    With `powers` None the ranker decides whether powers of the features are added. Without a validation set, settings
    are chosen on `n_parts` of the training queries, held out in turn. `n_folds` is for the cross-validation of the
    whole procedure; 0 skips it.
    """

    ranker: str = "rsvm-ir"
    settings: Mapping[str, Any] = field(default_factory=dict)
    imputation: str = "query-minimum"
    normalisation: str = "query-minmax"
    powers: bool | None = None
    measure: str = "AP"
    dialect: str = "letor3"
    n_parts: int = 4
    n_folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        _ = self.make_ranker(), self.preprocessor, self.validation_measure()
        if self.powers is not None and not isinstance(self.powers, bool):
            raise SettingError(f"powers is {self.powers!r}, expected true or false")
        for name, value, least in (("parts", self.n_parts, 2), ("folds", self.n_folds, 0), ("seed", self.seed, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least or (name, value) == ("folds", 1):
                expected = "0, or a whole number from 2" if name == "folds" else f"a whole number from {least}"
                raise SettingError(f"{name} is {value!r}, expected {expected}")

    def make_ranker(self) -> Ranker:
        """The ranker, not fitted yet; if NDCG@k chooses, pairs are weighted (τ) by it unless `depth` is set."""
        ranker = make_ranker(self.ranker, self.settings)
        measure = parse_measure(self.measure)
        if "depth" in ranker.get_params() and "depth" not in self.settings and measure.family == "nDCG":
            ranker.set_params(depth=measure.cutoff or ranker.get_params()["depth"])
        return ranker

    @property
    def preprocessor(self) -> Preprocessor:
        """The preprocessing of the features, not fitted yet."""
        powers = self.make_ranker().powers if self.powers is None else self.powers
        return Preprocessor.named(self.imputation, self.normalisation, powers)

    def validation_measure(self, qrels: Mapping[str, Mapping[str, int]] | None = None) -> ValidationMeasure:
        """The measure that settings are chosen by; see `ValidationMeasure` for `qrels`."""
        return ValidationMeasure(self.measure, self.dialect, qrels)

    def learn(
        self,
        train: FeatureTable,
        measure: ValidationMeasure,
        valid: FeatureTable | None = None,
        progress: Progress = no_progress,
    ) -> Choice:
        """Train the ranker and choose its settings, on these rows alone.

        A setting that the user gave is not chosen, even if its value is the default.
        """
        ranker = self.make_ranker()
        return select_model(
            ranker,
            train,
            measure=measure,
            valid=valid,
            n_parts=0 if valid is not None else self.n_parts,
            preprocessors=[self.preprocessor],
            values=[None] if ranker.tuned in self.settings else None,
            seed=self.seed,
            progress=progress,
        )
