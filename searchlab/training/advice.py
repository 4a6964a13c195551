"""Advice after training: use the model, judge more topics, or keep the search as it is.

Cross-validation says whether a model helps (`cross_validation.py`). Where that is not certain yet, the number of judged
topics that would settle it is estimated from the difference so far: if n topics have the statistic t = mean/(s/√n) of
the paired t test, then

    N = n·((1.96 + 0.84)/t)²

topics show this difference at the two-sided 5 % level with a power of 80 % (for the theory see Sakai, Information
Retrieval 19, 2016). The estimate is rough: the observed difference is itself uncertain, the quantiles are those of the
normal distribution, and a model that learns from more topics may improve, which is not counted. So it is rounded up,
and not given at all where it is out of proportion to the topics there are.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import Comparison
from searchlab.evaluation.number_text import format_difference, format_p_value, format_value
from searchlab.evaluation.significance import TIE_TOLERANCE
from searchlab.training.cross_validation import MIN_QUERIES, MIN_VERDICT_QUERIES, CrossValidationResult
from searchlab.training.learning_curve import LearningCurve

# The quantiles of the normal distribution for a two-sided level of .05 and a power of .8.
QUANTILES = 1.96 + 0.84
# More further topics than these are not asked for: as a multiple of the topics there are, and in all.
MAX_GROWTH, MAX_MORE_TOPICS = 10, 1000
KINDS = ("too few", "not yet", "helps", "hurts")


@dataclass(frozen=True)
class Advice:
    """One sentence that says what to do.

    `n_more` is about how many more topics to judge, if that is known; `use` is the system to use, empty if that cannot
    be said; `more_judgments` is a sentence on whether they are likely to help, empty if that was not measured.
    """

    kind: str
    sentence: str
    n_more: int | None = None
    use: str = ""
    more_judgments: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SettingError(f"kind of advice is {self.kind!r}, expected one of {', '.join(KINDS)}")

    def to_json(self) -> dict[str, Any]:
        """The advice as plain JSON."""
        return asdict(self)


def advise(result: CrossValidationResult) -> Advice:
    """What the result of a cross-validation means for the user.

    The model is compared with the best of the baselines. Their p-values are corrected for their number: the best of
    several looks better than it is.
    """
    return replace(_choose(result), more_judgments=_describe_doubling(result.curve))


def _choose(result: CrossValidationResult) -> Advice:
    best, n = result.best, result.n_queries
    if n < MIN_VERDICT_QUERIES:
        more = MIN_VERDICT_QUERIES - n
        verb = "is" if n == 1 else "are"
        few = f"{_topics(n)} with a relevant document {verb} too few to say whether {result.subject} helps"
        todo = f"judge at least {_more_topics(more, n, result.n_judgments)}"
        return Advice("too few", f"{few} ({_change(best)}): {todo}.", more)
    if result.helps:
        search = result.best_search
        beside = "" if search is best else f"; {_change(search)}, {describe_certainty(search)}"
        found = f"{_held_out_change(best)}, {describe_certainty(best)}{beside}"
        return Advice("helps", f"{result.subject} helps: {found}: use it.", use=result.name)
    if best.difference > TIE_TOLERANCE:
        return _not_yet(result)
    return _keep_baseline(result.subject, best, result.best_search)


def _keep_baseline(name: str, best: Comparison, search: Comparison) -> Advice:
    """The advice to stay with the best baseline."""
    is_tie = abs(best.difference) <= TIE_TOLERANCE
    kind, effect, beside = "not yet", "does not help so far", "no better than"
    if best.significant and best.difference < 0:
        kind, effect, beside = "hurts", "hurts", "worse than"
    elif is_tie:
        effect = "makes no difference so far"
    if search is not best and search.difference > TIE_TOLERANCE:
        effect = f"{_better_than(search)}, but {beside} {best.name_b}"
    certainty = "" if is_tie else f", {describe_certainty(best)}"
    for_now = " for now" if kind == "not yet" else ""
    sentence = f"{name} {effect}: {_held_out_change(best)}{certainty}: stay with {best.name_b}{for_now}."
    return Advice(kind, sentence, use=best.name_b)


def _better_than(search: Comparison) -> str:
    return f"{'is' if search.significant else 'may be'} better than {search.name_b}"


def _describe_doubling(curve: LearningCurve | None) -> str:
    """Whether more judgments are likely to help, by what the last doubling of the training topics gained."""
    gain = None if curve is None else curve.last_doubling
    if gain is None:
        return ""
    change = f"{gain.measure} {format_difference(gain.difference)}, {describe_certainty(gain)}"
    found = f"Learning from {gain.name_a} instead of {gain.name_b.removesuffix(' topics')}: {change}"
    if gain.significant and gain.difference > 0:
        return f"{found}: more judgments will probably help."
    return f"{found}: twice as many judgments of this kind would probably change little."


def advise_before(n_useful: int, n_judgments: int) -> Advice | None:
    """What to judge before training is possible; None if the `n_useful` topics with a relevant document are enough."""
    if n_useful >= MIN_QUERIES:
        return None
    more = MIN_QUERIES - n_useful
    have = f"{_topics(n_useful)} {'has' if n_useful == 1 else 'have'} a relevant document"
    need = f"training needs {MIN_QUERIES}, a verdict {MIN_VERDICT_QUERIES}"
    todo = f"judge {_more_topics(more, n_useful, n_judgments)}"
    return Advice("too few", f"Too few judgments: {have}, {need}; {todo}.", more)


def describe_certainty(compared: Comparison) -> str:
    """The p-value, corrected if there were several comparisons."""
    corrected = "" if compared.p_corrected is None else " after correction"
    p = compared.p if compared.p_corrected is None else compared.p_corrected
    return f"{format_p_value(p)}{corrected}{'' if compared.significant else ', which may be chance'}"


def topics_needed(n: int, t: float) -> float:
    """The number of topics N that show a difference for which n topics have the statistic t; see the formula above."""
    return math.inf if t <= 0 else n * (QUANTILES / t) ** 2


def _not_yet(result: CrossValidationResult) -> Advice:
    """The advice for a model that is better than all baselines, but not significantly better than the best of them."""
    n, best, search = result.n_queries, result.best, result.best_search
    effect = "is not shown to help yet"
    if search is not best:
        effect = f"{_better_than(search)}, but not shown to be better than {best.name_b} yet"
    doubt = f"{result.subject} {effect}: {_held_out_change(best)}, {describe_certainty(best)}"
    stay = f"stay with {best.name_b} until then"
    exact = topics_needed(n, best.t.statistic) - n
    if exact > min(MAX_GROWTH * n, MAX_MORE_TOPICS):
        too_many = "it would take too many more judgments to show so small a difference"
        return Advice("not yet", f"{doubt}; {too_many}: stay with {best.name_b}.", use=best.name_b)
    more = _round_up(exact)
    topics = _more_topics(more, n, result.n_judgments)
    settled = f"about {topics} would probably settle it, if they are like these"
    return Advice("not yet", f"{doubt}; {settled}: {stay}.", more, use=best.name_b)


def _round_up(exact: float) -> int:
    """Rounded up to the precision of the estimate: 7, 15, 35, 120."""
    step = 1 if exact <= 10 else 5 if exact <= 100 else 10
    return max(1, step * math.ceil(exact / step))


def _more_topics(more: int, n: int, n_judgments: int) -> str:
    """The number of further topics, with the number of judgments at the rate so far if that is known."""
    topics = f"{more:,} more topic{'s' * (more != 1)}"
    if not n or n_judgments < n:
        return topics
    judgments = math.ceil(more * n_judgments / n)
    return f"{topics} (about {judgments:,} judgment{'s' * (judgments != 1)} at the rate so far)"


def _topics(n: int) -> str:
    return f"{n:,} topic{'s' * (n != 1)}"


def _change(compared: Comparison) -> str:
    if abs(compared.difference) <= TIE_TOLERANCE:
        return f"{compared.measure} {format_value(compared.mean_a)}, as with {compared.name_b}"
    before, after = format_value(compared.mean_b), format_value(compared.mean_a)
    return f"{compared.measure} {before} → {after} against {compared.name_b}"


def _held_out_change(compared: Comparison) -> str:
    return f"{_change(compared)} on {compared.n_topics:,} held-out topic{'s' * (compared.n_topics != 1)}"
