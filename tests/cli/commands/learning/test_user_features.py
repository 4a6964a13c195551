"""A user's own features from the command line: listed, computed, trained with, used, explained, and refused kindly."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import searchlab
from searchlab import extensions
from searchlab.features.catalogue import CATALOGUE

pytestmark = pytest.mark.usefixtures("registered_here")

N_TOPICS = 12
EXTENSION = """import searchlab

@searchlab.feature("own.recency", "1 / (1 + age by year)")
def recency(candidates):
    return 1 / (1 + candidates.greatest("year") - candidates.numbers("year"))
"""
ALL = "doc.both.length,own.recency,field.year,field.year.age-2030"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("own")
    (home / "mine").mkdir()
    documents = []
    for n in range(N_TOPICS):
        documents.append({"docno": f"new{n}", "body": f"word{n} filler", "year": 2020 - n % 3})
        documents.append({"docno": f"old{n}", "body": f"word{n} filler", "year": f"{1990 + n % 5}-01-01"})
        documents.append({"docno": f"undated{n}", "body": f"word{n} filler"})
    (home / "mine" / "docs.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (home / "mine" / "topics.tsv").write_text("".join(f"{n}\tword{n}\n" for n in range(N_TOPICS)))
    judged = "".join(f"{n} 0 new{n} 1\n{n} 0 old{n} 0\n{n} 0 undated{n} 0\n" for n in range(N_TOPICS))
    (home / "mine" / "qrels.txt").write_text(judged)
    searchlab.index(home / "mine", home / "indexes" / "mine", jobs=1)
    (home / "my_features.py").write_text(EXTENSION)
    return home


@pytest.fixture
def folder(made, tmp_path, run_cli):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def model(folder, run_cli):
    """A model with own features, trained in this process; the extension is unloaded again."""
    options = ["--folds", 3, "--set", "C=1", "--no-rm3", "-k", 10, "-o", "m.json"]
    code, out, err = run_cli("--extension", "my_features.py", "train", "--features", ALL, *options)
    assert code == 0, err
    assert "nDCG@10" in out
    unload()
    return "m.json"


def unload():
    for _, name in list(extensions.ORIGINS):
        del CATALOGUE[name]
    extensions.ORIGINS.clear()
    extensions._LOADED.clear()
    os.environ[extensions.ENVIRONMENT] = ""
    sys.modules.pop("my_features", None)


def ranked(path):
    return {ranking.qid: ranking.docnos for ranking in searchlab.read_run(path)}


def test_own_features_and_fields_are_listed(folder, run_cli):
    out = run_cli("--extension", "my_features", "features", "--list", "-i", "mine")[1]
    lines = [re.split(r"\s{2,}", line) for line in out.splitlines()]
    assert ["own.recency", "module my_features", "1 / (1 + age by year)"] in lines
    assert ["field.year", "stored field", "year"] in lines
    assert len(lines) > 200


def test_own_features_are_computed_and_written_with_their_names(folder, run_cli):
    code, _, err = run_cli("--extension", "my_features", "features", "--features", ALL, "-o", "f.txt")
    assert code == 0, err
    assert (folder / "f.txt").read_text().startswith(f"# names: {ALL.replace(',', ' ')}\n")
    table = searchlab.read_letor("f.txt")
    row = dict(zip(table.docnos, table.values.tolist(), strict=True))
    assert row["new0"] == [2, 1, 2020, 10]
    assert row["old0"] == pytest.approx([2, 1 / 31, 1990, 40])
    assert row["undated0"][0] == 2
    assert str(row["undated0"][1:]) == "[nan, nan, nan]"


def test_a_feature_set_in_a_file_may_have_them(folder, run_cli):
    (folder / "mine.toml").write_text(f'include = ["table1"]\nfeatures = {json.dumps(ALL.split(","))}\n')
    code, _, err = run_cli("--extension", "my_features", "features", "--features", "mine.toml", "-o", "f.txt")
    assert code == 0, err
    assert searchlab.read_letor("f.txt").names[-4:] == tuple(ALL.split(","))


def test_a_model_learns_from_them_records_them_and_explains_with_them(folder, model, run_cli):
    record = {each["name"]: each for each in json.loads((folder / model).read_text())["features"]}
    assert record["own.recency"]["formula"] == "1 / (1 + age by year)"
    assert record["own.recency"]["origin"]["module"] == "my_features"
    assert record["field.year"] == {"name": "field.year", "formula": "year"}
    assert "extensions" in run_cli("model", "show", model)[1]
    assert "own.recency (module my_features)" in run_cli("model", "show", model)[1]
    loaded = ["--extension", "my_features"]
    code, out, err = run_cli(*loaded, "run", "--rerank", model, "-o", "r.run")
    assert code == 0, err
    rankings = ranked("r.run")
    assert len(rankings) == N_TOPICS
    assert all(docnos[0] == f"new{qid}" for qid, docnos in rankings.items())
    code, out, _ = run_cli(*loaded, "query", "word3", "--rerank", model, "--explain", "-k", 1)
    assert code == 0
    assert re.search(r"own\.recency +1 ", out)
    assert re.search(r"field\.year +2020 ", out)
    assert "own.recency" in run_cli(*loaded, "explain", "word3", "new3", "old3", "--rerank", model)[1]


def test_a_model_is_refused_without_its_extension_wherever_it_computes(folder, model, run_cli):
    expected = (
        "searchlab: feature own.recency of this model comes from module my_features, which is not loaded: "
        "searchlab --extension my_features …, or `import my_features` in Python\n"
    )
    for command in (
        ["query", "word3", "--rerank", model],
        ["run", "--rerank", model, "-o", "r.run"],
        ["explain", "word3", "new3", "--rerank", model],
    ):
        code, out, err = run_cli(*command)
        assert (code, out) == (2, "")
        assert err.endswith(expected)
    assert "my_features" not in sys.modules


def test_a_model_is_refused_after_its_extension_has_changed(folder, model, run_cli):
    (folder / "my_features.py").write_text(EXTENSION.replace("1 / (1 +", "2 / (1 +"))
    code, out, err = run_cli("--extension", "my_features.py", "query", "word3", "--rerank", model)
    assert (code, out) == (2, "")
    assert re.search(
        r"module my_features has changed since \(hash \w{16}, now \w{16}\): make model again, or load", err
    )


def test_a_file_of_features_needs_no_extension(folder, model, run_cli):
    assert run_cli("--extension", "my_features", "features", "--features", ALL, "-o", "f.txt")[0] == 0
    unload()
    assert run_cli("rerank", model, "f.txt", "-o", "r.run")[0] == 0
    assert all(docnos[0] == f"new{qid}" for qid, docnos in ranked("r.run").items())


def test_a_failing_feature_is_one_line_also_in_a_process_of_its_own(folder):
    (folder / "my_bad.py").write_text(
        "import searchlab\n@searchlab.feature('own.bad', 'fails')\ndef bad(given):\n    return given.nothing\n"
    )
    command = [sys.executable, "-m", "searchlab", "--extension", "my_bad.py", "features", "--features", "own.bad"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2
    assert "feature own.bad failed for query 'word0': AttributeError: " in done.stderr
    assert done.stderr.endswith("my_bad.py, line 4)\n")
    assert "Traceback" not in done.stderr


# Scores computed elsewhere


@pytest.fixture
def scores(folder):
    lines = [f"{n},{kind}{n},{score}\n" for n in range(N_TOPICS) for kind, score in (("new", 5), ("old", n / 100))]
    (folder / "scores.csv").write_text("qid,docno,neural\n" + "".join(lines))
    return "neural=scores.csv"


def test_external_scores_go_all_the_way(folder, scores, run_cli):
    code, _, err = run_cli("features", "--features", "doc.both.length", "--external", scores, "-o", "f.txt")
    assert code == 0
    assert "warning: external.neural is undefined for 12 of 36 pairs, which have no score" in err
    assert searchlab.read_letor("f.txt").names == ("doc.both.length", "external.neural")
    options = ["--folds", 0, "--set", "C=1", "--no-rm3", "-o", "m.json"]
    code, _, err = run_cli("train", "--features", "doc.both.length", "--external", scores, *options)
    assert code == 0, err
    assert "warning: external.neural is undefined for 12 of 36 pairs" in err
    code, _, err = run_cli("run", "--rerank", "m.json", "--external", scores, "-o", "r.run")
    assert code == 0, err
    assert all(docnos[0] == f"new{qid}" for qid, docnos in ranked("r.run").items())
    assert run_cli("rerank", "m.json", "f.txt", "-o", "again.run")[0] == 0
    assert ranked("again.run") == ranked("r.run")


def test_a_model_with_external_scores_is_refused_without_them(folder, scores, run_cli):
    options = ["--folds", 0, "--set", "C=1", "--no-rm3", "-o", "m.json"]
    assert run_cli("train", "--features", "doc.both.length", "--external", scores, *options)[0] == 0
    needs = (
        "the model needs feature external.neural, computed elsewhere for topics: it ranks only topics that have scores "
        "(`searchlab run --rerank MODEL --external neural=FILE`, in Python rerank(model, external=["
    )
    for command in (["query", "word3", "--rerank", "m.json"], ["run", "--rerank", "m.json"]):
        code, out, err = run_cli(*command)
        assert (code, out) == (2, "")
        assert needs in err
    (folder / "other.tsv").write_text("0\tword0\n77\tword1\n")
    err = run_cli("run", "--rerank", "m.json", "--external", scores, "--topics", "other.tsv")[2]
    assert "external.neural has no scores for topic 77, expected some for each topic that is ranked" in err
    err = run_cli("run", "--rerank", "m.json", "--external", scores, "--external", "more=scores.csv")[2]
    assert "the model does not use external.more, expected only features that it uses" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--external", "neural=scores.csv"], "--external gives a model its scores: expected --rerank MODEL"),
        (
            ["features", "--external", "scores.csv"],
            "--external scores.csv: expected NAME=VALUE, such as neural=scores.tsv",
        ),
        (["features", "--external", "a=nowhere.csv"], "nowhere.csv: "),
        (["features", "--external", "a=scores.csv", "--external", "a=scores.csv"], "--external a is given 2 times"),
        (
            ["features", "--features", "external.a"],
            "external.a is computed elsewhere: expected its scores, by --external",
        ),
        (
            ["features", "--features", "table1,own.nothing"],
            "unknown feature 'own.nothing': if it is your own, load it with --extension",
        ),
        (["features", "--features", "table1,nothing"], "unknown feature set 'nothing'"),
        (["features", "--features", "field.yaer"], "(did you mean year?)"),
        (["train", "scores.csv", "--external", "a=scores.csv", "-o", "m"], "--external is for training from an index"),
    ],
)
def test_mistakes_are_one_line(folder, scores, run_cli, arguments, message):
    code, out, err = run_cli(*arguments)
    assert code in (1, 2)
    assert out == ""
    assert message in err.splitlines()[-1]


def test_an_experiment_compares_with_and_without_own_features(folder, scores, run_cli):
    (folder / "plan.toml").write_text(
        'index = "indexes/mine"\noutput = "out"\nmeasures = ["nDCG@10"]\n[folds]\nnumber = 3\n'
        "[first_stage]\nk = 10\nrm3 = false\n"
        '[features]\nset = "doc.both.length,own.recency"\nexternal = {neural = "scores.csv"}\n'
        '[[systems]]\nname = "with"\nranker = "rsvm"\nsettings = {C = 1}\n'
        '[[systems]]\nname = "without"\nranker = "rsvm"\nsettings = {C = 1}\nfeatures = "doc.both.length"\n'
    )
    code, out, err = run_cli("--extension", "my_features", "experiment", "plan.toml")
    assert code == 0, err
    means = dict(re.findall(r"^ *(with|without) +([\d.]+)", out, re.MULTILINE))
    assert float(means["with"]) == 1
    assert float(means["without"]) < 1
    # Changed scores are not taken from the cache.
    (folder / "scores.csv").write_text(
        (folder / "scores.csv").read_text().replace(",new", ",x").replace(",old", ",new")
    )
    code, out, err = run_cli("--extension", "my_features", "experiment", "plan.toml")
    assert code == 0, err
    tables = [path.name for path in (folder / "out" / "cache").glob("features-*")]
    assert len(tables) == 1
