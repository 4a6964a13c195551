"""Feature sets: named, ordered selections from the catalogue.

Some are built in; others are composed in a TOML file:

    name = "mine"
    include = ["letor45"]
    features = ["score.both.rm3", "match.both.coverage"]

Included sets come first, and each feature is taken once. LETOR's features also have the numbers that LETOR gave them:
`letor.1` to `letor.45`. Names can be combined by commas: `semantic,field.year`. A name with a dot is a feature, one
without is a set.
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
from searchlab.features.catalogue import CATALOGUE, FAMILIES, Feature
from searchlab.features.formulas.letor_formulas import LETOR
from searchlab.features.formulas.paper_formulas import NALLAPATI, ORDRANK, ORDRANK_AS_LETOR, TABLE1
from searchlab.features.formulas.stream_formula import StreamFormula
from searchlab.features.user_defined.external_features import is_external
from searchlab.features.user_defined.field_features import find_field_feature
from searchlab.indexing.storage.columns import STREAMS

# Names suggested for a misspelt one; the whole catalogue would fill a screen.
MAX_SUGGESTIONS = 8
# A name in no built-in family that is less like any built-in name than this is taken for one of an extension.
MIN_LIKENESS_OF_A_MISSPELLING = 0.8


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
    built_in = [feature for feature in CATALOGUE.values() if feature.measure is None]
    firsts = {(feature.formula, feature.stream): feature.name for feature in reversed(built_in)}
    left_out = {*_names_with_prefix("topic"), *_names_with_prefix("mixture")}
    return tuple(name for name in CATALOGUE if name in set(firsts.values()) and name not in left_out)


_SEMANTIC = (
    *_family_names("letor", LETOR, STREAMS),
    "score.both.rm3",
    "match.both.coverage",
    "doc.both.length",
    *_names_with_prefix("semantic"),
)
# One or two scores of each kind: of words, of the title, of the language model, of feedback, of the semantic space, and
# of similar documents. Further features that count the same words in other ways did not make models better.
_COMPACT = (
    "score.both.bm25",
    "score.both.dirichlet",
    "score.both.rm3",
    "letor.title.bm25",
    "letor.title.dirichlet",
    "letor.title.jm",
    "match.both.coverage",
    "doc.both.length",
    "near.both.bigrams",
    *_names_with_prefix("semantic"),
    "neighbours.both.bm25_5",
    "neighbours.both.bm25_words_3",
    "neighbours.both.rm3_words_3",
    "neighbours.both.smoothed_words_3",
)
# The set that models are trained on unless another is chosen.
DEFAULT_SET = "compact"
FEATURE_SETS: dict[str, tuple[str, ...]] = {
    "table1": _family_names("table1", TABLE1),
    "nallapati": _family_names("nallapati", NALLAPATI),
    "letor45": _family_names("letor", LETOR, STREAMS),
    "ordrank": _family_names("ordrank", ORDRANK),
    "ordrank-letor": _family_names("letor", ORDRANK_AS_LETOR),
    "semantic": _SEMANTIC,
    "compact": _COMPACT,
    "topics": (*_SEMANTIC, *_names_with_prefix("topic")),
    "full": _distinct_formulas(),
}
_LETOR_NUMBERS = {f"letor.{number}": name for number, name in enumerate(FEATURE_SETS["letor45"], start=1)}


def offered_sets() -> dict[str, tuple[str, ...]]:
    """The sets on offer in a list of choices: all of them, and the default with the features of extensions."""
    own = [name for name, feature in CATALOGUE.items() if feature.measure is not None]
    return FEATURE_SETS | ({",".join([DEFAULT_SET, *own]): (*FEATURE_SETS[DEFAULT_SET], *own)} if own else {})


def look_up_feature(name: str) -> Feature | None:
    """A feature by its name, also of a stored field; None if there is none of this name."""
    return CATALOGUE.get(name) or find_field_feature(name)


def find_feature(name: str) -> Feature:
    """A feature by its name, by LETOR's number, or of a stored field."""
    feature = look_up_feature(_LETOR_NUMBERS.get(name, name))
    if feature is not None:
        return feature
    if is_external(name):
        given = name.partition(".")[2]
        option = f"by --external {given}=FILE, or external_feature({given!r}, …) in Python"
        raise SettingError(f"{name} is computed elsewhere: expected its scores, {option}")
    family, dot, _ = name.partition(".")
    load = "load it with --extension MODULE, or import MODULE in Python"
    if dot and family not in FAMILIES and not get_close_matches(name, CATALOGUE, 1, MIN_LIKENESS_OF_A_MISSPELLING):
        raise SettingError(f"unknown feature {name!r}: if it is your own, {load}")
    raise unknown_name("feature", name, get_close_matches(name, CATALOGUE, MAX_SUGGESTIONS, 0.5) or CATALOGUE)


