"""Results of one publication, or with nearly the same text, are grouped below the best of them."""

import random

import pytest

from searchlab.errors import SettingError
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.near_duplicates import MIN_RESEMBLANCE, MIN_WORDS, examined_depth, group_duplicates

WORDS = [f"w{number}" for number in range(1000)]


def text(seed, n=60):
    return random.Random(seed).sample(WORDS, n)


def groups(documents, k=None):
    return [(group.row, [each.docno for each in group.duplicates]) for group in group_duplicates(documents, k)]


def reasons(*documents):
    return [each.reason for group in group_duplicates(documents) for each in group.duplicates]


def test_records_of_one_publication_are_grouped():
    first = Document("a", "On wings!", "", {"doi": "10.1/X", "pmid": "7", "year": 1990, "authors": ["Ting, Y"]})
    assert reasons(first, Document("b", fields={"doi": "https://doi.org/10.1/x"})) == ["same DOI"]
    assert reasons(first, Document("b", fields={"pmid": 7})) == ["same PMID"]
    same = Document("b", "on Wings", "", {"year": "1990", "authors": ["Ting YL"]})
    assert reasons(first, same) == ["same title, year and first author"]
    assert reasons(first, Document("b", "On wings", "", {"year": 1991, "authors": ["Ting"]})) == []


@pytest.mark.parametrize("identifier", ["doi", "pmid"])
def test_records_with_other_identifiers_are_other_publications(identifier):
    fields = {"year": 1990, "authors": ["Ting, Y"]}
    first, erratum = (Document(docno, "On wings", "", {**fields, identifier: docno}) for docno in ("10.1/a", "10.1/b"))
    assert groups([first, erratum]) == [(0, []), (1, [])]
    # A record without the identifier belongs to the better of them; one with it to its own.
    assert groups([first, erratum, Document("c", "On wings", "", fields)]) == [(0, ["c"]), (1, [])]
    assert groups([first, erratum, Document("c", fields={identifier: "10.1/b"})]) == [(0, []), (1, ["c"])]


def test_a_text_that_is_the_same_brings_its_publication_into_the_group():
    body = " ".join(text(7))
    documents = [
        Document("a", "", body, {"doi": "10.1/a"}),
        Document("preprint", "", body, {"doi": "10.1/b"}),
        Document("c", fields={"doi": "10.1/b"}),
    ]
    assert groups(documents) == [(0, ["preprint", "c"])]


def test_the_resemblance_of_texts_decides():
    # 60 words have 56 shingles. Another last word changes one: 55 of 57 are shared.
    words = text(1)
    one, other = " ".join(words), " ".join([*words[:-1], "other"])
    assert reasons(Document("a", "", one), Document("b", "", other)) == [f"{100 * 55 / 57:.0f} % the same text"]
    # A word in the middle changes five: 51 / 61 is enough; two words change ten: 46 / 66 is not.
    assert 51 / 61 >= MIN_RESEMBLANCE > 46 / 66
    middle = [*words[:20], "other", *words[21:]]
    assert reasons(Document("a", "", one), Document("b", "", " ".join(middle))) == ["84 % the same text"]
    assert reasons(Document("a", "", one), Document("b", "", " ".join([*middle[:40], "x", *middle[41:]]))) == []


def test_short_texts_are_not_compared():
    for n, expected in ((MIN_WORDS - 1, []), (MIN_WORDS, ["100 % the same text"])):
        body = " ".join(text(2, n))
        assert reasons(Document("a", "", body), Document("b", "", body)) == expected


def test_a_group_grows_by_its_members():
    # c has the PMID of b, which has the DOI of a.
    documents = [
        Document("a", fields={"doi": "10.1/1"}),
        Document("x"),
        Document("b", fields={"doi": "10.1/1", "pmid": 3}),
        Document("c", fields={"pmid": 3}),
    ]
    assert groups(documents) == [(0, ["b", "c"]), (1, [])]


def test_duplicates_of_the_first_k_are_found_below_them():
    documents = [Document(f"d{number}", fields={"pmid": number % 3}) for number in range(6)]
    assert groups(documents, 2) == [(0, ["d3"]), (1, ["d4"])]
    assert groups(documents) == [(0, ["d3"]), (1, ["d4"]), (2, ["d5"])]
    assert groups([]) == []


@pytest.mark.parametrize("seed", range(5))
def test_texts_are_grouped_as_a_comparison_of_all_pairs_would(seed):
    chance = random.Random(seed)
    originals = [text(number, 40) for number in range(4)]
    bodies = []
    for _ in range(20):
        words = list(chance.choice(originals))
        for _ in range(chance.randrange(3)):
            words[chance.randrange(len(words))] = chance.choice(WORDS)
        bodies.append(words)
    shingles = [{tuple(words[i : i + 5]) for i in range(len(words) - 4)} for words in bodies]
    expected: dict[int, list[int]] = {}
    group_of: dict[int, int] = {}
    for row, mine in enumerate(shingles):
        alike = {other: len(mine & shingles[other]) / len(mine | shingles[other]) for other in group_of}
        best = max(alike, key=lambda other: (alike[other], -other), default=None)
        group_of[row] = group_of[best] if best is not None and alike[best] >= MIN_RESEMBLANCE else row
        expected.setdefault(group_of[row], []).append(row)
    found = groups([Document(str(row), "", " ".join(words)) for row, words in enumerate(bodies)])
    assert found == [(row, [str(other) for other in rows[1:]]) for row, rows in expected.items()]
    assert len(found) < len(bodies)


def test_hits_are_grouped_in_the_order_of_their_ranks(build):
    documents = [Document(f"d{number}", "", "a " * (9 - number), {"pmid": number % 2}) for number in range(4)]
    with SearchEngine(build(documents)) as engine:
        hits = engine.search("a")
        assert [hits.docnos[group.row] for group in hits.group_duplicates()] == hits.docnos[:2]
        assert len(hits.group_duplicates(1)) == 1
        with pytest.raises(SettingError, match="k is 0, expected 1 or more"):
            hits.group_duplicates(0)


def test_at_least_a_hundred_results_are_examined():
    assert (examined_depth(1), examined_depth(10), examined_depth(40)) == (100, 100, 200)
