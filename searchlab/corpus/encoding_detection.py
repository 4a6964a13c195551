"""The encoding of a file that is neither UTF-8 nor UTF-16 or UTF-32, from its beginning.

A declaration in XML or HTML decides, and the escapes of ISO-2022-JP. Otherwise, if letters beyond ASCII are few, the
text is in a Latin alphabet and is left to Windows-1252: which of the Latin code pages it is cannot be told reliably. If
most letters are beyond ASCII, charset-normalizer compares the encodings of other scripts. What it finds is a guess, and
is reported as one. A text that is too short is not guessed at all.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

# Encodings of scripts other than Latin, one of each that read the same text alike.
GUESSED_ENCODINGS = (
    *("cp1251", "koi8_r", "koi8_u", "cp866", "iso8859_5", "cp1253", "cp1255", "cp1256", "cp874"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949"),
)
# Encodings that a file may declare. Others are not text, or may hide it (UTF-7).
DECLARED_ENCODINGS = frozenset(
    {codecs.lookup(name).name for name in (*GUESSED_ENCODINGS, "shift_jis", "gbk", "gb2312", "euc_kr", "iso2022_jp")}
    | {codecs.lookup(f"cp125{number}").name for number in range(9)}
    | {codecs.lookup(f"iso8859_{number}").name for number in range(1, 17) if number != 12}
)
# Bytes beyond ASCII from which a guess is made; a line of Cyrillic has more.
MIN_BYTES = 24
# The share of bytes beyond ASCII among these and ASCII letters, above which a text is in no Latin alphabet: French has
# an eighth, Czech a fifth; Japanese and Chinese with some Latin words have more than two thirds.
MIN_SHARE = 0.4
MAX_DECLARATION_BYTES = 4096
MAX_SAMPLE_BYTES = 16 * 1024
# Two guesses are equally good if their measures of disorder differ by less.
MAX_DIFFERENCE = 0.02

_XML = re.compile(rb"\A\s*<\?xml [^>]{0,100}?encoding=[\"']([A-Za-z0-9_.-]{1,40})")
_HTML = re.compile(rb"<meta\s[^>]{0,100}?charset=[\"']?([A-Za-z0-9_.-]{1,40})", re.IGNORECASE)
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_JAPANESE_ESCAPE = re.compile(rb"\x1b\$[@B]")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_LETTERS = re.compile(rb"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class DetectedEncoding:
    """An encoding, whether it is a guess, and other encodings that would be as good."""

    name: str
    is_guess: bool = False
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        label = self.name.upper().replace("_", "-")
        if not self.is_guess:
            return label
        others = ", ".join(other.upper().replace("_", "-") for other in self.others)
        return f"{label}, a guess" + (f" ({others} is as likely)" if others else "")


def detect_encoding(head: bytes) -> DetectedEncoding | None:
    """The encoding of a file that begins with `head`; None if it is read as UTF-8 and Windows-1252 by lines."""
    if _CONTROLS.search(head):
        return None
    is_utf8 = _is_utf8(head)
    # A page in UTF-8 may have kept the declaration of its template; XML is parsed by what it declares.
    declared = _declared(_XML, head)
    if declared is None and not (is_utf8 and _BEYOND_ASCII.search(head)):
        declared = _declared(_HTML, head)
    if declared is not None:
        return DetectedEncoding(declared)
    if is_utf8:
        return DetectedEncoding("iso2022_jp") if _JAPANESE_ESCAPE.search(head) else None
    return _guess(_sample(head))


def _is_utf8(data: bytes) -> bool:
    try:
        # A character can be cut at the end.
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def _declared(declaration: re.Pattern[bytes], head: bytes) -> str | None:
    found = declaration.search(head[:MAX_DECLARATION_BYTES])
    if found is None:
        return None
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
    except LookupError:
        return None
    return name if name in DECLARED_ENCODINGS else None


def _sample(head: bytes) -> bytes:
    """The lines that are not UTF-8; none if others have characters of UTF-8, since then single lines are foreign."""
    lines = head.splitlines(keepends=True)
    # The last line may be cut within a character.
    whole = lines[:-1] if len(lines) > 1 else lines
    foreign: list[bytes] = []
    length = 0
    for line in whole:
        if _is_utf8(line):
            if _BEYOND_ASCII.search(line):
                return b""
        elif not foreign or length + len(line) <= MAX_SAMPLE_BYTES:
            foreign.append(line)
            length += len(line)
    sample = b"".join(foreign)
    # A long line is cut after a sign that is no part of a character in any of the encodings.
    return sample if length <= MAX_SAMPLE_BYTES else sample[: sample.rfind(b" ", 0, MAX_SAMPLE_BYTES) + 1]


def _guess(sample: bytes) -> DetectedEncoding | None:
    n_beyond, n_letters = len(_BEYOND_ASCII.findall(sample)), len(_LETTERS.findall(sample))
    if n_beyond < MIN_BYTES or n_beyond < MIN_SHARE * (n_beyond + n_letters):
        return None
    from charset_normalizer import from_bytes

    found = list(from_bytes(sample, cp_isolation=list(GUESSED_ENCODINGS), preemptive_behaviour=False))
    if not found:
        return None
    best = found[0]
    # Some texts are the same in two encodings.
    others = [
        match.encoding for match in found[1:] if match.chaos - best.chaos < MAX_DIFFERENCE and str(match) != str(best)
    ]
    return DetectedEncoding(best.encoding, is_guess=True, others=tuple(others))
