"""Why does a document have its score, and why is it above another?

An account is a score with the shares that add up to it, the largest on top. Two accounts of one query can be set
against each other: the differences of their shares add up to the difference of their scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from searchlab.features.preprocessing.normalisation import Meaning
from searchlab.features.preprocessing.powers import origin
from searchlab.rankers.models import Part
from searchlab.retrieval.results import Explanation

# One reason is enough to tell if it has this share of all that speaks for a document.
ALONE = 0.8


@dataclass(frozen=True)
class Share:
    """What something adds to a score: a feature, by its name, or something else, by a text.

    `raw` is the value of the feature, None where it is undefined; `meaning` says what the normalised value is, and
    `how` how the amount came about: a text for each part of the model that had a say.
    """

    label: str
    amount: float
    raw: float | None = None
    meaning: str = ""
    how: tuple[str, ...] = ()


@dataclass(frozen=True)
class Account:
    """A score and what it consists of.

    `found` says whether the document is found at all: one that does not match a query has words of it nevertheless.
    """

    docno: str
    score: float
    shares: tuple[Share, ...]
    found: bool = True


def make_account(
    docno: str, score: float, parts: Sequence[Part], columns: Sequence[str], raws: dict[str, float], told: list[Meaning]
) -> Account:
    """Parts of a score as shares: those of one feature, and of its powers, are one; so are votes on the same grades."""
    meanings = {meaning.feature: meaning for meaning in told}
    amounts: dict[str, float] = {}
    hows: dict[str, list[str]] = {}
    of_features = set()
    for part in parts:
        if part.feature is None:
            label, _, how = part.text.partition(": ")
        else:
            column = columns[part.feature]
            # A feature may itself be called as if it were the power of another.
            label, how = column if column in meanings else origin(column), part.text
            of_features.add(label)
        amounts[label] = amounts.get(label, 0.0) + part.amount
        hows.setdefault(label, []).extend([how] if how else [])
    shares = []
    for label, amount in amounts.items():
        meaning = meanings.get(label) if label in of_features else None
        if meaning is None:
            shares.append(Share(label, amount, how=tuple(hows[label])))
        else:
            text = f"{meaning.normalised:.3f} ({meaning.text})"
            shares.append(Share(label, amount, _known(raws.get(label, meaning.raw)), text, tuple(hows[label])))
    return Account(docno, score, tuple(sorted(shares, key=lambda share: (-abs(share.amount), share.label))))


def account_of_terms(explanation: Explanation) -> Account:
    """A scorer's explanation in the form of a model's: a share for each term, its value the occurrences."""
    shares: dict[str, Share] = {}
    for part in explanation.parts:
        before = shares.get(part.term)
        amount = part.weight + (before.amount if before else 0.0)
        shares[part.term] = Share(part.term, amount, part.tf)
    ordered = sorted(shares.values(), key=lambda share: -abs(share.amount))  # of equal ones, in the query's order
    return Account(explanation.docno, float(explanation.score), tuple(ordered))


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


@dataclass(frozen=True)
class Difference:
    """What something adds to the lead of one document over another."""

    label: str
    amount: float
    first: Share | None
    second: Share | None


def set_against(first: Account, second: Account) -> list[Difference]:
    """Why the first scores higher (or lower) than the second: the largest difference on top."""
    ours, theirs = ({share.label: share for share in account.shares} for account in (first, second))
    found = []
    for label in dict.fromkeys([*ours, *theirs]):
        one, other = ours.get(label), theirs.get(label)
        amount = (one.amount if one else 0.0) - (other.amount if other else 0.0)
        if amount:
            found.append(Difference(label, amount, one, other))
    return sorted(found, key=lambda difference: (-abs(difference.amount), difference.label))


def tell_lead(
    first: Account, second: Account, differences: Sequence[Difference], call: Callable[[str], str] = str
) -> str:
    """Who is above whom, by how much, mostly because of what, and what speaks against it; `call` names shares."""
    from searchlab.evaluation.number_text import format_difference

    lead = first.score - second.score
    if lead == 0:
        return f"{first.docno} and {second.docno} have the same score; equal scores are ordered by docno, descending"
    told = f"{first.docno} scores {format_difference(lead).removeprefix('+')} more than {second.docno}"
    helping = [each for each in differences if each.amount > 0]
    against = [each for each in differences if each.amount < 0]
    if not helping:
        return f"{told}, which is rounding: their scores have the same parts"
    alone = helping[0].amount > ALONE * sum(each.amount for each in helping)
    reasons = [f"{call(each.label)} ({format_difference(each.amount)})" for each in helping[: 1 if alone else 2]]
    told += f", mostly because of {' and '.join(reasons)}"
    if against and -against[0].amount > helping[0].amount / 2:
        told += (
            f", although {call(against[0].label)} ({format_difference(against[0].amount)}) speaks for {second.docno}"
        )
    return told
