"""Document digests: 128 bits over everything that is stored of a document.

An index stores the digest of each document: so an unchanged document is recognised without reading its stored text.
"""

from __future__ import annotations

import json
from hashlib import blake2b

from searchlab.records import Document

DIGEST_BYTES = 16


def digest(document: Document) -> bytes:
    """Sixteen bytes that differ for documents that differ in docno, title, body or fields."""
    fields = json.dumps(document.fields, sort_keys=True, default=str) if document.fields else ""
    docno, title = document.docno.encode("utf-8", "surrogatepass"), document.title.encode("utf-8", "surrogatepass")
    body, others = document.body.encode("utf-8", "surrogatepass"), fields.encode("utf-8", "surrogatepass")
    # The lengths come first, so that "ab" and "c" differ from "a" and "bc".
    head = b"%d,%d,%d,%d" % (len(docno), len(title), len(body), len(others))
    return blake2b(b"\0".join((head, docno, title, body, others)), digest_size=DIGEST_BYTES).digest()
