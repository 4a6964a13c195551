import pytest

from searchlab.judgments.judgment_store import JudgmentStore

DOCS = '{"docno": "d1", "body": "heat flow"}\n{"docno": "d2", "body": "wings"}\n'
TOPICS = "2\twings\n1\theat flow\n"
QRELS = "2 0 d1 0\n2 0 d2 2\n1 0 d1 1\n"


@pytest.fixture
def aero(tmp_path, run_cli):
    """An index of a collection with topics and judgments; gives what runs `searchlab judgments` on it."""
    source = tmp_path / "aero"
    source.mkdir()
    (source / "docs.jsonl").write_text(DOCS)
    (source / "topics.tsv").write_text(TOPICS)
    (source / "qrels.txt").write_text(QRELS)
    assert run_cli("index", "aero")[0] == 0
    return lambda *arguments: run_cli("judgments", *arguments)


@pytest.fixture
def imported(aero):
    assert aero("import")[0] == 0
    return aero


def test_the_help_names_the_commands(run_cli):
    code, out, err = run_cli("judgments")
    assert (code, err) == (0, "")
    assert all(f"\n  {name} " in out for name in ("show", "export", "import", "agree", "backup", "restore"))
    assert "judgments" in run_cli("--help")[1]


def test_with_nothing_judged_it_says_how_to_begin(aero, tmp_path):
    code, out, err = aero("show")
    assert (code, out) == (0, "")
    assert "nothing judged yet" in err
    assert "searchlab judgments import" in err
    assert aero("export", "qrels") == (2, "", f"index: indexes/aero\nsearchlab: {NOTHING}\n")
    assert aero("agree")[0] == 2
    assert not (tmp_path / "indexes" / "aero.judgments.sqlite").exists()


NOTHING = "indexes/aero.judgments.sqlite: nothing judged yet"


def test_the_collections_own_judgments_are_imported_and_shown(aero, tmp_path):
    code, out, err = aero("import")
    assert (code, out) == (0, "2 topics and 3 judgments added to aero\n")
    assert err.splitlines()[1:] == [f"topics: {tmp_path}/aero/topics.tsv", f"judgments: {tmp_path}/aero/qrels.txt"]
    assert aero("import")[1] == (
        "0 topics and 0 judgments added to aero; 2 topics and 3 judgments were there already\n"
    )
    assert aero("show")[1] == (
        "topic set  judges      topics  judged topics  judgments  relevant\n"
        "aero       collection       2              2          3         2\n"
    )
    assert aero("show", "--topic-set", "aero")[1] == (
        "topic  text       judged  relevant\n2      wings           2         1\n1      heat flow       1         1\n"
    )


def test_what_is_exported_is_what_was_imported(imported, tmp_path):
    assert imported("export", "qrels")[1] == QRELS
    assert imported("export", "topics")[1] == TOPICS
    assert imported("export", "qrels", "--judge", "collection", "-o", "q.txt")[::2] == (
        0,
        "index: indexes/aero\n3 judgments of aero → q.txt\n",
    )
    assert (tmp_path / "q.txt").read_text() == QRELS
    imported("export", "topics", "-o", "t.tsv")
    assert imported("import", "--topics", "t.tsv", "--qrels", "q.txt", "--topic-set", "again", "--judge", "ann")[0] == 0
    assert imported("export", "qrels", "--topic-set", "again")[1] == QRELS
    assert imported("show")[1].splitlines()[-1].split() == ["again", "ann", "2", "2", "3", "2"]


