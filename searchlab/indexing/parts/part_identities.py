"""Identities: what must be known of the documents of all parts to find copies and records of one publication.

The rules for duplicates (`indexing/deduplication/`) look at documents one after the other. On a cluster no process sees
all documents. So each part reports the docno of each of its documents, a hash of its content, and the keys of its
publication, and the rules are applied to these, in the order of the parts (`kept_documents.py`).
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from zstandard import ZstdCompressor, ZstdDecompressor

from searchlab.indexing.deduplication.same_records import hash_keys
from searchlab.records import Document
from searchlab.types import Array

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

    def pack(self) -> PackedIdentities:
        """The same for another process."""
        docnos = b"".join(_hash_docno(docno) for docno in self.docnos)
        plain = pickle.dumps((self.docnos, self.locations, self.contents), pickle.HIGHEST_PROTOCOL)
        return PackedIdentities(np.frombuffer(docnos, np.int64), ZstdCompressor(level=1).compress(plain), self.keys)


@dataclass(frozen=True, eq=False)
class PackedIdentities:
    """The identities of a part: hashes that differ for docnos that differ in practice, `keys` of publications.

    `packed` has what else tells documents apart; it is unpacked only if some may be the same.
    """

    hashes: Array
    packed: bytes
    keys: dict[int, dict[str, int]]

    def __len__(self) -> int:
        return len(self.hashes)

    def unpack(self) -> Identities:
        """The identities of the part."""
        docnos, locations, contents = pickle.loads(ZstdDecompressor().decompress(self.packed))
        return Identities(docnos, locations, contents, self.keys)


def _hash_docno(docno: str) -> bytes:
    return blake2b(docno.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def hash_content(document: Document) -> bytes:
    """A hash of what a document says, the same in every process; its docno is not part of it."""
    content = repr((document.title, document.body, repr(document.fields)))
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=CONTENT_BYTES).digest()
