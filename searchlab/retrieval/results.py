"""Results of a search: the analysed query, the hits, and the explanations of their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Self, overload

from searchlab.corpus.trec.packed_docnos import PackedDocnos
from searchlab.indexing.snapshot import MIN_COMPILED_DOCNOS, Snapshot
from searchlab.indexing.storage.columns import NGRAMS, STREAMS
from searchlab.indexing.storage.documents.stored_documents import StoredDocument
from searchlab.notebook_html import MAX_ROWS, Cell, Markup, html_bar, html_block, html_table, marked_html
from searchlab.records import Document, QueryTerm
from searchlab.retrieval.fields.facets import N_VALUES, Facet, count_facet
from searchlab.retrieval.fields.histogram import N_BINS, Bin, count_bins
from searchlab.retrieval.fields.matches import Marks, Matches, count_marks, mark_documents
from searchlab.retrieval.fields.sorting import SortOrder, sort_documents
from searchlab.retrieval.highlight.long_texts import TextPart, analyzer_of, best_part
from searchlab.retrieval.highlight.snippets import (
    SNIPPET_NGRAMS,
    SNIPPET_WORDS,
    Snippet,
    make_snippet,
    mark_line,
    texts_as_json,
)
from searchlab.retrieval.hits_export import HitsExport, columns_of_hits
from searchlab.retrieval.near_duplicates import MAX_COMPARED, DuplicateGroup, group_duplicates
from searchlab.retrieval.query.syntax_tree import Node
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.retrieval.fields.other_fields import OtherField

# Unknown words that are corrected, and the longest of them.
MAX_CORRECTED_WORDS, MAX_CORRECTED_LENGTH = 3, 50
# Documents whose texts are read, and snippets made, at once.
READ_BATCH_SIZE = 16


@dataclass(frozen=True)
class Query:
    """A query analysed for an index: the terms that score, and the syntax tree that documents must match.

    Without a tree (`node`), a document must have one of the terms. `unknown` are words that no document has; `remarks`
    say how the query was understood if not as written. The terms `also_marked` are marked with those of the query.
    """

    text: str
    terms: tuple[QueryTerm, ...]
    unknown: tuple[str, ...]
    node: Node | None = None
    remarks: tuple[str, ...] = ()
    suggest: Callable[[str], str | None] | None = field(default=None, repr=False, compare=False)
    also_marked: frozenset[str] = frozenset()

    @cached_property
    def to_mark(self) -> frozenset[str]:
        """The terms to mark in title and body: those of `stream_to_mark`."""
        streams = STREAMS if self.stream_to_mark in STREAMS else (self.stream_to_mark,)
        own = frozenset(variant for term in self.terms if term.stream in streams for variant in term.single_terms)
        return own | self.also_marked

    @property
    def stream_to_mark(self) -> str:
        """The stream whose analyzer finds the terms to mark: n-grams, if they are searched, or else words."""
        return NGRAMS if any(term.stream == NGRAMS for term in self.terms) else "both"

    @cached_property
    def suggestions(self) -> tuple[tuple[str, str], ...]:
        """Unknown words with the nearest known word; searched for on first use.

        Each takes a comparison with every word of the index: only the first few are corrected, and no very long ones.
        """
        if self.suggest is None:
            return ()
        short = [word for word in self.unknown if len(word) <= MAX_CORRECTED_LENGTH]
        pairs = [(word, self.suggest(word)) for word in short[:MAX_CORRECTED_WORDS]]
        return tuple((word, nearest) for word, nearest in pairs if nearest is not None)


@dataclass(frozen=True)
class Hit:
    """One search result; `snippet` is a passage of the body, `marked_title` the whole title."""

    rank: int
    score: float
    stored: StoredDocument
    snippet: Snippet
    marked_title: Snippet

    @cached_property
    def document(self) -> Document:
        """The document; a long body is read now."""
        return self.stored.whole()

    @property
    def docno(self) -> str:
        """The docno of the document."""
        return self.stored.docno

    @property
    def title(self) -> str:
        """The document's title."""
        return self.stored.title

    @property
    def fields(self) -> Mapping[str, Any]:
        """The document's other fields."""
        return self.stored.fields

    @property
    def page(self) -> int | None:
        """The page of the snippet, None if the document has no pages."""
        return self.snippet.page

    def to_json(self) -> dict[str, Any]:
        """The hit as JSON values, the same on the command line and in the JSON API."""
        return {
            "rank": self.rank,
            "score": self.score,
            "docno": self.docno,
            **texts_as_json(title=self.marked_title, snippet=self.snippet),
            "fields": dict(self.fields),
        }


