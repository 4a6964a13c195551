"""Consistency checks of files of judgments, runs, topics and features.

The kind of each file is detected from its content. Each file is checked alone: malformed lines, duplicates, ranks that
contradict scores, topics without relevant documents. Then the qids and docnos of different files are compared. Ids that
do not match are mostly the same ids in another spelling (`id_mismatch` finds out which): upper case, a prefix, leading
zeros. Folders of LETOR folds are checked for queries that are in both training and test data.

A finding is a problem, or a remark about something that may be intended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from searchlab.corpus.collection import find_collection
from searchlab.errors import InputError, SourceError, name_some
from searchlab.evaluation.file_checks.id_mismatch import explain_mismatch
from searchlab.evaluation.file_checks.lenient_reader import ParsedFile, read_leniently
from searchlab.evaluation.file_checks.topic_match import explain_order, explain_topics
from searchlab.evaluation.number_text import format_count, format_share
from searchlab.evaluation.ties import evaluate_ties
from searchlab.features.letor.folds import read_folds
from searchlab.types import Progress, no_progress

# The measures by which the effect of ties is estimated.
TIE_MEASURES = ("nDCG@10", "AP")


@dataclass(frozen=True)
class FileFinding:
    """A finding about a file: a `problem`, otherwise a remark."""

    location: str
    text: str
    problem: bool = True

    def __str__(self) -> str:
        return f"{self.location}: {self.text}"


@dataclass(frozen=True)
class CheckResult:
    """The findings, and a description of each checked file."""

    findings: tuple[FileFinding, ...]
    examined: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether no finding is a problem."""
        return not any(finding.problem for finding in self.findings)


@dataclass
class _Findings:
    """The findings so far."""

    collected: list[FileFinding] = field(default_factory=list)

    def add(self, location: str, text: str, problem: bool = True) -> None:
        self.collected.append(FileFinding(location, text, problem))


def check_files(
    paths: Iterable[str | Path],
    docnos: Iterable[str] | None = None,
    *,
    index: str = "the index",
    progress: Progress = no_progress,
) -> CheckResult:
    """Check files, and folders of folds or of a collection.

    If the `docnos` of an index are given, documents are looked up there.
    """
    findings = _Findings()
    files: list[ParsedFile] = []
    examined: list[str] = []
    expanded = [each for path in paths for each in _expand_collection(Path(path))]
    for number, path in enumerate(expanded):
        progress("reading", number, len(expanded))
        if path.is_dir():
            examined.append(_check_folds(path, findings))
            continue
        try:
            files.append(read_leniently(path))
        except InputError as error:
            findings.add(error.location, error.message)
            continue
        examined.append(files[-1].describe())
        _check_file(files[-1], findings)
    progress("comparing", 0, 1)
    by_kind = {
        kind: [file for file in files if file.kind == kind] for kind in ("topics", "judgments", "run", "features")
    }
    _check_topics(by_kind, findings)
    _check_documents(by_kind, findings, None if docnos is None else frozenset(docnos), index)
    _check_ties(by_kind, findings)
    return CheckResult(tuple(findings.collected), tuple(examined))


def _expand_collection(path: Path) -> list[Path]:
    """The topics and judgments of a collection; another path alone."""
    collection = find_collection(path)
    if collection is None:
        return [path]
    if not collection.topics and not collection.qrels:
        raise SourceError(path, "expected topics, judgments, runs, features or folds, found only documents")
    return [*collection.topics[:1], *collection.qrels[:1]]


def _check_file(file: ParsedFile, findings: _Findings) -> None:
    for fault, locations in file.faults.items():
        more = f" (and {len(locations) - 1:,} more)" if len(locations) > 1 else ""
        findings.add(locations[0], f"{fault}{more}")
    if file.kind == "judgments":
        without = [qid for qid, grades in file.grades.items() if not any(grade > 0 for grade in grades.values())]
        if without:
            topics = format_count(len(without), "topic")
            findings.add(file.name, f"{topics} without a relevant document: {name_some(without)}; they score 0")
    if file.kind == "run":
        _check_ranks(file, findings)


def _check_ranks(file: ParsedFile, findings: _Findings) -> None:
    """Check that scores do not increase with rank, and that no rank occurs twice."""
    contradictory, example, duplicated = [], "", []
    for qid, lines in file.results.items():
        by_rank = sorted(lines, key=lambda line: line.rank)
        if len({line.rank for line in lines}) < len(lines):
            duplicated.append(qid)
        for above, below in pairwise(by_rank):
            if above.rank < below.rank and above.score < below.score:
                contradictory.append(qid)
                example = example or (
                    f"{above.docno} at rank {above.rank} has {above.score:g}, "
                    f"{below.docno} at rank {below.rank} has {below.score:g}"
                )
                break
    if contradictory:
        topics = f"{format_count(len(contradictory), 'topic')}: {name_some(contradictory)}"
        findings.add(file.name, f"ranks contradict scores in {topics} ({example}); evaluation uses scores")
    if duplicated:
        topics = format_count(len(duplicated), "topic")
        findings.add(file.name, f"{topics} with a rank that occurs twice: {name_some(duplicated)}")


