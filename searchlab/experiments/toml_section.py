"""Strict reading of a section of a TOML file.

Each value is read by key and type; keys that were never read are errors. A message is one line with the file, the
section, the key, what was found and what was expected:

    plan.toml: [folds] number: found 'five', expected a whole number from 2
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from searchlab.corpus.text_files import read_text_file
from searchlab.errors import SettingError, SourceError

Made = TypeVar("Made")

# Longer values are cut in messages.
MAX_SHOWN_CHARACTERS = 60


class TomlSection:
    """One table of a TOML file, which records the keys that are read; `name` is empty for the top of the file."""

    def __init__(self, file: Path, name: str, values: Mapping[str, Any]) -> None:
        self.file, self.name, self.values = file, name, values
        self._read_keys: list[str] = []

    def has(self, key: str) -> bool:
        """Whether the section has this key."""
        self._mark_read(key)
        return key in self.values

    def string(self, key: str, default: str | None = None) -> str | None:
        """A text that is not empty."""
        text: str | None = self._get(
            key, default, "a text", lambda value: isinstance(value, str) and bool(value.strip())
        )
        return text

    def integer(self, key: str, default: int, least: int = 0) -> int:
        """A whole number from `least`."""
        return int(self._get(key, default, f"a whole number from {least}", lambda value: _is_integer(value, least)))

    def number(self, key: str, default: float, low: float, high: float) -> float:
        """A number from `low` to `high`."""

        def fits(value: Any) -> bool:
            return _is_number(value) and low <= value <= high

        return float(self._get(key, default, f"a number from {low:g} to {high:g}", fits))

    def boolean(self, key: str, default: bool) -> bool:
        """True or false."""
        return bool(self._get(key, default, "true or false", lambda value: isinstance(value, bool)))

    def strings(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of texts, at least one."""
        return tuple(self._get(key, list(default), "a list of texts, at least one", _is_list_of_strings))

    def settings(self, key: str) -> dict[str, Any]:
        """Settings by name; values are numbers, texts or booleans."""

        def fits(value: Any) -> bool:
            return isinstance(value, dict) and all(isinstance(item, int | float | str) for item in value.values())

        return dict(self._get(key, {}, "settings such as {k1 = 0.9}", fits))

    def grid(self, key: str) -> dict[str, tuple[float | str, ...]]:
        """Settings by name, each with a list of values to try."""

        def fits(value: Any) -> bool:
            return isinstance(value, dict) and all(
                isinstance(items, list) and items and all(_is_number(item) or isinstance(item, str) for item in items)
                for items in value.values()
            )

        grid = self._get(key, {}, "lists of values such as {k1 = [0.6, 0.9]}", fits)
        return {name: tuple(values) for name, values in grid.items()}

    def name_lists(self, key: str) -> tuple[tuple[str, ...], ...]:
        """A list of lists of names; whole numbers are names too."""

        def fits(value: Any) -> bool:
            return (
                isinstance(value, list)
                and bool(value)
                and all(isinstance(names, list) and names and all(map(_is_name, names)) for names in value)
            )

        lists = self._get(key, [], 'a list of lists of qids such as [["1", "2"], ["3"]]', fits)
        return tuple(tuple(map(str, names)) for names in lists)

    def section(self, key: str) -> TomlSection:
        """A table below this one; an empty one if there is none."""
        table = self._get(key, {}, f"a section [{key}]", _is_table)
        return TomlSection(self.file, key, table)

    def sections(self, key: str) -> list[TomlSection]:
        """Tables of an array, [[key]]; they are named by their numbers."""
        tables = self._get(
            key, [], f"sections [[{key}]]", lambda value: isinstance(value, list) and all(map(_is_table, value))
        )
        return [TomlSection(self.file, f"{key} {number}", table) for number, table in enumerate(tables, start=1)]

    def refuse_unknown_keys(self) -> None:
        """Refuse keys that were not read."""
        for key in self.values:
            if key not in self._read_keys:
                near = get_close_matches(key, self._read_keys, n=1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                raise self.error(key, f"unknown key{hint}, expected {_enumerate_names(self._read_keys)}")

    def make(self, key: str, build: Callable[[], Made]) -> Made:
        """Build an object from values of the section; its errors are raised with the location of this key."""
        try:
            return build()
        except SettingError as error:
            raise self.error(key, str(error)) from None

    def error(self, key: str, message: str) -> SourceError:
        """The error for a key; an empty key stands for the whole section."""
        location = " ".join(filter(None, [f"[{self.name}]" if self.name else "", key]))
        return SourceError(self.file, f"{location}: {message}" if location else message)

    def _mark_read(self, key: str) -> None:
        if key not in self._read_keys:
            self._read_keys.append(key)

    def _get(self, key: str, default: Any, expected: str, fits: Callable[[Any], bool]) -> Any:
        self._mark_read(key)
        if key not in self.values:
            return default
        value = self.values[key]
        if not fits(value):
            shown = repr(value)
            if len(shown) > MAX_SHOWN_CHARACTERS:
                shown = shown[:MAX_SHOWN_CHARACTERS] + "…"
            raise self.error(key, f"found {shown}, expected {expected}")
        return value


def read_toml(path: str | Path) -> TomlSection:
    """The top of a TOML file."""
    path = Path(path)
    try:
        return TomlSection(path, "", tomllib.loads(read_text_file(path)))
    except (ValueError, RecursionError) as error:
        raise SourceError(path, f"not a TOML file ({' '.join(str(error).split())})") from None


def _is_integer(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_name(value: Any) -> bool:
    return _is_integer(value, 0) or (isinstance(value, str) and len(value.split()) == 1)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list_of_strings(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) and item.strip() for item in value)


def _enumerate_names(names: list[str]) -> str:
    return ", ".join(names[:-1]) + (f" or {names[-1]}" if len(names) > 1 else names[0]) if names else "nothing"
