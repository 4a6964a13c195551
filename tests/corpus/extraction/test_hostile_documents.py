"""Hostile documents cost bounded time and memory, and are named."""

import random
import struct
import time

import pytest

from benchmarks.folder_files import documents as files
from benchmarks.folder_files.troubles import CONTENT_TYPES, MEGABYTE, zip_bomb
from searchlab.corpus.extraction.extracted import DOCUMENT, FAILED, NO_TEXT, ROWS, SHEET, Message
from searchlab.corpus.extraction.formats import EXTRACTED_FORMATS
from searchlab.corpus.extraction.pool import ExtractionPool, Payload
from searchlab.corpus.extraction.worker import find_extractor

LIMIT = 10**6


@pytest.fixture(scope="module")
def pool():
    made = ExtractionPool(2)
    yield made
    made.close()


def outcome(pool, kind: str, content: bytes) -> Message:
    """The last message of a document."""
    return list(pool.extract(Payload(kind, "", content, LIMIT)))[-1]


ENTITIES = '<!DOCTYPE a [<!ENTITY b "cc"><!ENTITY d "&b;&b;">]><a>&d;</a>'
EXTERNAL = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'
NESTED = "<a>" * 100_000 + "</a>" * 100_000
PAGE_LOOP = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Count 100000 /Kids [2 0 R 2 0 R 2 0 R] >>",
]
HOSTILE = {
    "blanks": (
        "docx",
        zip_bomb("word/document.xml", 600 * MEGABYTE, CONTENT_TYPES),
        FAILED,
        "unpacks to more than 512 MB",
    ),
    "entities": ("docx", files.zipped(CONTENT_TYPES | {"word/document.xml": ENTITIES}), FAILED, "declares an entity"),
    "external entity": ("odt", files.zipped({"content.xml": EXTERNAL}), FAILED, "content.xml declares an entity"),
    "nested XML": ("docx", files.docx(["Cats"], body=NESTED), DOCUMENT, ""),
    "nested groups": ("rtf", b"{\\rtf1" + b"{" * 100_000 + b"Cats", DOCUMENT, ""),
    "pages that are their own parents": ("pdf", files.pdf_of_objects(PAGE_LOOP, "/Root 1 0 R"), None, ""),
    "nested objects": ("pdf", files.pdf_of_objects(["[" * 100_000 + "]" * 100_000], "/Root 1 0 R"), FAILED, "damaged"),
    "far cell": (
        "xlsx",
        files.xlsx({"S": [["title"], ["T"]]}, rows='<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
        ROWS,
        "",
    ),
    "cell without a column": (
        "xlsx",
        files.xlsx({"S": []}, rows='<row r="1"><c r="ZZZZ1"><v>1</v></c></row>'),
        ROWS,
        "",
    ),
    "huge row number": ("xlsx", files.xlsx({"S": []}, rows=f'<row r="{"9" * 5000}"/>'), SHEET, ""),
    "missing string": ("xlsx", files.xlsx({"S": []}, rows='<row><c t="s"><v>7</v></c></row>'), FAILED, "a string that"),
    "rtf numbers": ("rtf", b"{\\rtf1 \\u" + b"9" * 5000 + b"? x}", FAILED, "damaged RTF file"),
    "nested parts": (
        "eml",
        b"From: a\n"
        + b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(3000)),
        None,
        "",
    ),
    "many parts": (
        "eml",
        b"From: a\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 50_000,
        DOCUMENT,
        "",
    ),
    "encoded words": ("eml", b"From: a\nSubject: " + b"=?utf-8?q?" * 20_000 + b"\n\nx", DOCUMENT, ""),
    "unclosed tags": ("epub", files.epub(["<a<b" * 100_000]), None, ""),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_ends_soon_and_is_named(pool, name):
    kind, content, expected, reason = HOSTILE[name]
    assert len(content) < 3 * MEGABYTE
    start = time.process_time()
    message = outcome(pool, kind, content)
    assert message[0] in ([expected] if expected else [DOCUMENT, FAILED, NO_TEXT])
    assert expected != FAILED or reason in message[1]
    # The parent does nothing but wait; the process itself is limited, as test_pool shows.
    assert time.process_time() - start < 5
    assert outcome(pool, "rtf", files.rtf(["Cats", "x"]))[0] == DOCUMENT


def test_a_directory_that_claims_too_much_is_refused(pool):
    # The end of a zip file says that its directory has 1 GB; the file is made long enough to be plausible.
    content = bytearray(files.zipped({"a": "x"}))
    end = content.rfind(b"PK\x05\x06")
    content[end + 12 : end + 16] = struct.pack("<L", 1 << 30)
    assert outcome(pool, "docx", bytes(content))[0] == FAILED
    entries = files.zipped({f"{number:0250d}": "" for number in range(60_000)})
    message = outcome(pool, "docx", entries)
    assert message == [FAILED, "damaged zip file (a directory of more than 16 MB)"]


SEEDS = {
    "pdf": files.pdf([["Cats and dogs"], ["More"]], title="T"),
    "docx": files.docx(["Cats"], notes=["x"], title="T"),
    "odt": files.odt([(1, "Cats"), "x"], dc_title="T"),
    "rtf": files.rtf(["Cats é", "x"], title="T"),
    "epub": files.epub(["<p>Cats</p>"], title="T"),
    "pptx": files.pptx([["Cats"]], title="T"),
    "xlsx": files.xlsx({"S": [["title"], ["T"]]}),
    "eml": files.eml("=?utf-8?q?C=C3=A4ts?=", "x", attachment=b"y"),
}


def mutated(seed: bytes, generator: random.Random) -> bytes:
    """A file with some bytes changed, or cut off."""
    content = bytearray(seed)
    for _ in range(generator.randint(1, 8)):
        content[generator.randrange(len(content))] = generator.randrange(256)
    return bytes(content[: generator.randint(1, len(content))] if generator.random() < 0.2 else content)


def test_every_kind_is_mutated():
    assert {*SEEDS, "mbox"} == set(EXTRACTED_FORMATS)
    assert all(find_extractor(kind) for kind in SEEDS)


@pytest.mark.parametrize("kind", SEEDS)
def test_mutated_documents_give_documents_or_reasons(pool, kind):
    generator = random.Random(kind)
    cases = [mutated(SEEDS[kind], generator) for _ in range(150)]
    outcomes = list(pool.extract_each(Payload(kind, "", content, LIMIT) for content in cases))
    assert len(outcomes) == len(cases)
    reasons = [message[1] for messages in outcomes for message in messages if message[0] == FAILED]
    assert reasons or kind in ("rtf", "eml")
    assert all(reason and reason.isprintable() for reason in reasons)
