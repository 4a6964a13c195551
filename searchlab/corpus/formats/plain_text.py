"""Plain text documents, one a file.

The docno is the path below the source folder (the bare name if the file itself was named), with `_` for each blank,
because a docno has no blanks. A first line of at most 200 characters with text after it is the title.
"""

from __future__ import annotations

from collections.abc import Iterator

from searchlab.corpus.parsing.identifiers import path_docno
from searchlab.corpus.source_files import OpenedFile
from searchlab.records import Document

MAX_TITLE_LENGTH = 200
TEXT_SUFFIXES = frozenset({"", ".txt", ".text"})


def is_text(opened: OpenedFile) -> bool:
    """Whether the suffix is that of a text file and there is no NUL byte."""
    return opened.suffix in TEXT_SUFFIXES and "\0" not in opened.head


def read_text_document(opened: OpenedFile) -> Iterator[Document]:
    """The document of the file; none if the file is blank."""
    text = "\n".join(opened.whole()).strip()
    if text:
        title, body = _split_title(text)
        yield Document(path_docno(opened.file.relative), title, body, location=opened.name)


def _split_title(text: str) -> tuple[str, str]:
    first, _, rest = text.partition("\n")
    if rest and len(first.rstrip()) <= MAX_TITLE_LENGTH:
        return first.rstrip(), rest.strip("\n")
    return "", text
