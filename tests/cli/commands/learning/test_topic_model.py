import json
import re

import pytest

CARS = ["car engine wheel road", "cars and engines", "wheels of cars on roads", "engine wheel"]
FRUIT = ["fruit tree juice sweet", "sweet fruits of trees", "juices of fruit", "tree juice"]


@pytest.fixture
def garage(tmp_path, run_cli):
    """A collection of eight documents with topics and judgments, and its index."""
    home = tmp_path / "garage"
    home.mkdir()
    texts = CARS + FRUIT
    lines = [json.dumps({"docno": f"d{number}", "title": "", "body": text}) for number, text in enumerate(texts)]
    (home / "docs.jsonl").write_text("\n".join(lines) + "\n")
    (home / "topics.tsv").write_text("1\tcar wheel\n2\tfruit juice\n3\troad engine\n")
    (home / "qrels.txt").write_text("1 0 d1 1\n1 0 d3 1\n2 0 d5 1\n2 0 d4 1\n3 0 d0 1\n")
    assert run_cli("index", "garage")[0] == 0
    return home


def rows(out):
    return [re.split(r" {2,}", line.strip()) for line in out.splitlines()]


def test_latent_topics_are_learnt_and_shown_by_their_words(garage, run_cli):
    code, out, err = run_cli("topic-model", "-i", "garage", "--n-topics", 2)
    assert code == 0
    assert "indexes/garage/topics/plsa: 2 latent topics learnt from 8 documents" in err
    head, *found = rows(out)
    assert head == ["topic", "share of words", "most characteristic words"]
    assert sorted(topic for topic, *_ in found) == ["1", "2"]
    shares = [float(share.rstrip("%")) for _, share, _ in found]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(100, abs=0.2)
    words_of = [set(words.split(", ")) for *_, words in found]
    assert {"car", "engine", "wheel"} <= words_of[0] | words_of[1]
    assert [("car" in words) != ("fruit" in words) for words in words_of] == [True, True]
    again, same, noted = run_cli("topic-model", "-i", "garage")
    assert (again, same, noted) == (0, out, "")


def test_a_document_is_shown_with_its_latent_topics(garage, run_cli):
    run_cli("topic-model", "-i", "garage", "--n-topics", 2)
    code, out, _ = run_cli("topic-model", "d5", "-i", "garage", "--words", 3)
    assert code == 0
    first, head, (_, share, words), *_ = rows(out)
    assert first == ["d5", "(no title)"]
    assert head == ["topic", "share of document", "most characteristic words"]
    assert float(share.rstrip("%")) > 80
    assert len(words.split(", ")) == 3 and "fruit" in words


def test_a_topic_model_is_a_scorer(garage, run_cli):
    code, _, err = run_cli("query", "car", "-i", "garage", "--scorer", "wtm")
    assert code == 1 and "no topic model 'wtm'; `searchlab topic-model -i indexes/garage --method wtm` makes one" in err
    assert run_cli("topic-model", "-i", "garage", "--method", "wtm", "--n-topics", 2)[0] == 0
    code, out, _ = run_cli("query", "car", "-i", "garage", "--scorer", "wtm", "--set", "beta=0.5", "-k", 5, "--json")
    hits = [hit["docno"] for hit in json.loads(out)["hits"]]
    assert code == 0 and set(hits[:4]) == {"d0", "d1", "d2", "d3"}
    assert run_cli("run", "-i", "garage", "--scorer", "wtm", "-o", "wtm.run")[0] == 0


def test_a_topic_model_is_trained_and_used(garage, run_cli):
    run_cli("topic-model", "-i", "garage", "--n-topics", 2)
    code, out, err = run_cli("topic-model", "-i", "garage", "--train")
    assert code == 0
    assert re.search(r"learnt: alpha 0\.\d{3}, beta 0\.\d{3}, latent topics of \d documents", out)
    assert "loss on the training topics: 0." in out
    assert "judgments: " in err and "--scorer plsa --set topics=plsa-trained" in err
    code, out, _ = run_cli("query", "car", "-i", "garage", "--scorer", "plsa", "--set", "topics=plsa-trained", "-k", 1)
    assert code == 0 and "1 " in out
    queries, judged = garage / "topics.tsv", garage / "qrels.txt"
    assert run_cli("topic-model", "-i", "garage", "--train", "--topics", queries, "--qrels", judged)[0] == 0


def test_training_has_settings(garage, run_cli):
    run_cli("topic-model", "-i", "garage", "--n-topics", 2)
    steps = ["--set", "rivals=hardest", "--set", "iterations=1", "--held-out", 0, "--depth", 2]
    code, out, _ = run_cli("topic-model", "-i", "garage", "--train", "--weights-only", *steps)
    assert code == 0
    assert "latent topics of 0 documents" in out
    _, hardest, _ = run_cli("topic-model", "-i", "garage", "--train", *steps)
    _, soft, _ = run_cli("topic-model", "-i", "garage", "--train", *steps, "--set", "rivals=soft")
    assert hardest != soft


def test_the_help_lists_the_settings_of_training(run_cli):
    from dataclasses import asdict

    from searchlab.mixtures.latent_topic_training import DEFAULT_MCE

    _, out, _ = run_cli("topic-model", "--help")
    defaults = asdict(DEFAULT_MCE)
    shown = dict(re.findall(r"^  ([a-z]+)=(\S+) ", out.split("Settings of --train")[1], re.MULTILINE))
    assert shown == {name: value if isinstance(value, str) else f"{value:g}" for name, value in defaults.items()}


def test_later_documents_are_noted(garage, run_cli):
    run_cli("topic-model", "-i", "garage", "--n-topics", 2)
    with (garage / "docs.jsonl").open("a") as file:
        file.write('{"docno": "new", "title": "A car", "body": "car"}\n')
    run_cli("index", "garage")
    code, out, err = run_cli("topic-model", "new", "-i", "garage")
    assert code == 0 and out.startswith("new  A car\n")
    assert "warning: 11% of the documents came after the topic model was learnt" in err
    assert "--rebuild" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "lda"], "unknown method 'lda'; there is: plsa, wtm"),
        (["--n-topics", 0], "topics is 0, expected 1 to 1000"),
        (["--words", 0], "--words is 0, expected 1 or more"),
        (["nowhere"], "holds no document 'nowhere'"),
        (["--qrels", "x"], "--qrels is for training: expected --train"),
        (["--weights-only"], "--weights-only is for training: expected --train"),
        (["--depth", 3], "--depth is for training: expected --train"),
        (["--train", "--set", "rival=soft"], "unknown setting of MCE 'rival' (did you mean rivals?)"),
        (["--train", "--held-out", 1], "held_out is 1.0, expected 0 to less than 1"),
        (["--name", "Ä"], "topic model 'Ä', expected a name"),
        (["--train", "--topics", "garage/topics.tsv"], "no judgments to train with: expected --qrels"),
    ],
)
def test_a_mistake_ends_in_one_line(garage, run_cli, arguments, message):
    code, _, err = run_cli("topic-model", "-i", "garage", *arguments)
    assert code == 2
    assert message in err and "Traceback" not in err


def test_another_number_of_latent_topics_needs_rebuild(garage, run_cli):
    run_cli("topic-model", "-i", "garage", "--n-topics", 2)
    code, _, err = run_cli("topic-model", "-i", "garage", "--n-topics", 3)
    assert code == 2 and "has 2 latent topics, seed 1999; --rebuild learns it again" in err
    code, out, _ = run_cli("topic-model", "-i", "garage", "--n-topics", 3, "--rebuild")
    assert code == 0 and len(out.splitlines()) == 4
