from hashlib import blake2b

import pytest

from searchlab.indexing.storage.documents.digest import digest
from searchlab.records import Document


@pytest.mark.parametrize(
    "other",
    [
        Document("e", "ab", "c"),
        Document("d", "a", "bc"),
        Document("d", "abc", ""),
        Document("d", "ab", "c", {"x": 1}),
    ],
)
def test_every_part_of_a_document_changes_its_digest(other):
    assert digest(other) != digest(Document("d", "ab", "c"))


def test_the_order_of_fields_and_the_location_do_not_change_the_digest():
    assert digest(Document("d", "", "", {"x": 1, "y": 2}, "a:1")) == digest(Document("d", "", "", {"y": 2, "x": 1}))


def test_a_digest_is_blake2b_of_the_lengths_and_the_parts():
    parts = ["d", "ähm", "\ud800", '{"x": 1}']
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    expected = blake2b(b"\0".join([b"1,4,3,8", *encoded]), digest_size=16).digest()
    assert digest(Document("d", "ähm", "\ud800", {"x": 1})) == expected
