"""The endpoint that exports the results of a query to a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from searchlab.corpus.export.export_formats import EXPORT_FORMATS
from searchlab.web.api.endpoint import Attachment
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.search import check_query
from searchlab.web.http_errors import HttpError
from searchlab.web.state.request_state import RequestState

# The characters of an answer: whole texts of books would fill the memory of the server.
MAX_LENGTH = 32_000_000

FORMAT = Parameter("format", "string", "the format of the file", choices=tuple(EXPORT_FORMATS))
N_EXPORTED = Parameter(
    "k", "integer", "number of documents, by default as many as there are pages for", default=None, minimum=1
)


def export_results(state: RequestState, *, q: str, system: str, filter: list[str], k: int | None, format: str) -> str:
    """The best documents for a query, as the text of a file."""
    most = state.limits.max_rank
    if k is not None and k > most:
        raise HttpError(400, f"k is {k}, expected at most {most:,}")
    hits = state.index.system(system).search(check_query(q, state.limits), k=k or most, filters=filter)
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
