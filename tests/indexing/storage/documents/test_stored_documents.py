"""Stored documents come back as they were, long ones by the blocks that are needed; damage is never shown as text."""

import json
import random

import pytest
from zstandard import ZstdCompressor

from searchlab.errors import IndexCorrupt
from searchlab.indexing.storage.arrays.array_file import write_arrays
from searchlab.indexing.storage.arrays.block_checksums import BLOCK_BYTES
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.documents.document_packing import PackedDocuments, pack_document
from searchlab.indexing.storage.documents.long_body import MAX_WHOLE_LENGTH, cut_body
from searchlab.indexing.storage.documents.stored_documents import LONG_MAGIC, StoredDocuments
from searchlab.records import Document


def make_body(n_characters, alphabet="abcdefghij  \n"):
    """A text that does not compress to almost nothing."""
    return "".join(random.Random(n_characters).choices(alphabet, k=n_characters))


LONG = Document("long", "A book", make_body(300_000), {"year": 1999})
ODD = Document("odd", "\ud800", make_body(MAX_WHOLE_LENGTH + 1, "aé日\U0001f600\ud800 \f"))
SHORT = Document("short", "A note", make_body(MAX_WHOLE_LENGTH))
DOCUMENTS = [LONG, ODD, SHORT]


def store(path, packed):
    write_arrays(path / "documents", PackedDocuments(packed).arrays())
    return StoredDocuments(path / "documents", Strings.of(f"d{n}" for n in range(len(packed))))


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    return store(tmp_path_factory.mktemp("stored"), [pack_document(document) for document in DOCUMENTS])


def contents(document):
    return document.title, document.body, document.fields


@pytest.mark.parametrize("number", range(3))
def test_a_document_comes_back_equal(stored, number):
    assert contents(stored.document(number)) == contents(DOCUMENTS[number])


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("length", [0, 1, 20_000, 10**9])
def test_the_beginning_of_a_document_is_that_of_its_body(stored, number, length):
    assert stored.read(number).beginning(length).body == DOCUMENTS[number].body[:length]


def test_only_a_long_body_is_read_later(stored):
    assert isinstance(stored.read(2).body, str)
    body = stored.read(0).body
    assert body.n_blocks == len(cut_body(LONG.body)) > 15
    assert len(body) == len(LONG.body)


def test_a_passage_verifies_the_blocks_that_it_needs(tmp_path):
    stored = store(tmp_path, [pack_document(Document("d0", "", make_body(2_000_000)))])
    body = stored.read(0).body
    verified = stored.file.blocks._verified
    before = sum(verified)
    assert body.read(1_000_000, 1_000_100) == make_body(2_000_000)[1_000_000:1_000_100]
    # One block of text takes less than one block of the file, which it may begin in one and end in the next.
    assert sum(verified) - before <= 2
    assert len(verified) * BLOCK_BYTES > 500_000


def test_a_damaged_block_of_a_text_is_reported_and_the_others_are_read(tmp_path):
    stored = store(tmp_path, [pack_document(Document("d0", "", make_body(2_000_000)))])
    path = tmp_path / "documents"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    stored = StoredDocuments(path, Strings.of(["d0"]))
    assert stored.read(0).beginning(1000).body == make_body(2_000_000)[:1000]
    with pytest.raises(IndexCorrupt, match="checksum of block"):
        stored.document(0)


def compress(content, **options):
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return ZstdCompressor(level=1, **options).compress(text)


def long(content, block):
    head = compress(content)
    return LONG_MAGIC + len(head).to_bytes(4, "little") + head + block


def resize(frame, size):
    """A small frame that claims another length of its content."""
    assert frame[4] == 0x20  # one byte of length follows
    return frame[:5] + bytes([size]) + frame[6:]


