"""Judgments (qrels) as one value, read from and written to TREC files and other tools' values.

A pair of topic and document may occur twice if its grade is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from types import MappingProxyType
from typing import Any

from searchlab.atomic_file import open_atomic
from searchlab.corpus.ir_datasets import find_dataset, is_dataset, read_dataset_qrels
from searchlab.corpus.parsing.identifiers import require_columns
from searchlab.corpus.parsing.table_columns import (
    DOCNO_NAMES,
    GRADE_NAMES,
    QID_NAMES,
    attributes,
    check_grades,
    check_ids,
    choose_columns,
    flatten,
)
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.corpus.source_files import SourceFile, open_source_file
from searchlab.corpus.sources import single_file
from searchlab.corpus.trec.evaluation_tools import import_ir_measures, import_ranx
from searchlab.corpus.trec.qrels_lines import read_qrels_lines
from searchlab.errors import DuplicateError, SettingError, SourceError
from searchlab.notebook_html import html_block, html_table


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Qrels(Mapping[str, Mapping[str, int]]):
    """Judgments: the grades by qid, then docno, in their original order; `qrels["7"]["doc-3"]` is a grade."""

    grades: Mapping[str, Mapping[str, int]]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as dicts, since Python does not pickle read-only views of them."""
        return _freeze, ({qid: dict(judged) for qid, judged in self.grades.items()},)

    @classmethod
    def from_columns(cls, qids: Any, docnos: Any, grades: Any) -> Qrels:
        """The judgments of three columns; ids may be whole numbers, which become text."""
        columns = (check_ids("qid", qids).tolist(), check_ids("docno", docnos).tolist(), check_grades(grades).tolist())
        if len(set(map(len, columns))) > 1:
            found = f"{len(columns[0])} qids, {len(columns[1])} docnos and {len(columns[2])} grades"
            raise SettingError(f"the columns of judgments differ in length: {found}")
        return _freeze(_group(zip(*columns, strict=True)))

    @classmethod
    def from_dict(cls, grades: Mapping[Any, Mapping[Any, int]]) -> Qrels:
        """The judgments of grades by qid, then docno; a topic without grades is kept."""
        judged = cls.from_columns(*flatten("qrels", grades))
        qids = check_ids("qid", list(grades)).tolist()
        return judged if len(judged) == len(qids) else _freeze({qid: judged.get(qid, {}) for qid in qids})

    @classmethod
    def from_dataframe(cls, frame: Any) -> Qrels:
        """The judgments of a DataFrame of pandas or polars: a qid, a docno and a grade a row, by their known names."""
        from searchlab.dataframes import column, require_dataframe

        require_dataframe(frame)
        wanted = {"qid": QID_NAMES, "docno": DOCNO_NAMES, "grade": GRADE_NAMES}
        return cls.from_columns(*(column(frame, name) for name in choose_columns(frame, wanted)))

    @classmethod
    def from_ranx(cls, qrels: Any) -> Qrels:
        """The judgments of a `ranx.Qrels`."""
        if not hasattr(qrels, "to_dict"):
            raise SettingError(f"expected a ranx.Qrels, found a {type(qrels).__name__}")
        return cls.from_dict(qrels.to_dict())

    @classmethod
    def from_ir_measures(cls, qrels: Any) -> Qrels:
        """The judgments of ir_measures: named tuples `Qrel(query_id, doc_id, relevance, …)`, or a DataFrame."""
        from searchlab.dataframes import is_dataframe

        if is_dataframe(qrels):
            return cls.from_dataframe(qrels)
        return cls.from_columns(*attributes(qrels, ("query_id", "doc_id", "relevance")))

    @classmethod
    def read(cls, source: str | Path | SourceFile, *, notes: ReadingNotes | None = None, strict: bool = True) -> Qrels:
        """The judgments of a file, gzipped or not, of standard input (`-`) or of a dataset (`ir_datasets:…`).

        A malformed line is an error, unless `strict` is false: then it is noted and skipped.
        """
        notes = ReadingNotes() if notes is None else notes
        if not isinstance(source, SourceFile) and is_dataset(source):
            name, grades = str(source), _read_dataset(source)
        else:
            file = single_file(source)
            name = file.name
            notes.bytes_total += file.size
            with open_source_file(file, ReadingContext(notes, strict)) as opened:
                grades = read_qrels_lines(opened)
        if not grades:
            raise SourceError(name, "holds no judgments")
        notes.n_files += 1
        return _freeze(grades)

    def to_dict(self) -> dict[str, dict[str, int]]:
        """The grades by qid, then docno."""
        return {qid: dict(judged) for qid, judged in self.grades.items()}

    def to_dataframe(self, *, polars: bool = False) -> Any:
        """A DataFrame of pandas, or of polars, with the columns qid, docno and relevance."""
        from searchlab.dataframes import make_dataframe

        qids, docnos, grades = self._columns()
        return make_dataframe({"qid": qids, "docno": docnos, "relevance": grades}, polars=polars)

    def to_ranx(self) -> Any:
        """A `ranx.Qrels`."""
        return import_ranx().Qrels(self.to_dict())

    def to_ir_measures(self) -> list[Any]:
        """A list of ir_measures' `Qrel(query_id, doc_id, relevance, iteration)`."""
        return list(map(import_ir_measures().Qrel, *self._columns()))

    def write(self, path: str | Path) -> None:
        """Write a TREC file, gzipped if its name ends in `.gz`."""
        with open_atomic(path, compress=str(path).endswith(".gz")) as file:
            for qid, judged in self.grades.items():
                require_columns("qid", [qid])
                require_columns("docno", list(judged))
                file.writelines(f"{qid} 0 {docno} {grade}\n" for docno, grade in judged.items())

    def __getitem__(self, qid: str) -> Mapping[str, int]:
        return self.grades[qid]

    def __iter__(self) -> Iterator[str]:
        return iter(self.grades)

    def __len__(self) -> int:
        return len(self.grades)

    def __repr__(self) -> str:
        return f"<Qrels: {len(self)} topics, {self.n_judgments} judgments>"

    def _repr_html_(self) -> str:
        counts = Counter(chain.from_iterable(judged.values() for judged in self.grades.values()))
        topics = Counter(chain.from_iterable(set(judged.values()) for judged in self.grades.values()))
        rows = [(grade, counts[grade], topics[grade]) for grade in sorted(counts, reverse=True)]
        caption = f"Judgments: {self.n_judgments:,} of {len(self):,} topics"
        return html_block(caption, html_table(("grade", "documents", "topics"), rows))

    @property
    def n_judgments(self) -> int:
        """The number of judged pairs."""
        return sum(map(len, self.grades.values()))

    def _columns(self) -> tuple[list[str], list[str], list[int]]:
        judged = self.grades.values()
        qids = list(chain.from_iterable(repeat(qid, len(grades)) for qid, grades in self.grades.items()))
        return qids, list(chain.from_iterable(judged)), list(chain.from_iterable(each.values() for each in judged))


def read_qrels(source: str | Path | SourceFile, *, notes: ReadingNotes | None = None, strict: bool = True) -> Qrels:
    """Read the judgments of a file, gzipped or not, of standard input (`-`) or of a dataset (`ir_datasets:…`).

    A malformed line is an error, unless `strict` is false: then it is noted and skipped.
    """
    return Qrels.read(source, notes=notes, strict=strict)


def _freeze(grades: Mapping[str, Mapping[str, int]]) -> Qrels:
    return Qrels(MappingProxyType({qid: MappingProxyType(judged) for qid, judged in grades.items()}))


def _read_dataset(source: str | Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    for _, parts in read_dataset_qrels(find_dataset(source)):
        grades.setdefault(str(parts["query_id"]), {})[str(parts["doc_id"])] = int(parts["relevance"])
    return grades


def _group(rows: Iterable[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    for number, (qid, docno, grade) in enumerate(rows, start=1):
        first = grades.setdefault(qid, {}).setdefault(docno, grade)
        if first != grade:
            pair = f"document {docno} of topic {qid}"
            raise DuplicateError(f"row {number}", f"{pair} has the grade {grade}, but {first} in an earlier row")
    return grades
