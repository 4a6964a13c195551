"""Control characters of files and their names never reach a terminal, whichever command prints them."""

import io
import json
import logging
import sys
import warnings

import pytest

from searchlab import cli
from searchlab.cli.progress import stage_bar
from searchlab.experiments import report_builder
from searchlab.records import Document
from searchlab.report import plots
from tests.cli.commands.trained_models import SUBJECTS

# Clear the screen, a link (OSC 8), a colour (C1), text from right to left, a bell, and a line that looks like another.
BIDI = "\u202e\u2066\u200f\u061c"
EVIL = f"\x1b[2J\x1b]8;;http:!!evil\x07\x9b31m{BIDI}\x07\r\nFORGED"
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="1pt" height="1pt" viewBox="0 0 1 1"></svg>'

COLLECTION = f"mine{EVIL}"
INDEX = f"indexes/it{EVIL}"
RUNS = (f"one{EVIL}.run", f"two{EVIL}.run")
MODEL, QRELS, TOPICS = f"model{EVIL}.json", f"{COLLECTION}/qrels.txt", f"{COLLECTION}/topics.jsonl"
PLAN = {
    "index": INDEX,
    "topics": TOPICS,
    "qrels": QRELS,
    "output": f"out{EVIL}",
    "title": f"title{EVIL}",
    "measures": ["AP"],
}
SYSTEMS = {f"=one{BIDI}": "bm25", f"two{BIDI}": "tfidf"}


class Screen(io.StringIO):
    """What is printed to a terminal, or to a stream that is none."""

    def __init__(self, terminal=True):
        super().__init__()
        self._terminal = terminal

    def isatty(self):
        return self._terminal

    def reconfigure(self, **options):
        """Accept the options of `main`."""


