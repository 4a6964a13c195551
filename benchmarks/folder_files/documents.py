"""Small files of each kind of binary document, made by hand: zip and XML, and the objects of a PDF file."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OPEN_DOCUMENT = "urn:oasis:names:tc:opendocument:xmlns"
PROLOGUE = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'


def zipped(parts: Mapping[str, str | bytes], stored: Sequence[str] = ()) -> bytes:
    """A zip file of these parts; those in `stored` are not compressed."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            method = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            package.writestr(zipfile.ZipInfo(name), content, method)
    return written.getvalue()


def pdf(
    pages: Sequence[Sequence[str]], *, title: str = "", author: str = "", created: str = "", extra: str = ""
) -> bytes:
    """A PDF file with the lines of each page in Helvetica; `extra` goes into its trailer."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    facts = {"Title": title, "Author": author, "CreationDate": created}
    objects.append("<<" + "".join(f" /{name} ({_pdf_text(fact)})" for name, fact in facts.items() if fact) + " >>")
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    kids = []
    for lines in pages:
        shown = " T* ".join(f"({_pdf_text(line)}) Tj" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 50 800 Td {shown} ET"
        number = len(objects) + 1
        kids.append(f"{number} 0 R")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 850] /Contents {number + 1} 0 R "
            "/Resources << /Font << /F1 4 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    return pdf_of_objects(objects, f"/Root 1 0 R /Info 3 0 R {extra}")


def pdf_of_objects(objects: Sequence[str], trailer: str) -> bytes:
    """A PDF file of numbered objects, with its table of references."""
    written = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(written))
        written += f"{number} 0 obj\n{content}\nendobj\n".encode("cp1252")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer\n<< /Size {len(objects) + 1} {trailer} >>\nstartxref\n{len(written)}\n%%EOF\n"
    return written + (head + tail).encode("cp1252")


def scanned_pdf(n_pages: int = 2) -> bytes:
    """A PDF file whose pages have no text."""
    return pdf([[] for _ in range(n_pages)], title="A scan")


def encrypted_pdf() -> bytes:
    """A PDF file that needs a password."""
    key = "<" + "5a" * 32 + ">"
    lock = f"/Encrypt << /Filter /Standard /V 1 /R 2 /O {key} /U {key} /P -44 >> /ID [<00> <00>]"
    return pdf([["A secret."]], extra=lock)


def docx(
    paragraphs: Sequence[str | tuple[str, str]], *, body: str = "", notes: Sequence[str] = (), **facts: str
) -> bytes:
    """A Word file; a paragraph may be a pair of a style and a text; `body` is XML after the paragraphs."""
    written = "".join(_word_paragraph(paragraph) for paragraph in paragraphs)
    document = f'{PROLOGUE}<w:document xmlns:w="{WORD}"><w:body>{written}{body}</w:body></w:document>'
    parts = _office_parts("word/document.xml", document, facts)
    if notes:
        parts["word/_rels/document.xml.rels"] = _relations([("rId1", "footnotes", "footnotes.xml")])
        inner = "".join(f"<w:footnote>{_word_paragraph(note)}</w:footnote>" for note in notes)
        parts["word/footnotes.xml"] = f'<w:footnotes xmlns:w="{WORD}">{inner}</w:footnotes>'
    return zipped(parts)


def pptx(slides: Sequence[Sequence[str]], **facts: str) -> bytes:
    """A presentation with the paragraphs of each slide."""
    listed = "".join(f'<p:sldId id="{256 + n}" r:id="rId{n}"/>' for n in range(1, len(slides) + 1))
    names = f'xmlns:a="{DRAWING}" xmlns:p="{SLIDES}" xmlns:r="{RELATIONSHIPS}"'
    main = f"{PROLOGUE}<p:presentation {names}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
    parts = _office_parts("ppt/presentation.xml", main, facts)
    numbers = range(1, len(slides) + 1)
    parts["ppt/_rels/presentation.xml.rels"] = _relations(
        [(f"rId{n}", "slide", f"slides/slide{n}.xml") for n in numbers]
    )
    for number, slide in enumerate(slides, start=1):
        text = "".join(f"<a:p><a:r><a:t>{escape(paragraph)}</a:t></a:r></a:p>" for paragraph in slide)
        number_field = f'<a:p><a:fld type="slidenum"><a:t>{number}</a:t></a:fld></a:p>'
        parts[f"ppt/slides/slide{number}.xml"] = f"<p:sld {names}>{text}{number_field}</p:sld>"
    return zipped(parts)


def xlsx(sheets: Mapping[str, Sequence[Sequence[str | float | None]]], *, rows: str = "", styles: str = "") -> bytes:
    """A workbook; texts are shared strings, and None is an empty cell; `rows` is XML after the rows of each sheet."""
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, start=1)
    )
    main = f'{PROLOGUE}<workbook xmlns="{SHEETS}" xmlns:r="{RELATIONSHIPS}"><sheets>{listed}</sheets></workbook>'
    parts = _office_parts("xl/workbook.xml", main, {})
    numbers = range(1, len(sheets) + 1)
    related = [(f"rId{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in numbers]
    related += [("rIdS", "sharedStrings", "sharedStrings.xml"), ("rIdF", "styles", "styles.xml")]
    parts["xl/_rels/workbook.xml.rels"] = _relations(related)
    strings: dict[str, int] = {}
    for number, values in enumerate(sheets.values(), start=1):
        written = "".join(_sheet_row(n, row, strings) for n, row in enumerate(values, start=1))
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{SHEETS}"><sheetData>{written}{rows}</sheetData></worksheet>'
        )
    items = "".join(f"<si><t>{escape(string)}</t></si>" for string in strings)
    parts["xl/sharedStrings.xml"] = f'<sst xmlns="{SHEETS}">{items}</sst>'
    parts["xl/styles.xml"] = f'<styleSheet xmlns="{SHEETS}">{styles}</styleSheet>'
    return zipped(parts)


def odt(paragraphs: Sequence[str | tuple[int, str]], *, kind: str = "text", body: str = "", **facts: str) -> bytes:
    """An OpenDocument file; a heading is a pair of its level and its text; `body` is XML after the paragraphs."""
    written = "".join(_open_paragraph(paragraph) for paragraph in paragraphs)
    spaces = f'xmlns:office="{OPEN_DOCUMENT}:office:1.0" xmlns:text="{OPEN_DOCUMENT}:text:1.0" '
    spaces += f'xmlns:draw="{OPEN_DOCUMENT}:drawing:1.0" xmlns:meta="{OPEN_DOCUMENT}:meta:1.0" '
    spaces += 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    content = f"<office:body><office:{kind}>{written}{body}</office:{kind}></office:body>"
    meta = "".join(
        f"<{name.replace('_', ':', 1).replace('_', '-')}>{escape(fact)}</{name.replace('_', ':', 1).replace('_', '-')}>"
        for name, fact in facts.items()
    )
    parts = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"{PROLOGUE}<office:document-content {spaces}>{content}</office:document-content>",
        "meta.xml": f"{PROLOGUE}<office:document-meta {spaces}>{meta}</office:document-meta>",
    }
    return zipped(parts, stored=["mimetype"])


def epub(chapters: Sequence[str], *, title: str = "", author: str = "", date: str = "") -> bytes:
    """A book whose chapters are HTML."""
    items = "".join(
        f'<item id="c{n}" href="text/c%20{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters))
    )
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    facts = {"title": title, "creator": author, "date": date}
    known = "".join(f"<dc:{name}>{escape(fact)}</dc:{name}>" for name, fact in facts.items() if fact)
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfile full-path="book/content.opf"/></container>',
        "book/content.opf": f'<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>{known}</metadata>'
        f"<manifest>{items}</manifest><spine>{order}</spine></package>",
    }
    for number, chapter in enumerate(chapters):
        parts[f"book/text/c {number}.xhtml"] = (
            f"<html><head><title>{number}</title></head><body>{chapter}</body></html>"
        )
    return zipped(parts, stored=["mimetype"])


def rtf(paragraphs: Sequence[str], *, title: str = "", author: str = "", year: str = "") -> bytes:
    """An RTF file; characters beyond ASCII are written by their numbers."""
    facts = "".join(f"{{\\{name} {_rtf_text(fact)}}}" for name, fact in (("title", title), ("author", author)) if fact)
    facts += f"{{\\creatim\\yr{year}\\mo5\\dy3}}" if year else ""
    text = "".join(f"{_rtf_text(paragraph)}\\par\n" for paragraph in paragraphs)
    return f"{{\\rtf1\\ansi\\ansicpg1252{{\\fonttbl{{\\f0 Arial;}}}}{{\\info{facts}}}\n{text}}}".encode("ascii")


def eml(subject: str, text: str, *, date: str = "Sat, 31 May 2008 10:00:00 +0200", attachment: bytes = b"") -> bytes:
    """A mail message, with an attachment if one is given."""
    head = f"From: Ada Lovelace <ada@example.org>\r\nTo: babbage@example.org\r\nSubject: {subject}\r\nDate: {date}\r\n"
    head += "Message-ID: <1@example.org>\r\nMIME-Version: 1.0\r\n"
    if not attachment:
        return (head + f"Content-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n").encode()
    parts = f"--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n"
    parts += "--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\n"
    return (head + "Content-Type: multipart/mixed; boundary=b\r\n\r\n" + parts).encode() + attachment + b"\r\n--b--\r\n"


def mbox(messages: Sequence[bytes]) -> bytes:
    """Messages in one file."""
    return b"".join(b"From ada@example.org Sat May 31 10:00:00 2008\n" + message + b"\n" for message in messages)


def _office_parts(main: str, content: str, facts: Mapping[str, str]) -> dict[str, str]:
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>',
        "_rels/.rels": _relations([("rId1", "officeDocument", main), ("rId2", "core-properties", "docProps/core.xml")]),
        main: content,
    }
    if facts:
        known = "".join(f"<dc:{name}>{escape(fact)}</dc:{name}>" for name, fact in facts.items())
        parts["docProps/core.xml"] = f'<cp xmlns:dc="http://purl.org/dc/elements/1.1/">{known}</cp>'
    return parts


def _relations(related: Sequence[tuple[str, str, str]]) -> str:
    items = "".join(f'<Relationship Id="{i}" Type="{RELATIONSHIPS}/{kind}" Target="{to}"/>' for i, kind, to in related)
    return f'<Relationships xmlns="{PACKAGE}/relationships">{items}</Relationships>'


def _word_paragraph(paragraph: str | tuple[str, str]) -> str:
    style, text = paragraph if isinstance(paragraph, tuple) else ("", paragraph)
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def _open_paragraph(paragraph: str | tuple[int, str]) -> str:
    if isinstance(paragraph, tuple):
        return f'<text:h text:outline-level="{paragraph[0]}">{escape(paragraph[1])}</text:h>'
    return f"<text:p>{escape(paragraph)}</text:p>"


def _sheet_row(number: int, row: Sequence[str | float | None], strings: dict[str, int]) -> str:
    cells = []
    for column, value in enumerate(row):
        place = f"{_letters(column)}{number}"
        if isinstance(value, str):
            cells.append(f'<c r="{place}" t="s"><v>{strings.setdefault(value, len(strings))}</v></c>')
        elif value is not None:
            cells.append(f'<c r="{place}"><v>{value}</v></c>')
    return f'<row r="{number}">{"".join(cells)}</row>'


def _letters(column: int) -> str:
    return chr(65 + column) if column < 26 else _letters(column // 26 - 1) + chr(65 + column % 26)


def _pdf_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _rtf_text(text: str) -> str:
    return "".join(c if c.isascii() and c not in "\\{}" else _rtf_units(c) for c in text)


def _rtf_units(character: str) -> str:
    """A character by the signed numbers of its units in UTF-16."""
    units = struct.iter_unpack("<h", character.encode("utf-16-le"))
    return "".join(f"\\u{unit}?" for (unit,) in units)