def make_feature_set(chosen: str | Path | Iterable[str | Feature] | FeatureSet) -> FeatureSet:
    """A set by its name, from a TOML file, or of several sets and features, as in "semantic,field.year"."""
    if isinstance(chosen, FeatureSet):
        return chosen
    if isinstance(chosen, Path) or (isinstance(chosen, str) and Path(chosen).suffix == ".toml" and "," not in chosen):
        return read_feature_set(chosen)
    if isinstance(chosen, str):
        if not chosen.strip():
            raise SettingError(f"no features: expected names of features or sets ({', '.join(FEATURE_SETS)})")
        parts = [part.strip() for part in chosen.split(",")]
        return _compose(chosen, [feature for part in parts for feature in _features_of(part)])
    if not isinstance(chosen, Iterable):
        raise SettingError(f"features are {chosen!r}, expected names of features or sets")
    return _compose("chosen", [feature for item in chosen for feature in _features_of_item(item)])


def _features_of_item(item: object) -> tuple[Feature, ...]:
    """The features of an item of a list: a feature itself, its name, or the name of a set."""
    if isinstance(item, Feature):
        return (item,)
    if not isinstance(item, str):
        raise SettingError(f"feature is {item!r}, expected a name")
    return tuple(map(find_feature, FEATURE_SETS[item])) if item in FEATURE_SETS else (find_feature(item),)


def _features_of(name: str) -> tuple[Feature, ...]:
    """The features of a set or a TOML file, or the one of this name."""
    if name.endswith(".toml"):
        return read_feature_set(name).features
    return (find_feature(name),) if "." in name else tuple(map(find_feature, _names_of_set(name)))


def _names_of_set(name: str) -> tuple[str, ...]:
    if name not in FEATURE_SETS:
        raise unknown_name("feature set", name, FEATURE_SETS)
    return FEATURE_SETS[name]


def _compose(name: str, chosen: Iterable[Feature]) -> FeatureSet:
    features = tuple({feature.name: feature for feature in chosen}.values())
    if not features:
        raise SettingError(f"feature set {name}: has no features, expected at least one")
    return FeatureSet(name, features)


def read_feature_set(path: str | Path) -> FeatureSet:
    """Read a set from a TOML file."""
    path = Path(path)
    try:
        record = tomllib.loads(read_text_file(path))
    except (ValueError, RecursionError) as error:  # a number of too many digits is a plain ValueError
        raise SourceError(path, f"not a TOML file ({' '.join(str(error).split())})") from None
    known = {"name": str, "include": list, "features": list}
    for key, value in record.items():
        if key not in known:
            raise SourceError(path, f"unknown key {key!r}, expected {', '.join(known)}")
        if not isinstance(value, known[key]) or not all(isinstance(item, str) for item in value):
            raise SourceError(path, f"{key} is {value!r}, expected {_EXPECTED[known[key]]}")
    try:
        included = [name for other in record.get("include", []) for name in _names_of_set(other)]
        return _compose(record.get("name", path.stem), map(find_feature, [*included, *record.get("features", [])]))
    except SettingError as error:
        raise SourceError(path, str(error)) from None


_EXPECTED: dict[type[Any], str] = {str: "a text", list: "a list of names"}
