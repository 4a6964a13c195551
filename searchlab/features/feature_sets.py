"""Which features belong together?

A set has a name and an order. Some are known here; others are composed in a TOML file:

    name = "mine"
    include = ["letor45"]
    features = ["score.both.rm3", "match.both.coverage"]

What is included comes first, and nothing comes twice. LETOR's features may also be called by its numbers: `letor.1`
to `letor.45`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from searchlab.errors import SettingError, SourceError, unknown_name
from searchlab.features.catalogue import CATALOGUE, Feature
from searchlab.features.formulas.letor_formulas import LETOR
from searchlab.features.formulas.paper_formulas import NALLAPATI, ORDRANK, TABLE1
from searchlab.features.formulas.stream_formula import StreamFormula
from searchlab.indexing.storage.columns import STREAMS

# So many names like a misspelt one are told; all of them would fill a screen.
NEAREST = 8


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


def _family(family: str, rows: Sequence[StreamFormula], streams: Sequence[str] = ("both",)) -> tuple[str, ...]:
    return tuple(f"{family}.{stream}.{row.what}" for stream in streams for row in rows)


def _of_family(family: str) -> tuple[str, ...]:
    return tuple(name for name in CATALOGUE if name.startswith(f"{family}."))


def _each_formula_once() -> tuple[str, ...]:
    """The catalogue but for topics and mixtures, without features that are another one under a second name."""
    firsts = {(feature.formula, feature.stream): feature.name for feature in reversed(CATALOGUE.values())}
    left_out = {*_of_family("topic"), *_of_family("mixture")}
    return tuple(name for name in CATALOGUE if name in set(firsts.values()) and name not in left_out)


_SEMANTIC = (
    *_family("letor", LETOR, STREAMS),
    "score.both.rm3",
    "match.both.coverage",
    "doc.both.length",
    *_of_family("semantic"),
)
FEATURE_SETS: dict[str, tuple[str, ...]] = {
    "table1": _family("table1", TABLE1),
    "nallapati": _family("nallapati", NALLAPATI),
    "letor45": _family("letor", LETOR, STREAMS),
    "ordrank": _family("ordrank", ORDRANK),
    "semantic": _SEMANTIC,
    "topics": (*_SEMANTIC, *_of_family("topic")),
    "full": _each_formula_once(),
}
_LETOR_NUMBERS = {f"letor.{number}": name for number, name in enumerate(FEATURE_SETS["letor45"], start=1)}


def find_feature(name: str) -> Feature:
    """A feature by its name, or by LETOR's number."""
    found = CATALOGUE.get(_LETOR_NUMBERS.get(name, name))
    if found is None:
        raise unknown_name("feature", name, get_close_matches(name, CATALOGUE, NEAREST, 0.5) or CATALOGUE)
    return found


def make_feature_set(chosen: str | Path | Iterable[str] | FeatureSet) -> FeatureSet:
    """A set: by its name, from a TOML file, or of features that are named one by one."""
    if isinstance(chosen, FeatureSet):
        return chosen
    if isinstance(chosen, Path) or (isinstance(chosen, str) and chosen.endswith(".toml")):
        return read_feature_set(chosen)
    if isinstance(chosen, str):
        return _compose(chosen, _named(chosen))
    return _compose("chosen", chosen)


def _named(name: str) -> tuple[str, ...]:
    if name not in FEATURE_SETS:
        raise unknown_name("feature set", name, FEATURE_SETS)
    return FEATURE_SETS[name]


def _compose(name: str, names: Iterable[str]) -> FeatureSet:
    features = tuple({feature.name: feature for feature in map(find_feature, names)}.values())
    if not features:
        raise SettingError(f"feature set {name}: holds no features, expected at least one")
    return FeatureSet(name, features)


def read_feature_set(path: str | Path) -> FeatureSet:
    """A set that is composed in a TOML file."""
    path = Path(path)
    try:
        record = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(path, f"cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SourceError(path, f"not a TOML file ({error})") from None
    known = {"name": str, "include": list, "features": list}
    for key, value in record.items():
        if key not in known:
            raise SourceError(path, f"unknown key {key!r}, expected {', '.join(known)}")
        if not isinstance(value, known[key]) or not all(isinstance(item, str) for item in value):
            raise SourceError(path, f"{key} is {value!r}, expected {_EXPECTED[known[key]]}")
    try:
        included = [name for other in record.get("include", []) for name in _named(other)]
        return _compose(record.get("name", path.stem), [*included, *record.get("features", [])])
    except SettingError as error:
        raise SourceError(path, str(error)) from None


_EXPECTED: dict[type[Any], str] = {str: "a text", list: "a list of names"}
