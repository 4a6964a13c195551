import pytest

from searchlab.indexing.storage.digest import digest
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
