"""The papers' claims compared with the results of one recipe, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from searchlab.evaluation.comparison import Comparison, compare_values
from searchlab.evaluation.number_text import format_count, format_difference
from searchlab.evaluation.significance import holm
from searchlab.report.content import Block, Paragraph, Table
from searchlab.reproduction.letor import RankerResult

Results = Mapping[str, RankerResult]


@dataclass(frozen=True)
class Claim:
    """What a paper claims, and what is found by each recipe."""

    source: str
    statement: str
    found: Mapping[str, str]


@dataclass(frozen=True)
class RankerComparison:
    """One ranker against another by several measures.

    `n_better` counts the measures by which the mean is better, as tables show it: over folds.
    """

    ours: str
    other: str
    n_better: int
    comparisons: tuple[Comparison, ...]

    def verdict(self) -> str:
        """In a few words, with the difference by the last measure: better by 1 of 4 measures (MAP +.002), …"""
        better = sum(each.significant and each.difference > 0 for each in self.comparisons)
        worse = sum(each.significant and each.difference < 0 for each in self.comparisons)
        parts = [*([f"{better} significantly"] if better else []), *([f"{worse} significantly worse"] if worse else [])]
        last = self.comparisons[-1]
        of_measures = f"better by {self.n_better} of {format_count(len(self.comparisons), 'measure')}"
        of_last = f"{last.measure} {format_difference(last.difference)}"
        return f"{of_measures} ({of_last}), {' and '.join(parts) or 'no difference significant'}"


def compare_pairs(results: Results, pairs: Sequence[tuple[str, str, str]]) -> tuple[Comparison, ...]:
    """Compare rankers on the test queries, each (ours, other, measure); p-values are corrected over all (Holm)."""
    found = [
        compare_values(ours, results[ours].values(measure), other, results[other].values(measure), measure)
        for ours, other, measure in pairs
    ]
    corrected = holm([each.p for each in found])
    return tuple(replace(each, p_corrected=float(p)) for each, p in zip(found, corrected, strict=True))


def compare_rankers(results: Results, ours: str, other: str, measures: Sequence[str]) -> RankerComparison | None:
    """Compare two rankers of a recipe by several measures; None if one of them was not tried."""
    if ours not in results or other not in results:
        return None
    n_better = sum(results[ours].mean(measure) > results[other].mean(measure) for measure in measures)
    comparisons = compare_pairs(results, [(ours, other, measure) for measure in measures])
    return RankerComparison(ours, other, n_better, comparisons)


def claim_blocks(name: str, claim: str, found: RankerComparison | None) -> list[Block]:
    """The claim after "The paper finds", what is found here, and the comparison measure by measure."""
    if found is None:
        return []
    verdict = f"here, against {found.other}, {found.ours} is {found.verdict()}"
    caption = f"{found.ours} against {found.other} on the test queries"
    return [Paragraph(f"The paper finds {claim}; {verdict}."), comparison_table(name, caption, found.comparisons)]


def comparison_table(name: str, caption: str, comparisons: Sequence[Comparison]) -> Table:
    """A row for each comparison: the difference of the means, on how many queries which is better, and p."""
    rows = tuple(
        (each.name_b, each.measure, each.difference, each.wins, each.ties, each.losses, each.p_corrected)
        for each in comparisons
    )
    ours = comparisons[0].name_a
    columns = (f"{ours} against", "measure", "difference", "better", "equal", "worse", "p, corrected")
    note = "Difference: mean over all test queries. p: paired randomisation test, corrected over the rows (Holm)."
    return Table(name, caption, columns, rows, note=note)


def describe_order(results: Results, claimed: Sequence[str], measure: str) -> str | None:
    """The order of rankers by a measure, and whether it is the claimed one; None if under two were tried."""
    tried = [name for name in claimed if name in results]
    if len(tried) < 2:
        return None
    order = sorted(tried, key=lambda name: -results[name].mean(measure))
    verdict = {tuple(tried): "the same", tuple(reversed(tried)): "the reverse"}.get(tuple(order), "another")
    return f"{verdict}: {' > '.join(order)}"


def claims_table(claims: Sequence[Claim]) -> list[Block]:
    """A row for each claim with what each recipe gives; claims about rankers that were not tried are left out."""
    tried = [claim for claim in claims if claim.found]
    if not tried:
        return []
    recipes = list(dict.fromkeys(name for claim in tried for name in claim.found))
    rows = tuple((each.source, each.statement, *(each.found.get(name) for name in recipes)) for each in tried)
    columns = ("paper", "claim", *(f"found, recipe {name}" for name in recipes))
    note = "Significant: paired randomisation test on the test queries, Holm over the measures of a claim, p < .05."
    return [Table("claims", "What the papers claim, and what these folds show", columns, rows, note=note)]
