"""Query analysis: from the text of a query, or its syntax tree, to the terms that score.

Words and phrases are analysed as the documents were. Words that no document has are reported as unknown, and add
nothing to scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial

from searchlab.analysis.analyzer import Analyzer
from searchlab.errors import name_some, unknown_name
from searchlab.indexing.storage.columns import NGRAMS
from searchlab.records import PHRASE_SEPARATOR, QueryTerm, TermStats
from searchlab.retrieval.query.identifiers import find_identified
from searchlab.retrieval.query.synonyms import Synonyms, SynonymTable, Terms
from searchlab.retrieval.query.syntax_tree import (
    DOCNO,
    Fuzzy,
    Leaf,
    Node,
    Or,
    Phrase,
    QuerySyntaxError,
    Range,
    Wildcard,
    Word,
    format_tree,
    leaves,
    looks_plain,
    positive_leaves,
    read_one_phrase,
)
from searchlab.retrieval.query.term_patterns import MAX_VARIANTS, TermPatterns
from searchlab.retrieval.results import Query
from searchlab.retrieval.suggest.spelling import correct_spelling
from searchlab.scorers.execution.collection_statistics import Variants
from searchlab.scorers.execution.index_reader import IndexReader

# How the text of a query is read: as words only, or as a query with phrases, operators and fields.
SYNTAXES = ("plain", "full")


class QueryAnalyzer:
    """Analyses queries for one index."""

    def __init__(self, reader: IndexReader, synonyms: Synonyms | None = None) -> None:
        self._reader = reader
        self._synonyms = None if synonyms is None else SynonymTable(synonyms, reader.snapshot.analyzer)
        # Whether a word may stand for several terms.
        self._has_classes = synonyms is not None or reader.snapshot.manifest.settings.is_mixed
        self._snapshot = reader.snapshot
        self._suggest = partial(correct_spelling, reader.snapshot)
        self.patterns = TermPatterns(reader.snapshot)

    @property
    def has_synonyms(self) -> bool:
        """Whether words stand for their synonyms, too."""
        return self._synonyms is not None

    @cached_property
    def fields(self) -> frozenset[str]:
        """The fields that a query can name."""
        return frozenset({"title", "body", DOCNO, *self._snapshot.field_names})

    def parse(self, text: str, stream: str, syntax: str) -> Query:
        """The query of a text; one with a syntax error is read as plain words, with a remark."""
        if syntax not in SYNTAXES:
            raise unknown_name("query syntax", syntax, SYNTAXES)
        if syntax == "plain":
            return self._parse_words(text, stream)
        if (identified := self._parse_identifier(text, stream)) is not None:
            return identified
        if looks_plain(text):
            return self._parse_words(text, stream)
        if (phrase := read_one_phrase(text)) is not None:
            return self.interpret(phrase, stream, text)
        from searchlab.retrieval.query.parser import parse

        try:
            node = parse(text, self.fields, self._snapshot.numeric_fields)
        except QuerySyntaxError as error:
            return self._parse_words(text, stream, (f"{error.reason}: searched for the plain words",))
        return self.interpret(node, stream, text)

    def _parse_identifier(self, text: str, stream: str) -> Query | None:
        """The query for the documents that a text identifies; None if it is not an identifier.

        A text of a single word that occurs in documents is not, even if a document is named by it.
        """
        kind, docnos = find_identified(self._snapshot, text)
        if not docnos:
            return None
        if text.strip().isalnum() and (words := self._parse_words(text, stream)).terms:
            named = f"{text.strip()} is also the {kind} of {name_some(docnos)}: docno:{docnos[0]} finds it"
            return replace(words, remarks=(named,))
        named_leaves = tuple(Word(docno, DOCNO) for docno in docnos)
        node = named_leaves[0] if len(named_leaves) == 1 else Or(named_leaves)
        understood = f"{text.strip()} is a {kind}: searched for the document that has it, not for words"
        return Query(text, (), (), node, () if ":" in text.strip().split("/")[0] else (understood,))

    def interpret(self, node: Node, stream: str, text: str | None = None) -> Query:
        """The query of a syntax tree; `text` is how it was written."""
        terms, unknown = self._find_terms(node, stream)
        remarks = self._remarks(node, stream)
        written = format_tree(node) if text is None else text
        return Query(written, terms, unknown, node, remarks, self._suggestions_for(stream, written))

    def _parse_words(self, text: str, stream: str, remarks: tuple[str, ...] = ()) -> Query:
        if self._has_classes and stream != NGRAMS:
            return self._parse_classes(text, stream, remarks)
        known, unknown = [], set()
        for term, count in Counter(self._snapshot.analyzer_of(stream).terms(text)).items():
            stats = self._snapshot.term_stats(stream, term)
            if stats.doc_freq:
                known.append(QueryTerm(term, count, stats, stream, (term,)))
            else:
                unknown.add(term)
        words = self._words_of(unknown, text, stream) if unknown else ()
        return Query(text, tuple(known), words, None, remarks, self._suggestions_for(stream, text))

    def _parse_classes(self, text: str, stream: str, remarks: tuple[str, ...]) -> Query:
        """The query of words that may stand for several terms."""
        counts: Counter[tuple[str, Variants]] = Counter()
        unknown: dict[str, None] = {}
        for written, name, forms in self._words(text, stream):
            if forms:
                counts[name, forms] += 1
            else:
                unknown[written] = None
        known = (
            QueryTerm(name, count, self._reader.term_stats(stream, forms), stream, forms)
            for (name, forms), count in counts.items()
        )
        return Query(text, tuple(known), tuple(unknown), None, remarks, self._suggestions_for(stream, text))

    def _words(self, text: str, stream: str) -> Iterator[tuple[str, str, Variants]]:
        """Each word of a text: as written, the name of its class, and those of its forms that documents have."""
        words = self._snapshot.analyzer_of(stream).word_classes(text)
        for start, end, forms in words:
            occurring = tuple(form for form in forms if self._reader.term_stats(stream, (form,)).doc_freq)
            name = occurring[0] if occurring else forms[0]
            synonyms = () if self._synonyms is None or stream == NGRAMS else self._synonyms.of_forms(forms)
            if len(synonyms) > len(forms):
                yield text[start:end], *self._synonym_class(name, synonyms, len(forms), stream)
            else:
                yield text[start:end], name, occurring
        if self._synonyms is not None and stream != NGRAMS:
            for start, end, synonyms in self._synonyms.find_phrases(words):
                name, variants = self._synonym_class(" ".join(synonyms[0]), synonyms, 1, stream)
                if variants:  # if not, the words themselves tell what is unknown
                    yield text[start:end], name, variants

    def _synonym_class(self, name: str, terms: tuple[Terms, ...], n_written: int, stream: str) -> tuple[str, Variants]:
        """The name of a class of a word and its synonyms, which follow what was written, and its variants."""
        others = ", ".join(" ".join(each) for each in terms[n_written:])
        variants = tuple(PHRASE_SEPARATOR.join(each) for each in terms)
        return f"{name} = {others}", variants if self._reader.term_stats(stream, variants).doc_freq else ()

    def phrases(self, text: str, stream: str) -> list[Terms]:
        """The terms of a word or phrase, in each way in which documents may have it, synonyms included."""
        written = [tuple(terms) for terms in self._snapshot.analyzer_of(stream).phrases(text)]
        if self._synonyms is None or stream == NGRAMS:
            return written
        return list(dict.fromkeys(each for terms in written for each in self._synonyms.of_terms(terms)))

    def _suggestions_for(self, stream: str, text: str) -> Callable[[str], str | None] | None:
        """What finds the nearest known word of an unknown one; n-grams are not corrected.

        In an index of several languages it is a word of the language that the other words of the query are in.
        """
        analyzer = self._snapshot.analyzer
        if stream == NGRAMS or isinstance(analyzer, Analyzer):
            return None if stream == NGRAMS else self._suggest
        return lambda unknown: correct_spelling(self._snapshot, unknown, analyzer.likely_languages(text))

    def _words_of(self, terms: set[str], text: str, stream: str) -> tuple[str, ...]:
        """The words of a text that were analysed into these terms, as they are written there."""
        spans = self._snapshot.analyzer_of(stream).spans(text)
        return tuple(dict.fromkeys(text[span.start : span.end] for span in spans if span.term in terms))

    def _find_terms(self, node: Node, stream: str) -> tuple[tuple[QueryTerm, ...], tuple[str, ...]]:
        """The terms of a tree that score, in the order of their first occurrence, and its unknown words."""
        counts: dict[tuple[str, Variants], float] = {}
        names: dict[tuple[str, Variants], tuple[str, TermStats]] = {}
        unknown: dict[str, None] = {}
        for leaf, boost in positive_leaves(node):
            field = leaf.field or stream
            for written, name, variants in self._scoring_words(leaf, field):
                key = field, variants
                stats = self._reader.term_stats(field, variants) if variants else None
                if stats is None or not stats.doc_freq:
                    unknown[f"{leaf.field}:{written}" if leaf.field else written] = None
                    continue
                counts[key] = counts.get(key, 0.0) + boost
                names.setdefault(key, (name, stats))
        terms = (QueryTerm(names[key][0], count, names[key][1], *key) for key, count in counts.items())
        return tuple(terms), tuple(unknown)

    def _scoring_words(self, leaf: Leaf, field: str) -> Iterator[tuple[str, str, Variants]]:
        """Each word of a leaf that scores: as written, its name, and the terms that it matches."""
        if field == DOCNO or isinstance(leaf, Range):
            return
        if isinstance(leaf, Word | Phrase):
            yield from self._words(leaf.text, field)
            return
        name = format_tree(replace(leaf, field=None))
        yield name, name, self.patterns.expand(leaf, field).terms

    def _remarks(self, node: Node, stream: str) -> tuple[str, ...]:
        """What a user should know about the patterns of a tree."""
        remarks: dict[str, None] = {}
        for leaf in leaves(node):
            field = leaf.field or stream
            if isinstance(leaf, Wildcard | Fuzzy) and field != DOCNO:
                n_matching = self.patterns.expand(leaf, field).n_matching
                if n_matching > MAX_VARIANTS:
                    counted = f"the {MAX_VARIANTS:,} most frequent count"
                    remarks[f"{format_tree(leaf)} matches {n_matching:,} words: {counted}"] = None
        return tuple(remarks)
