"""Judgments as values: what a judge said, what is to be stored, and what an undo or an import changed."""

from __future__ import annotations

from dataclasses import dataclass, field

from searchlab.judgments.input_checks import check_docno, check_grade, check_note


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judge's judgment of a document; the grade is None if it was withdrawn. `when` is a time in UTC."""

    topic_set: str
    qid: str
    docno: str
    judge: str
    grade: int | None
    note: str
    when: str


@dataclass(frozen=True, slots=True)
class GradedDocument:
    """A document with the grade to give it: None withdraws the judgment. The note None keeps the note."""

    docno: str
    grade: int | None
    note: str | None = None

    def checked(self) -> GradedDocument:
        """The same; an error if something of it cannot be stored."""
        grade = None if self.grade is None else check_grade(self.grade)
        return GradedDocument(check_docno(self.docno), grade, None if self.note is None else check_note(self.note))


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What one undo or redo changed: a judgment, or all those that were made together, the last of them last.

    `what` says in words what several were, such as `12 judgments for 'heat' of wings`; of one it is empty.
    """

    judgments: tuple[Judgment, ...]
    what: str = ""

    @property
    def last(self) -> Judgment:
        """The judgment that was made last."""
        return self.judgments[-1]


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """The numbers of topics added and of judgments added or changed; `…_same` existed before.

    `change` is the id by which the import can be undone; None if it added nothing.
    """

    n_topics: int
    n_judgments: int
    n_topics_same: int
    n_judgments_same: int
    change: int | None = field(default=None, compare=False)
