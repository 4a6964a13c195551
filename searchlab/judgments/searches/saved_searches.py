"""Saved searches: queries with their settings, under names, in a JSON file beside the index.

    INDEX.searches.json    {"format": …, "searches": [{"name", "query", "system", "filters", "sort", "judge", "made"}]}

The file is replaced as a whole. Searches are few, and people save them by hand. A search belongs to the judge who saved
it; one without a judge belongs to all.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from searchlab.atomic_file import open_atomic
from searchlab.corpus.text_cleaning import on_one_line, shown_path
from searchlab.corpus.text_files import read_text_file
from searchlab.errors import IndexCorrupt, SettingError, SourceError, unknown_name
from searchlab.json_records import one_line, parse_record, text, texts

FORMAT = "searchlab searches 1"
MAX_SEARCHES, MAX_SEARCHES_OF_JUDGE = 5000, 500
MAX_NAME_LENGTH = 100


@dataclass(frozen=True)
class SavedSearch:
    """A query under a name, with the system that ranks, filters and an order; `judge` saved it, at the time `made`."""

    name: str
    query: str
    system: str
    filters: tuple[str, ...] = ()
    sort: str = ""
    judge: str = ""
    made: str = ""


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
        return tuple(each for each in self._read_all() if each.judge in (judge, ""))

    def _read_all(self) -> tuple[SavedSearch, ...]:
        if not self._path.exists():
            return ()
        try:
            record = parse_record(read_text_file(str(self._path)))
            if text(record, "format") != FORMAT:
                raise ValueError(f"expected the format {FORMAT!r}")
            return tuple(map(_read, _entries(record)))
        except (ValueError, SourceError) as error:
            raise IndexCorrupt(f"{shown_path(self._path.name)}: no list of saved searches ({error})") from None

    def save(self, search: SavedSearch) -> SavedSearch:
        """Add a search, in place of the judge's one with the same name; without a name its query is the name."""
        name = on_one_line(search.name) or on_one_line(search.query)[:MAX_NAME_LENGTH]
        if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable():
            raise SettingError(f"the name of a search has {len(name)} characters, expected 1 to {MAX_NAME_LENGTH}")
        made = datetime.now(UTC).isoformat(timespec="seconds")
        saved = SavedSearch(name, search.query, search.system, search.filters, search.sort, search.judge, made)

        def add(searches: tuple[SavedSearch, ...]) -> tuple[SavedSearch, ...]:
            others = tuple(each for each in searches if (each.name, each.judge) != (name, search.judge))
            n_own = sum(each.judge == search.judge for each in others)
            if n_own >= MAX_SEARCHES_OF_JUDGE or len(others) >= MAX_SEARCHES:
                raise SettingError(f"{max(n_own, 1):,} searches are saved already: delete one first")
            return (saved, *others)

        try:
            _ = _read(asdict(saved) | {"filters": list(saved.filters)})  # what cannot be read again is not written
        except ValueError as error:
            raise SettingError(str(error)) from None
        self._replace(add)
        return saved

    def delete(self, name: str, judge: str = "") -> SavedSearch:
        """Delete the search of a judge with a name, or else the one of all; returns it."""
        deleted: list[SavedSearch] = []

        def remove(searches: tuple[SavedSearch, ...]) -> tuple[SavedSearch, ...]:
            seen = [each for each in searches if each.judge in (judge, "")]
            deleted.extend(sorted((each for each in seen if each.name == name), key=lambda each: not each.judge)[:1])
            if not deleted:
                raise unknown_name("saved search", name, [each.name for each in seen])
            return tuple(each for each in searches if each != deleted[0])

        self._replace(remove)
        return deleted[0]

    def _replace(self, change: Callable[[tuple[SavedSearch, ...]], tuple[SavedSearch, ...]]) -> None:
        with self._lock:
            record = {"format": FORMAT, "searches": [asdict(search) for search in change(self._read_all())]}
            with open_atomic(self._path) as file:
                file.write(json.dumps(record, ensure_ascii=False, indent=1) + "\n")


def _entries(record: dict[str, object]) -> list[dict[str, object]]:
    entries = record.get("searches")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError("expected a list of searches")
    return entries[:MAX_SEARCHES]


def _read(entry: dict[str, object]) -> SavedSearch:
    plain = {name: one_line(entry, name) for name in ("name", "system", "sort", "judge", "made")}
    return SavedSearch(query=text(entry, "query"), filters=texts(entry, "filters"), **plain)
