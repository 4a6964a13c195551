"""Indexes of several languages: each document is analysed by its own, a word of a query by all of them."""

from collections import Counter

import pytest

import searchlab
from searchlab.analysis.mixed_analyzer import LANGUAGE_FIELD
from searchlab.errors import SettingError
from searchlab.indexing.checking.column_checks import check_columns
from searchlab.indexing.storage.arrays.column import Column

DOCUMENTS = [
    {
        "docno": "de",
        "title": "Die Krankenhäuser",
        "body": "Die Ärzte der Krankenhäuser behandeln Lymphome und andere Krankheiten der Kinder.",
        "keywords": "Häuser",
    },
    {
        "docno": "en",
        "title": "Hospitals",
        "body": "The physicians of the hospitals treat lymphomas and other diseases of children, and some die.",
        "keywords": "houses",
    },
    {
        "docno": "fr",
        "title": "L'hospitalisation",
        "body": "Les médecins de l'hôpital traitent les lymphomes et d'autres maladies des enfants.",
    },
    {"docno": "zh", "title": "信息检索", "body": "高血压患者的饮食与信息检索系统。"},
]
LANGUAGES = {"de": "german", "en": "english", "fr": "french", "zh": "chinese"}


@pytest.fixture
def folder(tmp_path):
    summary = searchlab.index(DOCUMENTS, tmp_path / "mixed", language="auto")
    assert summary.languages == {"chinese": 1, "english": 1, "french": 1, "german": 1}
    return tmp_path / "mixed"


@pytest.fixture
def engine(folder):
    with searchlab.open(folder) as engine:
        yield engine


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Krankenhaus", ["de"]),
        ("hospital", ["en"]),
        ("hopital", ["fr"]),
        ("l’hôpital", ["fr"]),
        ("die", ["en"]),  # in German it is a stop word
        ("the", []),
        ("lymphomas", ["de", "en", "fr"]),  # French stems it to lymphom
        ("lymphome", ["de", "fr"]),
        ("信息", ["zh"]),
        ("keywords:haus", ["de"]),
        ("keywords:house", ["en"]),
        ("text_language:german", ["de"]),
        ('"andere krankheit"', ["de"]),
        ('"médecin hôpital"', ["fr"]),
        ("krankenhau*", ["de"]),
        ("hopit*", ["fr"]),
        ("lymphome AND kind", ["de"]),
        ("lymphome -kinder", ["fr"]),
    ],
)
def test_a_query_finds_the_documents_of_each_language(engine, query, found):
    assert sorted(engine.search(query, syntax="full").docnos) == found


def test_each_document_has_the_terms_of_an_index_of_its_language(engine, tmp_path):
    for document in DOCUMENTS:
        alone = tmp_path / document["docno"]
        searchlab.index([document], alone, language=LANGUAGES[document["docno"]])
        with searchlab.open(alone) as single:
            assert _terms(engine, document["docno"]) == _terms(single, document["docno"])


def _terms(engine, docno):
    shard_index, number = engine.snapshot.locate(docno)
    columns = engine.snapshot.shards[shard_index].columns
    start, end = columns.token_offsets[number], columns.token_offsets[number + 1]
    return columns.terms.take(columns.tokens[start:end])


def test_a_word_counts_once_with_the_statistics_of_all_its_terms(engine):
    # By hand: "lymphomas" is lymphoma in English and lymphom in French, and so are "Lymphome" and "lymphomes".
    (term,) = engine.parse("lymphomas").terms
    assert (term.text, term.variants, term.count) == ("lymphoma", ("lymphoma", "lymphom"), 1)
    counts = [Counter(_terms(engine, docno)) for docno in LANGUAGES]
    frequencies = [sum(count[form] for form in term.variants) for count in counts]
    assert term.stats.doc_freq == sum(map(bool, frequencies)) == 3
    assert term.stats.term_count == sum(frequencies)
    assert engine.search("lymphomas", k=1).n_matches == 3


@pytest.mark.parametrize("compiled", [False, True])
def test_searches_with_and_without_compiled_code_agree(folder, compiled):
    with searchlab.open(folder, compiled=compiled) as engine:
        hits = engine.search("lymphomas")
        assert sorted(hits.docnos) == ["de", "en", "fr"]
        # The frequency is 1 everywhere: BM25 orders by length, the shortest text first.
        lengths = [len(_terms(engine, docno)) for docno in hits.docnos]
        assert lengths == sorted(lengths)


def test_a_score_is_the_sum_of_its_explanation(engine):
    for hit in engine.search("lymphomas kinder hospital"):
        explanation = engine.explain("lymphomas kinder hospital", hit.docno)
        assert explanation.score == pytest.approx(hit.score)
        assert explanation.score == pytest.approx(sum(part.amount for part in explanation.parts))


