"""What should a user do who has judged so many documents: use the model, judge more, or let it be?

Cross-validation says whether a model helps (`training.py`). Where it cannot say so yet, how many more judged topics
would be needed is estimated from what was found: if n topics differ by t = mean/(s/√n) of the paired t test, then

    N = n·((1.96 + 0.84)/t)²

topics show such a difference at the 5 % level, two-sided, four times of five (a power of 80 %; Sakai, Information
Retrieval 19, 2016, has the theory). It is a rough number: the difference that was found is itself uncertain, quantiles
are those of the normal distribution, and a model learns more from more topics, which is not counted on. So it is
rounded, and if it is out of proportion to what there is, none is told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import Comparison, show_number, show_p
from searchlab.evaluation.significance import TIE
from searchlab.training.cross_validation import MIN_QUERIES, MIN_VERDICT_QUERIES, CrossValidationResult

# The quantiles of the normal distribution for a two-sided level of .05 and a power of .8.
QUANTILES = 1.96 + 0.84
# Nobody judges so many more topics: so many times as there are, or so many at all.
TOO_MANY_TIMES, TOO_MANY = 10, 1000
# What an advice may be.
KINDS = ("too few", "not yet", "helps", "hurts")


@dataclass(frozen=True)
class Advice:
    """What to do, in one sentence; `n_more` is how many more topics to judge, about, if that can be told."""

    kind: str
    sentence: str
    n_more: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SettingError(f"kind of advice is {self.kind!r}, expected one of {', '.join(KINDS)}")

    def to_json(self) -> dict[str, Any]:
        """The advice as plain JSON."""
        return {"kind": self.kind, "sentence": self.sentence, "n_more": self.n_more}


def advise(trial: CrossValidationResult) -> Advice:
    """What a trial means for the user."""
    first = trial.comparisons[0]
    n, judgments = trial.n_queries, trial.n_judgments
    if n < MIN_VERDICT_QUERIES:
        more = MIN_VERDICT_QUERIES - n
        found = f"{_topics(n)} with a relevant document {'is' if n == 1 else 'are'} too few to say whether {trial.name}"
        what = f"judge at least {_more(more, n, judgments)}"
        return Advice("too few", f"{found} helps ({_change(first)}): {what}.", more)
    if trial.helps:
        return Advice("helps", f"{trial.name} helps: {_told(first)}, {show_p(first.p)}: use it.")
    worst = min(trial.comparisons, key=lambda each: each.difference)
    if first.difference > TIE and worst.difference > TIE:
        return _not_yet(trial, first)
    shown = first if first.significant and first.difference < 0 else worst
    equal = abs(shown.difference) <= TIE
    kind, alone, beside = "not yet", "does not help so far", "no better than"
    if shown.significant and shown.difference < 0:
        kind, alone, beside = "hurts", "hurts", "worse than"
    elif equal:
        alone = "makes no difference so far"
    surpassed = shown is not first and first.difference > TIE
    better = "is better than" if first.significant else "is perhaps better than"
    found = f"{better} {first.name_b}, but {beside} {shown.name_b}" if surpassed else alone
    doubt = "" if equal else f", {show_p(shown.p)}{', which may be chance' * (kind == 'not yet')}"
    for_now = " for now" if kind == "not yet" else ""
    return Advice(kind, f"{trial.name} {found}: {_told(shown)}{doubt}: stay with {shown.name_b}{for_now}.")


def advise_before(n_useful: int, n_judgments: int) -> Advice | None:
    """What to do if there is too little to train with: `n_useful` topics have a relevant document; None if enough."""
    if n_useful >= MIN_QUERIES:
        return None
    more = MIN_QUERIES - n_useful
    have = f"{_topics(n_useful)} {'has' if n_useful == 1 else 'have'} a relevant document"
    need = f"{MIN_QUERIES} are the least to learn from, {MIN_VERDICT_QUERIES} to say whether it helps"
    return Advice("too few", f"Too few judgments: {have}, {need}; judge {_more(more, n_useful, n_judgments)}.", more)


def topics_needed(n: int, t: float) -> float:
    """How many topics show a difference of which n topics have the statistic t, at the 5 % level, 4 times of 5."""
    return math.inf if t <= 0 else n * (QUANTILES / t) ** 2


def _not_yet(trial: CrossValidationResult, first: Comparison) -> Advice:
    n = trial.n_queries
    doubt = f"{trial.name} does not yet help for certain: {_told(first)}, {show_p(first.p)}, which may be chance"
    exact = topics_needed(n, first.t.statistic) - n
    if exact > min(TOO_MANY_TIMES * n, TOO_MANY):
        sight = "no sensible number of further judgments is in sight that would show so small a difference"
        return Advice("not yet", f"{doubt}; {sight}.")
    more = _rounded(exact)
    hope = f"about {_more(more, n, trial.n_judgments)} would probably settle it, if they go as these did"
    return Advice("not yet", f"{doubt}; {hope}.", more)


def _rounded(exact: float) -> int:
    """Rounded up, to what such an estimate can bear: 7, 15, 35, 120."""
    step = 1 if exact <= 10 else 5 if exact <= 100 else 10
    return max(1, step * math.ceil(exact / step))


def _more(more: int, n: int, n_judgments: int) -> str:
    """So many more topics, and how many judgments that makes at the rate so far, if there is one."""
    topics = f"{more:,} more topic{'s' * (more != 1)}"
    if not n or n_judgments < n:
        return topics
    judgments = math.ceil(more * n_judgments / n)
    return f"{topics} (about {judgments:,} judgment{'s' * (judgments != 1)} at the rate so far)"


def _topics(n: int) -> str:
    return f"{n:,} topic{'s' * (n != 1)}"


def _change(compared: Comparison) -> str:
    if abs(compared.difference) <= TIE:
        return f"{compared.measure} {show_number(compared.mean_a)}, as with {compared.name_b}"
    before, after = show_number(compared.mean_b), show_number(compared.mean_a)
    return f"{compared.measure} {before} → {after} against {compared.name_b}"


def _told(compared: Comparison) -> str:
    return f"{_change(compared)} on {compared.n_topics:,} held-out topic{'s' * (compared.n_topics != 1)}"
