"""RTF, by striprtf, which leaves out some groups that are read here.

Title, author, keywords and date are in the group \\info. The texts of notes and of boxes come after the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from searchlab.corpus.extraction.extracted import ExtractionFailed, Message, document, split_title, tidy_text, too_long

# What is in the file beside its text: pictures, styles, fonts.
MAX_BYTES_PER_CHARACTER = 8
# The group is at the beginning.
INFO_LENGTH = 64 * 1024

_CREATED = re.compile(r"\\creatim\\yr([0-9]{4})")
_NOTE_OR_BOX = re.compile(r"\{(?:\\\*)?\\(?:footnote|shptxt)(?![a-z])")
_FONTS = re.compile(r"\{\\fonttbl(?![a-z])")
# A brace that is not written as a character of the text.
_BRACE = re.compile(r"\\[{}\\]|([{}])")
_HEAD = re.compile(r"\{\\rtf[^{}]*")


def extract_rtf(stream: BinaryIO, max_length: int) -> Iterator[Message]:
    """The document of an RTF file."""
    try:
        from striprtf.striprtf import rtf_to_text
    except ImportError:
        raise ExtractionFailed("RTF needs striprtf: pip install 'searchlab[documents]'") from None
    to_text: Callable[..., str] = rtf_to_text
    limit = MAX_BYTES_PER_CHARACTER * max_length
    written = stream.read(limit + 1)
    if len(written) > limit:
        raise too_long()
    code = written.decode("cp1252", "replace")
    try:
        text = to_text(code, errors="replace")
        if notes := [f"{{{group}}}" for group in _groups(code, _NOTE_OR_BOX, inside=True)]:
            # They are written with the code page and the fonts of the file.
            head = _HEAD.match(code)
            before = [head[0] if head else "{\\rtf1\\ansi ", *_groups(code[:INFO_LENGTH], _FONTS)]
            text += "\n" + to_text("".join([*before, "\\par ".join(notes), "}"]), errors="replace")
        text = tidy_text(_join_surrogates(text))
    except (ValueError, OverflowError, LookupError, TypeError, AttributeError) as error:
        raise ExtractionFailed(f"damaged RTF file ({error})") from None
    if len(text) > max_length:
        raise too_long()
    info = code[:INFO_LENGTH]
    title, author, keywords = (_fact(info, name, to_text) for name in ("title", "author", "keywords"))
    if not title:
        title, text = split_title(text)
    created = _CREATED.search(info)
    yield document(
        title,
        [text],
        authors=author.split(";"),
        keywords=keywords.replace(",", ";").split(";"),
        date=created[1] if created else "",
    )


def _fact(info: str, name: str, to_text: Callable[..., str]) -> str:
    found = re.search(rf"\{{\\{name} ([^{{}}]*)\}}", info)
    return to_text(f"{{\\rtf1\\ansi {found[1]}}}", errors="replace").strip() if found else ""


def _groups(code: str, beginning: re.Pattern[str], *, inside: bool = False) -> Iterator[str]:
    """The groups that begin so, none of them within another; `inside`, without their braces and the beginning."""
    position = 0
    while found := beginning.search(code, position):
        depth = 1
        for brace in _BRACE.finditer(code, found.start() + 1):
            depth += {"{": 1, "}": -1}.get(brace[1], 0)
            if not depth:
                break
        else:
            return
        yield code[found.end() : brace.start()] if inside else code[found.start() : brace.end()]
        position = brace.end()


def _join_surrogates(text: str) -> str:
    """A text with whole characters where it has pairs of surrogates, as RTF writes those beyond 65,535."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
