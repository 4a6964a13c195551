import gzip

import pytest

from searchlab.corpus import ReadingNotes, read_documents
from searchlab.corpus.encodings import decode_windows_1252, wide_encoding
from searchlab.corpus.reading_notes import ENCODING

TEXT = "Wings – “lift” and drag\nNaïve costs of 5 €, Größe.\n"


def body(path, notes=None):
    [document] = read_documents(path, notes=notes)
    return f"{document.title}\n{document.body}\n"


@pytest.mark.parametrize("mark", [True, False])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_utf16_is_read_with_and_without_a_mark(write, mark, encoding, pack):
    # A mark decides alone; without one the text has to look like an alphabet.
    text = ("\ufeff" + TEXT) if mark else TEXT.replace("–", "-").replace("“", '"').replace("”", '"').replace("€", "E")
    notes = ReadingNotes()
    assert body(write("a.txt", pack(text.encode(encoding))), notes) == text.removeprefix("\ufeff")
    assert notes.n_events[ENCODING] == 1


def test_utf32_and_scripts_without_zero_bytes_are_read_by_their_marks(write):
    assert body(write("a.txt", ("\ufeff" + TEXT).encode("utf-32-be"))) == TEXT
    assert body(write("b.txt", "\ufeff信息检索\n的文本\n".encode("utf-16-le"))) == "信息检索\n的文本\n"


@pytest.mark.parametrize("size", [10, 65_535, 65_536, 65_537, 400_000])
def test_characters_at_the_ends_of_blocks_are_whole(write, size):
    text = "x" + "€😀" * (size // 4)
    path = write("a.txt", text.encode("utf-16"))
    [document] = read_documents(path)
    assert document.body == text


def test_windows_1252_keeps_its_quotes_dashes_and_euro(write):
    notes = ReadingNotes()
    path = write("a.txt", TEXT.encode("cp1252"))
    assert body(path, notes) == TEXT
    assert (notes.n_events[ENCODING], notes.latin1_lines) == (1, {str(path): 2})


def test_every_byte_is_a_character_and_printable_latin1_stays_itself():
    for byte in range(256):
        decoded = decode_windows_1252(bytes([byte]))
        assert len(decoded) == 1
        if byte < 0x80 or byte >= 0xA0:
            assert decoded == bytes([byte]).decode("latin-1")
    # 0x81 is not defined in Windows-1252; its neighbour is a low quote.
    assert decode_windows_1252(b"\x81\x82") == "\x81\u201a"


@pytest.mark.parametrize(
    "content", [b"\0", b"\x89PNG\r\n\0\0\0\rIHDR", b"bin\0ary", b"\0" * 64, b"\1\0\2\0\3\0", bytes(range(256))]
)
def test_binary_content_is_not_taken_for_utf16(content):
    assert wide_encoding(content) is None


def test_an_export_in_utf16_is_a_table(write):
    path = write("a.csv", "PMID,Title\r\n11,Größe\r\n".encode("utf-16"))
    [document] = read_documents(path)
    assert (document.docno, document.title) == ("11", "Größe")


def test_xml_that_declares_utf16_is_read(write):
    article = "<PubmedArticle><MedlineCitation><PMID>11</PMID></MedlineCitation></PubmedArticle>"
    xml = f'<?xml version="1.0" encoding="UTF-16"?><PubmedArticleSet>{article}</PubmedArticleSet>'
    [document] = read_documents(write("a.xml", xml.encode("utf-16")))
    assert document.docno == "11"
