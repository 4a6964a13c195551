"""Explanations of a model's scores, and the reasons why one document scores higher than another.

The parts of an explanation add up to the score. The differences between the parts of two documents of one query add up
to the difference of their scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from searchlab.features.preprocessing.normalisation import NormalisedValue
from searchlab.features.preprocessing.powers import base_feature
from searchlab.rankers.models.base_model import ScorePart
from searchlab.retrieval.results import Contribution, Explanation

# A single reason is given if it has more than this share of the differences in favour of a document.
SINGLE_REASON_SHARE = 0.8


def explain_parts(
    docno: str,
    score: float,
    parts: Sequence[ScorePart],
    columns: Sequence[str],
    raw_values: dict[str, float],
    normalised: Sequence[NormalisedValue],
) -> Explanation:
    """The explanation of a model's score by the parts of it, which belong to `columns`.

    The parts of a feature and its powers are one contribution; so are votes on the same grades.
    """
    values = {value.feature: value for value in normalised}
    amounts: dict[str, float] = {}
    hows: dict[str, list[str]] = {}
    feature_labels = set()
    for part in parts:
        if part.feature is None:
            label, _, how = part.text.partition(": ")
        else:
            column = columns[part.feature]
            # The name of a raw feature may look like the power of another one.
            label, how = column if column in values else base_feature(column), part.text
            feature_labels.add(label)
        amounts[label] = amounts.get(label, 0.0) + part.amount
        hows.setdefault(label, []).extend([how] if how else [])
    contributions = []
    for label, amount in amounts.items():
        value = values.get(label) if label in feature_labels else None
        if value is None:
            contributions.append(Contribution(label, amount, how=tuple(hows[label])))
        else:
            raw = raw_values.get(label, value.raw)
            meaning = f"{value.normalised:.3f} ({value.text})"
            contributions.append(
                Contribution(label, amount, None if math.isnan(raw) else raw, meaning=meaning, how=tuple(hows[label]))
            )
    ordered = sorted(contributions, key=lambda contribution: (-abs(contribution.amount), contribution.label))
    return Explanation(docno, score, tuple(ordered))


@dataclass(frozen=True)
class ContributionDifference:
    """What a feature or term adds to the lead of the first document over the second."""

    label: str
    amount: float
    first: Contribution | None
    second: Contribution | None


def compare_explanations(first: Explanation, second: Explanation) -> list[ContributionDifference]:
    """The contributions in which two explanations differ, the largest difference first."""
    ours, theirs = (
        {contribution.label: contribution for contribution in explanation.parts} for explanation in (first, second)
    )
    differences = []
    for label in dict.fromkeys([*ours, *theirs]):
        one, other = ours.get(label), theirs.get(label)
        amount = (one.amount if one else 0.0) - (other.amount if other else 0.0)
        if amount:
            differences.append(ContributionDifference(label, amount, one, other))
    return sorted(differences, key=lambda difference: (-abs(difference.amount), difference.label))


def describe_lead(
    first: Explanation,
    second: Explanation,
    differences: Sequence[ContributionDifference],
    name_of: Callable[[str], str] = str,
) -> str:
    """A sentence: by how much the first document leads, the main reasons, and the largest one against it.

    `name_of` turns the label of a contribution into the name that is shown.
    """
    from searchlab.evaluation.number_text import format_difference

    lead = first.score - second.score
    if lead == 0:
        return f"{first.docno} and {second.docno} have the same score; equal scores are ordered by docno, descending"
    sentence = f"{first.docno} scores {format_difference(lead).removeprefix('+')} more than {second.docno}"
    for_first = [difference for difference in differences if difference.amount > 0]
    for_second = [difference for difference in differences if difference.amount < 0]
    if not for_first:
        return f"{sentence}, which is rounding: their scores have the same parts"
    total = sum(difference.amount for difference in for_first)
    n_reasons = 1 if for_first[0].amount > SINGLE_REASON_SHARE * total else 2
    reasons = [f"{name_of(reason.label)} ({format_difference(reason.amount)})" for reason in for_first[:n_reasons]]
    sentence += f", mostly because of {' and '.join(reasons)}"
    if for_second and -for_second[0].amount > for_first[0].amount / 2:
        against = f"{name_of(for_second[0].label)} ({format_difference(for_second[0].amount)})"
        sentence += f", although {against} speaks for {second.docno}"
    return sentence
