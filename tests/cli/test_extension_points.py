"""The command line takes scorers, analyzers, formats and measures of an extension, in all its processes."""

import re
import sys

import pytest

from searchlab import extensions
from searchlab.indexing.building import workers

pytestmark = pytest.mark.usefixtures("registered_here")

EXTENSION = """
from dataclasses import dataclass
import searchlab

@searchlab.scorer("tfs")
@dataclass(frozen=True)
class Tfs(searchlab.FormulaScorer):
    power: float = 1.0
    def weigh(self, tf, length, term, unique_length):
        return tf ** self.power

@searchlab.analyzer("bars")
def split_bars(text):
    return text.lower().replace("|", " ").split()

@searchlab.document_format("pairs", "docno: text", suffixes=[".pairs"])
def read_pairs(opened):
    for _, line in opened.lines():
        docno, _, text = line.partition(": ")
        yield {"docno": docno, "body": text}

@searchlab.measure("Found", "1 if anything relevant is found")
def found(topic):
    return float(topic.is_relevant.any())
"""
WITH = ("--extension", "my_points.py")


@pytest.fixture
def folder(tmp_path, monkeypatch, run_cli):
    (tmp_path / "my_points.py").write_text(EXTENSION)
    (tmp_path / "x.pairs").write_text("a: T-cell|x t-cell\nb: t-cell y\nc: z\n")
    (tmp_path / "topics.tsv").write_text("1\tt-cell\n2\tz\n3\ty\n4\tz y\n")
    (tmp_path / "qrels.txt").write_text("1 0 b 1\n2 0 c 1\n3 0 b 1\n4 0 b 1\n")
    monkeypatch.setattr(workers, "MIN_PARALLEL_DOCS", 2)
    code, _, err = run_cli(*WITH, "index", "x.pairs", "-i", "it", "--analyzer", "bars", "-j", "2")
    assert code == 0, err
    return tmp_path


def test_an_index_by_two_processes_is_searched_run_tuned_and_evaluated(folder, run_cli):
    code, out, err = run_cli(*WITH, "query", "T-CELL", "-i", "it", "--scorer", "tfs", "--set", "power=3", "--explain")
    assert code == 0, err
    assert re.search(r"1 +8\.0000  a .*\n.*\*T-cell\|x\* \*t-cell\*", out)
    assert run_cli(*WITH, "run", "-i", "it", "--topics", "topics.tsv", "--scorer", "tfs", "-o", "t.run")[0] == 0
    code, out, err = run_cli(*WITH, "eval", "qrels.txt", "t.run", "-m", "Found@1", "-m", "Found", "--format", "csv")
    assert code == 0, err
    # By hand: topic 1 finds a before b; topic 4 finds c before b, by docno; the others find what is relevant first.
    assert out == "run,topic,Found@1,Found\nt,all,0.5,1.0\n"
    files = ("--topics", "topics.tsv", "--qrels", "qrels.txt")
    code, out, err = run_cli(
        *WITH,
        "tune",
        "-i",
        "it",
        *files,
        "--scorer",
        "tfs",
        "--grid",
        "power=1,2",
        "--measure",
        "Found",
        "--folds",
        "2",
    )
    assert code == 0, err
    code, out, err = run_cli(*WITH, "doctor", "-i", "it")
    assert (code, "healthy" in out) == (0, True)


def test_names_are_listed(folder, run_cli):
    code, out, _ = run_cli(*WITH, "eval", "--list")
    assert re.search(r"^Found\(rel\)\[@k\] +1 if anything relevant is found$", out, re.MULTILINE)
    for command, option, kind in (
        (("query", "x", "-i", "it"), "--scorer", "scorer 'no'.*; there is: .*tfs"),
        (("index", "x.pairs"), "--format", "format 'no'.*; there is: .*pairs"),
        (("index", "x.pairs"), "--analyzer", "analyzer 'no'.*; there is: bars, standard"),
    ):
        code, _, err = run_cli(*WITH, *command, option, "no")
        assert code == 2
        assert re.search(f"unknown {kind}", err)


def test_without_the_extension_an_index_is_refused_in_one_line(folder, run_cli, monkeypatch):
    monkeypatch.setattr(extensions, "ORIGINS", {})
    monkeypatch.setattr(extensions, "_LOADED", {})
    monkeypatch.setenv(extensions.ENVIRONMENT, "")
    del sys.modules["my_points"]
    code, out, err = run_cli("query", "x", "-i", "it")
    assert (code, out) == (1, "")
    assert err == (
        "searchlab: indexes/it: analyzer bars of this index comes from module my_points, which is not loaded: "
        "searchlab --extension my_points …, or `import my_points` in Python\n"
    )
    code, out, err = run_cli("doctor", "-i", "it")
    assert code == 1
    assert "analyzer bars of this index comes from module my_points, which is not loaded; searchlab --ext" in out
