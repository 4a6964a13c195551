"""The likely cause of ids that do not match: the same ids in another spelling.

Tools change qids and docnos: one writes `q1` for `1`, another drops the zeros of `007`, a spreadsheet changes case. A
change that turns most of the unknown ids into missing ones is the likely cause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

# The smallest share of the ids that a cause has to explain.
MIN_EXPLAINED_SHARE = 0.5
# Longer ids of digits are not numbers of topics.
MAX_DIGITS = 9
_ZEROS = re.compile(r"(?<![0-9.])0+(?=[0-9])")
_LAST_DIGITS = re.compile(r"[0-9]+$")

Change = Callable[[str], str]


def explain_mismatch(unknown: Sequence[str], missing: Collection[str]) -> str:
    """The change that turns unknown ids into missing ones, as the end of a sentence; empty if there is none."""
    cause, renamed = find_change(unknown, missing)
    here, there = next(iter(renamed.items()), ("", ""))
    return f"; likely cause: {cause} ({here} here, {there} there)" if cause else ""


def find_change(unknown: Sequence[str], missing: Collection[str]) -> tuple[str, dict[str, str]]:
    """The change that turns most unknown ids into missing ones, and these ids; empty if there is none."""
    if not unknown or not missing:
        return "", {}
    for cause, change_unknown, change_missing in _changes(unknown, missing):
        targets = {change_missing(name): name for name in sorted(missing, reverse=True)}
        renamed = {name: targets[change_unknown(name)] for name in unknown if change_unknown(name) in targets}
        if renamed and len(renamed) >= MIN_EXPLAINED_SHARE * min(len(unknown), len(missing)):
            return cause, renamed
    return "", {}


def id_number(name: str) -> int | None:
    """The number that an id consists of, whatever its leading zeros; None for other ids."""
    return int(name) if name.isascii() and name.isdigit() and len(name) <= MAX_DIGITS else None


def _changes(unknown: Collection[str], missing: Collection[str]) -> Iterator[tuple[str, Change, Change]]:
    """The changes to try, the simplest first: a name, a change of the unknown ids and one of the missing ids."""
    yield "upper and lower case", str.casefold, str.casefold
    yield "leading zeros", _without_zeros, _without_zeros
    here, there = _prefix(unknown), _prefix(missing)
    cut_here, cut_there = _cutter(prefix=here), _cutter(prefix=there)
    if here != there:
        cause = f"the prefix {here!r} here for {there!r} there" if here and there else f"the prefix {here or there!r}"
        yield cause, cut_here, cut_there
        yield (
            f"{cause} and leading zeros",
            lambda name: _without_zeros(cut_here(name)),
            lambda name: _without_zeros(cut_there(name)),
        )
    ends = _suffix(unknown), _suffix(missing)
    if ends[0] != ends[1]:
        yield f"the suffix {ends[0] or ends[1]!r}", _cutter(suffix=ends[0]), _cutter(suffix=ends[1])
    yield (
        "case and leading zeros",
        lambda name: _without_zeros(name.casefold()),
        lambda name: _without_zeros(name.casefold()),
    )


def _cutter(*, prefix: str = "", suffix: str = "") -> Change:
    return lambda name: name.removeprefix(prefix).removesuffix(suffix)


def _prefix(names: Collection[str]) -> str:
    """The common prefix without trailing digits; of a single id, all characters before its first digit."""
    if len(names) == 1:
        return re.split(r"[0-9]", next(iter(names)), maxsplit=1)[0]
    return _LAST_DIGITS.sub("", _common_prefix(names))


def _suffix(names: Collection[str]) -> str:
    """The common suffix without leading digits; empty for a single id."""
    backwards = [name[::-1] for name in names]
    return _LAST_DIGITS.sub("", _common_prefix(backwards))[::-1] if len(names) > 1 else ""


def _common_prefix(names: Collection[str]) -> str:
    """The common prefix of all, which is that of the first and the last in sorted order."""
    first, last = min(names), max(names)
    pairs = zip(first, last, strict=False)
    length = next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(first), len(last)))
    return first[:length]


def _without_zeros(name: str) -> str:
    return _ZEROS.sub("", name)
