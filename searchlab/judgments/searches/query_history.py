"""Past queries, stored beside the judgments for suggestions while a query is typed."""

from __future__ import annotations

import sqlite3

from searchlab.judgments.input_checks import MAX_TEXT_LENGTH, fold_case

# Older queries are deleted.
MAX_PAST_QUERIES = 10_000


def add_query(connection: sqlite3.Connection, text: str) -> None:
    """Store a query as the latest one, in place of an earlier one that differs only in case and blanks."""
    connection.execute("INSERT OR REPLACE INTO queries (folded, text) VALUES (?, ?)", (fold_case(text), text))
    connection.execute("DELETE FROM queries WHERE id <= (SELECT max(id) FROM queries) - ?", (MAX_PAST_QUERIES,))


def find_queries(connection: sqlite3.Connection, prefix: str, n: int) -> list[str]:
    """The latest n queries that start with a prefix, ignoring case and blanks."""
    folded = fold_case(prefix[:MAX_TEXT_LENGTH])
    rows = connection.execute(
        "SELECT text FROM queries WHERE folded >= ? AND folded < ? ORDER BY id DESC LIMIT ?",
        (folded, f"{folded}\U0010ffff", max(n, 0)),
    ).fetchall()
    return [text for (text,) in rows]
