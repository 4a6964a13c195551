"""When has a document changed?

When its digest has: 128 bits over everything that is kept of it. An index remembers the digest of each
document, so that one which comes again unchanged is recognised without a look at the stored text.
"""

from __future__ import annotations

import json
from hashlib import blake2b

from searchlab.records import Document

DIGEST_BYTES = 16


def digest(document: Document) -> bytes:
    """Sixteen bytes that differ for documents that differ in docno, title, body or fields."""
    fields = json.dumps(document.fields, sort_keys=True, default=str) if document.fields else ""
    parts = [part.encode("utf-8", "surrogatepass") for part in (document.docno, document.title, document.body, fields)]
    # The lengths stand first: "ab" and "c" are not "a" and "bc".
    head = ",".join(str(len(part)) for part in parts).encode()
    return blake2b(b"\0".join([head, *parts]), digest_size=DIGEST_BYTES).digest()
