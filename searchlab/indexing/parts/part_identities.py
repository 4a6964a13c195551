"""Identities: what must be known of the documents of all parts to find copies and records of one publication.

The rules for duplicates (`indexing/deduplication/`) look at documents one after the other. On a cluster no process sees
all documents. So each part reports the docno of each of its documents, a hash of its content, and the keys of its
publication, and the rules are applied to these, in the order of the parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, islice

from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.indexing.deduplication.duplicates import DUPLICATE_RULES
from searchlab.indexing.deduplication.same_records import find_same_records, hash_keys
from searchlab.records import Document

CONTENT_BYTES = 8

# The docno under which each document of a part is kept; None for one that is left out.
KeptDocnos = list[str | None]


@dataclass
class Identities:
    """The documents of a part in its order: docno, location, a hash of the content, and keys, if there are any."""

    docnos: list[str] = field(default_factory=list)
    locations: list[str] = field(default_factory=list)
    contents: bytearray = field(default_factory=bytearray)
    keys: dict[int, dict[str, int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.docnos)

    def add(self, document: Document) -> None:
        """Add a document."""
        if keys := hash_keys(document):
            self.keys[len(self)] = keys
        self.docnos.append(document.docno)
        self.locations.append(document.location)
        self.contents += hash_content(document)

    def stand_ins(self) -> Iterator[Document]:
        """A document in place of each: the hash of its content is the title, the keys are the fields."""
        for number, (docno, location) in enumerate(zip(self.docnos, self.locations, strict=True)):
            content = self.contents[number * CONTENT_BYTES : (number + 1) * CONTENT_BYTES].hex()
            yield Document(docno, content, "", self.keys.get(number, {}), location)


def hash_content(document: Document) -> bytes:
    """A hash of what a document says, the same in every process; its docno is not part of it."""
    content = repr((document.title, document.body, repr(document.fields)))
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=CONTENT_BYTES).digest()


def keep_documents(
    parts: Sequence[Identities], on_duplicate: str, notes: ReadingNotes, *, deduplicate: bool
) -> list[KeptDocnos]:
    """Apply a rule for duplicates to the documents of all parts, and note what it leaves out or renames."""
    number = -1

    def read() -> Iterator[Document]:
        nonlocal number
        number = -1
        for document in chain.from_iterable(part.stand_ins() for part in parts):
            number += 1
            yield document

    kept: KeptDocnos = [None] * sum(map(len, parts))
    distinct = DUPLICATE_RULES[on_duplicate](read, notes)
    for document in find_same_records(distinct, notes, leave_out=deduplicate, keys_of=lambda each: each.fields):
        # The rules yield a document before they read the next one.
        kept[number] = document.docno
    docnos = iter(kept)
    return [list(islice(docnos, len(part))) for part in parts]
