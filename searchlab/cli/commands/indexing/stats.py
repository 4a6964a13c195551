"""`searchlab stats`: what an index holds."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict
from typing import Annotated

import typer

from searchlab.cli.app import app
from searchlab.cli.options import IndexOption, JsonOption, choose_index
from searchlab.cli.printing.index_printing import describe_languages, print_statistics
from searchlab.cli.printing.terminal_text import megabytes, print_line
from searchlab.evaluation.number_text import format_count


@app.command("stats")
def stats_command(
    index: IndexOption = None,
    top: Annotated[int, typer.Option("--top", metavar="N", help="Number of the most frequent terms to print")] = 10,
    stream: Annotated[
        str, typer.Option("--stream", metavar="title|body|both|ngrams", help="The stream of the most frequent terms")
    ] = "both",
    as_json: JsonOption = False,
) -> None:
    """Print what an index holds.

    Documents, tokens, terms and lengths of each stream, fields, shards, and the most frequent terms.
    """
    from searchlab.indexing.snapshot import Snapshot
    from searchlab.indexing.statistics import index_statistics
    from searchlab.rankers.model_store.default_ranker import read_default_ranker

    folder = choose_index(index)
    with closing(Snapshot(folder)) as snapshot:
        statistics = index_statistics(snapshot, top=top, stream=stream)
        manifest, languages = snapshot.manifest, snapshot.languages
    if as_json:
        about = {"index": str(folder), "generation": manifest.generation, "written": manifest.written}
        about |= {"sources": list(manifest.sources), "stemmer": manifest.settings.stemmer}
        about |= {"stop_list": manifest.settings.stop_list, "ngrams": manifest.settings.ngrams}
        about |= {
            "analyzer": manifest.settings.analyzer,
            "language": manifest.settings.language,
            "languages": languages,
        }
        print(json.dumps(about | asdict(statistics), ensure_ascii=False, indent=2))
        return
    print_line(f"{folder}: {format_count(statistics.n_docs, 'document')}, {megabytes(statistics.n_bytes)}")
    ngrams = f", n-grams of {manifest.settings.ngrams}" if manifest.settings.ngrams else ""
    print_line(f"  language {manifest.settings.language}{describe_languages(languages)}")
    print_line(f"  {manifest.settings.label}{ngrams}")
    default = read_default_ranker(folder)
    if default is not None:
        print_line(f"  default ranker {default.system}")
    for source in manifest.sources:
        print_line(f"  source {source}")
    print_statistics(statistics, stream)
