"""Recognition of binary documents by their content; the suffix decides only where the content leaves it open.

Office files, OpenDocument and EPUB are zip files. Which of them one is, the names and the type at its beginning say.
"""

from __future__ import annotations

import re

from searchlab.corpus.source_files import OpenedFile

# The suffixes of each kind of document.
SUFFIXES = {
    "pdf": (".pdf",),
    "docx": (".docx", ".docm", ".dotx"),
    "odt": (".odt", ".ott", ".odp"),
    "rtf": (".rtf",),
    "epub": (".epub",),
    "pptx": (".pptx", ".pptm", ".ppsx"),
    "xlsx": (".xlsx", ".xlsm"),
    "eml": (".eml",),
}
KINDS = {suffix: kind for kind, suffixes in SUFFIXES.items() for suffix in suffixes}
ZIP_MAGIC = "PK\x03\x04"
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PDF_MAGIC, MAX_PDF_OFFSET = "%PDF-", 1024
# Kinds of binary files that are not read.
OTHER_MAGICS = {
    OLE_MAGIC: "an Office file of before 2007, or an encrypted one; save it as .docx, .xlsx or .pptx",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive; archives that are read are .zip, .tar and .tar.gz",
    b"Rar!": "a RAR archive; archives that are read are .zip, .tar and .tar.gz",
    b"BZh": "compressed by bzip2; only gzip is read",
    b"\xfd7zXZ": "compressed by xz; only gzip is read",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; only gzip is read",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"SQLite format 3": "a database of SQLite",
}
OFFICE_FOLDERS = {b"word/": "docx", b"xl/": "xlsx", b"ppt/": "pptx"}
OTHER_PACKAGE = "other package"

# The header of an entry: its name follows 26 bytes after the signature.
_ENTRY = re.compile(rb"PK\x03\x04.{22}(.)(.)..", re.DOTALL)
_MIMETYPES = {
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.presentation": "odt",
    b"application/vnd.oasis.opendocument": OTHER_PACKAGE,
}
_MAIL_HEAD = re.compile(r"(?:[A-Za-z][A-Za-z0-9-]{0,60}:[^\n]*\n(?:[ \t][^\n]*\n)*){2}")
_TRANSPORT = re.compile(r"(?:Return-Path|Received|Delivered-To|MIME-Version|Message-ID|X-[A-Za-z-]+): ?", re.IGNORECASE)
_SENDER = re.compile(r"^From: ?\S", re.IGNORECASE | re.MULTILINE)
_MBOX = re.compile(r"From \S{1,300}[^\n]{0,200}[0-9]{4}[^\n]{0,20}\n>?[A-Za-z][A-Za-z0-9-]*:")


def recognise(opened: OpenedFile) -> str | None:
    """The kind of a binary document, None if a file is none."""
    # The text is at hand; the bytes would have to be copied for each file.
    head = opened.head
    if head.startswith(PDF_MAGIC) or (PDF_MAGIC in head[:MAX_PDF_OFFSET] and opened.suffix == ".pdf"):
        return "pdf"
    if head.startswith("{\\rtf"):
        return "rtf"
    if head.startswith(ZIP_MAGIC):
        return package_kind(opened.head_bytes, opened.suffix)
    if _MBOX.match(opened.head):
        return "mbox"
    return "eml" if _is_mail(opened) else None


def package_kind(head: bytes, suffix: str) -> str | None:
    """The kind of document that a zip file is, by its beginning; None if it is an archive."""
    names = _entry_names(head)
    if b"mimetype" in names[:1]:
        start = head.index(b"mimetype") + len(b"mimetype")
        for mimetype, kind in _MIMETYPES.items():
            if head.startswith(mimetype, start):
                return kind
    for folder, kind in OFFICE_FOLDERS.items():
        if any(name.startswith(folder) for name in names) and b"[Content_Types].xml" in names:
            return kind
    if suffix in KINDS:
        return KINDS[suffix]
    return OTHER_PACKAGE if b"[Content_Types].xml" in names[:1] else None


def explain_binary(opened: OpenedFile) -> str | None:
    """What a binary file is that cannot be read, if that is known."""
    head = opened.head_bytes
    if recognise(opened) == OTHER_PACKAGE:
        return "an Office or OpenDocument file of a kind that is not read"
    known = next((reason for magic, reason in OTHER_MAGICS.items() if head.startswith(magic)), None)
    if known is None and opened.suffix in KINDS and "\0" in opened.head:
        return f"not a {KINDS[opened.suffix].upper()} file, in spite of its suffix"
    return known


def _entry_names(head: bytes) -> list[bytes]:
    """The names of the entries whose headers are at the beginning of a zip file."""
    names = []
    for entry in _ENTRY.finditer(head):
        length = entry[1][0] + 256 * entry[2][0]
        names.append(head[entry.end() : entry.end() + length])
    return names


def _is_mail(opened: OpenedFile) -> bool:
    if not _MAIL_HEAD.match(opened.head) or not _SENDER.search(opened.head.split("\n\n", 1)[0]):
        return False
    return opened.suffix in SUFFIXES["eml"] or _TRANSPORT.match(opened.head) is not None
