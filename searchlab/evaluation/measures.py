"""What does the name of a measure mean?

A measure is written `Family(setting=value)@cutoff`, in the spelling of ir_measures (`nDCG@10`, `AP(rel=2)`), or by
the name that trec_eval prints (`ndcg_cut_10`, `map`). The other names of a measure mean exactly the same.

What a name does not say (the gain of nDCG, from which grade on a document is relevant) is up to the dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache

from searchlab.errors import SettingError

# How values of topics become one number.
MEAN, TOTAL, GEOMETRIC = "mean", "total", "geometric mean"


@dataclass(frozen=True)
class Family:
    """Measures that differ in cutoff and settings alone; `kernel` names the arithmetic, `cutoff` is may, must or no."""

    name: str
    about: str
    cutoff: str = "no"
    settings: tuple[str, ...] = ()
    summary: str = MEAN
    kernel: str = ""
    others: tuple[str, ...] = ()

    @property
    def arithmetic(self) -> str:
        """The name of what is computed for a topic."""
        return self.kernel or self.name


_REL = ("rel",)
FAMILIES = {
    family.name: family
    for family in (
        Family("nDCG", "gain, discounted by rank, over that of the ideal ranking", "may", ("dcg",), others=("NDCG",)),
        Family("AP", "mean precision at the relevant documents", "may", _REL, others=("MAP",)),
        Family("GMAP", "AP, at least .00001, in geometric mean over topics", "no", _REL, GEOMETRIC, "AP"),
        Family("P", "share of relevant documents in the first k", "must", _REL, others=("Precision",)),
        Family("R", "share of the relevant documents that is found in the first k", "may", _REL, others=("Recall",)),
        Family("RR", "1/rank of the first relevant document", "may", _REL, others=("MRR",)),
        Family("Rprec", "precision after as many documents as are relevant", "no", _REL, others=("RPrec",)),
        Family("Success", "1 if a relevant document is in the first k", "must", _REL),
        Family("Bpref", "how seldom a judged, irrelevant document precedes a relevant one", "no", _REL),
        Family("infAP", "AP as estimated from a sample of judgments", "no", _REL),
        Family("IPrec", "best precision from a share of recall on: IPrec@0.1", "must", _REL),
        Family("ERR", "expected 1/rank at which a reader is content", "may", ("max_grade",)),
        Family("Judged", "share of judged documents in the first k", "may"),
        Family("SetP", "precision of all that was found", "no", _REL),
        Family("SetR", "recall of all that was found", "no", _REL, kernel="R"),
        Family("SetF", "harmonic mean of SetP and SetR", "no", _REL),
        Family("SetAP", "SetP · SetR", "no", _REL),
        Family("NumRet", "documents found", summary=TOTAL),
        Family("NumRel", "relevant documents", "no", _REL, TOTAL),
        Family("NumRelRet", "relevant documents found", "no", _REL, TOTAL),
        Family("NumQ", "topics", summary=TOTAL),
    )
}
# trec_eval's names: the family, and whether a cutoff follows.
TREC_NAMES = {
    "ndcg": ("nDCG", False),
    "ndcg_cut": ("nDCG", True),
    "map": ("AP", False),
    "map_cut": ("AP", True),
    "gm_map": ("GMAP", False),
    "P": ("P", True),
    "recall": ("R", True),
    "recip_rank": ("RR", False),
    "Rprec": ("Rprec", False),
    "success": ("Success", True),
    "bpref": ("Bpref", False),
    "infAP": ("infAP", False),
    "iprec_at_recall": ("IPrec", True),
    "set_P": ("SetP", False),
    "set_recall": ("SetR", False),
    "set_F": ("SetF", False),
    "set_map": ("SetAP", False),
    "num_ret": ("NumRet", False),
    "num_rel": ("NumRel", False),
    "num_rel_ret": ("NumRelRet", False),
    "num_q": ("NumQ", False),
}
DCGS = {"log2": ("linear", "log2"), "exp-log2": ("exponential", "log2"), "letor": ("exponential", "letor")}
LARGEST_GRADE = 1000

_ALIASES = {alias: family.name for family in FAMILIES.values() for alias in (family.name, *family.others)}
_SHAPE = re.compile(r"(?P<family>[A-Za-z]+)(?:\((?P<settings>[^()]*)\))?(?:@(?P<cutoff>[0-9.]+))?")
_TREC_SHAPE = re.compile(rf"(?P<name>{'|'.join(sorted(TREC_NAMES, key=len, reverse=True))})(?:_(?P<cutoff>[0-9.]+))?")
_SETTING = re.compile(r"\s*(?P<name>[a-z_]+)\s*=\s*(?P<value>\"[^\"]*\"|'[^']*'|[^\s'\"]+)\s*")


@dataclass(frozen=True)
class Measure:
    """One measure; `name` is how it was written, and two measures are equal whatever they were called.

    `cutoff` 0 is none; `rel`, `gain` and `discount` are those of the dialect if they are None. `recall` belongs to
    IPrec, `max_grade` to ERR: 4 as in gdeval, TREC's tool.
    """

    family: str
    cutoff: int = 0
    rel: int | None = None
    gain: str | None = None
    discount: str | None = None
    recall: float = 0.0
    max_grade: int = 4
    name: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.name

    @property
    def summary(self) -> str:
        """How the values of topics become one number."""
        return FAMILIES[self.family].summary

    @property
    def trec_name(self) -> str:
        """What trec_eval calls it; a measure that trec_eval does not have keeps its own name."""
        for trec, (family, with_cutoff) in TREC_NAMES.items():
            if family == self.family and self.rel is None and self.gain is None:
                if with_cutoff and self.family == "IPrec":
                    return f"{trec}_{self.recall:.2f}"
                if with_cutoff == bool(self.cutoff):
                    return f"{trec}_{self.cutoff}" if with_cutoff else trec
        return self.name


@lru_cache(maxsize=1024)
def parse_measure(name: str) -> Measure:
    """The measure that a name means, be it that of ir_measures, of trec_eval or of LETOR."""
    written = name.strip()
    if (found := _TREC_SHAPE.fullmatch(written)) and (TREC_NAMES[found["name"]][1] == bool(found["cutoff"])):
        return _build(written, FAMILIES[TREC_NAMES[found["name"]][0]], found["cutoff"], {})
    found = _SHAPE.fullmatch(written)
    if not found or found["family"] not in _ALIASES:
        raise _unknown(written)
    return _build(
        written, FAMILIES[_ALIASES[found["family"]]], found["cutoff"], _settings(written, found["settings"] or "")
    )


def parse_measures(names: Iterable[str]) -> tuple[Measure, ...]:
    """The measures of several names, in their order; one that is named twice is refused."""
    measures = tuple(parse_measure(name) for name in names)
    if not measures:
        raise SettingError("no measures: expected at least one, such as nDCG@10")
    for place, measure in enumerate(measures):
        for earlier in measures[:place]:
            if measure == earlier:
                also = f" (as {earlier.name})" if earlier.name != measure.name else ""
                raise SettingError(f"measure {measure.name} is named twice{also}")
    return measures


def _settings(written: str, text: str) -> dict[str, str]:
    settings: dict[str, str] = {}
    for part in filter(str.strip, text.split(",")):
        found = _SETTING.fullmatch(part)
        if not found or found["name"] in settings:
            raise SettingError(f"measure {written}: expected settings such as rel=2, found {part.strip()!r}")
        settings[found["name"]] = found["value"].strip("'\"")
    return settings


def _build(written: str, family: Family, cutoff: str | None, settings: dict[str, str]) -> Measure:
    for setting in settings:
        if setting not in family.settings:
            takes = f"takes {', '.join(family.settings)}" if family.settings else "takes no settings"
            raise SettingError(f"measure {written}: {family.name} {takes}, found {setting}")
    if family.cutoff == "must" and cutoff is None:
        raise SettingError(f"measure {written}: {family.name} needs a cutoff, such as {_example(family)}")
    if family.cutoff == "no" and cutoff is not None:
        raise SettingError(f"measure {written}: {family.name} takes no cutoff")
    rel = _whole(written, "rel", settings["rel"], 1) if "rel" in settings else None
    gain = discount = None
    if "dcg" in settings:
        if settings["dcg"] not in DCGS:
            raise SettingError(f"measure {written}: dcg is {settings['dcg']!r}, expected {', '.join(DCGS)}")
        gain, discount = DCGS[settings["dcg"]]
    max_grade = _whole(written, "max_grade", settings.get("max_grade", "4"), 1)
    if max_grade > LARGEST_GRADE:
        raise SettingError(f"measure {written}: max_grade is {max_grade}, expected at most {LARGEST_GRADE}")
    if family.name == "IPrec":
        return Measure(family.name, rel=rel, recall=_share(written, cutoff or ""), name=written)
    k = 0 if cutoff is None else _whole(written, "cutoff", cutoff, 1)
    return Measure(family.name, k, rel, gain, discount, max_grade=max_grade, name=written)


def _example(family: Family) -> str:
    return f"{family.name}@{'0.1' if family.name == 'IPrec' else 10}"


def _whole(written: str, what: str, value: str, least: int) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", value) or int(value) < least:
        raise SettingError(f"measure {written}: {what} is {value}, expected a whole number of at least {least}")
    return int(value)


def _share(written: str, value: str) -> float:
    try:
        recall = float(value)
    except ValueError:
        recall = -1.0
    if not 0 <= recall <= 1:
        raise SettingError(f"measure {written}: recall is {value}, expected a number from 0 to 1")
    return recall


def _unknown(written: str) -> SettingError:
    """The error for a name that means nothing: says which names are near, with the cutoff that was written."""
    head = re.match(r"[A-Za-z_]*[A-Za-z]", written)
    stem = head[0] if head else written
    numbers = re.findall(r"[0-9]+", written)
    known = {alias: FAMILIES[name] for alias, name in _ALIASES.items()}
    folded: dict[str, str] = {}
    for name in [*known, *TREC_NAMES]:
        folded.setdefault(name.lower().replace("_", ""), name)
    near = get_close_matches(stem.lower().replace("_", ""), folded, n=3, cutoff=0.6)
    names = []
    for match in near:
        name = folded[match]
        if name in known:
            takes = known[name].cutoff != "no"
            names.append(f"{name}@{numbers[-1]}" if takes and numbers else name)
        else:
            takes = TREC_NAMES[name][1]
            names.append(f"{name}_{numbers[-1] if numbers else 10}" if takes else name)
    hint = f" (did you mean {' or '.join(names)}?)" if names else ""
    return SettingError(f"unknown measure {written!r}{hint}; there is: {', '.join(FAMILIES)}")