def _check_topics(by_kind: Mapping[str, Sequence[ParsedFile]], findings: _Findings) -> None:
    """Check that topics have the same qids in all files."""
    for reference in [*by_kind["topics"], *by_kind["judgments"]]:
        others = [*by_kind["judgments"], *by_kind["run"], *by_kind["features"]]
        for other in others:
            if other is reference or (other.kind == reference.kind == "judgments"):
                continue
            unknown = sorted(other.qids - reference.qids)
            missing = sorted(reference.qids - other.qids)
            cause = _explain(reference, other) or explain_mismatch(unknown, missing)
            if unknown:
                topics = format_share(len(unknown), len(other.qids), "topic")
                findings.add(other.name, f"{topics} not in {reference.name}: {name_some(unknown)}{cause}")
            elif missing and other.kind == "run" and reference.kind == "judgments":
                topics = format_share(len(missing), len(reference.qids), "judged topic")
                text = f"{topics} of {reference.name} not in the run: {name_some(missing)}"
                findings.add(other.name, f"{text}; they score 0 or are left out")
            elif missing:
                # Not every topic needs to be judged or searched for.
                topics = format_share(len(missing), len(reference.qids), "topic")
                text = f"{topics} of {reference.name} not in this file: {name_some(missing)}"
                findings.add(other.name, text, problem=False)
            elif other.kind == "run" and reference.kind == "judgments" and cause:
                findings.add(other.name, f"topics are not those of {reference.name}, though the qids are{cause}")


def _explain(reference: ParsedFile, other: ParsedFile) -> str:
    """The likely cause of topics that are numbered in another way, as the end of a sentence; empty if there is none."""
    if reference.kind == "topics":
        return explain_order(reference.order, sorted(other.qids))
    if reference.kind == "judgments" and other.kind == "run":
        return explain_topics(reference.grades, other.rankings())
    return ""


def _check_documents(
    by_kind: Mapping[str, Sequence[ParsedFile]], findings: _Findings, known: frozenset[str] | None, index: str
) -> None:
    """Check that documents have the same docnos in all files, or that they are in the index."""
    with_docnos = [*by_kind["judgments"], *by_kind["run"], *by_kind["features"]]
    if known is not None:
        for file in with_docnos:
            unknown = sorted(file.docnos - known)
            if unknown:
                cause = explain_mismatch(unknown, known - file.docnos)
                documents = format_share(len(unknown), len(file.docnos), "document")
                findings.add(file.name, f"{documents} not in {index}: {name_some(unknown)}{cause}")
        return
    for judged in by_kind["judgments"]:
        for file in with_docnos:
            if file.kind == "judgments" or not file.docnos or not judged.docnos:
                continue
            unjudged = sorted(file.docnos - judged.docnos)
            cause = explain_mismatch(unjudged, judged.docnos - file.docnos)
            none_judged = len(unjudged) == len(file.docnos)
            # Unjudged documents in a run are normal; a run without any judged document is not.
            if cause or none_judged:
                text = "no document is judged in" if none_judged else "documents have other docnos than in"
                findings.add(file.name, f"{text} {judged.name}: {name_some(unjudged)}{cause}")


def _check_ties(by_kind: Mapping[str, Sequence[ParsedFile]], findings: _Findings) -> None:
    """Report how far equal scores could change a result or, without judgments, which topics have them."""
    for run in by_kind["run"]:
        tied = [qid for qid, lines in run.results.items() if len({line.score for line in lines}) < len(lines)]
        warning = ""
        for judged in by_kind["judgments"]:
            if tied and not run.qids.isdisjoint(judged.qids):
                ties = evaluate_ties(judged.grades, run.rankings().values(), list(TIE_MEASURES), name=run.name)
                warning = ties.warning().removeprefix(f"{run.name}: ")
        if warning:
            findings.add(run.name, warning)
        elif tied:
            topics = f"{format_share(len(tied), len(run.qids), 'topic')} with equal scores: {name_some(tied)}"
            findings.add(run.name, f"{topics}; their order depends on the evaluation tool", problem=False)


def _check_folds(folder: Path, findings: _Findings) -> str:
    """Check that no query is in two parts of a fold or in the test sets of two folds; a description of the folder."""
    try:
        folds = read_folds(folder)
        parts = [[set() if table is None else set(table.query_ids) for table in fold.read()] for fold in folds]
    except InputError as error:
        findings.add(error.location, error.message)
        return f"{folder} (unreadable)"
    names = ("training", "validation", "test")
    for fold, sets in zip(folds, parts, strict=True):
        for one in range(3):
            for other in range(one + 1, 3):
                shared = sorted(sets[one] & sets[other])
                if shared:
                    queries = format_count(len(shared), "query", "queries")
                    parts_text = f"in the {names[one]} set and in the {names[other]} set"
                    findings.add(f"{folder / fold.name}", f"{queries} {parts_text}: {name_some(shared)}")
    tested: dict[str, str] = {}
    for fold, (_, _, test) in zip(folds, parts, strict=True):
        twice = sorted(qid for qid in test if tested.setdefault(qid, fold.name) != fold.name)
        if twice:
            queries = format_count(len(twice), "query", "queries")
            text = f"{queries} of the test set also in the test set of {tested[twice[0]]}: {name_some(twice)}"
            findings.add(f"{folder / fold.name}", text)
    all_queries = set().union(*(part for sets in parts for part in sets))
    return f"{folder} ({format_count(len(folds), 'fold')}, {format_count(len(all_queries), 'query', 'queries')})"
