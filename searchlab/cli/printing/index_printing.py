"""Printed summaries of indexes: what a change did, and what an index holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from searchlab.cli.messages import warn
from searchlab.cli.printing.terminal_text import megabytes, print_line
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.indexing.building.build_summary import BuildSummary
    from searchlab.indexing.statistics import IndexStatistics


def print_build_summary(summary: BuildSummary) -> None:
    """Print what was changed, how long it took, and what the index now holds; also warnings, on standard error."""
    changes = {
        "added": summary.n_added,
        "updated": summary.n_updated,
        "unchanged": summary.n_unchanged,
        "removed": summary.n_removed,
        f"duplicate{'s' * (summary.n_duplicates != 1)} left out": summary.n_duplicates,
    }
    if summary.n_added == summary.n_docs:
        del changes["added"]
    changed = ", ".join(f"{n:,} {what}" for what, n in changes.items() if n)
    print_line(f"{summary.folder}: {format_count(summary.n_docs, 'document')}{f' ({changed})' if changed else ''}")
    rate = (summary.n_added + summary.n_updated) / summary.seconds
    speed = f" ({rate:,.0f} documents/s)" if rate >= 1 else ""
    print(f"  {summary.seconds:.1f} s{speed}, {format_count(summary.n_tokens, 'token')}")
    deleted = f", with {format_count(summary.n_deleted, 'deleted document')}" if summary.n_deleted else ""
    print(f"  {megabytes(summary.n_bytes)} in {format_count(summary.n_shards, 'shard')}{deleted}")
    if found := describe_languages(summary.languages):
        print_line(f"  languages{found}")
    for warning in summary.warnings:
        warn(warning)


def describe_languages(languages: Mapping[str, int]) -> str:
    """The languages of an index with the number of documents in each; nothing if there is only one."""
    counts = ", ".join(f"{name} {n_docs:,}" for name, n_docs in languages.items())
    return f": {counts}" if len(languages) > 1 else ""


def print_statistics(statistics: IndexStatistics, stream: str) -> None:
    """Print tables of the streams, the fields, the most frequent terms of a stream, and the shards."""
    print("\nstream   documents       tokens       terms  mean length   longest")
    for name, counts in statistics.streams.items():
        sizes = f"{counts.n_docs:>9,} {counts.n_tokens:>12,} {counts.n_terms:>11,}"
        print_line(f"{name:8} {sizes} {counts.mean_length:>12,.1f} {counts.longest:>9,}")
    if statistics.fields:
        print("\nfield                 documents")
        for name, n_docs in statistics.fields.items():
            print_line(f"{name:20.40} {n_docs:>10,}")
    if statistics.frequent:
        print(f"\nmost frequent in {stream:8}  documents  occurrences")
        for term in statistics.frequent:
            print_line(f"{term.term:24.40} {term.doc_freq:>11,} {term.term_count:>12,}")
    print("\nshard                    live    deleted         words         size")
    for shard in statistics.shards:
        size = megabytes(shard.n_bytes)
        print_line(f"{shard.name:20} {shard.n_live:>8,} {shard.n_deleted:>10,} {shard.n_words:>13,} {size:>12}")
