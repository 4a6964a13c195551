"""Analyzers that a user registers: terms, positions, stems, what an index records, and mistakes reported by name."""

import re

import pytest

import searchlab
from searchlab import extensions
from searchlab.analysis.analyzer import AnalysisSettings, Analyzer
from searchlab.analysis.custom_analyzers import analyzer
from searchlab.errors import IndexOutdated, SettingError
from searchlab.extensions import origin_of
from searchlab.indexing.building.analysis_options import AnalysisOptions
from searchlab.records import Document

pytestmark = pytest.mark.usefixtures("registered_here")

DOCUMENTS = [
    Document("a", "Gene BRCA-1", "The genes BRCA-1 and brca-2, café.", {"note": "TP-53 rules"}),
    Document("b", "Other", "A gene of no interest."),
]


@pytest.fixture
def codes():
    @analyzer("codes")
    def split_codes(text):
        return re.findall(r"[\w-]+", text.lower())


@pytest.fixture
def plurals():
    @analyzer("plurals")
    class Plurals:
        def words(self, text):
            return [(found.start(), found.end(), found.group().lower()) for found in re.finditer(r"[\w-]+", text)]

        def stem(self, word):
            return None if word == "the" else word.removesuffix("s")


def made(name, **options):
    return Analyzer(AnalysisOptions(analyzer=name, **options).settings(None))


def test_a_function_gives_the_terms_of_texts_and_marks_pieces_between_blanks(codes):
    own = made("codes")
    assert own.terms("The genes BRCA-1, x") == ["the", "genes", "brca-1", "x"]
    assert own.locate_terms("a BRCA-1/TP-53, b") == (
        [0, 2, 2, 16],
        [1, 15, 15, 17],
        ["a", "brca-1", "tp-53", "b"],
    )
    assert not own.has_standard_words


def test_a_class_gives_positions_and_stems_and_leaves_words_out(plurals):
    own = made("plurals")
    assert own.terms("The genes BRCA-1") == ["gene", "brca-1"]
    assert own.locate_terms("The genes") == ([0, 4], [3, 9], [None, "gene"])


def test_a_class_may_have_stems_alone():
    @analyzer("short")
    class Short:
        def stem(self, word):
            return word[:3]

    own = made("short")
    assert own.terms("Lymphomas of T-cells") == ["lym", "of", "t", "cel"]
    assert own.has_standard_words


def test_stop_words_and_a_stemmer_are_used_if_they_are_named(codes, plurals):
    assert made("codes", stemmer="porter", stop_list="default").terms("The genes BRCA-1") == ["gene", "brca-1"]
    with pytest.raises(
        SettingError, match=r"^analyzer plurals stems words itself, found stemmer porter, expected none"
    ):
        made("plurals", stemmer="porter")


def test_an_index_is_searched_filtered_and_marked_by_its_analyzer(plurals, tmp_path):
    searchlab.index(DOCUMENTS, tmp_path / "it", analyzer="plurals")
    with searchlab.open(tmp_path / "it") as engine:
        for options in ({}, {"syntax": "full"}):
            hits = engine.search("brca-1", **options)
            assert hits.docnos == ["a"]
        assert len(engine.search("brca", syntax="plain")) == 0
        (hit,) = engine.search("BRCA-1 cafés")
        marked = [hit.snippet.text[start:end] for start, end in hit.snippet.marks]
        assert marked == ["BRCA-1", "café"]
        assert [hit.marked_title.text[start:end] for start, end in hit.marked_title.marks] == ["BRCA-1"]
        assert engine.search("note:tp-53", syntax="full").docnos == ["a"]
        assert engine.search('"genes brca-1"', syntax="full").docnos == ["a"]
        assert engine.explain("gene", "a").parts[0].raw == 2
    assert searchlab.examine(tmp_path / "it").healthy


def test_an_index_records_the_origin_and_is_refused_where_it_is_missing_or_has_changed(codes, tmp_path):
    folder = tmp_path / "it"
    searchlab.index(DOCUMENTS, folder, analyzer="codes")
    known = origin_of("analyzer", "codes")
    settings = AnalysisSettings.from_names("none", "none", 0, "codes")
    assert settings.origin == known
    assert AnalysisSettings.from_json(settings.to_json()) == settings
    assert settings.fingerprint != AnalysisSettings.from_names("none", "none").fingerprint
    del extensions.ORIGINS["analyzer", "codes"]
    message = rf"analyzer codes of this index comes from module {known.module}, which is not loaded"
    for act in (lambda: searchlab.open(folder), lambda: searchlab.delete(folder, ["a"])):
        with pytest.raises(IndexOutdated, match=f"^{folder}: {message}: searchlab --extension"):
            act()
    with pytest.raises(SettingError, match=message):
        searchlab.index(DOCUMENTS, folder)
    (finding,) = searchlab.examine(folder).findings
    assert re.fullmatch(message, finding.problem)
    assert finding.remedy.startswith("searchlab --extension")
    extensions.ORIGINS["analyzer", "codes"] = extensions.Origin(known.module, "0" * 16)
    with pytest.raises(IndexOutdated, match=r"codes of this index: module \S+ has changed since .*make index again"):
        searchlab.open(folder)
    assert "has changed since" in str(searchlab.examine(folder).findings[0])
    searchlab.index(DOCUMENTS, folder, rebuild=True)
    assert searchlab.open(folder).search("gene").docnos


