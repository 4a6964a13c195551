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
import threading
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from searchlab.analysis.stopwords import ENGLISH
from searchlab.errors import REBUILD, IndexOutdated, SettingError, SourceError, unknown_name

# Raised whenever folding or the word pattern changes, so that fingerprints tell old indexes from new.
WORD_RULES = 1
MAX_WORD_LENGTH = 255
# So many words are remembered with their terms; then all are forgotten, so that strange queries do not fill the memory.
REMEMBERED_WORDS = 1 << 18
REMEMBERED_CHARACTERS = 1 << 12


def _word(digit: str, sign: str) -> str:
    """The pattern of a word; what was read is never given back (`++`), since that could not help."""
    return rf"{digit}++(?:\.{digit}++)++{sign}*+|{sign}++(?:'{sign}++)*+"


_WORD = re.compile(_word(r"\d", r"[^\W_]"))
_SPLIT_AT_WORD = re.compile(f"({_WORD.pattern})").split
# The same for folded ASCII, twice as fast.
_SPLIT_AT_ASCII_WORD = re.compile(f"({_word('[0-9]', '[a-z0-9]')})").split
# Runs of ASCII, and single other characters.
_SPLIT_AT_OTHERS = re.compile(r"([^\x00-\x7f])").split
# Every combining character comes after it.
_BEFORE_COMBINING = "\u02ff"
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


# A stemmer is loaded when the first unknown word needs it; by one thread at a time, as loading changes `sys.modules`.
_LOADING = threading.Lock()
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


class Located(NamedTuple):
    """All words of a text, in its order: where each begins and ends, and its term (None for a stop word)."""

    starts: list[int]
    ends: list[int]
    terms: list[str | None]


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
            term = self._look_up(word)
            if len(self._memo) >= REMEMBERED_WORDS:
                self._memo = dict.fromkeys(self.settings.stop_words)
            self._memo[word] = term
            return term

    def _look_up(self, word: str) -> str | None:
        if self._recall is not None:
            try:
                return self._recall(word)
            except KeyError:
                pass
        if self._stem is None:
            with _LOADING:
                self._stem = STEMMERS[self.settings.stemmer]()
        return self._stem(word)

    def terms(self, text: str) -> list[str]:
        """The terms of a text in its order, repeats included."""
        return [term for term in map(self.term, words(text)) if term is not None]

    def spans(self, text: str) -> Iterator[Span]:
        """Every word of a text with its place: what a snippet marks is what the index matched."""
        return map(Span, *self.locate(text))

    def locate(self, text: str) -> Located:
        """The same for all words at once, which is faster."""
        folded, origins = _fold_with_origins(text)
        # Between words stand gaps, perhaps empty ones, and one of them at each end.
        pieces = _SPLIT_AT_ASCII_WORD(folded) if folded.isascii() else _SPLIT_AT_WORD(folded)
        bounds = list(accumulate(map(len, pieces)))
        starts, ends = bounds[:-1:2], bounds[1::2]
        terms = self._terms_of(_trim_all(pieces[1::2], folded))
        if origins is not None:
            starts = [origins[start] for start in starts]
            ends = [_end_of_letter(text, origins[end - 1] + 1) for end in ends]
        return Located(starts, ends, terms)

    def _terms_of(self, trimmed: list[str]) -> list[str | None]:
        memo = self._memo
        try:
            return [memo[word] for word in trimmed]
        except KeyError:
            return [self.term(word) for word in trimmed]


def words(text: str) -> list[str]:
    """The folded words of a text."""
    folded = fold(text)
    return _trim_all(_WORD.findall(folded), folded)


def _trim_all(found: list[str], folded: str) -> list[str]:
    # Most texts have neither an apostrophe nor an overlong word.
    if "'" not in folded and max(map(len, found), default=0) <= MAX_WORD_LENGTH:
        return found
    return [trim(word) for word in found]


def trim(word: str) -> str:
    """A folded word as it is looked up: without a final 's, and not longer than words are."""
    return word.removesuffix("'s")[:MAX_WORD_LENGTH]


def fold(text: str) -> str:
    """The text without case, accents and compatibility forms."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).translate(_APOSTROPHES_AND_INVISIBLES).casefold()
    if plain.isascii():
        return plain
    return "".join(c for c in plain if not unicodedata.combining(c))


_fold_character = lru_cache(REMEMBERED_CHARACTERS)(fold)


def _fold_with_origins(text: str) -> tuple[str, list[int] | None]:
    """The folded text, and for each of its characters the place that it came from; None if all are in their places."""
    if text.isascii():
        return text.lower(), None
    pieces: list[str] = []
    origins: list[int] = []
    place = 0
    for run in _SPLIT_AT_OTHERS(text):
        if run.isascii():
            pieces.append(run.lower())
            origins += range(place, place + len(run))
        else:
            pieces.append(_fold_character(run))
            origins += [place] * len(pieces[-1])
        place += len(run)
    return "".join(pieces), origins


def _end_of_letter(text: str, end: int) -> int:
    """Where a letter ends: an accent that is a character of its own belongs to the letter before it."""
    while end < len(text) and text[end] > _BEFORE_COMBINING and unicodedata.combining(text[end]):
        end += 1
    return end
