"""Which terms does a text consist of?

Documents and queries pass through the same three steps:

1. **Words.** The text is folded (compatibility forms, accents and case go: "Naïve" is "naive",
   "ﬁbrosis" is "fibrosis") and cut into words. A word is a run of letters and digits; a decimal point
   between digits and an apostrophe between letters belong to it, everything else separates. So
   "T-cell" and "t cell" are the same two words t, cell; "IL-2" is il, 2; "10-mg" is 10, mg; "0.05" is one
   word; a possessive ending is dropped ("Crohn's" is crohn).
2. **Stop words** go. The default list keeps single letters other than "a" and "i", so that "t" in
   "T-cell" survives.
3. **Stems.** Each distinct word is stemmed once and remembered.

An index keeps its settings and their fingerprint, and a query is always analysed with the settings of
the index that it is put to.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from searchlab.errors import REBUILD, IndexOutdated, SettingError, SourceError, unknown_name
from searchlab.indexing.stopwords import ENGLISH

# Raised whenever folding or the word pattern changes, so that fingerprints tell old indexes from new.
WORD_RULES = 1
MAX_WORD_LENGTH = 255

_WORD = re.compile(r"\d+(?:\.\d+)+[^\W_]*|[^\W_]+(?:'[^\W_]+)*")
_APOSTROPHES_AND_INVISIBLES = {ord(c): "'" for c in "’ʼ＇"} | {
    ord(c): None for c in "\u00ad\u200b\u200c\u200d\u2060\ufeff"
}

Stemmer = Callable[[str], str]
# A word's term, None for a stop word; KeyError for a word that is not known.
Recall = Callable[[str], str | None]


def _load_porter() -> Stemmer:
    PorterStemmer = _import_alone("nltk.stem.porter").PorterStemmer

    # The variant of Porter's own program, which other engines use too; nltk's default adds exceptions.
    stemmer = PorterStemmer(mode=PorterStemmer.MARTIN_EXTENSIONS)
    return lambda word: str(stemmer.stem(word, to_lowercase=False))


def _import_alone(name: str) -> Any:
    """A module of a package, without the package: nltk imports all of itself, and scipy, which takes over a second.

    While the module is loaded, empty packages stand for those that it lies in; they are taken away afterwards.
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
        return import_module(name)
    finally:
        for other in set(sys.modules) - before:
            if other.partition(".")[0] == parents[0]:
                del sys.modules[other]


def _load_snowball() -> Stemmer:
    from nltk.stem.snowball import EnglishStemmer

    stemmer = EnglishStemmer()
    return lambda word: str(stemmer.stem(word))


def _load_none() -> Stemmer:
    return lambda word: word


# A stemmer is loaded when the first unknown word needs it.
STEMMERS: dict[str, Callable[[], Stemmer]] = {
    "none": _load_none,
    "porter": _load_porter,
    "snowball": _load_snowball,
}


class Span(NamedTuple):
    """A word in a text: where it stands, and its term (None for a stop word)."""

    start: int
    end: int
    term: str | None


@dataclass(frozen=True)
class AnalysisSettings:
    """How texts become terms; two indexes with equal fingerprints agree on every term."""

    stemmer: str = "porter"
    stop_list: str = "default"
    stop_words: frozenset[str] = ENGLISH

    def __post_init__(self) -> None:
        if self.stemmer not in STEMMERS:
            raise unknown_name("stemmer", self.stemmer, STEMMERS)

    @classmethod
    def choose(cls, stemmer: str = "porter", stop_list: str = "default") -> AnalysisSettings:
        """The settings for names as users give them; `stop_list` is none, default or a file of words."""
        if stop_list == "default":
            return cls(stemmer)
        if stop_list == "none":
            return cls(stemmer, "none", frozenset())
        try:
            text = Path(stop_list).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise SettingError(f"unknown stop list {stop_list!r}; expected none, default or a file of words") from None
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(stop_list, f"cannot be read as a stop list ({error})") from None
        lines = (line.partition("#")[0] for line in text.splitlines())
        return cls(stemmer, Path(stop_list).name, frozenset(word for line in lines for word in words(line)))

    def to_json(self) -> dict[str, Any]:
        """The settings as an index records them."""
        return {
            "word_rules": WORD_RULES,
            "stemmer": self.stemmer,
            "stop_list": self.stop_list,
            "stop_words": sorted(self.stop_words),
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> AnalysisSettings:
        """The inverse of `to_json`; settings for other rules of words are refused."""
        if record["word_rules"] != WORD_RULES:
            raise IndexOutdated(
                f"words were cut by rules {record['word_rules']}, but this searchlab has rules {WORD_RULES}; {REBUILD}"
            )
        return cls(record["stemmer"], record["stop_list"], frozenset(record["stop_words"]))

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with anything that could change a term."""
        record = self.to_json()
        del record["stop_list"]
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:16]


class Analyzer:
    """Turns texts into terms by one set of settings, remembering each word's term.

    `recall` is an optional second memory (an index's own list of words): it is asked before the stemmer
    is loaded, and answers with a term, with None for a stop word, or with KeyError for a new word.
    """

    def __init__(self, settings: AnalysisSettings, recall: Recall | None = None) -> None:
        self.settings = settings
        self._recall = recall
        self._stem: Stemmer | None = None
        self._memo: dict[str, str | None] = dict.fromkeys(settings.stop_words)

    def term(self, word: str) -> str | None:
        """The term of a folded word, None for a stop word."""
        try:
            return self._memo[word]
        except KeyError:
            term = self._memo[word] = self._look_up(word)
            return term

    def _look_up(self, word: str) -> str | None:
        if self._recall is not None:
            try:
                return self._recall(word)
            except KeyError:
                pass
        if self._stem is None:
            self._stem = STEMMERS[self.settings.stemmer]()
        return self._stem(word)

    def terms(self, text: str) -> list[str]:
        """The terms of a text in its order, repeats included."""
        return [term for term in map(self.term, words(text)) if term is not None]

    def spans(self, text: str) -> Iterator[Span]:
        """Every word of a text with its place: what a snippet marks is what the index matched."""
        folded, origins = _fold_with_origins(text)
        for match in _WORD.finditer(folded):
            end = origins[match.end() - 1] + 1
            # An accent that is a character of its own belongs to the letter before it.
            while end < len(text) and unicodedata.combining(text[end]):
                end += 1
            yield Span(origins[match.start()], end, self.term(_trim(match.group())))


def words(text: str) -> list[str]:
    """The folded words of a text."""
    found: list[str] = _WORD.findall(fold(text))
    # Most texts have neither an apostrophe nor an overlong word: one scan decides for the whole text.
    return [_trim(word) if "'" in word or len(word) > MAX_WORD_LENGTH else word for word in found]


def _trim(word: str) -> str:
    return word.removesuffix("'s")[:MAX_WORD_LENGTH]


def fold(text: str) -> str:
    """The text without case, accents and compatibility forms."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).translate(_APOSTROPHES_AND_INVISIBLES).casefold()
    if plain.isascii():
        return plain
    return "".join(c for c in plain if not unicodedata.combining(c))


def _fold_with_origins(text: str) -> tuple[str, range | list[int]]:
    """The folded text, and for each of its characters the place that it came from."""
    if text.isascii():
        return text.lower(), range(len(text))
    pieces = [fold(c) for c in text]
    origins = [place for place, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), origins
