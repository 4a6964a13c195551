"""Files with trouble: damaged, hostile, encrypted, of other kinds, with bad records. Each is made by a function."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile

from benchmarks.folder_files import documents as files

MEGABYTE = 2**20
CONTENT_TYPES = {"[Content_Types].xml": "<Types/>"}
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def zip_bomb(part: str, size: int, parts: dict[str, str]) -> bytes:
    """A zip file with a part of `size` blanks in an XML element."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name, content)
        with package.open(part, "w") as target:
            target.write(b"<a>")
            for _ in range(size // MEGABYTE):
                target.write(b" " * MEGABYTE)
            target.write(b"</a>")
    return written.getvalue()


def tar_file(entries: dict[str, bytes], links: tuple[str, ...] = (), format: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar file of files, and of links to /etc/passwd."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=format) as archive:
        for name, content in entries.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        for name in links:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(entry)
    return written.getvalue()


def encrypted_entry() -> bytes:
    """A zip file with two entries, of which the first is said to be encrypted."""
    content = bytearray(files.zipped({"secret.txt": "x", "open.txt": "Open text"}))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def damaged_entry() -> bytes:
    """A zip file with two entries, of which the first does not have its checksum."""
    content = bytearray(files.zipped({"bad.txt": "Some text", "good.txt": "Good text"}))
    content[30 + len("bad.txt") + 2] ^= 0xFF
    return bytes(content)


def nested_archives(depth: int) -> bytes:
    """Zip files within each other."""
    content = files.zipped({"deep.txt": "Deep text"})
    for _ in range(depth):
        content = files.zipped({"inner.zip": content})
    return content


def encrypted_epub() -> bytes:
    """A book with a chapter that is listed as encrypted."""
    book = files.epub(["<p>x</p>"])
    listed = '<encryption><CipherReference URI="book/text/c%200.xhtml"/></encryption>'
    with zipfile.ZipFile(io.BytesIO(book)) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    return files.zipped(parts | {"META-INF/encryption.xml": listed.encode()}, stored=["mimetype"])


def make_troubles() -> dict[str, tuple[str, bytes]]:
    """The suffix and the content of a file for each kind of trouble."""
    loop = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 9 /Kids [2 0 R 2 0 R] >>"]
    odt_type = {"mimetype": "application/vnd.oasis.opendocument.text"}
    entity = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    nested_parts = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(2000))
    table = {"S": [["title"], ["Good row"]]}
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    return {
        "empty": (".txt", b""),
        "blank": (".txt", b" \n\n"),
        "binary": (".bin", bytes(range(256))),
        "picture": (".png", b"\x89PNG\r\n\x1a\n" + bytes(50)),
        "other archive": (".7z", b"7z\xbc\xaf\x27\x1c" + bytes(50)),
        "unknown suffix": (".xyz", b"some words"),
        "encrypted pdf": (".pdf", files.encrypted_pdf()),
        "scanned pdf": (".pdf", files.scanned_pdf(3)),
        "truncated pdf": (".pdf", files.pdf([["Some text"]] * 5)[:700]),
        "pdf without objects": (".pdf", b"%PDF-1.4\nnothing"),
        "pdf in a loop": (".pdf", files.pdf_of_objects(loop, "/Root 1 0 R")),
        "nested pdf objects": (".pdf", files.pdf_of_objects(["[" * 100_000 + "]" * 100_000], "/Root 1 0 R")),
        "page that is no pdf": (".pdf", b"<!doctype html><title>Moved</title><p>This is a page."),
        "truncated docx": (".docx", files.docx(["Some text"] * 50)[:300]),
        "docx bomb": (".docx", zip_bomb("word/document.xml", 520 * MEGABYTE, CONTENT_TYPES)),
        "docx with entities": (".docx", files.zipped(CONTENT_TYPES | {"word/document.xml": entity})),
        "docx without text": (".docx", files.docx([" "])),
        "docx without its part": (".docx", files.zipped(CONTENT_TYPES | {"word/styles.xml": "<a/>"})),
        "docx with broken xml": (".docx", files.docx(["x"], body="<w:p>")),
        "docx that is text": (".docx", b"only words"),
        "old doc": (".doc", OLE),
        "encrypted docx": (".docx", OLE),
        "encrypted odt": (
            ".odt",
            files.zipped(odt_type | {"META-INF/manifest.xml": "<encryption-data/>"}, ["mimetype"]),
        ),
        "odt without content": (".odt", files.zipped(odt_type, ["mimetype"])),
        "encrypted book": (".epub", encrypted_epub()),
        "book without a list": (".epub", files.zipped({"mimetype": "application/epub+zip"}, ["mimetype"])),
        "workbook that is no table": (".xlsx", files.xlsx({"S": [[1], [7]]})),
        "far cell": (".xlsx", files.xlsx(table, rows=far)),
        "missing string": (".xlsx", files.xlsx(table, rows='<row r="3"><c t="s"><v>99</v></c></row>')),
        "rtf with a huge number": (".rtf", b"{\\rtf1 \\u" + b"9" * 5000 + b"? x}"),
        "mail of nested parts": (".eml", b"From: a\n" + nested_parts),
        "mbox with an empty message": (".mbox", files.mbox([files.eml("A", "x"), b"\n", files.eml("B", "y")])),
        "truncated zip": (".zip", files.zipped({"a.txt": "Some text", "b.txt": "Other text"})[:80]),
        "encrypted entry": (".zip", encrypted_entry()),
        "damaged entry": (".zip", damaged_entry()),
        "zip bomb": (".zip", zip_bomb("bomb.txt", 300 * MEGABYTE, {"a.txt": "Some text"})),
        "nested archives": (".zip", nested_archives(6)),
        "links in tar": (".tar", tar_file({"a.txt": b"Some text"}, ("link",))),
        "truncated tar.gz": (
            ".tar.gz",
            gzip.compress(tar_file({"a.txt": b"x y", "b.txt": bytes(range(32, 127)) * 99}))[:150],
        ),
        "damaged gzip": (".txt.gz", b"\x1f\x8b damaged"),
        "bad lines": (".jsonl", b'{"text": "no docno"}\nwords\n'),
        "table without a text": (".csv", b"id,number\n1,2\n"),
        "ragged table": (".csv", b"Title,Abstract\nGood,row\nToo,many,values\nFew\n"),
        "quote without an end": (".csv", b'Title,Abstract\nGood,row\nx,"open\n'),
        "latin-1": (".txt", "Größe\n und mehr Text".encode("latin-1")),
        "utf-16": (".txt", "Größe\nund mehr Text".encode("utf-16")),
        "record without an end": (".ris", b"TY  - JOUR\nTI  - Good\nER  - \nTY  - JOUR\nTI  - Open\n"),
    }
