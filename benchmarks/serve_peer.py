"""What would a search server be without searchlab? tantivy behind a minimal Starlette application, in one process.

    python benchmarks/serve_peer.py INDEX PORT

No pages, no guard, no models: a search gives the ten best documents with title and tantivy's snippet of the body,
in the shape in which searchlab gives them, and documents as tantivy stored them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import tantivy
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def make_app(folder: Path) -> Starlette:
    index = tantivy.Index.open(str(folder))
    searcher = index.searcher()

    def search(request: Request) -> Response:
        query = index.parse_query(request.query_params["q"], ["title", "body"])
        snippets = tantivy.SnippetGenerator.create(searcher, query, index.schema, "body")
        hits = searcher.search(query, limit=int(request.query_params["k"]), count=False).hits
        found = [result(rank, score, searcher.doc(address), snippets) for rank, (score, address) in enumerate(hits, 1)]
        return Response(json.dumps({"results": found}, separators=(",", ":")), media_type="application/json")

    return Starlette(routes=[Route("/api/search", search)])


def result(rank: int, score: float, document: Any, snippets: Any) -> dict[str, Any]:
    snippet = snippets.snippet_from_doc(document)
    return {
        "rank": rank,
        "id": document["docno"][0],
        "score": score,
        "title": document["title"][0],
        "snippet": {"text": snippet.fragment(), "marks": [[own.start, own.end] for own in snippet.highlighted()]},
    }


if __name__ == "__main__":
    uvicorn.run(make_app(Path(sys.argv[1])), port=int(sys.argv[2]), access_log=False, log_level="critical", ws="none")
