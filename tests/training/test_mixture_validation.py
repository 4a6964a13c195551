"""Cross-validation of mixture weights: trained on other queries than those it is evaluated on."""

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.mixtures.training_queries import gather, name_components
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.mixture import Mixture
from searchlab.training import mixture_validation
from searchlab.training.mixture_validation import SYSTEMS, cross_validate_mixture, format_cross_validation
from searchlab.training.query_folds import deal_folds


@pytest.fixture(scope="module")
def training(build):
    """Twelve topics; relevant documents have the topic's word in the title, irrelevant ones in a longer text."""
    rng = np.random.default_rng(1)
    filler = [f"f{number}" for number in range(30)]
    documents, qrels, topics = [], {}, []
    for number in range(12):
        word = f"w{number}"
        topics.append(Topic(str(number), f"{word} f1"))
        qrels[str(number)] = {f"good{number}-{copy}": 1 for copy in range(2)}
        for copy in range(4):
            text = " ".join(rng.choice(filler, 12))
            if copy < 2:
                documents.append(Document(f"good{number}-{copy}", f"{word} f2", text))
            else:
                documents.append(Document(f"bad{number}-{copy}", "f3 f4", f"{text} {word} {word}"))
    topics.append(Topic("none", "nothing known"))
    qrels["none"] = {"good1-1": 1}
    with SearchEngine(build(documents)) as engine:
        yield engine, topics, qrels, gather(engine, topics, qrels, name_components(["title"]))


@pytest.fixture(scope="module")
def found(training):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixture_validation, "GRID", (0.2, 0.8))
        return training[0], cross_validate_mixture(*training, n_folds=3, seed=2)


def test_too_few_queries_or_folds_are_refused(training):
    with pytest.raises(SettingError, match="13 folds for 12 queries, expected at least one query for each"):
        cross_validate_mixture(*training, n_folds=13)
    with pytest.raises(SettingError, match="folds is 1, expected a whole number from 2"):
        cross_validate_mixture(*training, n_folds=1)
    with pytest.raises(SettingError, match="seed is -1, expected a whole number from 0"):
        cross_validate_mixture(*training, seed=-1)


def test_all_systems_are_evaluated_on_all_queries(found):
    _, result = found
    assert [trial.evaluation.name for trial in result.trials] == list(SYSTEMS)
    for trial in result.trials:
        assert sorted(trial.evaluation.qids, key=int) == [str(number) for number in range(12)]
        assert len(trial.learnt) == 3
        assert 0 < trial.training <= 1
    assert result.skipped == {"without known words": ("none",)}
    assert "trec" in result.rules


def test_the_weight_of_titles_is_learnt_and_helps_other_queries(found):
    _, result = found
    fixed = result.of("fixed").evaluation.mean("AP")
    for name in ("em", "mce"):
        assert result.of(name).evaluation.mean("AP") > fixed + 0.2
        assert all(learnt.shared[2] > 0.05 for learnt in result.of(name).learnt)


def test_the_untrained_system_is_the_default_mixture(found):
    engine, result = found
    assert [learnt.scorer().weights[:2] for learnt in result.of("untrained").learnt] == [Mixture().weights[:2]] * 3
    evaluation = result.of("untrained").evaluation
    hits = engine.search("w3 f1", k=1000)
    assert len(hits) > 4
    assert evaluation.values_of("AP")[evaluation.qids.index("3")] < 1


def test_documents_get_weights_from_training_queries_alone(found):
    _, result = found
    for fold, learnt in zip(deal_folds(12, 3, 2), result.of("mce-per-document").learnt, strict=True):
        taught = {docno.split("-")[0].removeprefix("good") for docno in learnt.docnos}
        assert taught
        assert taught.isdisjoint(map(str, fold))


def test_the_table_has_a_row_for_each_system_with_its_differences(found):
    _, result = found
    lines = format_cross_validation(result).splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(SYSTEMS)
    assert lines[0].split()[:2] == ["AP", "nDCG@10"]
    em = lines[1 + SYSTEMS.index("em")]
    assert f"{result.of('em').evaluation.mean('AP'):.4f}" in em
    assert "p=" in em
    assert "p=" not in lines[1 + SYSTEMS.index("fixed")]
