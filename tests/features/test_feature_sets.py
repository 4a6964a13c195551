"""Feature sets: the built-in ones, and those composed in TOML files."""

import pytest

from searchlab.errors import SettingError, SourceError
from searchlab.features.catalogue import CATALOGUE
from searchlab.features.feature_sets import DEFAULT_SET, FEATURE_SETS, find_feature, make_feature_set, read_feature_set


@pytest.fixture
def write(tmp_path):
    def write_set(text: str):
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_set


def test_the_sets_have_as_many_features_as_their_sources():
    names = ("table1", "nallapati", "letor45", "ordrank", "ordrank-letor")
    assert {name: len(make_feature_set(name)) for name in names} == {
        "table1": 7,
        "nallapati": 6,
        "letor45": 45,
        "ordrank": 15,
        "ordrank-letor": 15,
    }


def test_the_table_of_ordrank_is_as_printed_or_as_letor_reads_it():
    printed, read = make_feature_set("ordrank").features, make_feature_set("ordrank-letor").features
    assert [feature.name.rpartition(".")[2] for feature in printed] == [
        *(f"L{number}" for number in range(1, 11)),
        *(f"H{number}" for number in range(1, 6)),
    ]
    assert all(feature.formula.startswith("Σ(q∩d) ") for feature in printed[:10])
    other = {a.name: (a.formula, b.formula) for a, b in zip(printed, read, strict=True) if a.formula != b.formula}
    assert other == {
        "ordrank.both.L5": ("Σ(q∩d) ln(N/df)", "Σ(q) ln(N/df)"),
        "ordrank.both.L6": ("Σ(q∩d) cf·ln(N/df)", "Σ(q∩d) c·ln(N/df)"),
        "ordrank.both.L7": ("Σ(q∩d) ln(ln(N/df))", "Σ(q) ln(ln(N/df))"),
        "ordrank.both.L8": ("Σ(q∩d) ln(N/cf + 1)", "Σ(q) ln(N/cf + 1)"),
    }


def test_letors_features_are_in_its_order():
    names = make_feature_set("letor45").names
    assert names[:3] == ("letor.title.tf", "letor.title.log_tf", "letor.title.share")
    assert (names[15], names[40], names[44]) == ("letor.body.tf", "letor.both.bm25", "letor.both.absolute")
    numbers = [feature.source.rpartition(" ")[2] for feature in make_feature_set("letor45").features]
    assert numbers == [str(number) for number in range(1, 46)]


def test_the_semantic_set_extends_letors_features():
    names = make_feature_set("semantic").names
    assert names[:45] == make_feature_set("letor45").names
    assert names[45:48] == ("score.both.rm3", "match.both.coverage", "doc.both.length")
    assert len(names[48:]) == 6
    assert all(name.startswith("semantic.both.") for name in names[48:])


def test_the_compact_set_has_the_scores_of_neighbours_and_a_third_of_the_semantic_sets_size():
    names = make_feature_set("compact").names
    of_neighbours = {f"neighbours.both.{what}_words_3" for what in ("bm25", "rm3", "smoothed")}
    assert set(names) >= {"score.both.bm25", "score.both.rm3", "neighbours.both.bm25_5"} | of_neighbours
    assert {name for name in names if name.startswith("semantic.")} == set(make_feature_set("semantic").names[48:])
    assert len(names) == 19
    assert DEFAULT_SET == "compact"


def test_the_topics_set_is_the_semantic_one_and_latent_topics():
    names, semantic = make_feature_set("topics").names, make_feature_set("semantic").names
    assert names[: len(semantic)] == semantic
    assert names[len(semantic) :] == ("topic.both.cosine", "topic.both.likelihood", "topic.both.plsa")


def test_the_full_set_has_every_formula_once_except_latent_topics_and_mixtures():
    full = make_feature_set("full").features
    formulas = [(feature.formula, feature.stream) for feature in full]
    assert len(set(formulas)) == len(formulas)
    others = [feature for feature in CATALOGUE.values() if feature.needs not in ("topics", "mixture")]
    assert set(formulas) == {(feature.formula, feature.stream) for feature in others}
    assert set(make_feature_set("letor45").names) <= {feature.name for feature in full}


