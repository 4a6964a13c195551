import inspect
import io
import re
from pathlib import Path

import pytest

import searchlab
from searchlab.errors import SearchlabError


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "small.jsonl").write_text(
        '{"docno": "a", "title": "T-cell lymphoma", "body": "A lymphoma of T cells."}\n'
        '{"docno": "b", "title": "Wings", "body": "Heat flow over wings.", "year": 1999}\n'
    )
    (tmp_path / "topics.tsv").write_text("1\tt-cell lymphomas\n2\twing\n")
    return tmp_path


def test_names_are_exported():
    assert len(searchlab.__all__) > 20
    assert len(set(searchlab.__all__)) == len(searchlab.__all__)


def test_type_checkers_see_the_names_that_programs_see():
    seen = re.findall(r" (\w+) as \1$", Path(searchlab.__file__).read_text("utf-8"), re.MULTILINE)
    seen += re.findall(r"^ +(\w+) as \1,$", Path(searchlab.__file__).read_text("utf-8"), re.MULTILINE)
    assert sorted({*seen, "__version__"}) == sorted(searchlab.__all__)


@pytest.mark.parametrize("name", searchlab.__all__)
def test_every_exported_name_exists_and_is_documented(name):
    value = getattr(searchlab, name)
    if name == "__version__":
        assert value.count(".") == 2
    else:
        assert inspect.getdoc(value)
        assert value.__name__ == name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'searchlab' has no attribute 'serach'"):
        _ = searchlab.serach


def test_dir_lists_the_exported_names():
    assert dir(searchlab) == sorted(searchlab.__all__)


def test_an_index_is_made_and_searched_as_the_readme_does(corpus):
    summary = searchlab.index("corpora/small.jsonl", "indexes/small")
    assert summary.n_docs == 2
    engine = searchlab.open("indexes/small")
    hits = engine.search("t-cell lymphoma", scorer=searchlab.BM25(k1=0.9), k=10)
    assert [(hit.rank, hit.docno, hit.title) for hit in hits] == [(1, "a", "T-cell lymphoma")]
    assert hits[0].score == pytest.approx(engine.explain("t-cell lymphoma", "a", scorer=searchlab.BM25(k1=0.9)).score)
    assert engine.document("b") == searchlab.Document("b", "Wings", "Heat flow over wings.", {"year": 1999})


def test_an_index_goes_by_default_where_its_name_is_enough_to_open_it(corpus):
    assert searchlab.index(["corpora/small.jsonl"]).folder.as_posix() == "indexes/small"
    assert len(searchlab.open("small")) == 2


def test_topics_are_searched_and_written_as_a_run(corpus):
    searchlab.index("corpora/small.jsonl")
    topics = searchlab.read_topics("topics.tsv")
    file = io.StringIO()
    scorer = searchlab.make_scorer("jm", {"lambda": "0.2"})
    searchlab.write_run(file, searchlab.Pipeline(searchlab.open("small"), scorer).run(topics), "mine")
    assert [line.split()[:4] for line in file.getvalue().splitlines()] == [["1", "Q0", "a", "1"], ["2", "Q0", "b", "1"]]


def test_the_settings_of_an_index_can_be_chosen(corpus):
    searchlab.index("corpora/small.jsonl", stemmer="none", stop_list="none", jobs=1)
    assert [hit.docno for hit in searchlab.open("small").search("wing")] == []
    assert [hit.docno for hit in searchlab.open("small").search("of")] == ["a"]


MISTAKES = {
    "no sources": lambda: searchlab.index([]),
    "no sources for a folder": lambda: searchlab.index([], "here"),
    "missing source": lambda: searchlab.index("nowhere"),
    "unknown stemmer": lambda: searchlab.index("corpora/small.jsonl", stemmer="lovins"),
    "missing index": lambda: searchlab.open("nowhere"),
    "missing topics": lambda: searchlab.read_topics("nowhere"),
    "unknown scorer": lambda: searchlab.make_scorer("nothing"),
    "setting out of range": lambda: searchlab.BM25(k1=-1),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_mistake_is_a_searchlab_error(corpus, mistake):
    with pytest.raises(SearchlabError) as caught:
        MISTAKES[mistake]()
    assert "\n" not in str(caught.value)


def test_values_print_as_what_they_are(corpus):
    searchlab.index("corpora/small.jsonl")
    engine = searchlab.open("small")
    assert repr(engine) == "<SearchEngine indexes/small: 2 documents>"
    assert repr(engine.search("wing")) == "<Hits for 'wing': 1 documents>"
    assert repr(searchlab.Dirichlet(500)) == "Dirichlet(mu=500)"
