"""Feature sets: named, ordered selections from the catalogue.

Some are built in; others are composed in a TOML file:

    name = "mine"
    include = ["letor45"]
    features = ["score.both.rm3", "match.both.coverage"]

Included sets come first, and each feature is taken once. LETOR's features also have the numbers that LETOR gave them:
`letor.1` to `letor.45`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from searchlab.corpus.text_files import read_text_file
from searchlab.errors import SettingError, SourceError, unknown_name
from searchlab.features.catalogue import CATALOGUE, Feature
from searchlab.features.formulas.letor_formulas import LETOR
from searchlab.features.formulas.paper_formulas import NALLAPATI, ORDRANK, ORDRANK_AS_LETOR, TABLE1
from searchlab.features.formulas.stream_formula import StreamFormula
from searchlab.indexing.storage.columns import STREAMS

# Names suggested for a misspelt one; the whole catalogue would fill a screen.
MAX_SUGGESTIONS = 8


@dataclass(frozen=True)
class FeatureSet:
    """Features in their order, under a name."""

    name: str
    features: tuple[Feature, ...]

    def __len__(self) -> int:
        return len(self.features)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(feature.name for feature in self.features)


def _family_names(family: str, rows: Sequence[StreamFormula], streams: Sequence[str] = ("both",)) -> tuple[str, ...]:
    return tuple(f"{family}.{stream}.{row.what}" for stream in streams for row in rows)


def _names_with_prefix(family: str) -> tuple[str, ...]:
    return tuple(name for name in CATALOGUE if name.startswith(f"{family}."))


def _distinct_formulas() -> tuple[str, ...]:
    """The catalogue without latent topics and mixtures, and without second names of the same formula."""
    firsts = {(feature.formula, feature.stream): feature.name for feature in reversed(CATALOGUE.values())}
    left_out = {*_names_with_prefix("topic"), *_names_with_prefix("mixture")}
    return tuple(name for name in CATALOGUE if name in set(firsts.values()) and name not in left_out)


_SEMANTIC = (
    *_family_names("letor", LETOR, STREAMS),
    "score.both.rm3",
    "match.both.coverage",
    "doc.both.length",
    *_names_with_prefix("semantic"),
)
FEATURE_SETS: dict[str, tuple[str, ...]] = {
    "table1": _family_names("table1", TABLE1),
    "nallapati": _family_names("nallapati", NALLAPATI),
    "letor45": _family_names("letor", LETOR, STREAMS),
    "ordrank": _family_names("ordrank", ORDRANK),
    "ordrank-letor": _family_names("letor", ORDRANK_AS_LETOR),
    "semantic": _SEMANTIC,
    "topics": (*_SEMANTIC, *_names_with_prefix("topic")),
    "full": _distinct_formulas(),
}
_LETOR_NUMBERS = {f"letor.{number}": name for number, name in enumerate(FEATURE_SETS["letor45"], start=1)}


def find_feature(name: str) -> Feature:
    """A feature by its name, or by LETOR's number."""
    feature = CATALOGUE.get(_LETOR_NUMBERS.get(name, name))
    if feature is None:
        raise unknown_name("feature", name, get_close_matches(name, CATALOGUE, MAX_SUGGESTIONS, 0.5) or CATALOGUE)
    return feature


def make_feature_set(chosen: str | Path | Iterable[str] | FeatureSet) -> FeatureSet:
    """A set by its name, from a TOML file, or of single features."""
    if isinstance(chosen, FeatureSet):
        return chosen
    if isinstance(chosen, Path) or (isinstance(chosen, str) and chosen.endswith(".toml")):
        return read_feature_set(chosen)
    if isinstance(chosen, str):
        return _compose(chosen, _names_of_set(chosen))
    return _compose("chosen", chosen)


def _names_of_set(name: str) -> tuple[str, ...]:
    if name not in FEATURE_SETS:
        raise unknown_name("feature set", name, FEATURE_SETS)
    return FEATURE_SETS[name]


def _compose(name: str, names: Iterable[str]) -> FeatureSet:
    features = tuple({feature.name: feature for feature in map(find_feature, names)}.values())
    if not features:
        raise SettingError(f"feature set {name}: has no features, expected at least one")
    return FeatureSet(name, features)


def read_feature_set(path: str | Path) -> FeatureSet:
    """Read a set from a TOML file."""
    path = Path(path)
    try:
        record = tomllib.loads(read_text_file(path))
    except (ValueError, RecursionError) as error:
        raise SourceError(path, f"not a TOML file ({' '.join(str(error).split())})") from None
    known = {"name": str, "include": list, "features": list}
    for key, value in record.items():
        if key not in known:
            raise SourceError(path, f"unknown key {key!r}, expected {', '.join(known)}")
        if not isinstance(value, known[key]) or not all(isinstance(item, str) for item in value):
            raise SourceError(path, f"{key} is {value!r}, expected {_EXPECTED[known[key]]}")
    try:
        included = [name for other in record.get("include", []) for name in _names_of_set(other)]
        return _compose(record.get("name", path.stem), [*included, *record.get("features", [])])
    except SettingError as error:
        raise SourceError(path, str(error)) from None


_EXPECTED: dict[type[Any], str] = {str: "a text", list: "a list of names"}