@pytest.mark.parametrize("name", FEATURE_SETS)
def test_the_features_of_a_set_are_distinct_and_known(name):
    names = make_feature_set(name).names
    assert len(set(names)) == len(names) == len(FEATURE_SETS[name])
    assert set(names) <= set(CATALOGUE)


def test_a_set_can_be_made_of_names():
    chosen = make_feature_set(["score.both.bm25", "letor.1", "score.both.bm25"])
    assert chosen.names == ("score.both.bm25", "letor.title.tf")
    assert make_feature_set(chosen) is chosen


def test_a_set_needs_a_feature():
    for nothing in ("", " "):
        with pytest.raises(SettingError, match=r"^no features: expected names of features or sets \(table1, "):
            make_feature_set(nothing)
    with pytest.raises(SettingError, match="has no features, expected at least one"):
        make_feature_set([])


def test_an_unknown_feature_is_refused_with_similar_names():
    with pytest.raises(
        SettingError, match=r"unknown feature 'letor.title.tff' \(did you mean letor.title.tf\?\)"
    ) as error:
        find_feature("letor.title.tff")
    assert "letor.title.log_tf" in str(error.value)
    assert len(str(error.value)) < 400


def test_an_unknown_feature_without_similar_names_is_refused_with_all_names():
    with pytest.raises(SettingError, match=r"unknown feature '46'; there is: doc.body.length, .*table1"):
        find_feature("46")


def test_an_unknown_set_is_refused_with_the_known_ones():
    with pytest.raises(
        SettingError, match=r"unknown feature set 'letor' .* full, letor45, nallapati, ordrank, ordrank-letor, semantic"
    ):
        make_feature_set("letor")


def test_a_file_composes_a_set(write):
    path = write('name = "mine"\ninclude = ["table1", "nallapati"]\nfeatures = ["score.both.rm3", "letor.41"]\n')
    mine = make_feature_set(path)
    assert mine.name == "mine"
    assert mine.names == (*FEATURE_SETS["table1"], *FEATURE_SETS["nallapati"], "score.both.rm3", "letor.both.bm25")
    assert make_feature_set(str(path)) == mine == read_feature_set(path)


def test_a_feature_that_is_included_and_listed_occurs_once(write):
    mine = read_feature_set(write('include = ["table1"]\nfeatures = ["table1.both.log_tf", "doc.both.length"]\n'))
    assert mine.names == (*FEATURE_SETS["table1"], "doc.both.length")


def test_a_set_without_a_name_has_that_of_its_file(write):
    assert read_feature_set(write('features = ["doc.both.length"]')).name == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"features = {'9' * 5000}", r"not a TOML file \(Exceeds the limit"),
        (f"features = {'[' * 100_000}", r"not a TOML file \("),
        ("features = [", r"not a TOML file \(Invalid value \(at end of document\)\)"),
        (f"name = {'9' * 5000}", r"not a TOML file \("),
        ("feature = []", "unknown key 'feature', expected name, include, features"),
        ("features = 'doc.both.length'", "features is 'doc.both.length', expected a list of names"),
        ("features = [1]", r"features is \[1\], expected a list of names"),
        ("name = 7", "name is 7, expected a text"),
        ("features = ['doc.both.lenght']", r"unknown feature 'doc.both.lenght' \(did you mean doc.both.length\?\)"),
        ("include = ['letor']", "unknown feature set 'letor'"),
        ("include = ['other.toml']", "unknown feature set 'other.toml'"),
        ("name = 'empty'", "feature set empty: has no features"),
    ],
)
def test_a_malformed_file_is_refused_in_one_line(write, text, message):
    path = write(text)
    with pytest.raises(SourceError, match=f"^{path}: {message}") as error:
        make_feature_set(path)
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read_is_reported(tmp_path):
    with pytest.raises(SourceError, match=r"none.toml: cannot be read \(No such file or directory\)"):
        make_feature_set(str(tmp_path / "none.toml"))
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(SourceError, match="not a TOML file"):
        make_feature_set(tmp_path / "latin.toml")
