"""Identifiers as queries: a DOI, a PMID or a docno that is the whole query finds the documents that have it.

A DOI may be written with its address or its prefix, `https://doi.org/10.1000/182` or `doi:10.1000/182`, in the query
and in documents; its case does not matter. A docno is compared as written.
"""

from __future__ import annotations

import re

from searchlab.indexing.snapshot import Snapshot

# The fields whose values identify a document.
IDENTIFIER_FIELDS = ("doi", "pmid", "pmcid")
# More documents with one identifier are not identified by it.
MAX_DOCUMENTS = 100
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*|doi\s+)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_DOI_FORMS = ("{}", "doi:{}", "doi: {}", "https://doi.org/{}", "http://doi.org/{}", "http://dx.doi.org/{}")
_LABELLED = re.compile(r"(pmid|pmcid)(?:\s*:\s*|\s+)(\w+)", re.IGNORECASE)


def find_identified(snapshot: Snapshot, text: str) -> tuple[str, list[str]]:
    """What a text identifies documents by (DOI, PMID, docno, …), and their docnos; "" and [] if it identifies none."""
    written = text.strip()
    labelled, doi = _LABELLED.fullmatch(written), _DOI.fullmatch(written)
    if not written or (labelled is None and doi is None and len(written.split()) > 1):
        return "", []
    bare = labelled[2] if labelled else doi[1] if doi else written
    if docnos := _with_docno(snapshot, bare):
        return "docno", docnos
    for field in IDENTIFIER_FIELDS:
        values = [written]
        if labelled is not None:
            values = [labelled[2]] if field == labelled[1].lower() else []
        elif field == "doi":
            values = [form.format(doi[1]) for form in _DOI_FORMS] if doi is not None else []
        if docnos := _with_values(snapshot, field, values):
            return field.upper(), docnos
    return "", []


def _with_docno(snapshot: Snapshot, docno: str) -> list[str]:
    numbers = [(shard, shard.columns.docnos.find(docno)) for shard in snapshot.shards]
    return [docno] if any(number >= 0 and (s.live is None or s.live[number]) for s, number in numbers) else []


def _with_values(snapshot: Snapshot, field: str, values: list[str]) -> list[str]:
    """The docnos of the live documents that have one of these values in a field."""
    found: list[str] = []
    for shard in snapshot.shards:
        for value in values:
            docs = shard.columns.fields.with_value(field, value)
            live = docs if shard.live is None else docs[shard.live[docs]]
            found += shard.columns.docnos.take(live[: MAX_DOCUMENTS + 1].astype("int64"))
    return found if len(found) <= MAX_DOCUMENTS else []
