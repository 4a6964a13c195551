"""How is a model trained, and does it help?

A recipe says what learns from what: the ranker, how features are prepared, the measure to choose by. Its settings are
chosen on queries that were held out (`selection.py`), and the whole procedure is tried by cross-validation: queries are
dealt into folds, each fold is ranked by a model that was trained and tuned on the others alone, and the result is set
against a ranking that needs no training. What is told is what held-out queries say; what is kept is trained on all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import Comparison, compare_values, show_number, show_p
from searchlab.evaluation.measures import parse_measure
from searchlab.features.catalogue import CATALOGUE
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preparation
from searchlab.rankers.bundle import Bundle, fingerprint_of
from searchlab.rankers.estimators.base_ranker import Ranker
from searchlab.rankers.ranker_registry import make_ranker
from searchlab.training.cross_validation import deal_folds
from searchlab.training.selection import Choice, choose
from searchlab.training.validation import Judge
from searchlab.types import Floats, Progress, no_progress

# Below so many queries, what cross-validation says is hardly worth saying.
FEW_QUERIES = 10
# Fewer queries cannot be dealt into folds and parts.
LEAST_QUERIES = 4


@dataclass(frozen=True)
class Recipe:
    """What learns, and how it is chosen.

    `bends` None leaves it to the ranker. `n_parts` of the training queries are held out in turn to choose settings by,
    if there is no validation set; `n_folds` is for the cross-validation of it all.
    """

    ranker: str = "rsvm-ir"
    settings: Mapping[str, Any] = field(default_factory=dict)
    filling: str = "query-minimum"
    normalisation: str = "query-minmax"
    bends: str | None = None
    measure: str = "AP"
    dialect: str = "letor3"
    n_parts: int = 4
    n_folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        _ = self.make_ranker(), self.preparation, Judge(self.measure, self.dialect)
        for name, value, least in (("parts", self.n_parts, 2), ("folds", self.n_folds, 0), ("seed", self.seed, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least or (name, value) == ("folds", 1):
                expected = "0, or a whole number from 2" if name == "folds" else f"a whole number from {least}"
                raise SettingError(f"{name} is {value!r}, expected {expected}")

    def make_ranker(self) -> Ranker:
        """The ranker; pairs are weighed (τ) by the NDCG@k that is chosen by, unless a user says otherwise."""
        ranker = make_ranker(self.ranker, self.settings)
        measure = parse_measure(self.measure)
        if "depth" in ranker.get_params() and "depth" not in self.settings and measure.family == "nDCG":
            ranker.set_params(depth=measure.cutoff or ranker.get_params()["depth"])
        return ranker

    @property
    def preparation(self) -> Preparation:
        """How features are prepared."""
        bends = self.make_ranker().bends if self.bends is None else self.bends
        return Preparation.named(self.filling, self.normalisation, bends)

    def judge(self, qrels: Mapping[str, Mapping[str, int]] | None = None) -> Judge:
        """What chooses."""
        return Judge(self.measure, self.dialect, qrels)

    def learn(
        self,
        train: FeatureTable,
        judge: Judge,
        valid: FeatureTable | None = None,
        progress: Progress = no_progress,
    ) -> Choice:
        """Train and choose, on these rows alone; a setting that was given is not chosen, though it be the default."""
        ranker = self.make_ranker()
        return choose(
            ranker,
            train,
            judge=judge,
            valid=valid,
            n_parts=0 if valid is not None else self.n_parts,
            preparations=[self.preparation],
            values=[None] if ranker.tuned in self.settings else None,
            seed=self.seed,
            progress=progress,
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """What cross-validation found: the measures of the model and of what it is compared with, on the same queries.

    `n_judgments` is how many documents were judged for them, 0 if that is not known.
    """

    name: str
    n_queries: int
    n_folds: int
    dialect: str
    means: Mapping[str, Mapping[str, float]]
    comparisons: tuple[Comparison, ...]
    n_judgments: int = 0

    @property
    def helps(self) -> bool:
        """Whether the model is better than the first stage, which is no chance, and better than anything else too."""
        first, *others = self.comparisons
        return first.significant and first.difference > 0 and all(each.difference > 0 for each in others)

    def verdict(self) -> str:
        """One sentence with numbers, and a recommendation."""
        first, *others = self.comparisons
        if self.n_queries < FEW_QUERIES:
            return f"Too few topics to say whether {self.name} helps: {_told(first)}; recommended: judge more topics."
        if self.helps:
            more = "".join(f"; against {each.name_b} {_change(each)} ({_doubt(each)})" for each in others)
            return f"{self.name} helps: {_told(first)}{more}; recommended: use it."
        worst = min(self.comparisons, key=lambda each: each.difference)
        shown = first if (first.significant and first.difference < 0) or worst.difference > 0 else worst
        how = "hurts" if shown.significant and shown.difference < 0 else "is not shown to help"
        return f"{self.name} {how}: {_told(shown)}; recommended: stay with {shown.name_b}."

    def to_json(self) -> dict[str, Any]:
        """The trial as plain JSON."""
        from searchlab.training.advice import advise  # which reads trials

        return {
            "n_queries": self.n_queries,
            "n_folds": self.n_folds,
            "dialect": self.dialect,
            "means": {name: dict(own) for name, own in self.means.items()},
            "helps": self.helps,
            "verdict": self.verdict(),
            "advice": advise(self).to_json(),
            "comparisons": [each.sentence() for each in self.comparisons],
        }


def _told(compared: Comparison) -> str:
    wins = f"{compared.wins} better, {compared.losses} worse, {_doubt(compared)}"
    topics = f"{compared.n_topics} held-out topic{'s' * (compared.n_topics != 1)}"
    return f"{compared.measure} {_change(compared)} against {compared.name_b} on {topics} ({wins})"


def _change(compared: Comparison) -> str:
    return f"{show_number(compared.mean_b)} → {show_number(compared.mean_a)}"


def _doubt(compared: Comparison) -> str:
    return f"{show_p(compared.p)}{'' if compared.significant else ', may be chance'}"


def cross_validate(recipe: Recipe, table: FeatureTable, judge: Judge, progress: Progress = no_progress) -> Floats:
    """The score of each row by a model that has not seen its query."""
    scores = np.zeros(table.n_rows)
    folds = deal_folds(table.n_queries, recipe.n_folds, recipe.seed)
    for number, fold in enumerate(folds):
        progress("cross-validating", number, len(folds))
        held_out = np.repeat(np.isin(np.arange(table.n_queries), fold), np.diff(table.group_offsets))
        choice = recipe.learn(table.rows(~held_out), judge)
        scores[held_out] = choice.scores(table.rows(held_out))
    progress("cross-validating", len(folds), len(folds))
    return scores


def train_from_table(
    recipe: Recipe,
    train: FeatureTable,
    valid: FeatureTable | None = None,
    *,
    source: str = "",
    progress: Progress = no_progress,
) -> Bundle:
    """A model from features that are there already; its trial is against the best single feature."""
    judge = recipe.judge()
    trial = None
    require_differences(train)
    both = train if valid is None else _joined(train, valid)
    if recipe.n_folds:
        if both.n_queries < LEAST_QUERIES:
            found = f"{both.n_queries} quer{'y' if both.n_queries == 1 else 'ies'}"
            raise SettingError(f"{found} to cross-validate with, expected at least {LEAST_QUERIES}, or 0 folds")
        recipe = replace(recipe, n_folds=min(recipe.n_folds, both.n_queries))
        own = judge.per_query(both, cross_validate(recipe, both, judge, progress))
        single = replace(recipe, ranker="single", settings={}, bends=None)
        other = judge.per_query(both, cross_validate(single, both, judge, progress))
        means = {
            recipe.ranker: {judge.name: float(np.mean(own))},
            "the best single feature": {judge.name: float(np.mean(other))},
        }
        compared = compare_values(recipe.ranker, own, "the best single feature", other, judge.name, seed=recipe.seed)
        trial = Trial(recipe.ranker, both.n_queries, recipe.n_folds, recipe.dialect, means, (compared,))
    choice = recipe.learn(train, judge, valid, progress)
    return make_bundle(recipe, choice, train, valid, judge, trial, source=source)


def require_differences(table: FeatureTable) -> None:
    """Refuse rows from which nothing can be learnt: in no query do two have different grades."""
    if table.grades is None or not table.n_rows:
        raise SettingError(f"{table.n_rows} rows to train with, without grades, expected rows with grades")
    starts = table.group_offsets[:-1]
    if not np.any(np.minimum.reduceat(table.grades, starts) < np.maximum.reduceat(table.grades, starts)):
        raise SettingError(
            f"none of {table.n_queries} queries has documents of different grades: there is nothing to learn from"
        )


def make_bundle(
    recipe: Recipe,
    choice: Choice,
    train: FeatureTable,
    valid: FeatureTable | None,
    judge: Judge,
    trial: Trial | None,
    *,
    source: str,
) -> Bundle:
    """What is kept of it all."""
    tables = [train] if valid is None else [train, valid]
    grades = np.zeros(0) if train.grades is None else train.grades
    found, sizes = np.unique(grades, return_counts=True)
    tuned = choice.rankers[0].tuned
    judged = any(len(each.per_query) for each in choice.trials)
    by = "validation set" if valid is not None else f"{recipe.n_parts} parts of the training queries in turn"
    return Bundle(
        ranker=recipe.ranker,
        settings=_plain(choice.rankers[0].get_params()) if len(choice.rankers) == 1 else _shared(choice.rankers),
        model=choice.model,
        features=train.names,
        preparation=choice.preparation,
        definitions={name: CATALOGUE[name].formula for name in train.names if name in CATALOGUE},
        training={
            "source": source,
            "fingerprint": fingerprint_of(*tables),
            "n_queries": train.n_queries,
            "n_rows": train.n_rows,
            "grades": {f"{grade:g}": size for grade, size in zip(found.tolist(), sizes.tolist(), strict=True)},
            "seed": recipe.seed,
            "details": [_plain(each.details_) for each in choice.rankers],
        },
        choice={
            "measure": judge.name,
            "dialect": judge.dialect,
            "by": by if judged else "nothing: there was no choice",
            "setting": tuned,
            "tried": [
                {"value": _plain(each.value), "mean": each.mean} for each in choice.trials if len(each.per_query)
            ],
            "chosen": [_plain(trial.value) for trial in choice.chosen],
        },
        trial=None if trial is None else trial.to_json(),
    )


def _joined(train: FeatureTable, valid: FeatureTable) -> FeatureTable:
    from searchlab.features.feature_table import concat

    shared = sorted(set(train.query_ids) & set(valid.query_ids))
    if shared:
        raise SettingError(
            f"query {shared[0]} is in the training set and in the validation set, expected in one of them"
        )
    return concat([train, valid])


def _shared(rankers: Sequence[Ranker]) -> dict[str, Any]:
    """The settings that all of them have."""
    first, *others = [_plain(each.get_params()) for each in rankers]
    return {name: value for name, value in first.items() if all(other[name] == value for other in others)}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(own) for own in value]
    return value.item() if isinstance(value, np.generic) else value.tolist() if isinstance(value, np.ndarray) else value
