"""Content of a shard: everything that is written, with documents in docno order and terms in byte order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.indexing.inversion.inversion import TokenStream, combine_streams, invert, unite
from searchlab.indexing.inversion.position_columns import position_columns
from searchlab.indexing.inversion.stream_columns import stream_columns, token_columns
from searchlab.indexing.storage.arrays.array_file import write_arrays
from searchlab.indexing.storage.arrays.string_table import PackedStrings, Strings
from searchlab.indexing.storage.file_sync import sync_tree
from searchlab.indexing.storage.layout import COLUMNS, IN_USE, STORED_DOCUMENTS, WHOOSH
from searchlab.indexing.storage.shard import ShardRecord
from searchlab.indexing.whoosh.segment_writer import write_whoosh
from searchlab.types import Array


@dataclass(frozen=True, eq=False)
class ShardContent:
    """The documents of a shard, analysed.

    `title` and `body` number terms by their rank in `terms`; `words` has for each language the words seen with the rank
    of their term; `fields` and `ngrams` are the columns of other fields and of n-grams, `documents` the arrays of the
    stored documents.
    """

    docnos: PackedStrings
    terms: PackedStrings
    title: TokenStream
    body: TokenStream
    words: Mapping[str, Mapping[str, int]]
    fields: dict[str, Array]
    ngrams: dict[str, Array]
    digests: Array
    documents: dict[str, Array]
    n_words: int

    def write(self, folder: Path, settings: AnalysisSettings) -> ShardRecord:
        """Write the shard into a new folder; the stored documents are then no longer in memory.

        One part after the other, since unpacked postings are what takes most memory.
        """
        # Without parents: the index may have been removed meanwhile.
        folder.mkdir()
        write_arrays(folder / STORED_DOCUMENTS, self.documents)
        self.documents.clear()
        n_docs, n_terms = len(self.docnos.offsets) - 1, len(self.terms.offsets) - 1
        lengths = {"title": self.title.lengths, "body": self.body.lengths}
        inverted = {"title": invert(self.title, n_terms), "body": invert(self.body, n_terms)}
        write_whoosh(folder / WHOOSH, settings, self.docnos, self.terms, inverted, lengths)

        columns = self.docnos.columns("docnos") | self.terms.columns("terms")
        columns |= _word_columns(self.words, mixed=settings.is_mixed)
        columns |= self.fields
        columns["digests"] = self.digests
        # Positions are no longer needed.
        without = {
            name: postings._replace(positions=postings.positions[:0].copy()) for name, postings in inverted.items()
        }
        inverted.clear()
        of_both = stream_columns("both", unite(without["title"], without["body"]), lengths["title"] + lengths["body"])
        for name in lengths:
            columns |= stream_columns(name, without.pop(name), lengths[name])
        columns |= of_both
        both = combine_streams([self.title, self.body], np.arange(n_docs))
        columns |= token_columns("tokens", both, n_terms) | position_columns(both.tokens, of_both["both.counts"])
        write_arrays(folder / COLUMNS, columns | self.ngrams)
        (folder / IN_USE).touch()
        return ShardRecord(folder.name, n_docs, self.n_words, sync_tree(folder))


def _word_columns(words: Mapping[str, Mapping[str, int]], *, mixed: bool) -> dict[str, Array]:
    """All words with their terms; of several languages, each word with its language."""
    languages = sorted(words)
    if len(languages) == 1 and not mixed:
        terms = words[languages[0]]
        known = sorted(terms)
        return Strings.pack("words", known) | {"words.terms": np.array([*map(terms.__getitem__, known)], np.int32)}
    rows = sorted((word, place) for place, name in enumerate(languages) for word in words[name])
    columns = Strings.pack("words", (word for word, _ in rows))
    columns["words.terms"] = np.array([words[languages[place]][word] for word, place in rows], np.int32)
    if mixed:
        columns |= Strings.pack("languages", languages)
        columns["words.languages"] = np.array([place for _, place in rows], np.int32)
    return columns
