"""Features that a user writes in Python: what they see, what they may return, and how their failures are reported."""

from math import nan

import numpy as np
import pytest

import searchlab
from searchlab.errors import SettingError
from searchlab.features.candidates import judged
from searchlab.features.catalogue import CATALOGUE
from searchlab.features.descriptions import describe_feature
from searchlab.features.extraction import extract
from searchlab.features.feature_sets import FEATURE_SETS, make_feature_set, offered_sets
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine

pytestmark = pytest.mark.usefixtures("registered_here")

DOCUMENTS = [
    Document("a", "red cat", "a cat and a dog", {"year": 1999, "tags": ["x"]}),
    Document("b", "dog", "a dog", {"year": 2004}),
    Document("c", "", "nothing"),
]


@pytest.fixture(scope="module")
def engine(build):
    with SearchEngine(build(DOCUMENTS, words_per_shard=4)) as opened:
        yield opened


def column(engine, name, query="cat dog cat"):
    candidates = judged(engine, {"1": dict.fromkeys("abc", 0)})
    return extract(engine, [Topic("1", query)], candidates, [name]).column(name).tolist()


def test_a_function_sees_query_counts_fields_and_texts(engine):
    seen = {}

    @searchlab.feature("own.all", "everything")
    def everything(candidates):
        seen.update(
            query=candidates.query,
            terms=candidates.terms,
            docnos=candidates.docnos,
            tf=candidates.counts().tf.tolist(),
            title=candidates.counts("title").lengths.tolist(),
            years=candidates.numbers("year").tolist(),
            newest=candidates.greatest("year"),
            bodies=[document.body for document in candidates.documents],
            tags=[document.fields.get("tags") for document in candidates.documents],
            size=len(candidates),
            text=repr(candidates),
        )
        return np.arange(len(candidates))

    assert everything.__name__ == "everything"
    assert column(engine, "own.all") == [0, 1, 2]
    assert seen["years"] == pytest.approx([1999, 2004, nan], nan_ok=True)
    assert {name: value for name, value in seen.items() if name != "years"} == {
        "query": "cat dog cat",
        "terms": {"cat": 2, "dog": 1},
        "docnos": ("a", "b", "c"),
        "tf": [[2, 0, 0], [1, 2, 0]],
        "title": [2, 1, 0],
        "newest": 2004,
        "bodies": ["a cat and a dog", "a dog", "nothing"],
        "tags": [["x"], None, None],
        "size": 3,
        "text": "<QueryCandidates of 'cat dog cat': 3 documents>",
    }


def test_counts_cannot_be_altered_because_features_share_them(engine):
    searchlab.feature("own.first", "tf")(lambda candidates: candidates.counts().tf.sum(axis=0))

    @searchlab.feature("own.bad", "writes")
    def write(candidates):
        candidates.counts().tf[:] = 9
        return candidates.counts().tf[0]

    with pytest.raises(SettingError, match=r"own.bad failed .* read-only"):
        column(engine, "own.bad")
    assert column(engine, "own.first") == [3, 2, 0]


@pytest.mark.parametrize(
    ("returned", "values"),
    [
        ([1, 2, 3], [1, 2, 3]),
        (np.array([True, False, True]), [1, 0, 1]),
        (np.array([0.5, np.inf, -np.inf], np.float32), [0.5, nan, nan]),
        ((nan, 1, 2), [nan, 1, 2]),
    ],
)
def test_numbers_are_taken_as_they_are_and_infinite_ones_are_undefined(engine, returned, values):
    searchlab.feature("own.given", "given")(lambda candidates: returned)
    assert column(engine, "own.given") == pytest.approx(values, nan_ok=True)


@pytest.mark.parametrize(
    "returned", [[1, 2], 5, None, ["a", "b", "c"], [1, None, 2], [[1], [2], [3]], [1j, 2, 3], np.zeros((3, 1))]
)
def test_anything_but_a_number_for_each_candidate_is_refused(engine, returned):
    searchlab.feature("own.wrong", "wrong")(lambda candidates: returned)
    expected = (
        "^feature own.wrong returned an array of .*, expected a number for each of 3 candidates, NaN if undefined$"
    )
    with pytest.raises(SettingError, match=expected):
        column(engine, "own.wrong")


