"""The endpoint that exports the results of a query to a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from searchlab.corpus.export.export_formats import EXPORT_FORMATS
from searchlab.retrieval.near_duplicates import examined_depth
from searchlab.web.api.endpoint import Attachment
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.search.search import check_query
from searchlab.web.http_errors import HttpError
from searchlab.web.state.request_state import RequestState

# The characters of an answer: whole texts of books would fill the memory of the server.
MAX_LENGTH = 32_000_000
MAX_SELECTED = 1000
MEDIA_TYPES = tuple(dict.fromkeys(each.media_type for each in EXPORT_FORMATS.values()))

FORMAT = Parameter("format", "string", "the format of the file", choices=tuple(EXPORT_FORMATS))
SELECTED = Parameter(
    "docno", "strings", "docnos of the results to export; by default all", default=(), max_items=MAX_SELECTED
)
N_EXPORTED = Parameter(
    "k", "integer", "number of documents, by default as many as there are pages for", default=None, minimum=1
)


def export_results(
    state: RequestState,
    *,
    q: str,
    system: str,
    filter: list[str],
    k: int | None,
    format: str,
    sort: str = "",
    docno: Sequence[str] = (),
    group_duplicates: bool = False,
) -> str:
    """The best documents for a query, or those selected among them, as the text of a file.

    Of near-duplicates only the best is exported if they are grouped, unless another one is selected.
    """
    most = state.limits.max_rank
    if k is not None and k > most:
        raise HttpError(400, f"k is {k}, expected at most {most:,}")
    query = check_query(q, state.limits)
    wanted = k or most
    depth = examined_depth(wanted) if group_duplicates else wanted
    hits = state.index.system(system).search(query, k=depth, filters=filter, sort=sort or None)
    if group_duplicates and not docno:
        hits = hits.take(np.array([group.row for group in hits.group_duplicates(wanted)], np.int64))
    if docno:
        rows = {found: row for row, found in enumerate(hits.docnos)}
        unknown = [each for each in docno if each not in rows]
        if unknown:
            raise HttpError(400, f"docno is {unknown[0][:200]!r}, expected a docno among the results")
        hits = hits.take(np.array(sorted({rows[each] for each in docno}), np.int64))
    pieces: list[str] = []
    length = 0
    for piece in hits.exported(format):
        length += len(piece)
        if length > MAX_LENGTH:
            raise HttpError(400, f"the documents have more than {MAX_LENGTH:,} characters, expected a smaller k")
        pieces.append(piece)
    return "".join(pieces)


def results_file(values: Mapping[str, Any]) -> Attachment:
    """The name and type of the file that a browser saves."""
    return Attachment(f"results.{values['format']}", EXPORT_FORMATS[values["format"]].media_type)
