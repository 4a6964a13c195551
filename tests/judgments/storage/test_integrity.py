"""A damaged or hostile database is refused: no reading gives a wrong answer."""

import random
import sqlite3
import sys
from contextlib import closing

import pytest

from searchlab.errors import IndexCorrupt, StoreError
from searchlab.judgments.judgment_store import JudgmentStore
from searchlab.judgments.storage import database, integrity
from tests.judgments.damaged_judgments import damage, fill, read_everything


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    return fill(tmp_path_factory.mktemp("filled") / "it.judgments.sqlite")


@pytest.fixture
def alter(filled, tmp_path):
    """A copy of the database after SQL statements that searchlab did not make."""

    def alter_copy(*statements):
        path = tmp_path / "altered.sqlite"
        path.write_bytes(filled.read_bytes())
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)
        return path

    return alter_copy


def test_random_damage_is_never_silent(filled, tmp_path):
    # Of 300 such files SQLite's own errors leave 62 that are read wrongly.
    content, right = filled.read_bytes(), read_everything(filled)
    rng, path, n_refused = random.Random(5), tmp_path / "damaged.sqlite", 0
    for _ in range(80):
        path.write_bytes(damage(content, rng))
        try:
            assert read_everything(path) == right
        except StoreError as error:
            assert "\n" not in str(error)
            n_refused += 1
    assert n_refused > 30


def test_a_schema_that_is_not_utf8_is_damage(filled, tmp_path):
    content, path = filled.read_bytes(), tmp_path / "damaged.sqlite"
    assert b"CREATE TABLE" in content
    # SQLite's own message repeats the word that it cannot read.
    path.write_bytes(content.replace(b"CREATE TABLE", b"CREATE TABL\xaf", 1))
    with pytest.raises(IndexCorrupt, match="a text that is not UTF-8"):
        read_everything(path)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE acts SET grade = 2 - grade WHERE id = 7", "rows of acts are not those that were written"),
        ("UPDATE acts SET note = 'x' WHERE id = 7", "rows of acts are not"),
        ("UPDATE topics SET text = 'other' WHERE id = 3", "rows of topics are not"),
        ("DELETE FROM acts WHERE id = (SELECT max(id) FROM acts)", "rows of acts are not|unknown"),
        ("DELETE FROM undone WHERE id = 1", "rows of undone are not"),
        ("UPDATE acts SET note = x'00ff' WHERE id = 7", "rows of acts are not"),
        ("UPDATE last SET grade = 9 WHERE act = (SELECT min(act) FROM last)", "do not follow from the acts"),
        ("DELETE FROM last WHERE act = (SELECT min(act) FROM last)", "do not follow from the acts"),
        ("UPDATE queries SET text = 'other' WHERE id = 5", "a past query"),
        ("DELETE FROM seals", "rows of topics are not"),
        ("INSERT INTO seals VALUES ('more', 0, '')", "rows of more are not"),
    ],
)
def test_rows_that_were_not_written_by_searchlab_are_found(alter, statement, problem):
    path = alter(statement)
    with JudgmentStore(path) as store:
        with pytest.raises(IndexCorrupt, match=problem):
            store.topic_sets()
        with pytest.raises(IndexCorrupt, match="judgments restore"):
            store.add_topic("trials", "another", "z")


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TRIGGER t AFTER INSERT ON topics BEGIN DELETE FROM acts; END"],
        ["CREATE VIEW v AS SELECT * FROM acts"],
        ["DROP TABLE queries", "CREATE VIEW queries AS SELECT 1 AS id, 'x' AS folded, 'x' AS text"],
        ["CREATE VIRTUAL TABLE f USING fts5(x)"],
        ["CREATE TABLE more (x)"],
        ["DROP TRIGGER done", "CREATE TRIGGER done AFTER INSERT ON acts BEGIN SELECT 1; END"],
        ["DROP INDEX acts_by_judge"],
    ],
)
def test_an_unexpected_schema_is_refused(alter, statements):
    try:
        path = alter(*statements)
    except sqlite3.OperationalError as error:
        pytest.skip(str(error))  # this SQLite has no such module
    before = path.read_bytes()
    with JudgmentStore(path) as store:
        with pytest.raises(IndexCorrupt, match="its schema is not that of judgments"):
            store.topic_sets()
        with pytest.raises(IndexCorrupt, match="its schema is not that of judgments"):
            store.add_topic("trials", "another", "z")
    assert path.read_bytes() == before


