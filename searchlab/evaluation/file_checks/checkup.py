"""Do judgments, runs, topics and feature files fit together, and if not, why?

Each file is known by its content, and looked at by itself: lines that cannot be read, what occurs twice, ranks that
contradict scores, topics without relevant documents. Then names are held against each other. Names that do not match
are mostly the same names written otherwise (`likeness.py` guesses how): in capitals, with a prefix, with
leading zeros. A folder of LETOR folds is searched for queries that are trained on and tested with.

A finding is a problem, or a remark on something that may well be as it should.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from searchlab.corpus.collection import find_collection
from searchlab.errors import InputError, SourceError, name_some
from searchlab.evaluation.file_checks.id_mismatch import explain_mismatch
from searchlab.evaluation.file_checks.lenient_reader import Filed, read_filed
from searchlab.evaluation.ties import tie_range
from searchlab.features.letor.folds import read_folds
from searchlab.records import Ranking
from searchlab.types import Progress, no_progress

# What ties are measured by.
TIE_MEASURES = ("nDCG@10", "AP")


@dataclass(frozen=True)
class Finding:
    """Something about a file; a `problem`, or else a remark."""

    place: str
    text: str
    problem: bool = True

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


@dataclass(frozen=True)
class Checkup:
    """What was found in which files; `examined` says of each what it is."""

    findings: tuple[Finding, ...]
    examined: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether there is no problem."""
        return not any(finding.problem for finding in self.findings)


@dataclass
class _Findings:
    """A collector."""

    listed: list[Finding] = field(default_factory=list)

    def add(self, place: str, text: str, problem: bool = True) -> None:
        self.listed.append(Finding(place, text, problem))


def examine_files(
    paths: Iterable[str | Path],
    docnos: Iterable[str] | None = None,
    *,
    index: str = "the index",
    progress: Progress = no_progress,
) -> Checkup:
    """Look at files, and at folders of folds or of a collection; `docnos` are the documents of an index, if given."""
    found = _Findings()
    files: list[Filed] = []
    examined: list[str] = []
    listed = [each for path in paths for each in _expanded(Path(path))]
    for number, path in enumerate(listed):
        progress("reading", number, len(listed))
        if path.is_dir():
            examined.append(_check_folds(path, found))
            continue
        try:
            files.append(read_filed(path))
        except InputError as error:
            found.add(error.location, error.message)
            continue
        examined.append(files[-1].describe())
        _check_alone(files[-1], found)
    progress("comparing", 0, 1)
    by_kind = {
        kind: [file for file in files if file.kind == kind] for kind in ("topics", "judgments", "run", "features")
    }
    _check_topics(by_kind, found)
    _check_documents(by_kind, found, None if docnos is None else frozenset(docnos), index)
    _check_ties(by_kind, found)
    return Checkup(tuple(found.listed), tuple(examined))


def _expanded(path: Path) -> list[Path]:
    """A collection stands for its topics and judgments."""
    collection = find_collection(path)
    if collection is None:
        return [path]
    if not collection.topics and not collection.qrels:
        raise SourceError(path, "expected topics, judgments, runs, features or folds, found documents alone")
    return [*collection.topics[:1], *collection.qrels[:1]]


def _check_alone(file: Filed, found: _Findings) -> None:
    for what, places in file.faults.items():
        more = f" (and {len(places) - 1:,} more)" if len(places) > 1 else ""
        found.add(places[0], f"{what}{more}")
    if file.kind == "judgments":
        without = [qid for qid, own in file.grades.items() if not any(grade > 0 for grade in own.values())]
        if without:
            found.add(
                file.name,
                f"{_count(without, 'topic')} without a relevant document: {name_some(without)}; they score 0",
            )
    if file.kind == "run":
        _check_ranks(file, found)


def _check_ranks(file: Filed, found: _Findings) -> None:
    """Whether a better rank goes with a score that is no lower."""
    odd, example, doubled = [], "", []
    for qid, lines in file.results.items():
        by_rank = sorted(lines, key=lambda line: line.rank)
        if len({line.rank for line in lines}) < len(lines):
            doubled.append(qid)
        for above, below in pairwise(by_rank):
            if above.rank < below.rank and above.score < below.score:
                odd.append(qid)
                example = example or (
                    f"{above.docno} at rank {above.rank} has {above.score:g}, "
                    f"{below.docno} at rank {below.rank} has {below.score:g}"
                )
                break
    if odd:
        told = f"ranks contradict scores in {_count(odd, 'topic')}: {name_some(odd)}"
        found.add(file.name, f"{told} ({example}); evaluation goes by scores")
    if doubled:
        found.add(file.name, f"{_count(doubled, 'topic')} with a rank that occurs twice: {name_some(doubled)}")


