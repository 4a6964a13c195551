"""RTF, by striprtf; title, author and date are taken from the group \\info, which striprtf leaves out."""

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
        text = tidy_text(_join_surrogates(to_text(code, errors="replace")))
    except (ValueError, OverflowError, LookupError, TypeError, AttributeError) as error:
        raise ExtractionFailed(f"damaged RTF file ({error})") from None
    if len(text) > max_length:
        raise too_long()
    info = code[:INFO_LENGTH]
    title, author = (_fact(info, name, to_text) for name in ("title", "author"))
    if not title:
        title, text = split_title(text)
    created = _CREATED.search(info)
    yield document(title, [text], authors=author.split(";"), date=created[1] if created else "")


def _fact(info: str, name: str, to_text: Callable[..., str]) -> str:
    found = re.search(rf"\{{\\{name} ([^{{}}]*)\}}", info)
    return to_text(f"{{\\rtf1\\ansi {found[1]}}}", errors="replace").strip() if found else ""


def _join_surrogates(text: str) -> str:
    """A text with whole characters where it has pairs of surrogates, as RTF writes those beyond 65,535."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
