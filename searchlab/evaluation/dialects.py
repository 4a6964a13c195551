"""Dialects: the rules by which a tool turns a ranking into a number.

Measures with the same name differ between tools. A dialect is one consistent set of rules:

    trec     trec_eval 9: gain = grade, discount 1/log2(1 + rank); equal scores by docno, descending
    letor3   LETOR 3.0 (Eval-Score-3.0.pl): gain 2^grade - 1; ranks 1 and 2 undiscounted, then 1/log2(rank)
    letor4   LETOR 4.0: as 3.0, but nDCG@k is 0 for a list that is shorter than k
    paper    RSVM-IR (Cao et al. 2006, eq. 20-22): gain 2^grade - 1, discount 1/log2(1 + rank); relevant from grade 2

For the ranked grades [0, 1, 2], nDCG@3 is .6199 (trec), .7232 (letor3) or .5869 (paper).
"""

from __future__ import annotations

from dataclasses import dataclass

from searchlab.errors import SettingError, unknown_name

GAINS = {"linear": "gain = grade", "exponential": "gain = 2^grade - 1"}
DISCOUNTS = {
    "log2": "discount 1/log2(1 + rank)",
    "letor": "ranks 1 and 2 undiscounted, then 1/log2(rank)",
}
TIE_BREAKS = {"docno": "equal scores by docno, descending", "row": "equal scores in the order of the rows"}
IDEALS = {
    "judged": "ideal and recall over all judged documents",
    "listed": "ideal and recall over the listed documents only",
}


@dataclass(frozen=True)
class Dialect:
    """One set of rules.

    `rel` is the lowest grade that counts as relevant in binary measures. `ideal` chooses the documents over which the
    ideal ranking and the number of relevant documents are computed: all judged ones, or only the listed ones. With
    `float32`, scores are rounded to 32 bits before they are compared, as in trec_eval; equal rounded scores are ties.
    With `zero_short_lists`, nDCG@k of a list shorter than k is 0.

    In all dialects, an unjudged document is not relevant; a topic without relevant documents scores 0 and is counted;
    a judged topic that is missing from the run is left out, or scores 0 if the evaluation is `complete`.
    """

    name: str
    gain: str
    discount: str
    ties: str
    ideal: str
    rel: int = 1
    float32: bool = False
    zero_short_lists: bool = False

    def __post_init__(self) -> None:
        for setting, known in (("gain", GAINS), ("discount", DISCOUNTS), ("ties", TIE_BREAKS), ("ideal", IDEALS)):
            if getattr(self, setting) not in known:
                raise unknown_name(setting, getattr(self, setting), known)
        if isinstance(self.rel, bool) or not isinstance(self.rel, int) or self.rel < 1:
            raise SettingError(f"rel is {self.rel!r}, expected a whole number of at least 1: the lowest relevant grade")

    def describe(self) -> str:
        """The rules in one sentence."""
        rounded = " (as 32-bit numbers)" if self.float32 else ""
        rules = [
            f"nDCG with {GAINS[self.gain]} and {DISCOUNTS[self.discount]}",
            f"relevant from grade {self.rel}",
            TIE_BREAKS[self.ties] + rounded,
            IDEALS[self.ideal],
        ]
        if self.zero_short_lists:
            rules.append("nDCG@k is 0 if the list is shorter than k")
        return f"rules of {self.name}: {'; '.join(rules)}"


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("trec", "linear", "log2", "docno", "judged", float32=True),
        Dialect("letor3", "exponential", "letor", "row", "listed"),
        Dialect("letor4", "exponential", "letor", "row", "listed", zero_short_lists=True),
        Dialect("paper", "exponential", "log2", "docno", "judged", rel=2, float32=True),
    )
}


def make_dialect(dialect: str | Dialect) -> Dialect:
    """The dialect with this name; a `Dialect` is returned unchanged."""
    if isinstance(dialect, Dialect):
        return dialect
    if dialect not in DIALECTS:
        raise unknown_name("dialect", dialect, DIALECTS)
    return DIALECTS[dialect]