class Hits(HitsExport, Sequence[Hit]):
    """Search results, best first; documents are read from the index on access."""

    def __init__(
        self,
        snapshot: Snapshot,
        query: Query,
        shards: Array,
        docs: Array,
        scores: Array,
        seconds: float,
        *,
        docnos: PackedDocnos | list[str] | None = None,
        compiled: bool = False,
        matches: Matches | None = None,
    ) -> None:
        """`docnos` are those of the hits, if they are known."""
        self._snapshot = snapshot
        self.known_docnos = docnos
        # Each document by its shard and its number there.
        self.shards = shards
        self.docs = docs
        self.query = query
        self.scores = scores
        self.seconds = seconds
        # Whether snippets are made by compiled code.
        self.compiled = compiled
        self._matches = matches or Matches(self.__len__, lambda: self.marked_hits, lambda found: ())

    @cached_property
    def n_matches(self) -> int:
        """The number of all documents that the search finds, whatever k: the length of its hits with k=None.

        It is exact, and computed when it is first asked for.
        """
        return count_marks(self.matching) if "matching" in self.__dict__ else self._matches.count()

    @cached_property
    def matching(self) -> Marks:
        """For each shard of the index, which of its documents the search finds, whatever k."""
        return self._matches.mark()

    @property
    def marked_hits(self) -> Marks:
        """For each shard of the index, which of its documents are among these hits."""
        return mark_documents(self._snapshot, self.shards, self.docs)

    @cached_property
    def other_fields(self) -> tuple[OtherField, ...]:
        """Fields in which further documents have the words of the query, which searches title and body only."""
        return self._matches.search_fields(lambda: self.matching)

    def facets(self, *fields: str, n: int = N_VALUES) -> dict[str, Facet]:
        """The n most frequent values of some fields, over all documents that the search finds, whatever k."""
        return {field: count_facet(self._snapshot, self.matching, field, n) for field in fields}

    def histogram(self, field: str, n: int = N_BINS, *, unfiltered: Hits | Marks | None = None) -> tuple[Bin, ...]:
        """Numbers of a field, in at most n bins, over all documents that the search finds, whatever k.

        With the hits of the same query without its filter by this field (`unfiltered`), or the marks of their
        documents, the bins are of all documents of those, and each says how many of them this search finds.
        """
        if unfiltered is None:
            return count_bins(self._snapshot, self.matching, field, n)
        marks = unfiltered.matching if isinstance(unfiltered, Hits) else unfiltered
        return count_bins(self._snapshot, marks, field, n, self.matching)

    def group_duplicates(self, k: int | None = None) -> list[DuplicateGroup]:
        """The first k groups of near-duplicates among these hits (see `searchlab.retrieval.near_duplicates`)."""
        from searchlab.retrieval.search_arguments import require_k

        require_k(k)
        with self._snapshot.report_damage():
            beginnings = (self._stored(row).beginning(MAX_COMPARED) for row in range(len(self)))
            return group_duplicates(beginnings, k)

    def _stored(self, row: int) -> StoredDocument:
        return self._snapshot.shards[int(self.shards[row])].stored.read(int(self.docs[row]))

    def sorted_by(self, order: SortOrder | str) -> Self:
        """These hits in the order of a field, such as `year:desc` (see `searchlab.retrieval.fields.sorting`)."""
        return self.take(sort_documents(self._snapshot, self.shards, self.docs, order))

    def __repr__(self) -> str:
        return f"<Hits for {self.query.text!r}: {len(self)} documents>"

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, position: int) -> Hit: ...

    @overload
    def __getitem__(self, position: slice) -> list[Hit]: ...

    def __getitem__(self, position: int | slice) -> Hit | list[Hit]:
        if isinstance(position, slice):
            return list(self._read(position))
        try:
            position = range(len(self))[position]
        except IndexError:
            raise IndexError(f"position is {position}, but there are {len(self)} hits, counted from 0") from None
        return next(self._read(slice(position, position + 1)))

    def _read(self, part: slice) -> Iterator[Hit]:
        positions = range(len(self))[part]
        for start in range(0, len(positions), READ_BATCH_SIZE):
            batch = positions[start : start + READ_BATCH_SIZE]
            with self._snapshot.report_damage():
                stored = list(map(self._stored, batch))
                parts = [self._choose_part(i, document) for i, document in zip(batch, stored, strict=True)]
            for i, document, marked in zip(batch, stored, self._mark(stored, parts), strict=True):
                yield Hit(i + 1, float(self.scores[i]), document, *marked)

    def scored_documents(self) -> Iterator[tuple[Document, float]]:
        """The documents with their scores, best first, without snippets."""
        for i in range(len(self)):
            with self._snapshot.report_damage():
                document = self._stored(i).whole()
            yield document, float(self.scores[i])

    def _choose_part(self, row: int, document: StoredDocument) -> TextPart:
        """The part of a document's body to make a snippet from."""
        shard, doc = int(self.shards[row]), int(self.docs[row])
        return best_part(self._snapshot, shard, doc, document, self.query.to_mark, self.query.stream_to_mark)

    def _mark(self, documents: list[StoredDocument], parts: list[TextPart]) -> Iterator[tuple[Snippet, Snippet]]:
        """The snippet of a part of the body and the title of each document, with matching words marked."""
        terms, stream = self.query.to_mark, self.query.stream_to_mark
        bodies, titles = [part.text for part in parts], [document.title for document in documents]
        marked: Iterable[tuple[Snippet, Snippet]]
        if self.compiled and stream != NGRAMS and self._snapshot.analyzer.has_standard_words:
            from searchlab.retrieval.highlight.compiled_snippets import SnippetMaker

            marked = SnippetMaker(self._snapshot, terms).make(bodies, titles)
        else:
            width = SNIPPET_NGRAMS if stream == NGRAMS else SNIPPET_WORDS
            analyzers = [analyzer_of(self._snapshot, document, stream) for document in documents]
            marked = (
                (make_snippet(body, terms, analyzer, width), mark_line(title, terms, analyzer))
                for body, title, analyzer in zip(bodies, titles, analyzers, strict=True)
            )
        for (snippet, title), part in zip(marked, parts, strict=True):
            yield part.place(snippet), title

    def __iter__(self) -> Iterator[Hit]:
        return self._read(slice(None))

    def marking(self, terms: frozenset[str]) -> Self:
        """The same hits, in whose titles and snippets these terms are marked, too."""
        query = replace(self.query, also_marked=self.query.also_marked | terms)
        return self._with(query, slice(None), self._same_matches)

    def take(self, rows: slice | Array) -> Self:
        """The hits in these rows, ranked from 1."""
        return self._with(self.query, rows, self._same_matches)

    @property
    def _same_matches(self) -> Matches:
        """The matches of these hits, for others of the same search; what is computed is shared."""
        return Matches(lambda: self.n_matches, lambda: self.matching, self._matches.search_fields)

    def _with(self, query: Query, rows: slice | Array, matches: Matches) -> Self:
        """Other hits of the same search."""
        changed = copy(self)
        for name in ("docnos", "n_matches", "matching", "other_fields"):
            changed.__dict__.pop(name, None)
        changed.query, changed._matches = query, matches
        changed.shards, changed.docs, changed.scores = self.shards[rows], self.docs[rows], self.scores[rows]
        if self.known_docnos is not None:
            known = self.known_docnos
            if isinstance(known, PackedDocnos):
                changed.known_docnos = known[rows]
            else:
                changed.known_docnos = known[rows] if isinstance(rows, slice) else [known[row] for row in rows.tolist()]
        return changed

    def to_dataframe(self, fields: str | Sequence[str] = (), *, polars: bool = False) -> Any:
        """A DataFrame of pandas, or of polars: rank, docno, score, title, and one or several fields."""
        from searchlab.dataframes import make_dataframe

        return make_dataframe(columns_of_hits(self, fields, self._snapshot.field_names), polars=polars)

    def _repr_html_(self) -> str:
        rows = [(hit.rank, Markup(_hit_html(hit)), hit.score) for hit in self[:MAX_ROWS]]
        more = f"… and {len(self) - len(rows):,} more" if len(self) > len(rows) else ""
        caption = f"{len(self):,} {'document' if len(self) == 1 else 'documents'} for “{self.query.text}”"
        return html_block(caption, html_table(("", "document", "score"), rows), note=more)

    @cached_property
    def docnos(self) -> list[str]:
        """The docnos of the hits, without reading the documents."""
        known = self.docno_column
        return known.strings() if isinstance(known, PackedDocnos) else known

    @property
    def docno_column(self) -> PackedDocnos | list[str]:
        """The docnos of the hits; of many, no strings are made."""
        if self.known_docnos is not None:
            return self.known_docnos
        if self.compiled and len(self.docs) >= MIN_COMPILED_DOCNOS:
            packed = self._snapshot.packed_docnos(self.shards, self.docs)
            if packed is not None:
                return packed
        return self._snapshot.docnos_of(self.shards, self.docs)


