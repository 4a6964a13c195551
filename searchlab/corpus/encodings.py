"""Encodings of text files: UTF-16 and UTF-32 are recoded to UTF-8, and single lines are read as Windows-1252.

A byte order mark decides. Without one, a text in UTF-16 is recognised by its zero bytes: in most alphabets every other
byte of blanks, digits and punctuation is zero, always on the same side. Lines that are not UTF-8 are Windows-1252,
which has quotes, dashes and the euro where Latin-1 has control characters, and is Latin-1 everywhere else.
"""

from __future__ import annotations

import codecs
import io
import re
from typing import Any

BLOCK_BYTES = 64 * 1024
# Longer marks first, since that of UTF-32 begins as that of UTF-16.
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
# The least share of characters with a zero byte that makes a text without a mark UTF-16.
MIN_ZERO_SHARE = 0.3

# XML declares its encoding, which recoding changes.
_DECLARED = re.compile(r"\A(\ufeff?<\?xml [^>]{0,100}?encoding=[\"'])[A-Za-z0-9_.-]+")


def wide_encoding(head: bytes) -> str | None:
    """The encoding of a file that begins with `head` if it is UTF-16 or UTF-32, otherwise None."""
    marked = next((encoding for mark, encoding in MARKS.items() if head.startswith(mark)), None)
    if marked is not None or b"\0" not in head:
        return marked
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if min(even, odd) or max(even, odd) < MIN_ZERO_SHARE * len(head) / 2:
        return None
    encoding = "utf-16-le" if odd else "utf-16-be"
    try:
        # A pair of surrogates can be cut at the end of the head.
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return None
    return encoding if text and all(character.isprintable() or character.isspace() for character in text) else None


def decode_windows_1252(data: bytes) -> str:
    """Bytes as Windows-1252; the five bytes that it leaves undefined are control characters, as in Latin-1."""
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in data)


class RecodedStream(io.RawIOBase):
    """A binary stream in another encoding as UTF-8, block by block; what is no character becomes U+FFFD."""

    def __init__(self, stored: io.BufferedReader, encoding: str) -> None:
        super().__init__()
        self._stored = stored
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._waiting = b""
        self._at_start = True

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the beginning of `buffer`; 0 at the end of the stream."""
        while not self._waiting:
            data = self._stored.read1(BLOCK_BYTES)
            text = self._decoder.decode(data, final=not data)
            if self._at_start and text:
                text, self._at_start = _DECLARED.sub(r"\1utf-8", text), False
            self._waiting = text.encode("utf-8", "replace")
            if not data and not self._waiting:
                return 0
        taken, self._waiting = self._waiting[: len(buffer)], self._waiting[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)
