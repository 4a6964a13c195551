"""Are these the same names, written otherwise?

Names of topics and documents go through many hands: a tool writes `q1` for `1`, another drops the zeros of `007`, a
spreadsheet changes capitals. If one such change turns most of the names that do not match into those that are missing,
it is the likely cause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

# A cause explains at least this share of the names.
ENOUGH = 0.5
_ZEROS = re.compile(r"(?<![0-9.])0+(?=[0-9])")
_LAST_DIGITS = re.compile(r"[0-9]+$")

Change = Callable[[str], str]


def explain_mismatch(strange: Sequence[str], wanted: Collection[str]) -> str:
    """What turns strange names into wanted ones, as the end of a sentence; empty if nothing does."""
    if not strange or not wanted:
        return ""
    for cause, of_strange, of_wanted in _changes(strange, wanted):
        targets = {of_wanted(name): name for name in sorted(wanted, reverse=True)}
        hits = [(name, targets[of_strange(name)]) for name in strange if of_strange(name) in targets]
        if hits and len(hits) >= ENOUGH * min(len(strange), len(wanted)):
            return f"; likely cause: {cause} ({hits[0][0]} here, {hits[0][1]} there)"
    return ""


def _changes(strange: Collection[str], wanted: Collection[str]) -> Iterator[tuple[str, Change, Change]]:
    """What is tried, the simplest first: its name, a change of the strange names and one of the wanted."""
    yield "capital and small letters", str.casefold, str.casefold
    yield "leading zeros", _without_zeros, _without_zeros
    here, there = _prefix(strange), _prefix(wanted)
    cut_here, cut_there = _cutter(prefix=here), _cutter(prefix=there)
    if here != there:
        told = f"the prefix {here!r} here for {there!r} there" if here and there else f"the prefix {here or there!r}"
        yield told, cut_here, cut_there
        yield (
            f"{told} and leading zeros",
            lambda name: _without_zeros(cut_here(name)),
            lambda name: _without_zeros(cut_there(name)),
        )
    ends = _suffix(strange), _suffix(wanted)
    if ends[0] != ends[1]:
        yield f"the ending {ends[0] or ends[1]!r}", _cutter(suffix=ends[0]), _cutter(suffix=ends[1])
    yield (
        "letters and leading zeros",
        lambda name: _without_zeros(name.casefold()),
        lambda name: _without_zeros(name.casefold()),
    )


def _cutter(*, prefix: str = "", suffix: str = "") -> Change:
    return lambda name: name.removeprefix(prefix).removesuffix(suffix)


def _prefix(names: Collection[str]) -> str:
    """What all names begin with, but for digits; of a single name, all before its first digit."""
    if len(names) == 1:
        return re.split(r"[0-9]", next(iter(names)), maxsplit=1)[0]
    return _LAST_DIGITS.sub("", _common(names))


def _suffix(names: Collection[str]) -> str:
    """What all names end with, but for digits; a single name has no ending."""
    backwards = [name[::-1] for name in names]
    return _LAST_DIGITS.sub("", _common(backwards))[::-1] if len(names) > 1 else ""


def _common(names: Collection[str]) -> str:
    """The common beginning: that of the first and the last in order."""
    first, last = min(names), max(names)
    pairs = zip(first, last, strict=False)
    return first[
        : next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(first), len(last)))
    ]


def _without_zeros(name: str) -> str:
    return _ZEROS.sub("", name)
