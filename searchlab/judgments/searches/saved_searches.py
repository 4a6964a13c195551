"""Saved searches: queries with their settings, under names, in a JSON file beside the index.

    INDEX.searches.json    {"format": …, "searches": [{"name", "query", "system", "filters", "sort", "judge", "made",
                           "synonyms", "group_duplicates", "k"}], "deleted": [the same, the latest first]}

The file is replaced as a whole. The searches deleted last can be restored. Searches are few, and people save them by
hand. A search belongs to the judge who saved it; one without a judge belongs to all.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from searchlab.atomic_file import open_atomic
from searchlab.corpus.text_cleaning import on_one_line, shown_path
from searchlab.corpus.text_files import read_text_file
from searchlab.errors import IndexCorrupt, SettingError, SourceError, unknown_name
from searchlab.json_records import one_line, parse_record, text, texts, whole_number

FORMAT = "searchlab searches 1"
MAX_SEARCHES, MAX_SEARCHES_OF_JUDGE = 5000, 500
MAX_DELETED = 50
MAX_NAME_LENGTH = 100
MAX_K = 100


@dataclass(frozen=True)
class SavedSearch:
    """A query under a name, with the system that ranks, filters and an order; `judge` saved it, at the time `made`.

    `k` is the number of results on a page.
    """

    name: str
    query: str
    system: str
    filters: tuple[str, ...] = ()
    sort: str = ""
    judge: str = ""
    made: str = ""
    synonyms: bool = True
    group_duplicates: bool = False
    k: int = 10

    def is_numbered(self, other: SavedSearch) -> bool:
        """Whether this is the same search as the other, under its name or its name with a number."""
        is_same = replace(self, name=other.name, made=other.made) == other
        return is_same and (self.name == other.name or self.name.startswith(f"{other.name} ("))


def searches_file(folder: Path) -> Path:
    """The file of the saved searches of an index."""
    return folder.with_name(f"{folder.name}.searches.json")


class SavedSearches:
    """The saved searches of one index; threads may share it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def list(self, judge: str = "") -> tuple[SavedSearch, ...]:
        """The searches of a judge and those of all, the latest first."""
        return tuple(each for each in self._read_all().searches if each.judge in (judge, ""))

    def _read_all(self) -> _Stored:
        if not self._path.exists():
            return _Stored()
        try:
            record = parse_record(read_text_file(str(self._path)))
            if text(record, "format") != FORMAT:
                raise ValueError(f"expected the format {FORMAT!r}")
            deleted = _entries(record, "deleted") if "deleted" in record else []
            return _Stored(tuple(map(_read, _entries(record, "searches"))), tuple(map(_read, deleted[:MAX_DELETED])))
        except (ValueError, SourceError) as error:
            raise IndexCorrupt(f"{shown_path(self._path.name)}: no list of saved searches ({error})") from None

    def save(self, search: SavedSearch) -> SavedSearch:
        """Add a search, which keeps the judge's others; without a name its query is the name.

        A name that the judge has given to another search already is numbered. The same search is not saved twice.
        """
        name = on_one_line(search.name) or on_one_line(search.query)[:MAX_NAME_LENGTH]
        if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable():
            raise SettingError(f"the name of a search has {len(name)} characters, expected 1 to {MAX_NAME_LENGTH}")
        made = datetime.now(UTC).isoformat(timespec="seconds")
        wanted = replace(search, name=name, made=made)
        try:
            _ = _read(asdict(wanted) | {"filters": list(wanted.filters)})  # what cannot be read again is not written
        except ValueError as error:
            raise SettingError(str(error)) from None
        return self._replace(lambda stored: stored.adding(wanted)).searches[0]

    def delete(self, name: str, judge: str = "") -> SavedSearch:
        """Delete the search of a judge with a name, or else the one of all; returns it."""

        def remove(stored: _Stored) -> _Stored:
            found = _find(stored.searches, name, judge)
            kept = tuple(each for each in stored.searches if each != found)
            return _Stored(kept, (found, *stored.deleted)[:MAX_DELETED])

        return self._replace(remove).deleted[0]

    def restore(self, name: str, judge: str = "") -> SavedSearch:
        """Save the search again that was deleted last under a name; returns it."""

        def add(stored: _Stored) -> _Stored:
            found = _find(stored.deleted, name, judge)
            rest = tuple(each for each in stored.deleted if each != found)
            return replace(stored, deleted=rest).adding(found)

        return self._replace(add).searches[0]

    def _replace(self, change: Callable[[_Stored], _Stored]) -> _Stored:
        with self._lock:
            changed = change(self._read_all())
            record = {"format": FORMAT, **asdict(changed)}
            with open_atomic(self._path) as file:
                file.write(json.dumps(record, ensure_ascii=False, indent=1) + "\n")
        return changed


@dataclass(frozen=True)
class _Stored:
    """All searches of the file, the latest first, and those that were deleted last."""

    searches: tuple[SavedSearch, ...] = ()
    deleted: tuple[SavedSearch, ...] = ()

    def adding(self, search: SavedSearch) -> _Stored:
        """With one more search, before the others; its name is numbered if the judge has another one of this name."""
        same = [each for each in self.searches if each.is_numbered(search)]
        others = tuple(each for each in self.searches if each not in same)
        own = {each.name for each in others if each.judge == search.judge}
        if len(own) >= MAX_SEARCHES_OF_JUDGE or len(others) >= MAX_SEARCHES:
            raise SettingError(f"{max(len(own), 1):,} searches are saved already: delete one first")
        endings = chain([""], (f" ({number})" for number in count(2)))
        names = (f"{search.name[: MAX_NAME_LENGTH - len(ending)]}{ending}" for ending in endings)
        name = same[0].name if same else next(name for name in names if name not in own)
        return replace(self, searches=(replace(search, name=name), *others))


def _find(searches: Sequence[SavedSearch], name: str, judge: str) -> SavedSearch:
    """The search of a judge with a name, or else the one of all; SettingError if there is none."""
    seen = [each for each in searches if each.judge in (judge, "")]
    found = sorted((each for each in seen if each.name == name), key=lambda each: not each.judge)
    if not found:
        raise unknown_name("saved search", name, [each.name for each in seen])
    return found[0]


def _entries(record: dict[str, object], name: str) -> list[dict[str, object]]:
    entries = record.get(name)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError("expected a list of searches")
    return entries[:MAX_SEARCHES]


def _read(entry: dict[str, object]) -> SavedSearch:
    plain = {name: one_line(entry, name) for name in ("name", "system", "sort", "judge", "made")}
    # Searches of earlier versions lack what was not saved then.
    known = asdict(SavedSearch("", "", "")) | entry
    return SavedSearch(
        query=text(entry, "query"),
        filters=texts(entry, "filters"),
        synonyms=_truth(known, "synonyms"),
        group_duplicates=_truth(known, "group_duplicates"),
        k=whole_number(known, "k", 1, MAX_K),
        **plain,
    )


def _truth(entry: dict[str, object], name: str) -> bool:
    value = entry[name]
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}, expected true or false")
    return value
