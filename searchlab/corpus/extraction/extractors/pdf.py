"""PDF, by pypdfium2: the text of each page, title, author and date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from searchlab.corpus.extraction.extracted import (
    ExtractionFailed,
    Message,
    NoText,
    TextCollector,
    document,
    split_title,
    tidy_text,
    unread,
)

# Titles that programs write when the author gave none.
_NO_TITLE = re.compile(
    r"untitled.*|microsoft (word|powerpoint|excel) - .*|.*\.(docx?|pptx?|xlsx?|odt|rtf|tex|dvi|indd|qxd|pdf|p65|ps)"
    r"|(document|presentation|slide) ?[0-9]*|title|\W*",
    re.IGNORECASE | re.DOTALL,
)
# A hyphen that ends a line within a word.
_SOFT_HYPHEN = re.compile("[\ufffe\x02\xad]\\s*")
_PASSWORD = "password"


def extract_pdf(stream: BinaryIO, max_length: int) -> Iterator[Message]:
    """The document of a PDF file; its pages are numbered."""
    try:
        import pypdfium2 as pdfium
    except ImportError:
        raise ExtractionFailed("PDF needs pypdfium2: pip install 'searchlab[documents]'") from None
    try:
        pdf = pdfium.PdfDocument(stream)
    except pdfium.PdfiumError as error:
        raise ExtractionFailed(_reason(str(error))) from None
    n_pages = len(pdf)
    facts: dict[str, str] = pdf.get_metadata_dict()
    pages, n_damaged = _read_pages(pdf, pdfium.PdfiumError, max_length)
    if not any(map(str.strip, pages)):
        if n_damaged:
            raise ExtractionFailed(f"damaged, {n_damaged:,} of {n_pages:,} pages cannot be read")
        scanned = f"{n_pages:,} page{'s' * (n_pages != 1)} without text"
        raise NoText(f"{scanned}, scanned or drawn; a program for text recognition (OCR) can add it")
    title = facts.get("Title", "").strip()
    if _NO_TITLE.fullmatch(title):
        title, pages[0] = split_title(tidy_text(pages[0]))
    authors = re.split(r"\s*;\s*|\s+and\s+", facts.get("Author", ""))
    keywords = re.split(r"\s*[;,]\s*", facts.get("Keywords", ""))
    yield document(
        title,
        pages,
        authors=authors,
        keywords=keywords,
        date=facts.get("CreationDate", ""),
        fields={"n_pages": n_pages},
    )
    if n_damaged:
        yield unread("pages", f"damaged, {n_damaged:,} of {n_pages:,} pages cannot be read")


def _read_pages(pdf: Any, damaged: type[Exception], max_length: int) -> tuple[list[str], int]:
    """The texts of the pages, and the number of those that cannot be read."""
    text = TextCollector(max_length)
    pages, n_damaged = [], 0
    for number in range(len(pdf)):
        try:
            page = pdf[number]
            text_page = page.get_textpage()
            text.add(text_page.get_text_range())
            text_page.close()
            page.close()
        except damaged:
            n_damaged += 1
        pages.append(_SOFT_HYPHEN.sub("", text.take()))
    return pages, n_damaged


def _reason(message: str) -> str:
    if _PASSWORD in message.lower():
        return "encrypted, it can be read only with a password"
    return f"damaged PDF file ({message.rstrip('.').rpartition(': ')[2].rstrip(')')})"
