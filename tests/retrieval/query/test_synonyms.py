import pytest

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings, Analyzer
from searchlab.errors import SettingError, SourceError
from searchlab.retrieval.query.synonyms import Synonyms, SynonymTable

DOCUMENTS = [
    {"docno": "1", "title": "Heart attack", "body": "A heart attack in the morning, and a second heart attack."},
    {"docno": "2", "title": "Myocardial infarctions", "body": "Infarction of the myocardial wall."},
    {"docno": "3", "title": "MI", "body": "MI after MI."},
    {"docno": "4", "title": "Attack of the heart", "body": "An attack on the heart of the city."},
    {"docno": "5", "title": "Aspirin", "body": "Aspirin in the morning."},
    {"docno": "6", "title": "ASA", "body": "Acetylsalicylic acid."},
]
RULES = """
# diseases
heart attack, myocardial infarction, MI
aspirin => acetylsalicylic acid, ASA  # not the other way round
"""


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "synonyms.txt"
    path.write_text(RULES, encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    searchlab.index(DOCUMENTS, tmp_path / "it")
    return tmp_path / "it"


@pytest.fixture
def engine(folder, rules):
    with searchlab.open(folder, synonyms=rules) as engine:
        yield engine


def test_a_file_has_groups_and_one_way_rules(rules):
    group = ("heart attack", "myocardial infarction", "MI")
    assert Synonyms.read(rules).rules == ((group, group), (("aspirin",), ("acetylsalicylic acid", "ASA")))


def test_synonyms_can_be_groups_or_a_dict():
    group = ("a", "b")
    assert Synonyms.given([group, ["c", "d"]]).rules == ((group, group), (("c", "d"), ("c", "d")))
    assert Synonyms.given({"a": ["b", "c"], "d": "e"}).rules == ((("a",), ("b", "c")), (("d",), ("e",)))
    assert Synonyms.given(None) is None


@pytest.mark.parametrize("line", ["alone", "a =>", "=> b", "a => b => c", "a,", ","])
def test_a_line_that_is_no_rule_is_named(tmp_path, line):
    (tmp_path / "x.txt").write_text(f"# one\n{line}\n", encoding="utf-8")
    with pytest.raises(SettingError, match=r"x\.txt:2: found .*expected `a, b, c` or `a => b, c`"):
        Synonyms.read(tmp_path / "x.txt")


@pytest.mark.parametrize("value", [3, [["a", 2]], {"a": None}, {"a": []}, [[]]])
def test_what_is_no_synonyms_is_refused(value):
    with pytest.raises(SettingError, match="synonyms"):
        Synonyms.given(value)


def test_a_missing_file_is_named(folder):
    with pytest.raises(SourceError, match=r"nowhere.txt: .*expected a file of synonyms"):
        searchlab.open(folder, synonyms="nowhere.txt")


@pytest.mark.parametrize(
    ("query", "syntax", "found"),
    [
        ("mi", "plain", ["1", "2", "3"]),
        ("MI", "full", ["1", "2", "3"]),
        ("heart attacks", "plain", ["1", "2", "3", "4"]),  # the words stay, so that 4 is found as before
        ('"heart attack"', "full", ["1", "2", "3"]),
        ("aspirin", "plain", ["5", "6"]),
        ("asa", "plain", ["6"]),
        ("acetylsalicylic acid", "plain", ["6"]),
        ("title:mi", "full", ["1", "2", "3"]),
        ("body:mi", "full", ["1", "3"]),  # no body has the words of "myocardial infarction" in this order
        ("mi AND morning", "full", ["1"]),
        ("morning -mi", "full", ["5"]),
        ("unknown", "plain", []),
    ],
)
def test_a_word_finds_the_documents_of_its_synonyms(engine, query, syntax, found):
    hits = engine.search(query, syntax=syntax)
    assert sorted(hits.docnos) == found
    assert engine.search(query, k=1, syntax=syntax).n_matches == len(found)


def test_without_synonyms_nothing_changes(folder):
    with searchlab.open(folder) as engine:
        assert engine.search("mi").docnos == ["3"]


def test_a_class_has_the_statistics_of_all_its_words_and_phrases(engine):
    # By hand: "heart attack" is 3 times in 1, "myocardial infarctions" once in 2 (in the body the order differs), "MI"
    # 3 times in 3.
    (term,) = engine.parse("mi").terms
    assert term.text == "mi = heart attack, myocardi infarct"
    assert (term.stats.doc_freq, term.stats.term_count) == (3, 7)
    (in_title,) = engine.parse("mi", stream="title").terms
    assert (in_title.stats.doc_freq, in_title.stats.term_count) == (3, 3)


def test_several_words_with_synonyms_are_one_word_more(engine):
    terms = engine.parse("heart attack morning").terms
    assert [(term.text, term.count) for term in terms] == [
        ("heart", 1),
        ("attack", 1),
        ("morn", 1),
        ("heart attack = myocardi infarct, mi", 1),
    ]


@pytest.mark.parametrize("scorer", ["bm25", "bm25f", "dirichlet", "jm", "tfidf", "mixture"])
@pytest.mark.parametrize("compiled", [False, True])
def test_every_scorer_counts_a_class_as_one_word(folder, rules, scorer, compiled):
    with searchlab.open(folder, synonyms=rules, compiled=compiled) as engine:
        hits = engine.search("mi morning", scorer=scorer)
        assert {"1", "2", "3"} <= set(hits.docnos)
        for hit in hits:
            explanation = engine.explain("mi morning", hit.docno, scorer=scorer)
            assert explanation.score == pytest.approx(hit.score)
        parts = {part.label: part for part in engine.explain("mi morning", "1", scorer=scorer).parts}
        # BM25F counts occurrences by the length of their field.
        assert parts["mi = heart attack, myocardi infarct"].raw == pytest.approx(3, abs=0.3 if scorer == "bm25f" else 0)


def test_the_words_of_synonyms_are_marked(engine):
    hit = next(hit for hit in engine.search("mi") if hit.docno == "1")
    assert hit.marked_title.marked("[", "]") == "[Heart] [attack]"


def test_a_rule_whose_phrases_no_document_has_is_no_unknown_word(folder):
    with searchlab.open(folder, synonyms=[["morning city", "dawn"]]) as engine:
        query = engine.parse("morning city")
        assert ([term.text for term in query.terms], query.unknown) == (["morn", "citi"], ())


def test_unknown_words_are_still_reported_and_corrected(engine):
    assert engine.parse("aspirim").unknown == ("aspirim",)
    assert engine.parse("aspirim").suggestions == (("aspirim", "aspirin"),)


def test_deleted_documents_do_not_count(folder, rules):
    searchlab.delete(folder, ["1"])
    with searchlab.open(folder, synonyms=rules) as engine:
        (term,) = engine.parse("mi").terms
        assert (term.stats.doc_freq, term.stats.term_count) == (2, 4)


def test_the_longest_rule_wins_and_a_word_belongs_to_one():
    analyzer = Analyzer(AnalysisSettings("none", "none", frozenset()))
    table = SynonymTable(Synonyms.given([["a b", "x"], ["a b c", "y"], ["c d", "z"]]), analyzer)
    matches = list(table.find_phrases(analyzer.word_classes("a b c d a b")))
    assert [(match.start, match.end) for match in matches] == [(0, 5), (8, 11)]
    assert matches[0].terms == (("a", "b", "c"), ("y",))


def test_synonyms_work_in_an_index_of_several_languages(tmp_path):
    documents = [
        {"docno": "de", "title": "Die Behandlung von Herzinfarkten", "body": "Ärzte behandeln die Herzinfarkte."},
        {"docno": "en", "title": "The treatment of heart attacks", "body": "Physicians treat the heart attacks."},
    ]
    searchlab.index(documents, tmp_path / "x", language="english,german")
    with searchlab.open(tmp_path / "x", synonyms=[["heart attack", "Herzinfarkt"]]) as engine:
        assert sorted(engine.search("Herzinfarkt").docnos) == ["de", "en"]
        assert sorted(engine.search('"heart attack"', syntax="full").docnos) == ["de", "en"]
