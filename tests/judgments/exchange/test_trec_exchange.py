"""Export and import: exported files are read back unchanged, invalid ones change nothing."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.corpus import read_qrels, read_topics
from searchlab.errors import DuplicateError, RecordError, SearchlabError, SettingError, SourceError
from searchlab.judgments import judgment
from searchlab.judgments.exchange.trec_exchange import format_qrels, format_topics, import_texts
from searchlab.judgments.judgment_store import ImportSummary, JudgmentStore
from tests.hypothesis_profiles import examples

TOPICS = "b\twings\na\theat flow\n"
QRELS = "b 0 y 0\nb 0 z 2\na 0 x 1\n"


@pytest.fixture
def store(tmp_path):
    with JudgmentStore(tmp_path / "it.sqlite") as store:
        yield store


def test_imported_judgments_are_exported_by_topic_then_docno(store):
    done = import_texts(store, "s", topics=TOPICS, qrels="a 0 x 1\nb 0 z 2\nb 0 y 0\n", judge="ann")
    assert done == ImportSummary(2, 3, 0, 0)
    assert format_topics(store, "s") == TOPICS
    assert format_qrels(store, "s") == QRELS
    assert format_qrels(store, "s", "ann") == QRELS
    assert format_qrels(store, "s", "bob") == format_qrels(store, "none") == format_topics(store, "none") == ""


def test_importing_twice_changes_nothing(store):
    import_texts(store, "s", topics=TOPICS, qrels=QRELS, judge="ann")
    store.judge("s", "a", "x", judge="ann", grade=1, note="unchanged")
    before = store.version()
    assert import_texts(store, "s", topics=TOPICS, qrels=QRELS, judge="ann") == ImportSummary(0, 0, 2, 3)
    assert store.version() == before
    assert import_texts(store, "s", qrels="a 0 x 2\n", judge="ann") == ImportSummary(0, 1, 0, 0)
    assert [(one.grade, one.note) for one in store.judgments("s", "a")] == [(2, "unchanged")]
    assert import_texts(store, "s", qrels="a 0 x 2\n", judge="bob") == ImportSummary(0, 1, 0, 0)


@pytest.mark.parametrize(
    ("topics", "qrels", "error", "message"),
    [
        (None, None, SettingError, "nothing to import"),
        (
            None,
            "a 0 x 1\nq 0 x 1\nr 0 x 1\n",
            SettingError,
            "not in the topic set 's': 'a', 'q', 'r'; import their texts too",
        ),
        ("a\theat\n", "a 0 x 1\na 0 y one\n", RecordError, "qrels:2: expected a whole number as grade, found 'one'"),
        (
            "a\theat\n",
            "a 0 x 1\na 0 x 2\n",
            DuplicateError,
            "qrels:2: document x of topic a has the grade 2, but 1 at qrels:1",
        ),
        ("a\theat\nb\n", "a 0 x 1\n", RecordError, "topics:2: expected 2 columns separated by a tab, found 1"),
        ("a\theat\na\tflow\n", None, DuplicateError, "topics:2: topic a occurs already at topics:1"),
        (
            "a\theat\n",
            "a 0 x 12\n",
            SettingError,
            "the grade of document 'x' of topic 'a' is 12, expected a whole number",
        ),
        ("a\theat\n", "", SourceError, "qrels: holds no judgments"),
        ("", "a 0 x 1\n", SourceError, "topics: holds no topics"),
        ("neither\n", None, SourceError, "topics: unknown format"),
        ("a\t" + "x" * 4001, "a 0 x 1\n", SettingError, "text has 4,001 characters"),
        ("a" * 201 + "\theat\n", None, SettingError, "qid has 201 characters"),
    ],
)
def test_errors_name_the_line_and_nothing_is_imported(store, topics, qrels, error, message):
    with pytest.raises(error) as refused:
        import_texts(store, "s", topics=topics, qrels=qrels, judge="ann")
    assert message in str(refused.value)
    assert store.topic_sets() == []


def test_another_text_for_a_known_topic_rejects_the_judgments_too(store):
    import_texts(store, "s", topics=TOPICS, qrels=QRELS, judge="ann")
    with pytest.raises(SettingError, match="topic 'a' of the topic set 's' is 'heat flow', found 'other'"):
        import_texts(store, "s", topics="c\tnew\na\tother\n", qrels="c 0 d 1\n", judge="ann")
    assert format_topics(store, "s") == TOPICS
    assert format_qrels(store, "s") == QRELS


@pytest.mark.parametrize("docno", ["a b", "a\tb", "a\u2028b", " a", "a\x01b", "\x85"])
def test_a_docno_that_is_not_a_column_is_an_error(store, docno, monkeypatch):
    monkeypatch.setattr(judgment, "check_docno", str)  # a file of judgments that was made otherwise
    store.add_topic("s", "heat", "1")
    store.judge("s", "1", docno, judge="ann", grade=1)
    with pytest.raises(SettingError, match=r"topic 1: the docno of a judged document is .*; expected a docno"):
        format_qrels(store, "s")


def test_every_readable_format_can_be_imported(store):
    topics = '{"_id": "q1", "text": "heat"}\n{"_id": "q2", "text": "wings"}\n'
    qrels = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t0\n"
    assert import_texts(store, "s", topics=topics, qrels=qrels, judge="ann").n_judgments == 2
    assert store.grades("s") == {"q1": {"d1": 1}, "q2": {"d2": 0}}
    smart = "1 12 0 0\n1 13 0 0\n"
    import_texts(store, "t", topics="1\theat\n", qrels=smart, judge="ann")
    assert store.grades("t") == {"1": {"12": 1, "13": 1}}


WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@settings(max_examples=examples(150))
@given(
    st.dictionaries(WORDS, WORDS, min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 4), WORDS, st.integers(-9, 9)), max_size=8),
)
def test_accepted_topics_and_judgments_are_read_back_unchanged(tmp_path_factory, wanted, judged):
    """Any text is rejected when it is added, or read back unchanged."""
    folder = tmp_path_factory.mktemp("exchange")
    with JudgmentStore(folder / "it.sqlite") as store:
        added = []
        for qid, text in wanted.items():
            try:
                added.append(store.add_topic("s", text, qid))
            except SettingError:
                continue
        for number, docno, grade in judged if added else ():
            with suppress(SettingError):
                store.judge("s", added[number % len(added)].qid, docno, judge="ann", grade=grade)
        if added:
            (folder / "topics.tsv").write_text(format_topics(store, "s"), encoding="utf-8", newline="")
            assert read_topics(folder / "topics.tsv") == added
        grades = store.grades("s")
        written = format_qrels(store, "s")
        if grades:
            (folder / "qrels.txt").write_text(written, encoding="utf-8", newline="")
            assert read_qrels(folder / "qrels.txt") == grades
            with JudgmentStore(folder / "other.sqlite") as other:
                import_texts(other, "s", topics=format_topics(store, "s"), qrels=written, judge="bob")
                assert other.grades("s") == grades
                assert format_topics(other, "s") == format_topics(store, "s")


@settings(max_examples=examples(100))
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_imported_or_a_searchlab_error(tmp_path_factory, topics, qrels):
    with JudgmentStore(tmp_path_factory.mktemp("fuzz") / "it.sqlite") as store:
        try:
            import_texts(store, "s", topics=topics, qrels=qrels, judge="ann")
        except SearchlabError as error:
            assert str(error)
            assert store.topic_sets() == []
