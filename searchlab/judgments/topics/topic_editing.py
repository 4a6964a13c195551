"""Editing of topics and topic sets in the store: text, criteria, words to highlight, names, deletion, merging."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError
from searchlab.evaluation.number_text import format_count
from searchlab.judgments.input_checks import check_note, check_optional_judge, check_text, check_topic_set, fold_case
from searchlab.judgments.storage.database import Database
from searchlab.judgments.topics.topic_changes import (
    Change,
    Ranges,
    TopicVersion,
    copy_acts,
    find_version,
    find_versions,
    last_ids,
    list_changes,
    record_change,
    redo_change,
    undo_change,
)
from searchlab.judgments.topics.topic_rows import next_qid


class TopicEditor:
    """Changes of topics in a database; each returns the change, by whose id it can be undone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def topic(self, topic_set: str, qid: str) -> TopicVersion | None:
        """A topic with its criteria and words to highlight; None if there is none."""
        with self._database.reading() as connection:
            return None if connection is None else find_version(connection, topic_set, qid)

    def changes(self, n: int = 20) -> list[Change]:
        """The last n changes, the latest first."""
        with self._database.reading() as connection:
            return [] if connection is None else list_changes(connection, n)

    def edit(
        self,
        topic_set: str,
        qid: str,
        *,
        judge: str,
        text: str | None = None,
        criteria: str | None = None,
        highlight: str | None = None,
    ) -> Change:
        """Change the text of a topic, what counts as relevant, or the words to highlight; None leaves it as it is."""
        checks = (("text", text, check_text), ("criteria", criteria, check_note), ("highlight", highlight, check_note))
        new: dict[str, Any] = {name: check(value) for name, value, check in checks if value is not None}

        def change(connection: sqlite3.Connection, now: str) -> Change:
            (old,) = find_versions(connection, topic_set, [qid])
            edited = replace(old, **new)
            if edited.text != old.text:
                what = f"topic {qid} of {topic_set}: {excerpt(old.text)} is {excerpt(edited.text)} now"
            else:
                changed = "criteria" if edited.criteria != old.criteria else "words to highlight"
                what = f"{changed} of topic {qid} of {topic_set}: {excerpt(edited.text)}"
            return _record(connection, "edit", what, judge, now, [edited])

        return self._write(judge, change)

    def delete(self, topic_set: str, qids: Iterable[str] | None, *, judge: str) -> Change:
        """Delete topics of a set, or the whole set, with their judgments."""

        def change(connection: sqlite3.Connection, now: str) -> Change:
            found = _require_some(find_versions(connection, topic_set, qids), topic_set)
            several = f"{format_count(len(found), 'topic')} of {topic_set}"
            what = f"the topic set {topic_set}, {format_count(len(found), 'topic')}" if qids is None else several
            if qids is not None and len(found) == 1:
                what = f"topic {found[0].qid} of {topic_set}: {excerpt(found[0].text)}"
            return _record(
                connection, "delete", f"deleted {what}", judge, now, [replace(each, deleted=True) for each in found]
            )

        return self._write(judge, change)

    def merge(self, topic_set: str, qids: Sequence[str], into: str, *, judge: str) -> Change:
        """Merge topics into one of their set, which gets their judgments where it has none; they are deleted."""

        def change(connection: sqlite3.Connection, now: str) -> Change:
            (target,) = find_versions(connection, topic_set, [into])
            sources = [each for each in find_versions(connection, topic_set, qids) if each.qid != into]
            _require_some(sources, topic_set)
            before = last_ids(connection)
            for source in sources:
                copy_acts(connection, source.topic, target.topic, now)
            what = f"merged {format_count(len(sources), 'topic')} of {topic_set} into {excerpt(target.text)}"
            gone = [replace(each, deleted=True) for each in sources]
            return _record(connection, "merge", what, judge, now, gone, before)

        return self._write(judge, change)

    def rename_set(self, topic_set: str, new_name: str, *, judge: str) -> Change:
        """Give a topic set another name; into a set that exists, its topics are merged.

        Topics of the same text are merged into one; others get a new qid if theirs is taken.
        """
        check_topic_set(new_name)

        def change(connection: sqlite3.Connection, now: str) -> Change:
            moved = _require_some(find_versions(connection, topic_set), topic_set)
            if new_name == topic_set:
                raise SettingError(f"the topic set is called {excerpt(new_name)} already, expected another name")
            existing = find_versions(connection, new_name)
            by_text = {fold_case(each.text): each for each in existing}
            taken, own = {each.qid for each in existing}, {each.qid for each in moved}
            before, versions = last_ids(connection), []
            for version in moved:
                same = by_text.get(fold_case(version.text))
                if same is not None:
                    copy_acts(connection, version.topic, same.topic, now)
                    versions.append(replace(version, deleted=True))
                    continue
                qid = version.qid if version.qid not in taken else next_qid(connection, new_name, taken | own)
                taken.add(qid)
                versions.append(replace(version, topic_set=new_name, qid=qid))
            verb = f"merged the topic set {topic_set} into" if existing else f"renamed the topic set {topic_set}:"
            kind = "merge" if existing else "rename"
            return _record(connection, kind, f"{verb} {new_name}", judge, now, versions, before)

        return self._write(judge, change)

    def undo(self, id: int, *, judge: str) -> Change:
        """Undo a change by its id; an error if it was undone, or if what it changed was changed again since."""
        return self._write(judge, lambda connection, now: undo_change(connection, id, judge, now))

    def redo(self, id: int, *, judge: str) -> Change:
        """Make a change again that was undone, by its id; an error if what it changed was changed or judged since."""
        return self._write(judge, lambda connection, now: redo_change(connection, id, judge, now))

    def _write(self, judge: str, change: Callable[[sqlite3.Connection, str], Change]) -> Change:
        check_optional_judge(judge)
        with self._database.writing() as connection:
            return change(connection, datetime.now(UTC).isoformat(timespec="seconds"))


def _record(
    connection: sqlite3.Connection,
    kind: str,
    what: str,
    judge: str,
    now: str,
    versions: Sequence[TopicVersion],
    before: Ranges | None = None,
) -> Change:
    id = record_change(connection, kind, what, judge, now, versions, before)
    return Change(id, kind, what, judge, now, False)


def _require_some(found: list[TopicVersion], topic_set: str) -> list[TopicVersion]:
    if not found:
        raise SettingError(f"nothing to change in the topic set {excerpt(topic_set)}, expected a topic")
    return found
