"""What does a section of a TOML file say, and is it what was expected?

Reading is strict: each value is asked for by its name and its type, and a name that nobody asked for is an error. A
message names the file, the section, the key, what was found and what was expected, in one line:

    plan.toml: [folds] number: found 'five', expected a whole number from 2
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from searchlab.errors import SettingError, SourceError

Made = TypeVar("Made")

# A longer value is shown by its beginning.
MAX_SHOWN_CHARACTERS = 60


class TomlSection:
    """One table of a TOML file; `name` is empty for the top of the file. It remembers what it was asked for."""

    def __init__(self, file: Path, name: str, values: Mapping[str, Any]) -> None:
        self.file, self.name, self.values = file, name, values
        self._asked: list[str] = []

    def has(self, key: str) -> bool:
        """Whether something is said under this key."""
        self._ask(key)
        return key in self.values

    def text(self, key: str, default: str | None = None) -> str | None:
        """A text that is not empty."""
        found: str | None = self._get(
            key, default, "a text", lambda value: isinstance(value, str) and bool(value.strip())
        )
        return found

    def whole(self, key: str, default: int, least: int = 0) -> int:
        """A whole number."""
        return int(self._get(key, default, f"a whole number from {least}", lambda value: _is_whole(value, least)))

    def number(self, key: str, default: float, low: float, high: float) -> float:
        """A number between two others."""

        def fits(value: Any) -> bool:
            return _is_number(value) and low <= value <= high

        return float(self._get(key, default, f"a number from {low:g} to {high:g}", fits))

    def yes(self, key: str, default: bool) -> bool:
        """True or false."""
        return bool(self._get(key, default, "true or false", lambda value: isinstance(value, bool)))

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of texts, at least one."""
        known = self._get(key, list(default), "a list of texts, at least one", lambda value: _are_texts(value))
        return tuple(known)

    def settings(self, key: str) -> dict[str, Any]:
        """Names with numbers, texts or true and false."""

        def fits(value: Any) -> bool:
            return isinstance(value, dict) and all(isinstance(own, int | float | str) for own in value.values())

        return dict(self._get(key, {}, "settings such as {k1 = 0.9}", fits))

    def grid(self, key: str) -> dict[str, tuple[float | str, ...]]:
        """Names, each with a list of values to try."""

        def fits(value: Any) -> bool:
            return isinstance(value, dict) and all(
                isinstance(own, list) and own and all(_is_number(one) or isinstance(one, str) for one in own)
                for own in value.values()
            )

        found = self._get(key, {}, "lists of values such as {k1 = [0.6, 0.9]}", fits)
        return {name: tuple(own) for name, own in found.items()}

    def lists(self, key: str) -> tuple[tuple[str, ...], ...]:
        """A list of lists of names; whole numbers are names too."""

        def fits(value: Any) -> bool:
            return (
                isinstance(value, list)
                and bool(value)
                and all(isinstance(own, list) and own and all(map(_is_name, own)) for own in value)
            )

        found = self._get(key, [], 'a list of lists of qids such as [["1", "2"], ["3"]]', fits)
        return tuple(tuple(map(str, own)) for own in found)

    def section(self, key: str) -> TomlSection:
        """A table below this one; an empty one if there is none."""
        found = self._get(key, {}, f"a section [{key}]", lambda value: isinstance(value, dict))
        return TomlSection(self.file, key, found)

    def sections(self, key: str) -> list[TomlSection]:
        """Tables of an array, [[key]]; they are called by their numbers."""
        found = self._get(
            key, [], f"sections [[{key}]]", lambda value: isinstance(value, list) and all(map(_is_table, value))
        )
        return [TomlSection(self.file, f"{key} {number}", own) for number, own in enumerate(found, start=1)]

    def close(self) -> None:
        """Refuse what nobody asked for."""
        for key in self.values:
            if key not in self._asked:
                near = get_close_matches(key, self._asked, n=1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                raise self.error(key, f"unknown key{hint}, expected {_listed(self._asked)}")

    def make(self, key: str, build: Callable[[], Made]) -> Made:
        """What is built of values that were read; what is wrong with them is told with this place."""
        try:
            return build()
        except SettingError as error:
            raise self.error(key, str(error)) from None

    def error(self, key: str, message: str) -> SourceError:
        """The error for a key; an empty key stands for the section as a whole."""
        place = " ".join(filter(None, [f"[{self.name}]" if self.name else "", key]))
        return SourceError(self.file, f"{place}: {message}" if place else message)

    def _ask(self, key: str) -> None:
        if key not in self._asked:
            self._asked.append(key)

    def _get(self, key: str, default: Any, expected: str, fits: Callable[[Any], bool]) -> Any:
        self._ask(key)
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
        return TomlSection(path, "", tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise SourceError(path, f"cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(path, f"not a TOML file ({' '.join(str(error).split())})") from None


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_name(value: Any) -> bool:
    return _is_whole(value, 0) or (isinstance(value, str) and len(value.split()) == 1)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(own, str) and own.strip() for own in value)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + (f" or {names[-1]}" if len(names) > 1 else names[0]) if names else "nothing"
