"""Stemmers: the registry of functions that reduce a word to its stem.

Porter's stemmer runs in the variant `MARTIN_EXTENSIONS`, that of Porter's own program, which other engines use as well;
nltk's default adds exceptions. The others are the Snowball stemmers, each by the name of its language; `snowball` is
the English one.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nltk.stem.snowball import SnowballStemmer

Stemmer = Callable[[str], str]

PORTER = "porter"


def _load_porter() -> Stemmer:
    PorterStemmer = _import_without_package("nltk.stem.porter", {}).PorterStemmer
    stemmer = PorterStemmer(mode=PorterStemmer.MARTIN_EXTENSIONS)
    return lambda word: str(stemmer.stem(word, to_lowercase=False))


def _load_snowball(language: str) -> Stemmer:
    # The module imports all readers of corpora for stop lists, which are not used here.
    module = _import_without_package("nltk.stem.snowball", {"nltk.corpus": {"stopwords": None}})
    stemmer: SnowballStemmer = module.SnowballStemmer(language)
    return lambda word: str(stemmer.stem(word))


def _load_none() -> Stemmer:
    return lambda word: word


# The languages of the Snowball stemmers, apart from English.
SNOWBALL_LANGUAGES = (
    "arabic",
    "danish",
    "dutch",
    "finnish",
    "french",
    "german",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
)
# Each name with the function that loads the stemmer.
STEMMERS: dict[str, Callable[[], Stemmer]] = {
    "none": _load_none,
    PORTER: _load_porter,
    "snowball": partial(_load_snowball, "english"),
    **{language: partial(_load_snowball, language) for language in SNOWBALL_LANGUAGES},
}
# Loading changes `sys.modules`, so one thread loads at a time.
_LOADING = threading.Lock()


def load_stemmer(name: str) -> Stemmer:
    """The stemmer with this name; importing it takes time, so it is loaded when the first unknown word needs it."""
    with _LOADING:
        return STEMMERS[name]()


def _import_without_package(name: str, replaced: Mapping[str, Mapping[str, object]]) -> Any:
    """Import a module without its package: nltk imports all of itself, and scipy, which takes over a second.

    While the module is loaded, empty modules stand in for its parent packages, and modules with the given names in them
    for those that are `replaced`; they are removed afterwards.
    """
    if name.partition(".")[0] in sys.modules:
        return import_module(name)
    before = set(sys.modules)
    try:
        parents = name.split(".")[:-1]
        folder = Path(find_spec(parents[0]).origin or "").parent  # type: ignore[union-attr]
        for depth in range(1, len(parents) + 1):
            package = ModuleType(".".join(parents[:depth]))
            package.__path__ = [str(folder.joinpath(*parents[1:depth]))]
            sys.modules[package.__name__] = package
        for other, names in replaced.items():
            sys.modules[other] = ModuleType(other)
            vars(sys.modules[other]).update(names)
        return import_module(name)
    finally:
        for other in set(sys.modules) - before:
            if other.partition(".")[0] == parents[0]:
                del sys.modules[other]