def test_agreement_is_a_table(imported, tmp_path):
    code, out, err = imported("agree")
    assert (code, out) == (0, "")
    assert "fewer than two" in err
    (tmp_path / "mine.txt").write_text("2 0 d1 0\n2 0 d2 1\n1 0 d1 1\n")
    (tmp_path / "one.txt").write_text("2 0 d1 0\n")
    imported("import", "--qrels", "mine.txt", "--topic-set", "aero", "--judge", "ann")
    imported("import", "--qrels", "one.txt", "--judge", "zoe")
    out = imported("agree")[1].splitlines()
    assert out[0].split() == ["judges", "both", "judged", "agree", "κ", "weighted", "κ"]
    # Grades 0 1 1 and 0 2 1: 2 of 3 agree, 3/9 by chance; apart 1 in all, by chance (1 + 4 + 2 + 2)/3 of 9.
    assert out[1].split() == ["ann", "and", "collection", "3", "66.7%", "0.500", "0.667"]
    assert out[2].split() == ["ann", "and", "zoe", "1", "100.0%", "-", "-"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("export", "run"), 2, "unknown export 'run'; there is: qrels, topics"),
        (("export", "qrels", "--topic-set", "aro"), 2, "unknown topic set 'aro' (did you mean aero?); there is: aero"),
        (("export", "qrels", "--judge", "ann"), 2, "unknown judge 'ann'; there is: collection"),
        (("export", "topics", "--judge", "ann"), 2, "--judge goes with qrels: topics have no judge"),
        (("export", "qrels", "-o", "none/q.txt"), 1, "none/q.txt: cannot be written (No such file or directory)"),
        (("export", "qrels", "-o", "aero"), 1, "aero: cannot be written (a folder, expected a file)"),
        (("show", "--topic-set", "x"), 2, "unknown topic set 'x'; there is: aero"),
        (("show", "-i", "none"), 1, "indexes/none: no index here; `searchlab index SOURCE` makes one"),
        (("import", "--qrels", "none"), 1, "none: no such file or folder"),
        (("import", "--qrels", "bad.txt"), 1, "bad.txt:2: expected a whole number as grade, found 'x'"),
        (("import", "--qrels", "far.txt"), 2, "the grade of document 'd1' of topic '1' is 99, expected a whole number"),
        (("import", "--qrels", "new.txt"), 2, "judgments for topics that are not in the topic set 'aero': '7'"),
        (("import", "--judge", " "), 2, "judge is ' ', expected one printable line"),
        (("import", "--topic-set", ""), 2, "topic set is empty"),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(imported, tmp_path, arguments, code, message):
    (tmp_path / "bad.txt").write_text("1 0 d2 1\n1 0 d3 x\n")
    (tmp_path / "far.txt").write_text("1 0 d2 1\n1 0 d1 99\n")
    (tmp_path / "new.txt").write_text("1 0 d2 1\n7 0 d1 1\n")
    files = sorted(tmp_path.iterdir())
    with JudgmentStore(tmp_path / "indexes" / "aero.judgments.sqlite") as store:
        before = store.version()
        found, out, err = imported(*arguments)
        assert (found, out) == (code, "")
        assert err.splitlines()[-1].startswith(f"searchlab: {message}")
        assert sum(line.startswith("searchlab:") for line in err.splitlines()) == 1
        assert store.version() == before
    assert sorted(tmp_path.iterdir()) == files


def test_one_of_several_sets_has_to_be_chosen(imported):
    imported("import", "--topic-set", "other")
    code, out, err = imported("export", "qrels")
    assert (code, out) == (2, "")
    assert "several topic sets: aero, other; choose one with --topic-set" in err


def test_an_index_without_a_collection_needs_files(here, run_cli):
    code, _, err = run_cli("judgments", "import")
    assert code == 2
    assert "its sources have no topics; expected --topics, --qrels or both" in err
    assert run_cli("judgments", "import", "--topics", "topics.tsv")[1] == "3 topics and 0 judgments added to small\n"
    assert "nothing in the topic set small is judged" in run_cli("judgments", "export", "qrels")[2]
    assert run_cli("judgments", "show")[1].splitlines()[1].split() == ["small", "-", "3", "0", "0", "0"]


def test_a_rebuilt_index_keeps_its_judgments(imported, run_cli):
    assert run_cli("index", "aero", "--rebuild")[0] == 0
    assert imported("export", "qrels")[1] == QRELS


def test_no_control_character_reaches_the_terminal(imported, tmp_path):
    with JudgmentStore(tmp_path / "indexes" / "aero.judgments.sqlite") as store:
        store.add_topic("aero", "turn\u202e \x1b[31mred", "x\u202e")
    out = imported("show", "--topic-set", "aero")[1]
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_judgments_are_backed_up_and_restored(imported, tmp_path, run_cli):
    path = tmp_path / "indexes" / "aero.judgments.sqlite"
    code, out, _ = imported("backup")
    backup = tmp_path / out.strip()
    assert code == 0
    assert backup.parent == tmp_path / "indexes" / "aero.judgments.backups"
    assert imported("backup", "-o", "copy.sqlite")[:2] == (0, "copy.sqlite\n")
    exported = imported("export", "qrels")[1]
    path.write_bytes(path.read_bytes().replace(b"heat flow", b"heat flaw"))
    for arguments in (["judgments", "show"], ["serve"]):
        code, _, err = run_cli(*arguments)
        assert code == 1
        assert "indexes/aero.judgments.sqlite: damaged (" in err
        assert "last good backup in indexes/aero.judgments.backups" in err
    code, out, _ = run_cli("doctor")
    assert code == 1
    assert out.startswith("indexes/aero.judgments.sqlite: damaged (")
    assert out.endswith(f"last good backup: indexes/aero.judgments.backups/{backup.name}\n")
    code, out, err = imported("restore")
    assert (code, out) == (
        0,
        f"indexes/aero.judgments.sqlite: restored from indexes/aero.judgments.backups/{backup.name}\n",
    )
    assert "the replaced file is kept as indexes/aero.judgments.replaced-" in err
    assert imported("export", "qrels")[1] == exported
    assert run_cli("doctor")[0] == 0