def _hit_html(hit: Hit) -> str:
    title = marked_html(hit.marked_title.text, hit.marked_title.marks) or "(untitled)"
    docno, snippet = escape(hit.docno), marked_html(hit.snippet.text, hit.snippet.marks)
    page = f", p. {hit.page}" if hit.page else ""
    return f'<b>{title}</b> <span class="sl-soft">{docno}{page}</span><br>{snippet}'


@dataclass(frozen=True)
class Contribution:
    """What a term, a feature or a part of a model adds to a score; `label` names it.

    `raw` is the frequency of the term or the raw value of the feature, None where it is undefined. `query_count` is the
    count or weight of the term in the query, None for features. `meaning` describes the normalised value of a feature,
    and `how` the computation of the amount, a text for each part of the model that was involved.
    """

    label: str
    amount: float
    raw: float | None = None
    query_count: float | None = None
    meaning: str = ""
    how: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The contribution as JSON values."""
        return asdict(self) | {"how": list(self.how)}


@dataclass(frozen=True)
class Explanation:
    """A document's score, and the parts that add up to it, the largest first.

    `found` is whether the query finds the document: one that does not match the query may still contain words of it.
    It is None if only the score was asked for, without a search.
    """

    docno: str
    score: float
    parts: tuple[Contribution, ...]
    found: bool | None = None

    def _repr_html_(self) -> str:
        shown = list(self.parts[:MAX_ROWS])
        if len(self.parts) > len(shown):
            others = self.score - sum(part.amount for part in shown)
            shown.append(Contribution(f"{len(self.parts) - len(shown):,} others", others))
        ends = [0.0]
        for part in shown:
            ends.append(ends[-1] + part.amount)
        scale = min(ends), max(ends)
        rows: list[tuple[Cell, ...]] = [
            (part.label, part.raw, part.amount, html_bar(start, end, *scale))
            for part, start, end in zip(shown, ends, ends[1:], strict=False)
        ]
        rows.append((Markup("<b>score</b>"), None, self.score, html_bar(0.0, self.score, *scale)))
        return html_block(f"Score of {self.docno}", html_table(("", "value", "adds", "sum"), rows))

    def to_json(self) -> dict[str, Any]:
        """The explanation as JSON values, the same on the command line and in the JSON API."""
        return {
            "docno": self.docno,
            "score": self.score,
            "found": self.found,
            "parts": [part.to_json() for part in self.parts],
        }
