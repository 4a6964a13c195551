"""Are strings found by shape and by spelling, and is the nearest word suggested for an unknown one?"""

from fnmatch import fnmatchcase
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.indexing.storage.string_table import Strings
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.suggest.spelling import suggest
from searchlab.retrieval.suggest.string_matching import spelt_like, with_shape
from tests.retrieval.query.test_matching import edit_distance, kill


def pack(texts) -> Strings:
    packed = Strings.pack("it", sorted(texts, key=str.encode))
    return Strings(packed["it"], packed["it.offsets"])


@cache
def distance_with_swaps(one: str, two: str) -> int:
    """Optimal string alignment, by its definition."""
    if not one or not two:
        return len(one) + len(two)
    ways = [
        distance_with_swaps(one[1:], two) + 1,
        distance_with_swaps(one, two[1:]) + 1,
        distance_with_swaps(one[1:], two[1:]) + (one[0] != two[0]),
    ]
    if len(one) > 1 and len(two) > 1 and one[:2] == two[1::-1]:
        ways.append(distance_with_swaps(one[2:], two[2:]) + 1)
    return min(ways)


LETTERS = "abcé日[.\n"
strings = st.sets(st.text(LETTERS, max_size=6), max_size=30)
prefixes = st.sampled_from(["", "mesh\0", "a*?b\0"])


@given(strings, st.text(LETTERS + "**??", min_size=1, max_size=7), prefixes)
def test_strings_of_a_shape_are_found(texts, pattern, behind):
    packed = pack({behind + text for text in texts} | {"m", "mesh\1"})
    first, last = packed.first_from(behind), packed.first_from(behind[:-1] + "\1") if behind else len(packed)
    found = with_shape(packed, range(first, last), pattern, behind=behind)
    expected = {text for text in texts if fnmatchcase(text, pattern.replace("[", "[[]"))}
    if not behind:
        expected |= {text for text in ("m", "mesh\1") if fnmatchcase(text, pattern.replace("[", "[[]"))}
    assert [packed[int(number)][len(behind) :] for number in found] == sorted(expected, key=str.encode)


@given(
    strings,
    st.text(LETTERS, min_size=1, max_size=6),
    st.integers(0, 2),
    st.integers(0, 3),
    st.booleans(),
    prefixes,
)
def test_strings_that_are_spelt_alike_are_found_with_their_distances(texts, text, most, same_start, swaps, behind):
    packed = pack({behind + other for other in texts})
    numbers, distances = spelt_like(
        packed, range(len(packed)), text, most, same_start=same_start, swaps=swaps, behind=behind
    )
    distance = distance_with_swaps if swaps else edit_distance
    found = dict(zip((packed[int(n)][len(behind) :] for n in numbers), distances.tolist(), strict=True))
    near = {other: distance(text, other) for other in texts if other.startswith(text[:same_start])}
    assert found == {other: edits for other, edits in near.items() if edits <= most}


@given(st.sets(st.text("ab", max_size=5), max_size=30), st.text("ab", min_size=1, max_size=5), st.booleans())
def test_the_exchange_of_two_neighbours_is_one_edit(texts, text, swaps):
    packed = pack(texts)
    numbers, distances = spelt_like(packed, range(len(packed)), text, 2, swaps=swaps)
    distance = distance_with_swaps if swaps else edit_distance
    found = dict(zip((packed[int(number)] for number in numbers), distances.tolist(), strict=True))
    assert found == {other: edits for other in texts if (edits := distance(text, other)) <= 2}


def test_a_pattern_of_many_stars_takes_no_time():
    packed = pack(["a" * 255, "b" * 255])
    assert with_shape(packed, range(2), "*a" * 60 + "*b").tolist() == []
    assert with_shape(packed, range(2), "*a" * 60).tolist() == [0]


DOCUMENTS = [
    Document("1", "Lymphoma", "lymphomas and carcinomas; the cell wall"),
    Document("2", "", "carcinoma of cells, cold cola, the year 1988"),
    Document("3", "", "cold code", {"mesh": "Neoplasms"}),
    Document("4", "", "bold 1989 don't naïve"),
]


@pytest.fixture(scope="module", params=[None, 5])
def engine(build, request):
    folder = build(DOCUMENTS, settings=AnalysisSettings(), words_per_shard=request.param)
    return SearchEngine(folder, compiled=False)


@pytest.mark.parametrize(
    ("word", "suggestion"),
    [
        ("lymphma", "lymphoma"),
        ("Lymphmoa", "lymphoma"),
        ("LYMPHOMAA", "lymphoma"),  # lymphomas is as near, and as frequent
        ("carcnioma", "carcinoma"),
        ("cel", "cell"),
        ("clel", "cell"),
        ("cxdd", None),  # two edits are too many for four letters
        ("coldd", "cold"),
        ("colx", "cold"),  # as near as cola, and in more documents
        ("codd", "cold"),  # in more documents than code
        ("bolx", "bold"),  # the same first letter
        ("ceel", "cell"),
        ("xx", None),
        ("1987", None),
        ("zzzzzz", None),
        ("teh", None),  # stop words are never suggested
        ("naive", None),
        ("naiive", "naive"),
        ("title:lymphomma", "title:lymphoma"),
        ("mesh:neoplasmz", None),
        ("日本語", None),
        ("\ud800abc", None),
    ],
)
def test_the_nearest_word_is_suggested(engine, word, suggestion):
    assert suggest(engine.snapshot, word) == suggestion


def test_of_equally_near_words_the_first_letter_decides_before_frequency(build):
    # One letter makes bake or cape of bape; three documents have cape, one has bake.
    documents = [Document("1", "", "bake cape"), Document("2", "", "cape"), Document("3", "", "cape")]
    engine = SearchEngine(build(documents), compiled=False)
    assert suggest(engine.snapshot, "bape") == "bake"
    assert suggest(engine.snapshot, "dape") == "cape"


def test_a_query_tells_what_could_have_been_meant(engine):
    for syntax in ("plain", "full"):
        query = engine.parse("lymphma xyz carcinomma", syntax=syntax)
        assert query.unknown == ("lymphma", "xyz", "carcinomma")
        assert query.suggestions == (("lymphma", "lymphoma"), ("carcinomma", "carcinoma"))
    query = engine.parse('title:lymphma AND "carcinom wall"', syntax="full")
    assert query.suggestions == (("title:lymphma", "title:lymphoma"), ("carcinom", "carcinoma"))
    assert engine.parse("qqlymph* OR qqlymphma~", syntax="full").suggestions == ()


def test_words_of_dead_documents_are_not_suggested(build, tmp_path):
    folder = build(DOCUMENTS, folder=tmp_path / "it", settings=AnalysisSettings())
    kill(folder, {"1"})
    engine = SearchEngine(folder, compiled=False)
    assert engine.parse("lymphma carcinomma").suggestions == (("carcinomma", "carcinoma"),)


def test_an_empty_index_suggests_nothing():
    numbers, distances = spelt_like(pack([]), range(0), "word", 2)
    assert (len(numbers), len(distances)) == (0, 0)
    assert len(with_shape(pack([]), range(0), "w*d")) == 0
    assert np.issubdtype(numbers.dtype, np.integer)
