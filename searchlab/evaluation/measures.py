"""Measures and their names.

A measure is written `Family(setting=value)@cutoff`, in the spelling of ir_measures (`nDCG@10`, `AP(rel=2)`), or with
trec_eval's name (`ndcg_cut_10`, `map`). All names of a measure are equivalent. A list of measures may have names
with commas between them, and the sets of trec_eval: `nDCG@10,RBP(p=0.8,rel=2)`, `all_trec`.

Settings that a name leaves open (the gain of nDCG, the lowest relevant grade) are those of the dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from searchlab.errors import SettingError
from searchlab.evaluation.measure_families import (
    DCG_VARIANTS,
    FAMILIES,
    MEASURE_SETS,
    NO_CUTOFF,
    REQUIRED,
    TREC_NAMES,
    Family,
)

# The largest value of the setting max_grade; 2^max_grade has to stay a finite float.
MAX_ERR_GRADE = 1000

_SHAPE = re.compile(r"(?P<family>[A-Za-z][A-Za-z0-9_-]*)(?:\((?P<settings>[^()]*)\))?(?:@(?P<cutoff>[0-9.]+))?")
_TREC_SHAPE = re.compile(rf"(?P<name>{'|'.join(sorted(TREC_NAMES, key=len, reverse=True))})(?:_(?P<cutoff>[0-9.]+))?")
# Commas outside of parentheses.
_COMMA = re.compile(r",(?![^()]*\))")
_SETTING = re.compile(r"\s*(?P<name>[a-z_]+)\s*=\s*(?P<value>\"[^\"]*\"|'[^']*'|[^\s'\"]+)\s*")


@dataclass(frozen=True)
class Measure:
    """One measure; `name` is how it was written, and is ignored when measures are compared.

    A `cutoff` of 0 means none; where `rel`, `gain` or `discount` is None, the dialect decides. `recall` is for IPrec,
    `max_grade` for ERR, with the default 4 of gdeval, TREC's tool, `persistence` for RBP, with ir_measures' default.
    """

    family: str
    cutoff: int = 0
    rel: int | None = None
    gain: str | None = None
    discount: str | None = None
    recall: float = 0.0
    max_grade: int = 4
    persistence: float = 0.8
    name: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.name

    @property
    def summary(self) -> str:
        """How the values of topics are summarised in one number."""
        return FAMILIES[self.family].summary

    @property
    def trec_name(self) -> str:
        """The name in trec_eval; the name as written if trec_eval does not have the measure."""
        for trec, (family, with_cutoff) in TREC_NAMES.items():
            if family == self.family and self.rel is None and self.gain is None:
                if with_cutoff and self.family == "IPrec":
                    return f"{trec}_{self.recall:.2f}"
                if with_cutoff == bool(self.cutoff):
                    return f"{trec}_{self.cutoff}" if with_cutoff else trec
        return self.name


@lru_cache(maxsize=1024)
def parse_measure(name: str) -> Measure:
    """The measure with a name of ir_measures, trec_eval or LETOR."""
    written = name.strip()
    if (match := _TREC_SHAPE.fullmatch(written)) and (TREC_NAMES[match["name"]][1] == bool(match["cutoff"])):
        return _make_measure(written, FAMILIES[TREC_NAMES[match["name"]][0]], match["cutoff"], {})
    if written in MEASURE_SETS or _COMMA.search(written):
        raise SettingError(f"found several measures ({written}), expected one")
    match, families = _SHAPE.fullmatch(written), families_by_name()
    if not match or match["family"] not in families or not written.isprintable():
        raise _unknown_measure(written)
    settings = _parse_settings(written, match["settings"] or "")
    return _make_measure(written, families[match["family"]], match["cutoff"], settings)


def families_by_name() -> dict[str, Family]:
    """The families by their names and aliases."""
    return {alias: family for family in FAMILIES.values() for alias in (family.name, *family.aliases)}


def parse_measures(measures: Iterable[Any]) -> tuple[Measure, ...]:
    """The measures of a list, in the same order; a name may be a list with commas, or that of a set of measures.

    A measure that is named twice is an error, unless a set has it: then it is where it is named.
    """
    written = [part for measure in measures for part in _split(measure)]
    named: dict[Measure, Measure] = {}
    for part in written:
        if part in MEASURE_SETS:
            continue
        measure = parse_measure(part) if isinstance(part, str) else part
        if measure in named:
            earlier = named[measure]
            also = f" (as {earlier.name})" if earlier.name != measure.name else ""
            raise SettingError(f"measure {measure.name} is named twice{also}")
        named[measure] = measure
    if not written:
        raise SettingError("no measures: expected at least one, such as nDCG@10")
    parsed: dict[Measure, None] = {}
    for part in written:
        if isinstance(part, str) and part in MEASURE_SETS:
            parsed |= {measure: None for measure in map(parse_measure, MEASURE_SETS[part]) if measure not in named}
        else:
            parsed[parse_measure(part) if isinstance(part, str) else part] = None
    return tuple(parsed)


def _split(measure: Any) -> list[str] | list[Measure]:
    """The parts of a name with commas; a `Measure` alone. Measures of ir_measures are named as ours."""
    if isinstance(measure, Measure):
        return [measure]
    name = str(measure) if type(measure).__module__.partition(".")[0] == "ir_measures" else measure
    if not isinstance(name, str):
        raise SettingError(f"measure is {measure!r}, expected a name, such as nDCG@10")
    parts = [part.strip() for part in _COMMA.split(name)]
    if len(parts) > 1 and "" in parts:
        raise SettingError(f"measures {measure!r}: found a comma without a name beside it")
    return parts


def _parse_settings(written: str, text: str) -> dict[str, str]:
    settings: dict[str, str] = {}
    for part in filter(str.strip, text.split(",")):
        match = _SETTING.fullmatch(part)
        if not match or match["name"] in settings:
            raise SettingError(f"measure {written}: expected settings such as rel=2, found {part.strip()!r}")
        settings[match["name"]] = match["value"].strip("'\"")
    return settings


def _make_measure(written: str, family: Family, cutoff: str | None, settings: dict[str, str]) -> Measure:
    for setting in settings:
        if setting not in family.settings:
            takes = f"takes {', '.join(family.settings)}" if family.settings else "takes no settings"
            raise SettingError(f"measure {written}: {family.name} {takes}, found {setting}")
    if family.cutoff == REQUIRED and cutoff is None:
        raise SettingError(f"measure {written}: {family.name} needs a cutoff, such as {_example(family)}")
    if family.cutoff == NO_CUTOFF and cutoff is not None:
        raise SettingError(f"measure {written}: {family.name} takes no cutoff")
    rel = _parse_whole(written, "rel", settings["rel"], 1) if "rel" in settings else None
    gain = discount = None
    if "dcg" in settings:
        if settings["dcg"] not in DCG_VARIANTS:
            raise SettingError(f"measure {written}: dcg is {settings['dcg']!r}, expected {', '.join(DCG_VARIANTS)}")
        gain, discount = DCG_VARIANTS[settings["dcg"]]
    max_grade = _parse_whole(written, "max_grade", settings.get("max_grade", "4"), 1)
    if max_grade > MAX_ERR_GRADE:
        raise SettingError(f"measure {written}: max_grade is {max_grade}, expected at most {MAX_ERR_GRADE}")
    persistence = _parse_persistence(written, settings.get("p", "0.8"))
    if family.name == "IPrec":
        return Measure(family.name, rel=rel, recall=_parse_recall(written, cutoff or ""), name=written)
    k = 0 if cutoff is None else _parse_whole(written, "cutoff", cutoff, 1)
    return Measure(family.name, k, rel, gain, discount, max_grade=max_grade, persistence=persistence, name=written)


def _example(family: Family) -> str:
    return f"{family.name}@{'0.1' if family.name == 'IPrec' else 10}"


def _parse_whole(written: str, setting: str, value: str, minimum: int) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", value) or int(value) < minimum:
        raise SettingError(f"measure {written}: {setting} is {value}, expected a whole number of at least {minimum}")
    return int(value)


def _parse_recall(written: str, value: str) -> float:
    try:
        recall = float(value)
    except ValueError:
        recall = -1.0
    if not 0 <= recall <= 1:
        raise SettingError(f"measure {written}: recall is {value}, expected a number from 0 to 1")
    return recall


def _parse_persistence(written: str, value: str) -> float:
    try:
        persistence = float(value)
    except ValueError:
        persistence = -1.0
    if not 0 < persistence < 1:
        raise SettingError(f"measure {written}: p is {value}, expected a number between 0 and 1")
    return persistence


def _unknown_measure(written: str) -> SettingError:
    """The error for an unknown name; suggests similar names with the cutoff as written."""
    head = re.match(r"[A-Za-z_]*[A-Za-z]", written)
    stem = head[0] if head else written
    numbers = re.findall(r"[0-9]+", written)
    known = families_by_name()
    folded: dict[str, str] = {}
    for name in [*known, *TREC_NAMES]:
        folded.setdefault(name.lower().replace("_", ""), name)
    near = get_close_matches(stem.lower().replace("_", ""), folded, n=3, cutoff=0.6)
    names = []
    for match in near:
        name = folded[match]
        if name in known:
            takes = known[name].cutoff != NO_CUTOFF
            names.append(f"{name}@{numbers[-1]}" if takes and numbers else name)
        else:
            takes = TREC_NAMES[name][1]
            names.append(f"{name}_{numbers[-1] if numbers else 10}" if takes else name)
    hint = f" (did you mean {' or '.join(names)}?)" if names else ""
    return SettingError(f"unknown measure {written!r}{hint}; there is: {', '.join(FAMILIES)}")