def test_an_update_keeps_the_analyzer_and_another_one_needs_a_rebuild(codes, plurals, tmp_path):
    folder = tmp_path / "it"
    searchlab.index(DOCUMENTS, folder, analyzer="codes", stop_list="default")
    more = [Document("c", "", "TP-53")]
    for options in ({}, {"analyzer": "codes"}):
        searchlab.index(more, folder, **options)
        with searchlab.open(folder) as engine:
            assert engine.search("tp-53").docnos == ["c"]
            assert engine.snapshot.manifest.settings.stop_list == "default"
    for other in ("plurals", "standard"):
        with pytest.raises(
            SettingError, match=r"built with analyzer codes \(\w+\), .*, found .*rebuild=True \(--rebuild\) builds"
        ):
            searchlab.index(more, folder, analyzer=other)


def test_settings_without_an_analyzer_of_ones_own_are_recorded_as_before():
    record = AnalysisSettings().to_json()
    assert set(record) == {"word_rules", "stemmer", "stop_list", "stop_words", "ngrams"}
    with pytest.raises(ValueError, match="origin"):
        AnalysisSettings.from_json(record | {"analyzer": "codes", "origin": 3})


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([3], r"analyzer mine returned 3 as a word, expected a text of printable characters"),
        (["a\n"], r"analyzer mine returned 'a\\n' as a word"),
        ([""], r"analyzer mine returned '' as a word"),
        ("a b", r"analyzer mine returned the text 'a b', expected a list of terms"),
        (None, r"analyzer mine failed: TypeError: 'NoneType' object is not iterable"),
    ],
)
def test_wrong_terms_of_a_function_are_reported(returned, message, tmp_path):
    analyzer("mine")(lambda text: returned)
    with pytest.raises(SettingError, match=f"^{message}"):
        searchlab.index(DOCUMENTS, tmp_path / "it", analyzer="mine")


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (["a"], r"analyzer mine returned 'a', expected start, end and word"),
        (
            [(0, 99, "a")],
            r"analyzer mine returned \(0, 99, 'a'\), expected positions within the 3 characters of the text",
        ),
        ([(2, 1, "a")], r"analyzer mine returned \(2, 1, 'a'\), expected positions"),
        ([(0, 1, 5)], r"analyzer mine returned 5 as a word"),
    ],
)
def test_wrong_words_of_a_class_are_reported(returned, message):
    analyzer("mine")(type("Mine", (), {"words": lambda self, text: returned, "__module__": __name__}))
    with pytest.raises(SettingError, match=f"^{message}"):
        made("mine").terms("a b")


def test_exceptions_and_wrong_definitions_are_reported():
    @analyzer("mine")
    class Mine:
        def __init__(self, needed):
            pass

        def stem(self, word):
            return word

    with pytest.raises(
        SettingError, match=r"^analyzer mine failed: TypeError: .*missing 1 required.*\(\S+, line \d+\)$"
    ):
        made("mine").terms("a")
    analyzer("broken")(lambda text: text.nothing)
    with pytest.raises(
        SettingError, match=r"^analyzer broken failed: AttributeError: .*\(test_custom_analyzers\.py, line"
    ):
        made("broken").terms("a")
    for wrong in (3, str):
        with pytest.raises(SettingError, match=r"^analyzer wrong is (int|str), expected a function, or a class with"):
            analyzer("wrong")(wrong)  # type: ignore[type-var]
    with pytest.raises(SettingError, match=r"^analyzer standard is built in, expected another name"):
        analyzer("standard")(lambda text: [])
    with pytest.raises(
        SettingError, match=r"^unknown analyzer 'brken' \(did you mean broken\?\); there is: broken, mine"
    ):
        made("brken")


def test_an_index_without_any_term_is_a_warning(tmp_path, codes):
    analyzer("mine")(lambda text: [])
    summary = searchlab.index(DOCUMENTS, tmp_path / "none", analyzer="mine", jobs=1)
    assert (summary.n_docs, summary.n_tokens) == (2, 0)
    (warning,) = summary.warnings
    assert re.search(r"none: no document has a term, so that no query finds one \(analyzer mine", warning)
    assert searchlab.index(DOCUMENTS, tmp_path / "some", analyzer="codes", jobs=1).warnings == ()
