"""Mail (.eml): the text of a message, its subject, sender, recipients and date. Attachments are named, not read."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header
from email.message import Message as Mail
from email.utils import getaddresses, parsedate_to_datetime
from typing import BinaryIO

from searchlab.corpus.encodings import decode_windows_1252
from searchlab.corpus.extraction.extracted import Message, TextCollector, document, too_long, unread
from searchlab.corpus.formats.html import read_page
from searchlab.corpus.text_cleaning import on_one_line

# A message may have pictures and other attachments beside its text.
MAX_BYTES_PER_CHARACTER = 4
MAX_ADDRESSES = 1000
MAX_HEADER_LENGTH = 100_000


def extract_eml(stream: BinaryIO, max_length: int) -> Iterator[Message]:
    """The document of a message, and its attachments as parts that are not read."""
    limit = MAX_BYTES_PER_CHARACTER * max_length
    written = stream.read(limit + 1)
    if len(written) > limit:
        raise too_long()
    mail = message_from_bytes(written)
    texts = {"text/plain": TextCollector(max_length), "text/html": TextCollector(max_length)}
    attachments = []
    for part in mail.walk():
        if part.is_multipart():
            continue
        name = _header(part.get_filename() or "")
        if name or part.get_content_type() not in texts or part.get_content_disposition() == "attachment":
            attachments.append(name or part.get_content_type())
        else:
            texts[part.get_content_type()].add(_text(part) + "\n")
    body = texts["text/plain"].take()
    if not body.strip():
        body = read_page(texts["text/html"].take())[1]
    date = _date(_header(mail["Date"]))
    fields = {
        "sender": _addresses(mail, "From"),
        "recipients": _addresses(mail, "To") + _addresses(mail, "Cc"),
        "date": date,
        "message_id": _header(mail["Message-ID"]),
        "attachments": attachments,
    }
    subject = _header(mail["Subject"])
    yield document(subject, [body], date=date, fields={name: value for name, value in fields.items() if value})
    for name in attachments:
        yield unread(name, "an attachment, which is not read")


def _header(value: object) -> str:
    """A header on one line, with its encoded words decoded."""
    written = str(value or "")[:MAX_HEADER_LENGTH]
    try:
        pieces = [_decode(piece, charset) for piece, charset in decode_header(written)]
    except (MessageError, ValueError):
        pieces = [written]
    return on_one_line("".join(pieces))


def _decode(piece: bytes | str, charset: str | None) -> str:
    if isinstance(piece, str):
        return piece
    try:
        return piece.decode(charset or "utf-8")
    except (UnicodeDecodeError, LookupError):
        return decode_windows_1252(piece)


def _text(part: Mail) -> str:
    content = part.get_payload(decode=True)
    return _decode(content, part.get_content_charset()) if isinstance(content, bytes) else ""


def _addresses(mail: Mail, name: str) -> list[str]:
    headers = [_header(value) for value in mail.get_all(name, [])]
    pairs = getaddresses(headers)[:MAX_ADDRESSES]
    return [
        on_one_line(f"{person} <{address}>" if person else address) for person, address in pairs if person or address
    ]


def _date(written: str) -> str:
    """The date as 2008-05-31, empty if it cannot be understood."""
    try:
        return parsedate_to_datetime(written).date().isoformat()
    except (ValueError, TypeError, OverflowError, IndexError):
        return ""
