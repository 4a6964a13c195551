"""`searchlab indexes`: the indexes that there are."""

from __future__ import annotations

import json

from searchlab.cli.app import app
from searchlab.cli.messages import note, warn
from searchlab.cli.options import JsonOption
from searchlab.cli.printing.terminal_text import local_time, megabytes, print_columns


@app.command("indexes")
def indexes_command(as_json: JsonOption = False) -> None:
    """List the indexes in indexes/, sorted by name.

    Name, documents, shards, size on disk, and when the index was last changed.
    """
    from searchlab.indexing.index_names import INDEXES_FOLDER, list_indexes

    found = list_indexes()
    if as_json:
        records = [
            {
                "name": index.name,
                "folder": str(index.folder),
                "n_docs": index.n_docs,
                "n_shards": index.n_shards,
                "n_bytes": index.n_bytes,
                "written": index.written,
            }
            for index in found
        ]
        print(json.dumps(records, ensure_ascii=False, indent=2))
    elif found:
        rows = [["index", "documents", "shards", "size", "changed"]]
        for index in found:
            sizes = [f"{index.n_docs:,}", f"{index.n_shards:,}", megabytes(index.n_bytes)]
            rows.append([index.name, *sizes, local_time(index.written)])
        print_columns(rows)
    else:
        note(f"no index in {INDEXES_FOLDER}/: `searchlab index SOURCE` makes one")
    for index in found:
        if index.problem:
            warn(index.problem)