def test_words_are_marked_by_the_language_of_their_document(engine):
    marked = {hit.docno: hit.snippet.marked("[", "]") for hit in engine.search("lymphome lymphomas die")}
    assert "[Lymphome]" in marked["de"]
    assert "[Die]" not in marked["de"]
    assert "[lymphomas]" in marked["en"]
    assert "[die]" in marked["en"]
    assert "[lymphomes]" in marked["fr"]


def test_the_language_of_a_query_can_be_named(folder):
    with searchlab.open(folder, language="german") as engine:
        assert engine.search("die hospital").docnos == []
        assert sorted(engine.search("lymphome").docnos) == ["de", "fr"]
        assert engine.search("lymphome", filters=["text_language=german"]).docnos == ["de"]
        assert engine.search("hopit*", syntax="full").docnos == []
    with pytest.raises(SettingError, match=r"unknown language of .*mixed 'dutch'; there is: chinese, english, french"):
        searchlab.open(folder, language="dutch")


def test_the_language_of_an_index_of_one_language_is_checked(tmp_path):
    searchlab.index(DOCUMENTS[:1], tmp_path / "x", language="german")
    searchlab.open(tmp_path / "x", language="german").close()
    with pytest.raises(SettingError, match=r"unknown language of .*x 'english'; there is: german"):
        searchlab.open(tmp_path / "x", language="english")


def test_corrections_are_in_the_language_of_the_other_words(engine, folder):
    assert engine.parse("children hospitels").suggestions == (("hospitels", "hospitals"),)
    assert engine.parse("kinder hospitels").suggestions == ()
    assert engine.parse("hospitels").suggestions == (("hospitels", "hospitals"),)
    with searchlab.open(folder, language="german") as german:
        assert german.parse("hospitels").suggestions == ()
        assert german.parse("krankkeiten").suggestions == (("krankkeiten", "krankheiten"),)


def test_updates_deletions_and_merges_keep_the_languages(folder):
    more = [
        {"docno": "nl", "title": "De ziekenhuizen", "body": "De behandeling van kanker bij kinderen en volwassenen."}
    ]
    summary = searchlab.index(more, folder)
    assert summary.languages["dutch"] == 1
    assert searchlab.index(DOCUMENTS, folder).n_unchanged == len(DOCUMENTS)
    searchlab.delete(folder, ["zh"])
    searchlab.merge(folder)
    assert searchlab.examine(folder).findings == ()
    with searchlab.open(folder) as engine:
        assert engine.snapshot.languages == {"dutch": 1, "english": 1, "french": 1, "german": 1}
        assert engine.search("ziekenhuizen").docnos == ["nl"]
        assert engine.search("krankenhaus").docnos == ["de"]
        assert engine.document("de").fields[LANGUAGE_FIELD] == "german"


def test_a_query_needs_no_stemmer_for_words_of_the_index(folder, monkeypatch):
    monkeypatch.setattr("searchlab.analysis.analyzer.load_stemmer", lambda name: pytest.fail(f"loaded {name}"))
    with searchlab.open(folder, language="german") as engine:
        assert engine.search("krankenhäuser die").docnos == ["de"]


def test_languages_may_be_limited(tmp_path):
    summary = searchlab.index(DOCUMENTS[:2], tmp_path / "x", language="german,english")
    assert summary.languages == {"english": 1, "german": 1}


def test_worker_processes_know_the_languages(tmp_path, monkeypatch):
    monkeypatch.setattr("searchlab.indexing.building.workers.MIN_PARALLEL_DOCS", 2)
    summary = searchlab.index(DOCUMENTS, tmp_path / "x", language="auto", jobs=2)
    assert sorted(summary.languages) == ["chinese", "english", "french", "german"]


def test_damaged_languages_of_words_are_found(engine):
    columns = engine.snapshot.shards[0].columns
    assert check_columns(columns) == []
    words = columns.word_languages.whole.copy()
    words[3] = 9
    object.__setattr__(columns, "word_languages", Column(words))
    assert [finding.column for finding in check_columns(columns)] == ["words.languages"]
    repeated = Column(columns.word_languages.whole[:0])
    object.__setattr__(columns, "word_languages", repeated)
    assert [finding.column for finding in check_columns(columns)] == ["words.languages"]


def test_a_word_has_another_term_in_another_language(engine):
    columns = engine.snapshot.shards[0].columns
    assert columns.term_in_language("die", "english") == "die"
    assert columns.term_in_language("die", "german") is None
    with pytest.raises(KeyError):
        columns.term_in_language("die", "french")
    with pytest.raises(KeyError):
        columns.term_in_language("die", "dutch")


def test_scorers_with_words_of_their_own_and_expansion_work_in_a_mixed_index(engine):
    assert engine.search("lymphome kinder", expansion="rm3").docnos
    for scorer in ("bm25f", "dirichlet", "mixture"):
        assert engine.search("lymphome kinder", scorer=scorer).docnos
