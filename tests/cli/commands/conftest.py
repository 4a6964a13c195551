"""Indexes with judged topics, and models trained on them."""

import json
import shutil

import pytest

import searchlab
from tests.cli.commands.trained_models import MODELS, make_collection

N_TOPICS = 12


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The collection, indexed once."""
    home = tmp_path_factory.mktemp("learning")
    make_collection(home / "mine")
    searchlab.index(home / "mine", home / "indexes" / "mine", jobs=1)
    return home


@pytest.fixture
def collection(tmp_path, run_cli, made):
    """A working folder with an indexed collection of judged topics."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def train(run_cli):
    """Train from the index, quickly: fixed settings, no cross-validation, seven features."""

    def call(name, *options):
        chosen = MODELS.get(name, [])
        code, out, err = run_cli("train", "--features", "table1", "--folds", 0, *chosen, *options, "-o", f"{name}.json")
        assert code == 0, err
        return out

    return call


@pytest.fixture
def model(collection, train):
    """The name of a linear model."""
    train("rsvm-ir")
    return "rsvm-ir.json"


@pytest.fixture
def judged_index(tmp_path, run_cli):
    """A working folder with an index, topics and judgments; relevant documents are long, and have the word twice."""
    documents = []
    for n in range(N_TOPICS):
        documents.append({"docno": f"long{n}", "body": f"word{n} word{n} " + "filler " * 30})
        documents.append({"docno": f"short{n}", "body": f"word{n} filler"})
    (tmp_path / "it.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (tmp_path / "topics.tsv").write_text("".join(f"{n}\tword{n}\n" for n in range(N_TOPICS)))
    (tmp_path / "qrels.txt").write_text("".join(f"{n} 0 long{n} 1\n{n} 0 short{n} 0\n" for n in range(N_TOPICS)))
    assert run_cli("index", "it.jsonl")[0] == 0
    return tmp_path