BLOCK = compress(b"some text ")
HOSTILE = {
    "nothing": b"",
    "no frame": b"\xff\xff\xff",
    "cut": compress(["t", "b" * 1000, {}])[:-2],
    "no JSON": compress(b"{"),
    "no UTF-8": compress(b'["\xff","",{}]'),
    "two parts": compress(["t", "b"]),
    "a number as title": compress([1, "b", {}]),
    "a number as body": compress(["t", 1, {}]),
    "no fields": compress(["t", "b", []]),
    "bytes after a short body": compress(["t", "b", {}]) + b"x",
    "no blocks": long(["t", [], {}], b""),
    "empty lists": long(["t", [[], [], [], []], {}], b""),
    "a list as a short body": compress(["t", [[len(BLOCK)], [10], [0], [0]], {}]),
    "a short body in place of blocks": long(["t", "b", {}], b""),
    "a length without JSON": LONG_MAGIC + b"\x09\0\0\0",
    "a beginning alone": LONG_MAGIC,
    "no length of the content": compress(["t", "b", {}], write_content_size=False),
    "more than the length": resize(compress(b"[1, 2, 3]"), 4),
    "less than the length": resize(compress(b"[1, 2, 3]"), 200),
    "two frames": compress(["t", "b", {}]) + compress(b" "),
    "deep lists": compress(b"[" * 100_000),
    "uneven lists": long(["t", [[len(BLOCK)], [10, 1], [0], [0]], {}], BLOCK),
    "too few lists": long(["t", [[len(BLOCK)], [10], [0]], {}], BLOCK),
    "too many lists": long(["t", [[len(BLOCK)], [10], [0], [0], [0]], {}], BLOCK),
    "texts for numbers": long(["t", [["1"], ["10"], ["0"], ["0"]], {}], BLOCK),
    "fractions": long(["t", [[len(BLOCK) + 0.5], [10.0], [0.0], [0.0]], {}], BLOCK),
    "negative numbers": long(["t", [[len(BLOCK)], [-10], [0], [0]], {}], BLOCK),
    "huge numbers": long(["t", [[len(BLOCK)], [10**30], [0], [0]], {}], BLOCK),
    "a claim of a gigabyte": long(["t", [[len(BLOCK)], [2**30 + 1], [0], [0]], {}], BLOCK),
    "blocks beyond the document": long(["t", [[len(BLOCK) + 1], [10], [0], [0]], {}], BLOCK),
    "fewer bytes than there are": long(["t", [[len(BLOCK) - 1], [10], [0], [0]], {}], BLOCK),
}
# What is found only when the block is read.
HOSTILE_BLOCKS = {
    "more characters than claimed": ([10], compress(b"some longer text ")),
    "fewer characters than claimed": ([11], BLOCK),
    "a bomb": ([10], compress(bytes(10**8))),
    "no frame": ([10], b"\xff\xff\xff"),
    "no UTF-8": ([3], compress(b"\xff\xff\xff")),
    "a cut block": ([10], BLOCK[:-1]),
    "bytes left over": ([10], BLOCK + b"x"),
}


@pytest.mark.parametrize("packed", HOSTILE.values(), ids=HOSTILE)
def test_a_document_that_cannot_be_right_is_refused(tmp_path, packed):
    stored = store(tmp_path, [compress(["", "", {}]), packed])
    with pytest.raises(IndexCorrupt, match="document 1 cannot be read"):
        stored.read(1)


@pytest.mark.parametrize(("lengths", "block"), HOSTILE_BLOCKS.values(), ids=HOSTILE_BLOCKS)
def test_a_block_that_cannot_be_right_is_refused(tmp_path, lengths, block):
    stored = store(tmp_path, [long(["t", [[len(block)], lengths, [0], [0]], {}], block)])
    body = stored.read(0).body
    with pytest.raises(IndexCorrupt, match="document 0 cannot be read"):
        body.read(0, 5)


def test_packed_documents_are_put_one_after_the_other():
    packed = PackedDocuments([b"one", b"", b"three"])
    packed.append(b"four")
    arrays = packed.arrays()
    assert arrays["texts"].tobytes() == b"onethreefour"
    assert arrays["offsets"].tolist() == [0, 3, 3, 8, 12]


def test_no_documents_are_empty_arrays():
    arrays = PackedDocuments().arrays()
    assert len(arrays["texts"]) == 0
    assert arrays["offsets"].tolist() == [0]