HOSTILE_VALUES = {
    "text as grade": "UPDATE acts SET grade = 'x' WHERE id = 7",
    "broken grade": "UPDATE acts SET grade = 1.5 WHERE id = 7",
    "infinite grade": "UPDATE acts SET grade = 9e999 WHERE id = 7",
    "huge grade": "UPDATE acts SET grade = 4611686018427387904 WHERE id = 7",
    "line in docno": "UPDATE acts SET docno = 'a 1' || char(10) || 'q0 0 b' WHERE id = 7",
    "empty docno": "UPDATE acts SET docno = '' WHERE id = 7",
    "escape in judge": "UPDATE acts SET judge = char(27) || '[2J' WHERE id = 7",
    "huge note": "UPDATE acts SET note = hex(zeroblob(9000)) WHERE id = 7",
    "number as flag": "UPDATE acts SET imported = 7 WHERE id = 7",
    "line in date": "UPDATE acts SET made = char(10) WHERE id = 7",
    "blank in qid": "UPDATE topics SET qid = 'q 0' WHERE id = 3",
    "line in text": "UPDATE topics SET text = 'a' || char(10) || 'b', folded = 'a b' WHERE id = 3",
    "another folded text": "UPDATE topics SET folded = 'other' WHERE id = 3",
    "line in query": "UPDATE queries SET text = 'a' || char(10) || 'b', folded = 'a b' WHERE id = 5",
}


@pytest.mark.parametrize("statement", HOSTILE_VALUES.values(), ids=HOSTILE_VALUES)
def test_values_that_are_never_written_are_refused_though_they_are_sealed(alter, statement):
    path = alter(statement, "DELETE FROM last", f"INSERT INTO last {integrity._DERIVED}", "DELETE FROM seals")
    with closing(sqlite3.connect(path)) as connection:
        integrity.extend_seals(connection)
        connection.commit()
    with JudgmentStore(path) as store, pytest.raises(IndexCorrupt, match=r"never written|not the one that was written"):
        store.grades("trials")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python sets this flag since 3.12")
def test_a_connection_is_defensive(filled, tmp_path):
    path = tmp_path / "it.sqlite"
    path.write_bytes(filled.read_bytes())
    with closing(database.Database(path)) as opened, opened.writing() as connection:
        # Without the flag, the schema could be written like any table.
        connection.execute("PRAGMA writable_schema=ON")
        with pytest.raises(sqlite3.OperationalError, match="may not be modified"):
            connection.execute("DELETE FROM sqlite_schema WHERE type = 'trigger'")


def test_a_connection_trusts_no_schema(filled):
    with closing(database.Database(filled)) as opened, opened.reading() as connection:
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
        assert connection.execute("PRAGMA cell_size_check").fetchone() == (1,)


def test_the_chain_by_hand(tmp_path):
    from hashlib import blake2b

    with JudgmentStore(tmp_path / "it.sqlite") as store:
        store.add_topic("trials", "Heat  flow", "a")
    with closing(database.Database(tmp_path / "it.sqlite")) as opened, opened.reading() as connection:
        seals = integrity.read_seals(connection)
    row = b'[1, "trials", "a", "Heat flow", "heat flow"]'
    assert seals["topics"] == (1, blake2b(bytes(16) + row, digest_size=16).hexdigest())


def test_only_added_rows_are_verified_again(filled, tmp_path, monkeypatch):
    path = tmp_path / "it.sqlite"
    path.write_bytes(filled.read_bytes())
    with JudgmentStore(path) as store, JudgmentStore(path) as other:
        store.topic_sets()
        monkeypatch.setattr(database, "verify_all", lambda *_, **__: pytest.fail("verified from scratch"))
        store.topic_sets()
        # Another process judges; its rows are verified, and then a row that it did not seal.
        monkeypatch.undo()
        other.judge("trials", "q0", "new", judge="cyd", grade=1)
        monkeypatch.setattr(database, "verify_all", lambda *_, **__: pytest.fail("verified from scratch"))
        assert store.grades("trials", "cyd") == {"q0": {"new": 1}}
        with closing(sqlite3.connect(path, isolation_level=None)) as stranger:
            stranger.execute("UPDATE seals SET last = last + 1 WHERE name = 'acts'")
        with pytest.raises(IndexCorrupt, match="rows of acts are not"):
            store.grades("trials", "cyd")


LATER = ("TRIGGER topic_added", "TRIGGER topic_changed", "TABLE versions", "TABLE current_topics", "TABLE redone")
TO_LAYOUT_2 = [*(f"DROP {each}" for each in (*LATER, "TABLE changes")), "PRAGMA user_version=2"]
# The tables that layout 3 added have no rows here, and so no seals.
TO_LAYOUT_1 = [*TO_LAYOUT_2, "DROP TABLE seals", "PRAGMA user_version=1"]


@pytest.mark.parametrize("statements", [TO_LAYOUT_1, TO_LAYOUT_2], ids=["1", "2"])
def test_a_database_of_an_earlier_layout_is_read_and_sealed_by_the_first_write(filled, alter, statements):
    right = read_everything(filled)
    path = alter(*statements)
    assert read_everything(path) == right
    with JudgmentStore(path) as store:
        store.judge("trials", "q0", "new", judge="cyd", grade=1)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
        assert connection.execute("SELECT count(*) FROM seals").fetchone() == (3,)
        connection.execute("UPDATE acts SET grade = 9 WHERE id = 2")
    with JudgmentStore(path) as store, pytest.raises(IndexCorrupt, match="rows of acts"):
        store.topic_sets()
