"""Snapshot: the state of an index when it was opened, which later commits do not change.

It gives statistics of streams and terms over all shards, postings, and the stored documents. Deleted documents are
excluded from all statistics: every number is that of an index of the live documents alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from searchlab.analysis.analyzer import Analyzer, NgramAnalyzer, TextAnalyzer
from searchlab.errors import REBUILD, IndexCorrupt, IndexOutdated, SettingError, StoreError, unknown_name
from searchlab.indexing.field_order import ValueRanks, rank_values, sort_keys, written_value
from searchlab.indexing.storage.columns import NGRAMS, STREAMS, WordTable
from searchlab.indexing.storage.field_columns import MAX_CACHED_FIELDS
from searchlab.indexing.storage.manifest import Manifest, read_index_manifest
from searchlab.indexing.storage.shard import Shard, TermCounts
from searchlab.records import Document, TermStats
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.analysis.mixed_analyzer import MixedAnalyzer
    from searchlab.corpus.trec.packed_docnos import PackedDocnos

# Terms in each cache: feedback looks up some tens of terms for a query, of which the best are searched.
MAX_CACHED_TERMS = 1 << 15
# Values of fields as documents write them: a page of results has some tens.
MAX_CACHED_VALUES = 1 << 12
# Docnos of fewer documents are read without compiled code, which a single query would have to load.
MIN_COMPILED_DOCNOS = 64
# Snapshots that a worker of a cluster keeps open.
MAX_OPEN_SNAPSHOTS = 4


def _open(folder: Path) -> tuple[Manifest, list[Shard]]:
    """The committed state. A commit meanwhile may have removed shards of the manifest that was read: then try again."""
    manifest = read_index_manifest(folder)
    while True:
        try:
            shards = [Shard(folder / record.name, record) for record in manifest.shards]
        except IndexCorrupt:
            newer = read_index_manifest(folder)
            if newer == manifest:
                raise
        else:
            # A shard that the manifest still names is not being removed, so it can be read without a lock.
            newer = manifest if all(shard.is_locked for shard in shards) else read_index_manifest(folder)
            if newer == manifest:
                return manifest, shards
        manifest = newer


@lru_cache(MAX_OPEN_SNAPSHOTS)
def _open_again(folder: str, generation: int, written: str, language: str | None) -> Snapshot:
    """The snapshot that another process has open; the index must not have changed since."""
    snapshot = Snapshot(Path(folder), language)
    if (snapshot.manifest.generation, snapshot.manifest.written) != (generation, written):
        snapshot.close()
        raise StoreError(f"{folder}: the index was changed while several processes read it; try again")
    return snapshot


class Snapshot:
    """One committed state of an index, opened for reading."""

    def __init__(self, folder: Path, language: str | None = None) -> None:
        """`language` is the one that queries are in; by default all languages of the index."""
        self.folder = folder
        self.manifest, self.shards = _open(folder)
        if language is not None and language not in self.languages:
            self.close()
            raise unknown_name(f"language of {folder}", language, self.languages)
        self._language = language
        try:
            self.analyzer = self._make_analyzer(language)
        except SettingError as error:
            self.close()
            raise IndexOutdated(f"{folder}: {error}") from None
        self.word_table = lru_cache(len(self.shards) or 1)(self._word_table)
        n = self.manifest.settings.ngrams
        # The streams that can be searched.
        self.streams = (*STREAMS, NGRAMS) if n else STREAMS
        self._ngram_analyzer = NgramAnalyzer(n) if n else None
        for shard in self.shards:
            if tuple(shard.columns.streams) != self.streams:
                found = ", ".join(shard.columns.streams)
                raise IndexCorrupt(f"{shard.folder}: streams {found}, expected {', '.join(self.streams)}; {REBUILD}")
        self.find_term = lru_cache(MAX_CACHED_TERMS)(self._find_term)
        self.count_term = lru_cache(MAX_CACHED_TERMS)(self._count_term)
        self.count_tokens = lru_cache(MAX_CACHED_FIELDS)(self._count_tokens)
        self.term_stats = lru_cache(MAX_CACHED_TERMS)(self._term_stats)
        self.value_ranks = lru_cache(MAX_CACHED_FIELDS)(self._rank_values)
        self.sort_keys = lru_cache(MAX_CACHED_FIELDS)(self._make_sort_keys)
        self.written_value = lru_cache(MAX_CACHED_VALUES)(self._written_value)
        self.words_of = lru_cache(MAX_CACHED_TERMS)(self._words_of)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the same state of the index, once for all that it is sent."""
        folder = str(self.folder.absolute())
        return _open_again, (folder, self.manifest.generation, self.manifest.written, self._language)

    def _make_analyzer(self, language: str | None) -> Analyzer | MixedAnalyzer:
        settings = self.manifest.settings
        if not settings.is_mixed:
            return Analyzer(settings, lookup=self._lookup_term)
        from searchlab.analysis.mixed_analyzer import MixedAnalyzer

        lookup = partial(partial, self._lookup_in_language)
        return MixedAnalyzer(settings, tuple(self.languages) if language is None else (language,), lookup)

    @cached_property
    def languages(self) -> dict[str, int]:
        """The languages of the index and the number of live documents in each, the most frequent first."""
        if not self.manifest.settings.is_mixed:
            return {self.manifest.settings.language: self.n_docs}
        from searchlab.analysis.mixed_analyzer import LANGUAGE_FIELD

        counts: Counter[str] = Counter()
        with self.report_damage():
            for shard in self.shards:
                for name in shard.columns.languages or ():
                    docs = shard.columns.fields.with_value(LANGUAGE_FIELD, name)
                    counts[name] += len(docs) if shard.live is None else int(np.count_nonzero(shard.live[docs]))
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @property
    def whole(self) -> Snapshot:
        """The snapshot of all shards of the index: this one."""
        return self

    @property
    def shard_numbers(self) -> Array:
        """The number of each shard in the whole index; here they are all."""
        return np.arange(len(self.shards))

    def close(self) -> None:
        """Unlock the shards; a writer may then remove those that its manifest does not name."""
        for shard in self.shards:
            shard.close()

    def require_stream(self, stream: str) -> None:
        """Refuse a stream that the index does not have."""
        if stream == NGRAMS and NGRAMS not in self.streams:
            raise SettingError(
                f"{self.folder}: indexed without n-grams, found stream {NGRAMS}; "
                "`searchlab index SOURCE --ngrams 2 --rebuild` indexes them"
            )
        if stream not in self.streams:
            raise unknown_name("stream", stream, self.streams)

    def analyzer_of(self, stream: str) -> TextAnalyzer:
        """The analyzer of a stream or a field."""
        return self._ngram_analyzer if stream == NGRAMS and self._ngram_analyzer else self.analyzer

    @contextmanager
    def report_damage(self) -> Iterator[None]:
        """Raise IndexCorrupt for the errors that impossible numbers in columns cause, whose checksums may be right."""
        try:
            yield
        except (IndexError, UnicodeDecodeError, OverflowError, ZeroDivisionError, MemoryError):
            raise IndexCorrupt(f"{self.folder}: a column is damaged; {REBUILD}") from None

    def verify(self, pause: Callable[[], object] = lambda: None) -> None:
        """Verify every block of every shard; `pause` is called after each megabyte. Raises IndexCorrupt for damage."""
        for shard in self.shards:
            for file in (shard.columns.file, shard.stored.file):
                file.blocks.verify_all(pause)

    @property
    def n_docs(self) -> int:
        """The number of live documents."""
        return self.manifest.n_docs

    @cached_property
    def n_tokens(self) -> dict[str, int]:
        """The number of tokens of all live documents, by stream."""
        return {stream: self.count_tokens(stream) for stream in self.streams}

    def _count_tokens(self, text: str) -> int:
        """The number of tokens of all live documents in a stream or a field."""
        return sum(shard.count_tokens(text) for shard in self.shards)

    @cached_property
    def n_terms(self) -> int:
        """The number of distinct terms in live documents."""
        return len(self._live_terms)

    @cached_property
    def _live_terms(self) -> set[str]:
        return {
            term for shard in self.shards for term in shard.columns.terms.take(np.flatnonzero(shard.live_doc_freqs()))
        }

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        """The names of the fields other than title and body, sorted."""
        return tuple(sorted({name for shard in self.shards for name in shard.columns.fields.names}))

    @cached_property
    def numeric_fields(self) -> frozenset[str]:
        """The fields whose values are, for the most part, numbers or dates."""
        numeric = set()
        with self.report_damage():
            for name in self.field_names:
                counts = np.array([shard.columns.fields.count_kinds(name) for shard in self.shards])
                n_numeric, n_values = counts.sum(axis=0).tolist()
                if 2 * n_numeric > n_values:
                    numeric.add(name)
        return frozenset(numeric)

    def count_values(self, name: str) -> int:
        """How many values a field has, each counted for each document that has it."""
        return sum(shard.columns.fields.count_kinds(name)[1] for shard in self.shards)

    def _rank_values(self, name: str) -> ValueRanks:
        return rank_values([shard.columns.fields for shard in self.shards], name)

    def _written_value(self, name: str, rank: int) -> str:
        """A value of a field, given by its rank, as the first live document of the index writes it."""
        return written_value(self.shards, self.value_ranks(name), name, rank)

    def _make_sort_keys(self, name: str) -> list[Array]:
        """For each shard a number for each document that orders documents by a field, NaN for those without a value."""
        columns = [shard.columns.fields for shard in self.shards]
        return sort_keys(columns, self.value_ranks(name), name, numeric=name in self.numeric_fields)

    def field_numbers(self, name: str, shards: Array, docs: Array) -> Array:
        """The numbers of documents in a field, NaN where they have none (see `FieldColumns.numbers_of`)."""
        numbers = np.full(len(docs), np.nan)
        with self.report_damage():
            for shard_index, shard in enumerate(self.shards):
                column = shard.columns.fields.numbers_of(name)
                if column is not None:
                    rows = np.flatnonzero(shards == shard_index)
                    numbers[rows] = column[docs[rows]]
        return numbers

    def greatest_number(self, name: str) -> float:
        """The greatest number of the live documents of these shards in a field, NaN if none has a number there."""
        greatest = np.nan
        with self.report_damage():
            for shard in self.shards:
                column = shard.columns.fields.numbers_of(name)
                if column is not None:
                    live = column if shard.live is None else column[shard.live]
                    greatest = np.fmax(greatest, np.fmax.reduce(live, initial=np.nan))
        return float(greatest)

    def refuse_field_without_numbers(self, name: str) -> NoReturn:
        """Raise SettingError for a field without any number, saying what the index has instead."""
        if not self.field_names:
            raise SettingError(f"{self.folder}: no document has a field {name}, nor any other field")
        if name not in self.field_names:
            raise unknown_name(f"field of {self.folder}", name, self.field_names)
        raise SettingError(f"{self.folder}: field {name} has no number or date in any document, expected some")

    def _lookup_term(self, word: str) -> str | None:
        """The term of a word, None for a stop word; raises KeyError for a word that is not in the index."""
        for shard in self.shards:
            with suppress(KeyError):
                return shard.columns.term_of(word)
        raise KeyError(word)

    def _lookup_in_language(self, language: str, word: str) -> str | None:
        """The same for a word of one of several languages."""
        for shard in self.shards:
            with suppress(KeyError):
                return shard.columns.term_in_language(word, language)
        raise KeyError(word)

    def _word_table(self, shard: Shard) -> WordTable:
        """The words of a shard without accents, to compare them with what a user writes."""
        columns = shard.columns
        return (
            WordTable(columns.words)
            if self.analyzer.has_folded_words
            else columns.words_without_accents(self._language)
        )

    def _find_term(self, term: str, stream: str = "both") -> tuple[int, ...]:
        """The number of a term in each shard, -1 where it does not occur; it is the same in all streams of words."""
        return tuple(shard.columns.terms_of(stream).find(term) for shard in self.shards)

    def term_numbers(self, stream: str, term: str) -> tuple[int, ...]:
        """The number of a term of a stream in each shard, -1 where it does not occur."""
        return self.find_term(term, NGRAMS) if stream == NGRAMS else self.find_term(term)

    def _words_of(self, term: str) -> tuple[str, ...]:
        """All words of the indexed texts that have this term, sorted."""
        forms: set[str] = set()
        for shard, number in zip(self.shards, self.find_term(term), strict=True):
            if number >= 0:
                forms.update(shard.columns.words_of(number))
        return tuple(sorted(forms))

    def _term_stats(self, stream: str, term: str) -> TermStats:
        """The statistics of a term in a stream; a term that does not occur has zeros."""
        self.require_stream(stream)
        return TermStats(self.n_docs, self.count_tokens(stream), *self.count_term(stream, term)[:2])

    def _count_term(self, stream: str, term: str) -> TermCounts:
        numbers = zip(self.shards, self.term_numbers(stream, term), strict=True)
        found = [shard.count_term(stream, number) for shard, number in numbers if number >= 0]
        doc_freq, term_count = sum(each.doc_freq for each in found), sum(each.term_count for each in found)
        max_tf = max((0, *(each.max_tf for each in found)))
        # Formulas take logarithms of these, and compiled loops bound scores by them.
        is_possible = 0 <= doc_freq <= self.n_docs and doc_freq <= term_count <= self.count_tokens(stream)
        if not is_possible or max_tf > term_count:
            raise IndexCorrupt(f"{self.folder}: the counts of a term are damaged; {REBUILD}")
        return TermCounts(doc_freq, term_count, max_tf)

    @cached_property
    def all_docno_ranks(self) -> Array:
        """The ranks of all documents, shard after shard, in the order of all docnos."""
        if len(self.shards) == 1:  # documents of a shard are numbered in the order of their docnos
            return np.arange(self.shards[0].columns.n_docs, dtype=np.uint32)
        from searchlab.indexing.docno_kernels import rank_docnos

        return rank_docnos([shard.columns.docnos for shard in self.shards]).astype(np.uint32)

    @cached_property
    def _shard_starts(self) -> Array:
        return np.cumsum([0, *(shard.columns.n_docs for shard in self.shards)])

    def docno_ranks(self, shards: Array, docs: Array) -> Array:
        """The ranks of documents, given by shard index and number, in the order of all docnos."""
        ranks: Array = docs if len(self.shards) == 1 else self.all_docno_ranks[self._shard_starts[shards] + docs]
        return ranks

    def docnos_of(self, shards: Array, docs: Array, *, compiled: bool = False) -> list[str]:
        """The docnos of documents, given by shard index and number; many are gathered by compiled code if it may."""
        with self.report_damage():
            if compiled and len(docs) >= MIN_COMPILED_DOCNOS:
                packed = self.packed_docnos(shards, docs)
                if packed is not None:
                    return packed.strings()
            names = np.empty(len(docs), object)
            for shard_index, shard in enumerate(self.shards):
                rows = np.flatnonzero(shards == shard_index)
                names[rows] = shard.columns.docnos.take(docs[rows])
        docnos: list[str] = names.tolist()
        return docnos

    def packed_docnos(self, shards: Array, docs: Array) -> PackedDocnos | None:
        """The docnos of documents, given by shard index and number, by compiled code; None if one is damaged."""
        from searchlab.corpus.trec.packed_docnos import PackedDocnos
        from searchlab.indexing.docno_kernels import docno_lines

        with self.report_damage():
            lines = docno_lines([shard.columns.docnos for shard in self.shards], shards, docs)
        packed = PackedDocnos.of_lines(lines)
        with suppress(UnicodeDecodeError):
            lines.tobytes().decode()
            return packed if len(packed) == len(docs) else None
        return None

    def locate(self, docno: str) -> tuple[int, int]:
        """The shard index of a document and its number in the shard."""
        for shard_index, shard in enumerate(self.shards):
            number = shard.columns.docnos.find(docno)
            if number >= 0 and (shard.live is None or shard.live[number]):
                return shard_index, number
        raise SettingError(f"{self.folder}: holds no document {docno!r}")

    def document(self, docno: str) -> Document:
        """A stored document by its docno."""
        shard_index, number = self.locate(docno)
        return self.shards[shard_index].document(number)

    def docnos(self) -> Iterator[str]:
        """The docnos of all live documents, shard by shard."""
        with self.report_damage():
            for shard in self.shards:
                for number in shard.live_docs.tolist():
                    yield shard.columns.docnos[number]

    def documents(self) -> Iterator[Document]:
        """All live documents, shard by shard in the order of their docnos."""
        with self.report_damage():
            for shard in self.shards:
                for number in shard.live_docs.tolist():
                    yield shard.document(number)
