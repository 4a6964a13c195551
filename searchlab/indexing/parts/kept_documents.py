"""Which documents of all parts are kept, and under which docnos: the rules for duplicates over their identities.

Nearly always all docnos differ and no document has the keys of a publication. Then hashes show it, and the client of a
cluster looks at no document: it would be the only one that does, while all workers wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.indexing.deduplication.duplicates import DUPLICATE_RULES
from searchlab.indexing.deduplication.same_records import find_same_records
from searchlab.indexing.parts.part_identities import CONTENT_BYTES, Identities, KeptDocnos, PackedIdentities
from searchlab.indexing.parts.part_rules import KnownHashes
from searchlab.records import Document


def find_changed(
    parts: Sequence[PackedIdentities], on_duplicate: str, notes: ReadingNotes, *, deduplicate: bool
) -> dict[int, KeptDocnos]:
    """Apply a rule for duplicates to the documents of all parts, and note what it leaves out or renames.

    Returns the docnos of the parts, by their numbers, in which it does.
    """
    if _are_distinct(parts):
        return {}
    identities = [part.unpack() for part in parts]
    kept = _keep_documents(identities, on_duplicate, notes, deduplicate=deduplicate)
    return {number: docnos for number, docnos in enumerate(kept) if docnos != identities[number].docnos}


def _are_distinct(parts: Sequence[PackedIdentities]) -> bool:
    known = KnownHashes()
    return not any(part.keys for part in parts) and all(known.add(part.hashes) for part in parts)


def _keep_documents(
    parts: Sequence[Identities], on_duplicate: str, notes: ReadingNotes, *, deduplicate: bool
) -> list[KeptDocnos]:
    number = -1

    def read() -> Iterator[Document]:
        nonlocal number
        number = -1
        for part in parts:
            for document in _stand_ins(part):
                number += 1
                yield document

    kept: KeptDocnos = [None] * sum(map(len, parts))
    distinct = DUPLICATE_RULES[on_duplicate](read, notes)
    for document in find_same_records(distinct, notes, leave_out=deduplicate, keys_of=lambda each: each.fields):
        # The rules yield a document before they read the next one.
        kept[number] = document.docno
    docnos = iter(kept)
    return [list(islice(docnos, len(part))) for part in parts]


def _stand_ins(part: Identities) -> Iterator[Document]:
    """A document in place of each: the hash of its content is the title, the keys are the fields."""
    for number, (docno, location) in enumerate(zip(part.docnos, part.locations, strict=True)):
        content = part.contents[number * CONTENT_BYTES : (number + 1) * CONTENT_BYTES].hex()
        yield Document(docno, content, "", part.keys.get(number, {}), location)
