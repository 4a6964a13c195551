"""A model with features of a user's own on the pages: explained in words, offered for training, refused kindly."""

import re
from html import unescape

import numpy as np
import pytest

import searchlab
from searchlab import extensions
from searchlab.features.catalogue import CATALOGUE
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.model_store.model_files import models_folder
from searchlab.rankers.models.linear_model import LinearModel
from tests.web.judged_app import judge_topics, make_app_state, title_documents
from tests.web.search_client import client_of, get_json

pytestmark = pytest.mark.usefixtures("registered_here")
NAMES = ("own.title", "field.year.age", "doc.both.length")
SOURCE = """import searchlab

@searchlab.feature("own.title", "words of the <query> in the title")
def title(candidates):
    return candidates.counts("title").tf.sum(axis=0)
"""


@pytest.fixture
def folder(build, tmp_path, monkeypatch):
    made = build(title_documents(), folder=tmp_path / "it")
    (tmp_path / "my_title.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    extensions.load_extensions(["my_title.py"])
    origins = {"own.title": extensions.ORIGINS["feature", "own.title"]}
    models_folder(made).mkdir()
    for name, features in (("mine", NAMES), ("neural", ("external.neural",))):
        bundle = Bundle(
            "linear",
            {},
            LinearModel(np.arange(3.0, 3 - len(features), -1)),
            features,
            Preprocessor.named("zero", "none"),
            first_stage=FirstStage(10, expanded=False),
            origins={name: origin for name, origin in origins.items() if name in features},
        )
        bundle.save(models_folder(made) / f"{name}.json")
    return made


@pytest.fixture
def client_with(folder):
    def open_client():
        state = make_app_state(folder)
        opened.append(state)
        return client_of(state)

    opened = []
    yield open_client
    for state in opened:
        state.close()


def words(html):
    content = re.search(r"<main.*</main>", html, re.DOTALL).group()
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", content)).split())


def test_the_page_explains_a_score_by_own_features_in_words(client_with):
    client = client_with()
    answer = client.get("/explain", params={"q": "w3", "docno": "3-good1", "system": "model:mine"})
    assert answer.status_code == 200
    assert "words of the <query> in the title" in words(answer.text)
    assert "words of the <query>" not in answer.text  # escaped
    assert "age by year" in words(answer.text)
    assert "own.title" in answer.text
    parts = get_json(client, "/api/explain", q="w3", docno="3-good1", system="model:mine")["document"]["parts"]
    by_label = {part["label"]: part for part in parts}
    # By hand: the title has the word once; the newest document is of 2002, this one of 2001.
    assert by_label["own.title"]["amount"] == pytest.approx(3)
    assert by_label["field.year.age"]["amount"] == pytest.approx(2)
    assert by_label["own.title"]["words"] == "words of the <query> in the title"


def test_a_search_by_the_model_ranks_by_its_features(client_with):
    hits = get_json(client_with(), "/api/search", q="w3", system="model:mine", k=3)["hits"]
    assert [hit["docno"] for hit in hits]
    assert hits[0]["score"] > hits[-1]["score"]


def test_models_that_cannot_compute_their_features_are_listed_with_the_reason(client_with):
    models = {model["name"]: model for model in get_json(client_with(), "/api/models")["models"]}
    assert models["mine"]["usable"]
    assert not models["neural"]["usable"]
    assert "needs feature external.neural, computed elsewhere for topics" in models["neural"]["problem"]
    del CATALOGUE["own.title"]
    extensions.ORIGINS.clear()
    client = client_with()
    models = {model["name"]: model for model in get_json(client, "/api/models")["models"]}
    assert "comes from module my_title, which is not loaded" in models["mine"]["problem"]
    refused = client.get("/api/search", params={"q": "w3", "system": "model:mine"})
    assert 400 <= refused.status_code < 500
    assert "searchlab --extension my_title" in refused.json()["error"]


def test_the_page_of_training_offers_own_features(client_with, folder):
    state = make_app_state(folder)
    judge_topics(state)
    state.close()
    text = unescape(client_with().get("/train").text)
    assert '"compact,own.title"' in text


def test_a_feature_that_fails_is_reported_to_the_visitor_in_one_line(client_with):
    searchlab.feature("own.other", "fails")(lambda candidates: 1 / 0)
    CATALOGUE["own.title"] = CATALOGUE["own.other"]
    answer = client_with().get("/api/search", params={"q": "w3", "system": "model:mine"})
    assert answer.status_code in (400, 422, 500)
    assert "ZeroDivisionError" in answer.json()["error"]