def _check_topics(by_kind: Mapping[str, Sequence[Filed]], found: _Findings) -> None:
    """Whether topics go by the same names everywhere."""
    for reference in [*by_kind["topics"], *by_kind["judgments"]]:
        others = [*by_kind["judgments"], *by_kind["run"], *by_kind["features"]]
        for other in others:
            if other is reference or (other.kind == reference.kind == "judgments"):
                continue
            strange = sorted(other.qids - reference.qids)
            lacking = sorted(reference.qids - other.qids)
            cause = explain_mismatch(strange, lacking)
            if strange:
                told = f"{_share(strange, other.qids, 'topic')} not in {reference.name}: {name_some(strange)}"
                found.add(other.name, told + cause)
            elif lacking and other.kind == "run" and reference.kind == "judgments":
                told = f"{_share(lacking, reference.qids, 'judged topic')} of {reference.name} not in the run"
                found.add(other.name, f"{told}: {name_some(lacking)}; they score 0, or are left out")
            elif lacking:
                # Topics need not be judged, nor all of them asked.
                told = f"{_share(lacking, reference.qids, 'topic')} of {reference.name} not here: {name_some(lacking)}"
                found.add(other.name, told, problem=False)


def _check_documents(
    by_kind: Mapping[str, Sequence[Filed]], found: _Findings, known: frozenset[str] | None, index: str
) -> None:
    """Whether documents go by the same names everywhere, and are in the index."""
    listed = [*by_kind["judgments"], *by_kind["run"], *by_kind["features"]]
    if known is not None:
        for file in listed:
            strange = sorted(file.docnos - known)
            if strange:
                cause = explain_mismatch(strange, known - file.docnos)
                found.add(
                    file.name,
                    f"{_share(strange, file.docnos, 'document')} not in {index}: {name_some(strange)}{cause}",
                )
        return
    for judged in by_kind["judgments"]:
        for file in listed:
            if file.kind == "judgments" or not file.docnos or not judged.docnos:
                continue
            unjudged = sorted(file.docnos - judged.docnos)
            cause = explain_mismatch(unjudged, judged.docnos - file.docnos)
            none = len(unjudged) == len(file.docnos)
            # That a run finds documents which nobody judged is usual; that it finds no other ones is not.
            if cause or none:
                told = "no document is judged in" if none else "documents have other names than in"
                found.add(file.name, f"{told} {judged.name}: {name_some(unjudged)}{cause}")


def _check_ties(by_kind: Mapping[str, Sequence[Filed]], found: _Findings) -> None:
    """Whether equal scores could move a result; without judgments, where they are."""
    for run in by_kind["run"]:
        tied = [qid for qid, own in run.results.items() if len({line.score for line in own}) < len(own)]
        moved = ""
        for judged in by_kind["judgments"]:
            if tied and not run.qids.isdisjoint(judged.qids):
                rankings = [
                    Ranking(qid, tuple(first), tuple(first.values()))
                    for qid, own in run.results.items()
                    if (first := {line.docno: line.score for line in reversed(own)})
                ]
                ranges = tie_range(judged.grades, rankings, list(TIE_MEASURES), name=run.name)
                moved = ranges.warning().removeprefix(f"{run.name}: ")
        if moved:
            found.add(run.name, moved)
        elif tied:
            told = f"{_share(tied, run.qids, 'topic')} with equal scores: {name_some(tied)}"
            found.add(run.name, f"{told}; their order is up to the tool that evaluates", problem=False)


def _check_folds(folder: Path, found: _Findings) -> str:
    """Whether a query is in two sets of a fold, or in the test sets of two folds."""
    try:
        folds = read_folds(folder)
        parts = [[set(table.query_ids) for table in fold.read()] for fold in folds]
    except InputError as error:
        found.add(error.location, error.message)
        return f"{folder} (unreadable)"
    names = ("training", "validation", "test")
    for fold, sets in zip(folds, parts, strict=True):
        for one in range(3):
            for other in range(one + 1, 3):
                shared = sorted(sets[one] & sets[other])
                if shared:
                    where = f"in the {names[one]} set and in the {names[other]} set"
                    found.add(
                        f"{folder / fold.name}",
                        f"{_count(shared, 'query', 'queries')} {where}: {name_some(shared)}",
                    )
    tested: dict[str, str] = {}
    for fold, (_, _, test) in zip(folds, parts, strict=True):
        twice = sorted(qid for qid in test if tested.setdefault(qid, fold.name) != fold.name)
        if twice:
            where = f"of the test set tested in {tested[twice[0]]} too"
            told = f"{_count(twice, 'query', 'queries')} {where}: {name_some(twice)}"
            found.add(f"{folder / fold.name}", told)
    queries = set().union(*(part for sets in parts for part in sets))
    return f"{folder} ({len(folds)} fold{'s' * (len(folds) != 1)}, {len(queries):,} queries)"


def _count(names: Sequence[str], noun: str, plural: str = "") -> str:
    return f"{len(names):,} {noun if len(names) == 1 else plural or noun + 's'}"


def _share(names: Sequence[str], of: Iterable[str], noun: str) -> str:
    total = len(set(of))
    return f"{len(names):,} of {total:,} {noun}{'s' * (total != 1)}"
