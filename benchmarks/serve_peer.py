"""A minimal search server to compare with: tantivy behind a Starlette application, in one process.

    python benchmarks/serve_peer.py INDEX PORT

Without pages, security and models: a search returns the ten best documents with their titles and tantivy's snippets of
their bodies, in the same JSON as searchlab.
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
        records = [
            hit_record(rank, score, searcher.doc(address), snippets) for rank, (score, address) in enumerate(hits, 1)
        ]
        return Response(json.dumps({"hits": records}, separators=(",", ":")), media_type="application/json")

    return Starlette(routes=[Route("/api/search", search)])


def hit_record(rank: int, score: float, document: Any, snippets: Any) -> dict[str, Any]:
    snippet = snippets.snippet_from_doc(document)
    return {
        "rank": rank,
        "score": score,
        "docno": document["docno"][0],
        "title": document["title"][0],
        "snippet": snippet.fragment(),
        "marks": {"snippet": [[mark.start, mark.end] for mark in snippet.highlighted()]},
    }


if __name__ == "__main__":
    uvicorn.run(make_app(Path(sys.argv[1])), port=int(sys.argv[2]), access_log=False, log_level="critical", ws="none")
