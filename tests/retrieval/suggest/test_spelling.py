"""The nearest known word is suggested for an unknown one."""

from dataclasses import replace

import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.suggest.spelling import correct_spelling
from tests.retrieval.query.test_matching import mark_deleted

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
    assert correct_spelling(engine.snapshot, word) == suggestion


def test_of_equally_near_words_the_first_letter_decides_before_frequency(build):
    # One letter makes bake or cape of bape; three documents have cape, one has bake.
    documents = [Document("1", "", "bake cape"), Document("2", "", "cape"), Document("3", "", "cape")]
    engine = SearchEngine(build(documents), compiled=False)
    assert correct_spelling(engine.snapshot, "bape") == "bake"
    assert correct_spelling(engine.snapshot, "dape") == "cape"


def test_a_query_has_suggestions_for_its_unknown_words(engine):
    for syntax in ("plain", "full"):
        query = engine.parse("lymphma xyz carcinomma", syntax=syntax)
        assert query.unknown == ("lymphma", "xyz", "carcinomma")
        assert query.suggestions == (("lymphma", "lymphoma"), ("carcinomma", "carcinoma"))
    query = engine.parse('title:lymphma AND "carcinom wall"', syntax="full")
    assert query.suggestions == (("title:lymphma", "title:lymphoma"), ("carcinom", "carcinoma"))
    assert engine.parse("qqlymph* OR qqlymphma~", syntax="full").suggestions == ()


def test_words_of_deleted_documents_are_not_suggested(build, tmp_path):
    folder = build(DOCUMENTS, folder=tmp_path / "it", settings=AnalysisSettings())
    mark_deleted(folder, {"1"})
    engine = SearchEngine(folder, compiled=False)
    assert engine.parse("lymphma carcinomma").suggestions == (("carcinomma", "carcinoma"),)


def test_only_a_few_words_of_a_long_query_are_corrected(engine):
    text = " ".join(f"carcinomx{number:04}" for number in range(3400))
    query = engine.parse(f"{'x' * 60}lymphma lymphma carcinomma {text}")
    looked_up = []

    def suggest(word):
        looked_up.append(word)
        return query.suggest(word)

    assert dict(replace(query, suggest=suggest).suggestions) == {"lymphma": "lymphoma", "carcinomma": "carcinoma"}
    assert len(query.unknown) > 3000
    assert looked_up == ["lymphma", "carcinomma", "carcinomx0000"]