def write_inputs(folder):
    """A collection of five topics with hostile names, titles, fields and qids, and a malformed file of each kind."""
    home = folder / COLLECTION
    home.mkdir()
    documents, topics, qrels = [], [], []
    for number, subject in enumerate(SUBJECTS):
        qid = f"{number}{BIDI}"
        topics.append({"_id": qid, "text": f"{subject} word1{EVIL}"})
        for n in range(4):
            docno = f"{subject}-{n}{BIDI}"
            body = f"{subject} " * (n + 1) + f"{EVIL} word{n}{EVIL} word1"
            record = {"docno": docno, "title": f"{subject}{EVIL}", "body": body, f"note{BIDI}": f"x{EVIL}"}
            documents.append(record)
            qrels.append(f"{qid} 0 {docno} {n % 3}\n")
    (home / "docs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
    (home / "topics.jsonl").write_text("".join(json.dumps(each) + "\n" for each in topics))
    (home / "qrels.txt").write_text("".join(qrels))
    for number, name in enumerate(RUNS):
        lines = [
            f"{t}{BIDI} Q0 {s}-{n}{BIDI} 1 {n * (1 - 2 * number)} x\n" for t, s in enumerate(SUBJECTS) for n in range(4)
        ]
        (folder / name).write_text("".join(lines))
    (folder / f"bad{EVIL}.run").write_text(f"1 Q0 a 1 many{BIDI}\x1b[2J x\n")
    (folder / f"bad{EVIL}.qrels").write_text(f"1 0 a many{BIDI}\x1b[2J\n")
    (folder / f"bad{EVIL}.jsonl").write_text(json.dumps({"docno": f"a {EVIL}"}) + "\n")
    (folder / f"bad{EVIL}.txt").write_text(f"1 qid:1 1:many{BIDI}\x1b[2J\n")
    (folder / f"bad{EVIL}.json").write_text(json.dumps({"format": EVIL}))
    (folder / f"latin{EVIL}.qrels").write_bytes("".join(qrels).encode() + b"9 0 caf\xe9 1\n")
    write_plan(folder)


def write_plan(folder):
    """The plan of an experiment; TOML writes strings as JSON does, if they are ASCII."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in PLAN.items()] + ["[folds]", "number = 2"]
    for name, scorer in SYSTEMS.items():
        lines += ["[[systems]]", f"name = {json.dumps(name)}", f"scorer = {json.dumps(scorer)}"]
    (folder / f"plan{EVIL}.toml").write_text("\n".join(lines))


@pytest.fixture
def on_terminal(run_cli, monkeypatch):
    """Run a command whose standard output is a terminal; nothing that it prints may have control characters."""
    monkeypatch.setenv("NO_COLOR", "1")

    def call(*arguments, code=0):
        # Standard error is filtered, terminal or not; a terminal would get progress bars.
        screen, errors = Screen(), Screen(terminal=False)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", screen)
            patch.setattr(sys, "stderr", errors)
            found, _, _ = run_cli(*arguments)
        printed = screen.getvalue() + errors.getvalue()
        assert found == code, printed
        assert [character for character in printed if not character.isprintable() and character not in "\n\t"] == []
        assert [line for line in printed.splitlines() if line.startswith("FORGED")] == []
        assert printed
        return printed

    return call


def test_no_command_prints_control_characters_of_files(on_terminal, tmp_path, monkeypatch):
    write_inputs(tmp_path)
    monkeypatch.setattr(plots, "_draw_svg", lambda *arguments, **options: DRAWING)
    for name in ("bars", "curves", "differences", "precision_recall"):
        monkeypatch.setattr(report_builder, name, lambda *given, **named: DRAWING)
    here = ("-i", INDEX)
    docno = f"heat-3{BIDI}"
    # Indexes
    assert "FORGED" in on_terminal("index", COLLECTION, *here, "-v")
    on_terminal("index", f"bad{EVIL}.jsonl", "-i", "other", "--strict", code=1)
    on_terminal("index", f"bad{EVIL}.jsonl", "-i", "other", code=1)
    assert "FORGED" in on_terminal("indexes")
    on_terminal("stats", *here, "--top", 20)
    on_terminal("stats", *here, "--json")
    on_terminal("doctor", COLLECTION, *here)
    on_terminal("doctor", f"bad{EVIL}.qrels", f"bad{EVIL}.run", *here, code=1)
    # Search
    assert "FORGED" in on_terminal("query", "heat", *here, "--explain", "-v")
    on_terminal("query", "heat", *here, "--json")
    on_terminal("query", f"unknown{EVIL}", *here)
    on_terminal("explain", "heat", docno, *here)
    on_terminal("explain", "heat", docno, f"heat-2{BIDI}", *here)
    on_terminal("explain", "heat", f"nothing{EVIL}", *here, code=2)
    assert "FORGED" not in on_terminal("run", *here, "--topics", TOPICS)
    on_terminal("run", *here, "--topics", TOPICS, "-o", f"out{EVIL}.run")
    on_terminal("run", *here, "--topics", f"none{EVIL}", code=1)
    # Learning
    on_terminal("features", *here, "--features", "table1", "--topics", TOPICS, "--qrels", QRELS)
    table = f"table{EVIL}.txt"
    on_terminal("features", *here, "--features", "table1", "--topics", TOPICS, "--qrels", QRELS, "-o", table)
    training = ("--features", "table1", "--set", "C=1", "--folds", 2, "--topics", TOPICS, "--qrels", QRELS)
    assert "FORGED" in on_terminal("train", *here, *training, "-o", MODEL)
    change_model(tmp_path / MODEL)
    assert "FORGED" in on_terminal("model", "show", MODEL)
    on_terminal("model", "show", MODEL, "--json")
    on_terminal("model", "show", f"bad{EVIL}.json", code=1)
    on_terminal("query", "heat", *here, "--rerank", MODEL)
    on_terminal("rerank", MODEL, table)
    on_terminal("rerank", MODEL, f"bad{EVIL}.txt", code=1)
    on_terminal("semantic", *here, "--dims", 2)
    on_terminal("topic-model", *here, "--n-topics", 2)
    on_terminal("topic-model", docno, *here)
    weights = ("--components", "unigram,title", "--folds", 2, "--topics", TOPICS, "--qrels", QRELS)
    on_terminal("train-lm", *here, *weights, "-o", f"weights{EVIL}.json")
    # Evaluation
    for layout in ("table", "trec", "csv", "json", "latex"):
        on_terminal("eval", QRELS, *RUNS, "--format", layout, "--per-topic")
    on_terminal("eval", QRELS, f"bad{EVIL}.run", code=1)
    on_terminal("eval", f"bad{EVIL}.qrels", RUNS[0], code=1)
    assert "read as Windows-1252" in on_terminal("eval", f"latin{EVIL}.qrels", RUNS[0])
    on_terminal("compare", QRELS, *RUNS, "-m", "AP")
    on_terminal("fuse", *RUNS)
    on_terminal(
        "tune", *here, "--scorer", "bm25", "--grid", "k1=0.6,1.2", "--topics", TOPICS, "--qrels", QRELS, "--folds", 2
    )
    assert "FORGED" in on_terminal("experiment", f"plan{EVIL}.toml")
    # A spreadsheet would take the name of the first system for a formula.
    rows = (tmp_path / f"out{EVIL}" / "per-query.csv").read_text().splitlines()
    assert {row.split(",")[2][:5] for row in rows[1:]} == {"'=one", f"two{BIDI[:2]}"}
    on_terminal("judgments", "import", *here, "--topics", TOPICS, "--qrels", QRELS, "--topic-set", "mine")
    on_terminal("judgments", "import", *here, "--topics", TOPICS, "--topic-set", EVIL, code=2)
    assert "FORGED" in on_terminal("judgments", "show", *here, "--topic-set", "mine")
    on_terminal("judgments", "show", *here)
    on_terminal("judgments", "export", "qrels", *here)
    on_terminal("judgments", "export", "topics", *here)
    options = ("--features", "table1", "--rankers", "rsvm", "--folds", 2, "-o", f"report{EVIL}")
    on_terminal("reproduce", "retrieval", COLLECTION, *options)
    # Indexes change last.
    on_terminal("delete", *here, docno)
    on_terminal("delete", *here, EVIL, code=2)
    on_terminal("merge", *here)
    on_terminal("query", "heat", "-i", f"none{EVIL}", code=1)


def change_model(path):
    """Put hostile text wherever a model has text that is only shown."""
    record = json.loads(path.read_text())
    del record["checksum"]
    trial, training = record["cross_validation"], record["training"]
    trial["verdict"] += EVIL
    trial["n_folds"] = f"2{EVIL}"
    trial["means"] = {name + EVIL: means for name, means in trial["means"].items()}
    training["seed"] = f"1{EVIL}"
    training["fingerprint"] += EVIL
    record["ranker"]["settings"] |= {EVIL: EVIL}
    path.write_text(json.dumps(record))


def test_files_and_pipes_get_the_exact_text(run_cli, tmp_path, build):
    folder = build([Document(f"d{BIDI}", f"heat{EVIL}", "heat")])
    _, out, _ = run_cli("query", "heat", "-i", folder, "--json")
    (hit,) = json.loads(out)["hits"]
    assert (hit["docno"], hit["title"]) == (f"d{BIDI}", f"heat{' '.join(EVIL.split())}")
    (tmp_path / "topics.tsv").write_text("1\theat\n")
    _, out, _ = run_cli("run", "-i", folder, "--topics", "topics.tsv")
    assert out.split()[2] == f"d{BIDI}"


def test_warnings_and_logs_are_filtered_too(monkeypatch):
    errors = Screen()
    monkeypatch.setattr(sys, "stdout", Screen())
    monkeypatch.setattr(sys, "stderr", errors)

    def work(**options):
        warnings.warn(f"warned{EVIL}", stacklevel=1)
        handler = logging.StreamHandler()
        handler.emit(logging.makeLogRecord({"msg": f"logged{EVIL}"}))
        sys.stderr.writelines([f"written{EVIL}\n"])

    monkeypatch.setattr(cli, "app", work)
    monkeypatch.setattr(warnings, "showwarning", lambda message, *rest, **more: sys.stderr.write(f"{message}\n"))
    with pytest.raises(SystemExit), warnings.catch_warnings():
        warnings.simplefilter("always")
        cli.main()
    printed = errors.getvalue()
    assert [word for word in ("warned", "logged", "written") if word not in printed] == []
    assert [character for character in printed if not character.isprintable() and character != "\n"] == []


def test_a_progress_bar_obeys_no_stage_and_no_text_printed_during_it(monkeypatch):
    errors = Screen()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Screen())
    monkeypatch.setattr(sys, "stderr", errors)
    with stage_bar() as show:
        show(f"fold one{EVIL}[bold]x", 1, 2)
        print(f"printed{EVIL}", file=sys.stderr)
    printed = errors.getvalue()
    assert sys.stderr is errors
    assert "printed" in printed and "fold one" in printed and "[bold]x" in printed
    assert not [each for each in ("\x1b]8", "\x1b[2J", "\x9b", "\u202e", "\u2066", "\u200f", "\x07") if each in printed]
