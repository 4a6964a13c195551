import json
import re
from dataclasses import asdict

import pytest

from searchlab.mixtures.em import EM
from searchlab.mixtures.weight_training import PER_DOCUMENT_MCE, SHARED_MCE

DOCS = """\
{"docno": "a", "title": "heat flow", "body": "heat transfer in laminar flow over wings"}
{"docno": "b", "title": "wings", "body": "lift of wings"}
{"docno": "c", "title": "", "body": "prison cells and heat"}
{"docno": "d", "title": "lift", "body": "flow around bodies"}
{"docno": "e", "title": "cells", "body": "heat in cells"}
"""
TOPICS = "1\theat flow\n2\tlift of wings\n3\tunheard\n4\tcells\n5\tbodies in flow\n"
QRELS = "1 0 a 2\n1 0 c 0\n2 0 b 1\n2 0 d 0\n3 0 a 1\n4 0 e 1\n5 0 d 1\n5 0 a 0\n"


@pytest.fixture
def collection(tmp_path, run_cli):
    """A working folder with an indexed collection: documents, topics and judgments."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "docs.jsonl").write_text(DOCS)
    (tmp_path / "mine" / "topics.tsv").write_text(TOPICS)
    (tmp_path / "mine" / "qrels.txt").write_text(QRELS)
    assert run_cli("index", "mine")[0] == 0
    return tmp_path


def test_weights_are_trained_cross_validated_and_searched_with(collection, run_cli):
    code, out, err = run_cli("train-lm", "--components", "unigram,title", "--folds", "2", "-o", "w.json")
    assert code == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[2:7]] == ["untrained", "fixed", "em", "mce", "mce-per-document"]
    assert "4 topics, 2 folds, seed 1; rules of trec" in out
    assert lines[-1].startswith("weights learnt by mce: document 0.")
    assert "left out: 1 topic without known words: 3" in err
    assert "weights of 3 components → w.json" in err
    kept = json.loads((collection / "w.json").read_text())
    assert kept["components"] == ["document", "corpus", "title"]
    assert sum(kept["weights"]) == pytest.approx(1)
    code, out, _ = run_cli("query", "heat flow", "--scorer", "mixture", "--weights", "w.json", "--explain")
    assert code == 0
    assert out.split()[2] == "a"
    code, _, err = run_cli("run", "--scorer", "mixture", "--weights", "w.json", "-o", "r.run")
    assert code == 0
    assert "5 topics" in err
    assert (collection / "r.run").read_text().startswith("1 Q0 a 1 ")


@pytest.mark.parametrize(
    ("arguments", "is_per_document"),
    [("--method em --set weighing=word", False), ("--set alpha=5 --set iterations=3", False), ("--per-document", True)],
)
def test_methods_have_settings(collection, run_cli, arguments, is_per_document):
    code, out, _ = run_cli("train-lm", *arguments.split(), "--folds", "0", "-o", "w.json")
    assert code == 0
    kept = json.loads((collection / "w.json").read_text())
    assert bool(kept["documents"]) == is_per_document
    assert ("separate weights for" in out) == is_per_document
    if "alpha=5" in arguments:
        assert (kept["settings"]["alpha"], kept["settings"]["iterations"]) == (5.0, 3)
    assert run_cli("query", "heat", "--scorer", "mixture", "--weights", "w.json")[0] == 0


@pytest.mark.parametrize(
    ("heading", "settings", "variant"),
    [("Settings of --method mce", SHARED_MCE, PER_DOCUMENT_MCE), ("Settings of --method em", EM(), EM())],
)
def test_the_help_lists_every_setting_with_its_defaults(run_cli, heading, settings, variant):
    _, out, _ = run_cli("train-lm", "--help")
    section = re.sub(r"\s+", " ", out.split(heading)[1].split("Settings of")[0]).replace("-- ", "--")
    defaults = asdict(settings)
    assert defaults
    for name, default in defaults.items():
        shown = default if isinstance(default, str) else f"{default:g}"
        assert f" {name}={shown} " in section
        other = asdict(variant)[name]
        if other != default:
            printed = other if isinstance(other, str) else f"{other:g}"
            meaning = section.split(f" {name}={shown} ")[1]
            assert re.match(rf"[^;]*(;[^;]*)*?; {printed} with --per- ?document", meaning)


def test_the_help_gives_a_default_for_every_option_with_a_value(run_cli):
    _, out, _ = run_cli("train-lm", "--help")
    options = re.split(r"\n  (?=-)", out.split("Options:\n")[1].split("Settings of")[0])
    valued = [option for option in options if re.match(r" *(-\w, )?--[a-z-]+ [A-Za-z]+[|=A-Za-z]* ", option)]
    assert len(valued) >= 12
    assert [option for option in valued if "[default:" not in re.sub(r"\s+", " ", option)] == []


def test_topics_whose_documents_are_all_relevant_are_warned_of(collection, run_cli):
    judged = "".join(f"5 0 {docno} 1\n" for docno in "abcde")
    (collection / "all.txt").write_text(QRELS.replace("5 0 d 1\n5 0 a 0\n", judged))
    code, _, err = run_cli("train-lm", "--qrels", "all.txt", "--folds", "0")
    assert code == 0
    assert "1 topic without irrelevant documents, of no use to mce: 5" in err
    (collection / "only.txt").write_text(judged)
    code, _, err = run_cli("train-lm", "--qrels", "only.txt", "--folds", "0")
    assert code == 2
    assert "none of the training queries has both relevant and irrelevant documents" in err.splitlines()[-1]
    assert run_cli("train-lm", "--qrels", "only.txt", "--folds", "0", "--method", "em")[0] == 0


def test_the_same_seed_gives_the_same_weights(collection, run_cli):
    for name in ("one.json", "two.json"):
        run_cli("train-lm", "--per-document", "--folds", "0", "--seed", "7", "-o", name)
    assert (collection / "one.json").read_text() == (collection / "two.json").read_text()


def test_the_topic_model_of_the_index_is_a_component(collection, run_cli):
    code, _, err = run_cli("train-lm", "--components", "topics", "--folds", "0")
    assert code == 1
    assert "searchlab topic-model" in err
    assert run_cli("topic-model", "--n-topics", "2")[0] == 0
    code, out, _ = run_cli("train-lm", "--components", "topics", "--folds", "0", "-o", "w.json")
    assert code == 0
    assert "topics 0." in out
    assert run_cli("query", "heat", "--scorer", "mixture", "--weights", "w.json")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("--method map", 2, "unknown method 'map'; there is: em, mce"),
        ("--components unigram,trigram", 2, "unknown component 'trigram'"),
        ("--method em --per-document", 2, "--per-document is for mce: expected --method mce"),
        ("--set alfa=1", 2, "unknown setting of MCE 'alfa' (did you mean alpha?)"),
        ("--set alpha=much", 2, "MCE: alpha is 'much', expected a number"),
        ("--set iterations=1.5", 2, "MCE: iterations is '1.5', expected a whole number"),
        ("--set alpha", 2, "--set alpha: expected NAME=VALUE"),
        ("--folds 1", 2, "--folds is 1, expected 0, or 2 and more"),
        ("--folds 9", 2, "9 folds for 4 queries, expected at least one query for each"),
        ("--held-out 2 --folds 0", 2, "held_out is 2.0, expected a number from 0 to 0.9"),
        ("--depth 0", 2, "depth is 0, expected a whole number from 1"),
        ("--topics mine/topics.tsv", 2, "no judgments to train with: expected --qrels FILE"),
        ("--qrels nowhere", 1, "nowhere"),
        ("-o mine", 1, "mine: cannot be written (a folder)"),
        ("-o no/where.json", 1, "no/where.json: cannot be written (no such folder)"),
    ],
)
def test_a_mistake_ends_in_one_line(collection, run_cli, arguments, code, message):
    found, _, err = run_cli("train-lm", *arguments.split())
    assert found == code
    assert message in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("--weights w.json", 2, "--weights are those of a mixture: expected --scorer mixture, found bm25"),
        ("--scorer mixture --weights w.json --set document=1", 2, "--weights replace the settings of a mixture"),
        ("--scorer mixture --weights nowhere.json", 1, "nowhere.json: cannot be read"),
        ("--scorer mixture --weights mine/docs.jsonl", 1, "mine/docs.jsonl: not a JSON file, expected weights that"),
        ("--scorer mixture --set document=0.9", 2, "Mixture: the weights sum to 1.4, expected 1"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(collection, run_cli, arguments, code, message):
    run_cli("train-lm", "--folds", "0", "-o", "w.json")
    found, out, err = run_cli("query", "heat", *arguments.split())
    assert (found, out) == (code, "")
    assert message in err.splitlines()[-1]


def test_weights_for_another_analyzer_are_refused(collection, run_cli):
    run_cli("train-lm", "--folds", "0", "-o", "w.json")
    assert run_cli("index", "mine", "-i", "indexes/plain", "--stemmer", "none")[0] == 0
    code, _, err = run_cli("query", "heat", "-i", "plain", "--scorer", "mixture", "--weights", "w.json")
    assert code == 2
    assert "w.json: made for an index with analyser" in err.splitlines()[-1]


def test_a_session_searches_with_weights_and_goes_back_to_settings(collection, run_cli, monkeypatch):
    import io

    run_cli("train-lm", "--per-document", "--folds", "0", "-o", "w.json")
    lines = "heat\n:scorer\n:scorer bm25\n:scorer mixture\n:set document=0.6 corpus=0.4\nheat\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    code, out, err = run_cli("query", "--scorer", "mixture", "--weights", "w.json")
    assert code == 0
    assert "Traceback" not in err
    assert "scorer mixture: document=" in out
    assert "scorer mixture: document=0.6 corpus=0.4" in err
