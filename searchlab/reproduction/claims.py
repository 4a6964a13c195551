"""A paper's claim that one ranker is better than others, compared with the results, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from searchlab.evaluation.comparison import compare_values
from searchlab.evaluation.significance import holm
from searchlab.report.content import Block, Paragraph
from searchlab.reproduction.letor import RankerResult


def compare_rankers(
    ours: str, other: str, results: Mapping[str, RankerResult], measures: Sequence[str], claim: str
) -> list[Block]:
    """`ours` against `other` by each measure, after "The paper finds …"; p-values are corrected over the measures."""
    if ours not in results or other not in results:
        return []
    found = [
        compare_values(ours, results[ours].values(measure), other, results[other].values(measure), measure)
        for measure in measures
    ]
    corrected = holm([each.p for each in found])
    found = [replace(each, p_corrected=float(p)) for each, p in zip(found, corrected, strict=True)]
    means = [(results[ours].mean(measure), results[other].mean(measure)) for measure in measures]
    better = sum(mine > theirs for mine, theirs in means)
    significant = [each for each in found if each.significant]
    counts = f"here {ours} is better than {other} by {better} of {len(measures)} measures"
    verdict = (
        f"{len(significant)} of the differences " + ("is" if len(significant) == 1 else "are")
        if significant
        else "none of the differences is"
    )
    sentences = [each.sentence() for each in found]
    return [
        Paragraph(f"The paper finds {claim}; {counts}, and {verdict} significant. {'. '.join(sentences)}."),
    ]