def test_a_failure_is_one_line_with_the_cause_and_the_users_line(engine):
    @searchlab.feature("own.fails", "fails")
    def fail(candidates):
        return np.asarray(candidates.docnos).reshape(77)

    line = fail.__code__.co_firstlineno + 2
    with pytest.raises(SettingError) as caught:
        column(engine, "own.fails")
    assert str(caught.value).startswith("feature own.fails failed for query 'cat dog cat': ValueError: cannot reshape")
    assert str(caught.value).endswith(f" (test_custom_features.py, line {line})")
    assert isinstance(caught.value.__cause__, ValueError)
    assert caught.value.__cause__.__traceback__ is not None


@pytest.mark.parametrize("error", [IndexError("no"), ZeroDivisionError("no"), KeyError("no"), MemoryError("no")])
def test_no_failure_of_a_function_looks_like_a_damaged_index(engine, error):
    @searchlab.feature("own.fails", "fails")
    def fail(candidates):
        raise error

    with pytest.raises(SettingError, match=f"own.fails failed .*{type(error).__name__}: '?no"):
        column(engine, "own.fails")


def test_a_field_that_no_document_has_is_named(engine):
    searchlab.feature("own.yaer", "typing error")(lambda candidates: candidates.numbers("yaer"))
    with pytest.raises(SettingError, match=r"own.yaer failed .* unknown field of .* 'yaer' \(did you mean year\?\)"):
        column(engine, "own.yaer")
    searchlab.feature("own.stream", "typing error")(lambda candidates: candidates.counts("titel"))
    with pytest.raises(SettingError, match="unknown stream 'titel'"):
        column(engine, "own.stream")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("recency", "feature is called 'recency', expected a family and a word, such as own.recency"),
        (7, "feature is called 7, expected a family and a word"),
        ("own.", "expected a family and a word"),
        ("own.two words", "expected a word without blanks and commas"),
        ("letor.title.bm25", "feature letor.title.bm25 is built in, expected another name"),
        ("letor.mine", "feature letor.mine: letor is a family of searchlab, expected another, such as own"),
        ("field.year", "field is a family of searchlab"),
        ("external.x", "external is a family of searchlab"),
    ],
)
def test_a_name_that_a_feature_cannot_have_is_refused(name, message):
    with pytest.raises(SettingError, match=message):
        searchlab.feature(name, "words")(lambda candidates: [])


@pytest.mark.parametrize("formula", [None, "", "two\nlines", 3])
def test_a_formula_is_a_line(formula):
    with pytest.raises(SettingError, match=r"feature own.x: formula is .*, expected a line of text"):
        searchlab.feature("own.x", formula)


def test_only_functions_are_registered():
    with pytest.raises(SettingError, match=r"feature own.x is int, expected a function"):
        searchlab.feature("own.x", "words")(7)  # type: ignore[type-var]
    assert "own.x" not in CATALOGUE


def test_a_registered_feature_is_found_described_and_offered(engine):
    built_in = dict(FEATURE_SETS)
    assert offered_sets() == built_in
    searchlab.feature("own.one", "always one")(lambda candidates: np.ones(len(candidates)))
    assert describe_feature("own.one") == "always one"
    assert make_feature_set("table1,own.one").names[-1] == "own.one"
    assert offered_sets() == built_in | {"compact,own.one": (*built_in["compact"], "own.one")}
    assert "own.one" not in make_feature_set("full").names
    searchlab.feature("own.one", "always two")(lambda candidates: 2 * np.ones(len(candidates)))
    assert column(engine, "own.one") == [2, 2, 2]


def test_what_a_function_needs_is_checked_before_it_is_called(engine):
    called = []

    @searchlab.feature("own.needy", "by price", needs=("title", "field.price"))
    def needy(candidates):
        called.append(candidates)
        return np.zeros(len(candidates))

    with pytest.raises(SettingError, match=r"^feature own\.needy: .*price"):
        column(engine, "own.needy")
    assert not called

    @searchlab.feature("own.needy", "by year", needs=("title", "field.year"))
    def satisfied(candidates):
        return candidates.numbers("year") - 1999

    assert column(engine, "own.needy") == pytest.approx([0, 5, nan], nan_ok=True)


@pytest.mark.parametrize("needs", ["year", ("titel",), (3,), ("field.",)])
def test_needs_are_streams_and_stored_fields(needs):
    with pytest.raises(SettingError, match=r"feature own\.x needs .* or a stored field, such as field\.year"):
        searchlab.feature("own.x", "formula", needs=needs)
