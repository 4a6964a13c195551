"""Runs: the rankings of several topics as one value, read from and written to TREC files and other tools' values.

As in trec_eval ranks are ignored: documents are ordered by score, and equal scores by docno, both descending (docnos by
their bytes).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from searchlab.atomic_file import open_atomic
from searchlab.corpus.parsing.identifiers import require_columns
from searchlab.corpus.parsing.table_columns import (
    DOCNO_NAMES,
    QID_NAMES,
    SCORE_NAMES,
    attributes,
    check_ids,
    check_scores,
    choose_columns,
    flatten,
)
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.corpus.source_files import open_source_file
from searchlab.corpus.sources import single_file
from searchlab.corpus.trec.evaluation_tools import import_ir_measures, import_ranx
from searchlab.corpus.trec.run_lines import read_run_lines
from searchlab.errors import DuplicateError, RecordError, SettingError, SourceError, name_some
from searchlab.notebook_html import MAX_ROWS, html_block, html_table
from searchlab.records import Ranking

if TYPE_CHECKING:
    from searchlab.corpus.trec.packed_docnos import PackedDocnos
    from searchlab.types import Array, Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """The rankings of several topics, held as columns; it is made by one of the methods `from_…`, or `read`.

    Iterating gives a `Ranking` for each topic, in the order of first appearance, and `run[qid]` that of one topic.
    `len(run)` is the number of topics; `n_rows` that of retrieved documents. `qids`, `docnos`, `scores` and `ranks` are
    arrays with an element for each row, best first within a topic; topic i, `query_ids[i]`, has the rows
    `group_offsets[i]:group_offsets[i + 1]`. A topic may have none. `docno_column` are the docnos as they were read,
    strings or not. Two runs are equal if they have the same rankings, in whatever order of topics. `name` is shown.
    """

    query_ids: tuple[str, ...]
    group_offsets: Ints
    docno_column: Array | PackedDocnos
    scores: Floats
    name: str = "run"

    @classmethod
    def from_columns(cls, qids: Any, docnos: Any, scores: Any, *, name: str = "run") -> Run:
        """The run of three columns, in any order of rows; ids may be whole numbers, which become text."""
        from searchlab.row_groups import find_duplicate, group_rows

        columns = (check_ids("qid", qids), check_ids("docno", docnos), check_scores(scores))
        if len(set(map(len, columns))) > 1:
            found = f"{len(columns[0])} qids, {len(columns[1])} docnos and {len(columns[2])} scores"
            raise SettingError(f"the columns of a run differ in length: {found}")
        offsets, order = group_rows(columns[0])
        duplicate = find_duplicate(columns[1] if order is None else columns[1][order], offsets)
        if duplicate is not None:
            first, second = duplicate if order is None else order[list(duplicate)].tolist()
            pair = f"document {columns[1][second]} of topic {columns[0][second]}"
            raise DuplicateError(f"row {second + 1}", f"{pair} occurs already as row {first + 1}")
        qids, docnos, scores = columns if order is None else [column[order] for column in columns]
        return cls._sort(tuple(qids[offsets[:-1]].tolist()), offsets, docnos, scores, name)

    @classmethod
    def _sort(
        cls, query_ids: tuple[str, ...], offsets: Ints, docnos: Array | PackedDocnos, scores: Floats, name: str
    ) -> Run:
        """The run of checked columns, in which the rows of a topic are adjacent."""
        from searchlab.corpus.trec.packed_docnos import order_documents

        order = order_documents(docnos, scores, offsets)
        if order is not None:
            docnos, scores = docnos[order], scores[order]
        return cls(query_ids, offsets, docnos, scores, name)

    @classmethod
    def from_rankings(cls, rankings: Iterable[Ranking], *, name: str = "run") -> Run:
        """The run of these rankings; a topic without documents is kept."""
        import numpy as np

        listed = list(rankings)
        for ranking in listed:
            if len(ranking.docnos) != len(ranking.scores):
                found = f"{len(ranking.docnos)} docnos and {len(ranking.scores)} scores"
                raise RecordError(name, f"topic {ranking.qid} has {found}")
        query_ids = check_ids("qid", [ranking.qid for ranking in listed]).tolist()
        if len(set(query_ids)) < len(query_ids):
            twice = next(qid for number, qid in enumerate(query_ids) if qid in query_ids[:number])
            raise DuplicateError(name, f"topic {twice} has two rankings")
        lengths = [len(ranking.docnos) for ranking in listed]
        run = cls.from_columns(
            np.repeat(np.array(query_ids, object), lengths),
            list(chain.from_iterable(ranking.docnos for ranking in listed)),
            list(chain.from_iterable(ranking.scores for ranking in listed)),
            name=name,
        )
        return run._with_topics(query_ids) if 0 in lengths else run

    @classmethod
    def from_dict(cls, found: Mapping[Any, Mapping[Any, float]], *, name: str = "run") -> Run:
        """The run of scores by qid, then docno."""
        run = cls.from_columns(*flatten("run", found), name=name)
        return run._with_topics(check_ids("qid", list(found)).tolist()) if len(run) < len(found) else run

    @classmethod
    def from_dataframe(cls, frame: Any, *, name: str = "run") -> Run:
        """The run of a DataFrame of pandas or polars: a qid, a docno and a score a row, by any of their known names."""
        from searchlab.dataframes import column, require_dataframe

        require_dataframe(frame)
        wanted = {"qid": QID_NAMES, "docno": DOCNO_NAMES, "score": SCORE_NAMES}
        chosen = choose_columns(frame, wanted)
        return cls.from_columns(*(column(frame, each) for each in chosen), name=name)

    @classmethod
    def from_ranx(cls, run: Any, *, name: str | None = None) -> Run:
        """The run of a `ranx.Run`."""
        if not hasattr(run, "to_dict"):
            raise SettingError(f"expected a ranx.Run, found a {type(run).__name__}")
        return cls.from_dict(run.to_dict(), name=name or getattr(run, "name", None) or "run")

    @classmethod
    def from_ir_measures(cls, results: Any, *, name: str = "run") -> Run:
        """The run of results of ir_measures: named tuples `ScoredDoc(query_id, doc_id, score)`, or a DataFrame."""
        from searchlab.dataframes import is_dataframe

        if is_dataframe(results):
            return cls.from_dataframe(results, name=name)
        return cls.from_columns(*attributes(results, ("query_id", "doc_id", "score")), name=name)

    @classmethod
    def read(cls, source: str | Path, *, notes: ReadingNotes | None = None, strict: bool = True) -> Run:
        """The run of a TREC file, gzipped or not, or of standard input (`-`); its name is that of the file.

        A malformed line is an error, unless `strict` is false: then it is noted and skipped.
        """
        notes = ReadingNotes() if notes is None else notes
        file = single_file(source)
        notes.bytes_total += file.size
        with open_source_file(file, ReadingContext(notes, strict)) as opened:
            lines = read_run_lines(opened)
        if not lines.query_ids:
            raise SourceError(file.name, "holds no results")
        notes.n_files += 1
        name = Path(file.path.name.removesuffix(".gz")).stem
        return cls._sort(lines.query_ids, lines.offsets, lines.docnos, lines.scores, name)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The scores by qid, then docno, best first."""
        return {ranking.qid: dict(zip(ranking.docnos, ranking.scores, strict=True)) for ranking in self}

    def to_dataframe(self, *, polars: bool = False) -> Any:
        """A DataFrame of pandas, or of polars, with the columns qid, docno, rank and score."""
        from searchlab.dataframes import make_dataframe

        columns = {"qid": self.qids, "docno": self.docnos, "rank": self.ranks, "score": self.scores}
        return make_dataframe(columns, polars=polars)

    def to_ranx(self) -> Any:
        """A `ranx.Run`."""
        return import_ranx().Run(self.to_dict(), name=self.name)

    def to_ir_measures(self) -> list[Any]:
        """A list of ir_measures' `ScoredDoc(query_id, doc_id, score)`."""
        return list(map(import_ir_measures().ScoredDoc, self.qids.tolist(), self.docnos.tolist(), self.scores.tolist()))

    def write(self, path: str | Path, *, tag: str | None = None) -> None:
        """Write a TREC file, gzipped if its name ends in `.gz`; the tag is the run's name without blanks by default."""
        with open_atomic(path, compress=str(path).endswith(".gz")) as file:
            write_run(file, self, "".join(self.name.split()) if tag is None else tag)

    def __len__(self) -> int:
        return len(self.query_ids)

    def __iter__(self) -> Iterator[Ranking]:
        docnos, scores = self.docnos.tolist(), self.scores.tolist()
        for qid, (begin, end) in zip(self.query_ids, pairwise(self.group_offsets.tolist()), strict=True):
            yield Ranking(qid, docnos[begin:end], scores[begin:end])

    def __contains__(self, qid: object) -> bool:
        return _as_text(qid) in self._numbers

    def __getitem__(self, qid: str | int) -> Ranking:
        qid = _as_text(qid)
        if qid not in self._numbers:
            raise KeyError(f"topic {qid!r} is not in run {self.name}; it has {name_some(self.query_ids)}")
        rows = slice(*self.group_offsets[self._numbers[qid] :][:2].tolist())
        return Ranking(qid, self.docnos[rows].tolist(), self.scores[rows].tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        if self.query_ids != other.query_ids:
            same = set(self.query_ids) == set(other.query_ids)
            return same and all(self[qid] == other[qid] for qid in self.query_ids)
        return (
            self.group_offsets.tolist() == other.group_offsets.tolist()
            and bool((self.scores == other.scores).all())
            and bool((self.docnos == other.docnos).all())
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Run {self.name}: {len(self)} topics, {self.n_rows} documents>"

    def _repr_html_(self) -> str:
        import numpy as np

        lengths = np.diff(self.group_offsets).tolist()
        starts = self.group_offsets[:MAX_ROWS].tolist()
        rows = [
            (qid, length, self.docnos[start] if length else "", float(self.scores[start]) if length else None)
            for qid, length, start in zip(self.query_ids, lengths, starts, strict=False)
        ]
        more = f"… and {len(self) - len(rows):,} more topics" if len(self) > len(rows) else ""
        caption = f"Run {self.name}: {len(self):,} topics, {self.n_rows:,} documents"
        return html_block(caption, html_table(("qid", "documents", "best", "score"), rows), note=more)

    @property
    def n_rows(self) -> int:
        """The number of retrieved documents of all topics."""
        return len(self.docno_column)

    @cached_property
    def docnos(self) -> Array:
        """The docno of each row."""
        from searchlab.corpus.trec.packed_docnos import PackedDocnos
        from searchlab.dataframes import objects

        column = self.docno_column
        return objects(column.strings()) if isinstance(column, PackedDocnos) else column

    @cached_property
    def qids(self) -> Array:
        """The qid of each row."""
        import numpy as np

        return np.repeat(np.array(self.query_ids, object), np.diff(self.group_offsets))

    @cached_property
    def ranks(self) -> Ints:
        """The rank of each row within its topic, from 1."""
        import numpy as np

        return np.arange(1, self.n_rows + 1) - np.repeat(self.group_offsets[:-1], np.diff(self.group_offsets))

    def first_ranks(self, depth: int) -> Run:
        """The run with at most this many documents of each topic."""
        import numpy as np

        from searchlab.array_ranges import concatenate_ranges, offsets_of

        starts = self.group_offsets[:-1]
        ends = np.minimum(starts + depth, self.group_offsets[1:])
        rows = concatenate_ranges(starts, ends, self.n_rows)
        return Run(self.query_ids, offsets_of(ends - starts), self.docno_column[rows], self.scores[rows], self.name)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {qid: number for number, qid in enumerate(self.query_ids)}

    def _with_topics(self, query_ids: list[str]) -> Run:
        """The same run with all of these topics, some of which have no rows."""
        import numpy as np

        lengths = dict(zip(self.query_ids, np.diff(self.group_offsets).tolist(), strict=True))
        offsets = np.cumsum([0, *(lengths.get(qid, 0) for qid in query_ids)])
        return replace(self, query_ids=tuple(query_ids), group_offsets=offsets)


def _as_text(qid: Any) -> Any:
    """A whole number as text, as everywhere where ids are given."""
    return str(qid) if isinstance(qid, int) and not isinstance(qid, bool) else qid


def read_run(source: str | Path, *, notes: ReadingNotes | None = None, strict: bool = True) -> Run:
    """Read a run file, gzipped or not, or standard input (`-`).

    A malformed line is an error, unless `strict` is false: then it is noted and skipped.
    """
    return Run.read(source, notes=notes, strict=strict)


def write_run(file: TextIO, rankings: Iterable[Ranking], tag: str = "searchlab") -> None:
    """Write rankings as a TREC run."""
    require_columns("tag", [tag])
    for ranking in rankings:
        require_columns("qid", [ranking.qid])
        require_columns("docno", ranking.docnos)
        results = zip(ranking.docnos, ranking.scores, strict=True)
        file.writelines(
            f"{ranking.qid} Q0 {docno} {rank} {score!r} {tag}\n" for rank, (docno, score) in enumerate(results, start=1)
        )
