"""Files of mixture weights: read as written, and refused where they do not fit an index."""

import json
import math

import numpy as np
import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import InputError, SettingError, SourceError
from searchlab.indexing.building.deletion import delete
from searchlab.mixtures.likelihood import log_likelihoods
from searchlab.mixtures.training_queries import gather, name_components
from searchlab.mixtures.weight_training import LearntWeights, learn_em
from searchlab.mixtures.weights import MixtureWeights, read_weights, write_weights
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.execution.mixture_components import COMPONENTS
from searchlab.topic_models.topic_model_store import build_topic_model, open_topic_model
from tests.mixtures.example_collection import DOCS, QRELS, TOPICS


@pytest.fixture
def weights_file(engine, tmp_path):
    """A file with individual weights for two documents."""
    learnt = LearntWeights(
        "mce", ("document", "corpus"), np.array([0.3, 0.7]), ("a", "b"), np.array([[0.5, 0.5], [0.1, 0.9]])
    )
    path = tmp_path / "weights.json"
    write_weights(path, MixtureWeights.of(learnt, engine.snapshot, {"alpha": 5}, 2))
    return path


def test_weights_are_read_as_they_were_written(engine, weights_file):
    read = read_weights(weights_file)
    assert (read.n_queries, read.settings, read.learnt.method) == (2, {"alpha": 5}, "mce")
    assert read.remarks(engine.snapshot) == []
    scorer = read.scorer(engine.snapshot)
    assert (scorer.document, scorer.corpus) == (0.3, 0.7)
    assert scorer.document_weights.of("b").tolist() == [0.1, 0.9, *[0] * (len(COMPONENTS) - 2)]
    assert len(engine.search("heat flow", scorer=scorer))


def test_weights_for_another_index_are_refused_or_warned_of(engine, weights_file, build):
    read = read_weights(weights_file)
    stemmed = SearchEngine(build(DOCS, settings=AnalysisSettings()))
    with pytest.raises(SettingError, match=r"weights\.json: made for an index with analyser \w+, but .* has \w+$"):
        read.scorer(stemmed.snapshot)
    others = SearchEngine(build([Document("a", "other", "text"), Document("x", "", "words")]))
    with pytest.raises(SettingError, match=r"another index; all of the 2 documents .* are missing or changed in"):
        read.scorer(others.snapshot)
    folder = build([*DOCS, Document("new", "", "heat")])
    delete(folder, ["b"])
    changed = SearchEngine(folder)
    assert read.scorer(changed.snapshot).document_weights is not None
    assert "1 of 2 documents with individual weights are missing or changed" in read.remarks(changed.snapshot)[-1]
    hits = changed.search("heat flow", scorer=read.scorer(changed.snapshot), k=None)
    assert [
        changed.explain("heat flow", docno, scorer=read.scorer(changed.snapshot)).score for docno in hits.docnos
    ] == (pytest.approx(hits.scores.tolist()))


def test_weights_with_a_topic_model_require_the_same_topic_model(build, tmp_path):
    folder = build(DOCS * 1)
    build_topic_model(folder, n_topics=2)
    with SearchEngine(folder) as engine:
        model = open_topic_model(engine.snapshot)
        queries = gather(engine, TOPICS, QRELS, name_components(["topics"]), topic_model=model)
        learnt = learn_em(queries)
        write_weights(tmp_path / "w.json", MixtureWeights.of(learnt, engine.snapshot, {}, 2))
        read = read_weights(tmp_path / "w.json")
        hits = engine.search("heat flow", k=None, scorer=read.scorer(engine.snapshot))
        assert len(hits) == len(DOCS)
        likelihoods = log_likelihoods(queries.evidence, learnt.shared[None])
        trained = {queries.docnos[doc]: likelihoods[pair] for pair, doc in enumerate(queries.docs[:5])}
        assert dict(zip(hits.docnos, hits.scores, strict=True)) == pytest.approx(trained)
    build_topic_model(folder, n_topics=2, seed=5)
    with (
        SearchEngine(folder) as engine,
        pytest.raises(SettingError, match=r"made with topic model plsa .*train the weights again"),
    ):
        read.scorer(engine.snapshot)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [0.3, 0.6]}, "the sum is 0.9, expected 1"),
        ({"weights": [1.2, -0.2]}, "-0.2, expected numbers from 0"),
        ({"weights": [1.0, 0.0]}, "corpus has no weight"),
        ({"weights": [0.3, 0.3, 0.4]}, "3 numbers, expected 2"),
        ({"weights": "many"}, "damaged"),
        ({"weights": [0.3, 10**400]}, "damaged"),
        ({"queries": math.inf}, "damaged"),
        ({"components": ["document", "a\nb"]}, "components are document, a b; expected"),
        ({"components": ["document", "corpus", "trigram"]}, "components are document, corpus, trigram; expected"),
        ({"components": ["document"]}, "components are document; expected document, corpus"),
        ({"components": ["document", "document", "corpus"]}, "components are"),
        ({"documents": {"a": {"digest": "", "weights": [0.2, 0.2]}}}, "weights of documents: the sum is 0.4"),
        ({"documents": {"a": [0.2, 0.8]}}, "damaged"),
        ({"components": ["document", "corpus", "a\nb"]}, "components are document, corpus, a b; expected"),
        ({"components": "document"}, "damaged"),
        ({"origin": {"analysis": "a\nb", "n_docs": 1, "sources": [], "topics": []}}, "damaged"),
        ({"weights": [float("nan"), 1.0]}, "not a JSON file"),
        ({"version": 2}, "version 2, expected 1"),
        ({"kind": "else"}, "expected weights that `searchlab train-lm` wrote"),
        ({"components": ["document", "corpus", "topics"], "weights": [0.2, 0.3, 0.5], "documents": {}}, "do not match"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(weights_file, change, message):
    weights_file.write_text(json.dumps(json.loads(weights_file.read_text()) | change))
    with pytest.raises(SourceError, match=message) as caught:
        read_weights(weights_file)
    assert str(caught.value).startswith(str(weights_file))
    assert "\n" not in str(caught.value)


def test_other_files_are_refused(tmp_path):
    for name, content in (("text", "heat"), ("list", "[]"), ("binary", "\0")):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match="expected weights that"):
            read_weights(tmp_path / name)
    with pytest.raises(SourceError, match="cannot be read"):
        read_weights(tmp_path / "nowhere")
