"""Printed notes of a reading: what was skipped, repaired or left out, and the account of all that was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from searchlab.cli.messages import MAX_NAMES, detail, is_verbose, note, warn, warn_of_encodings
from searchlab.corpus.reading_notes import COPY, DUPLICATE, HIDDEN, NEW_DOCNO
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.corpus import ReadingNotes


def print_notes(notes: ReadingNotes) -> None:
    """Name the files that were skipped and the records that could not be read."""
    unreadable_first = sorted(notes.skipped, key=lambda skipped: not skipped.is_unreadable)
    shown = unreadable_first if is_verbose() else unreadable_first[:MAX_NAMES]
    for skipped in shown:
        (warn if skipped.is_unreadable else note)(f"skipped {skipped.path}: {skipped.reason}")
    if len(notes.skipped) > len(shown):
        note(f"skipped {format_count(len(notes.skipped) - len(shown), 'more file')}; --report lists them all")
    for error in notes.bad_records if is_verbose() else notes.bad_records[:MAX_NAMES]:
        warn(f"bad record {error}")
    if notes.n_bad:
        warn(f"{format_count(notes.n_bad, 'bad record')} left out; --strict stops at the first")
    for event in notes.renamed if is_verbose() else notes.renamed[:MAX_NAMES]:
        warn(f"{event.location}: {event.message}")
    if n_renamed := notes.n_events[NEW_DOCNO]:
        warn(f"{format_count(n_renamed, 'document')} kept under another docno, because two had the same")
    for event in notes.left_out:
        detail(f"{event.kind} {event.location}: {event.message}")
    if n_same := notes.n_events[DUPLICATE]:
        note(f"{format_count(n_same, 'record')} of a publication that an earlier record has too; --report lists them")
    warn_of_encodings(notes)
    _note_account(notes)


def _note_account(notes: ReadingNotes) -> None:
    """If anything was left out, count all that was found."""
    n_copies, n_hidden = notes.n_events[COPY], notes.n_events[HIDDEN]
    if not notes.skipped and not notes.n_bad and not n_copies and not n_hidden:
        return
    n_unread = sum(path.is_unreadable for path in notes.skipped)
    files = {"read": notes.n_files, "skipped": len(notes.skipped) - n_unread, "not readable": n_unread}
    files["hidden"] = n_hidden
    records = {"documents": notes.n_documents - n_copies, "bad": notes.n_bad, "copies": n_copies}
    parts = (", ".join(f"{n:,} {what}" for what, n in counts.items() if n) for counts in (files, records))
    note(f"found: files {'; records '.join(parts)}")
