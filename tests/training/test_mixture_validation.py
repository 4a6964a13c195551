"""Does cross-validation train on other queries than it tests on, and say what it found?"""

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.mixtures.training_queries import gather, name_components
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.mixture import Mixture
from searchlab.training import mixture_validation
from searchlab.training.mixture_validation import SYSTEMS, as_table, cross_validate, deal


def test_every_query_is_in_one_fold_and_folds_differ_by_one_at_most():
    folds = deal(13, 5, seed=3)
    assert sorted(number for fold in folds for number in fold) == list(range(13))
    assert {len(fold) for fold in folds} == {2, 3}
    assert deal(13, 5, seed=3) == folds
    assert deal(13, 5, seed=4) != folds


def test_too_few_queries_or_folds_are_told():
    with pytest.raises(SettingError, match="3 queries can be trained with, expected at least 5"):
        deal(3, 5, 1)
    with pytest.raises(SettingError, match="folds is 1, expected a whole number from 2"):
        deal(3, 1, 1)


@pytest.fixture(scope="module")
def found(build):
    """Twelve topics; what is relevant has a topic's word in its title, what is not has it in a longer text."""
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
    with SearchEngine(build(documents)) as engine, pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixture_validation, "GRID", (0.2, 0.8))
        queries = gather(engine, topics, qrels, name_components(["title"]))
        yield engine, cross_validate(engine, topics, qrels, queries, n_folds=3, seed=2)


def test_all_ways_are_evaluated_on_all_queries(found):
    _, result = found
    assert [trial.evaluation.name for trial in result.trials] == list(SYSTEMS)
    for trial in result.trials:
        assert sorted(trial.evaluation.qids, key=int) == [str(number) for number in range(12)]
        assert len(trial.learnt) == 3
        assert 0 < trial.training <= 1
    assert result.skipped == {"without known words": ("none",)}
    assert "trec" in result.rules


def test_what_titles_tell_is_learnt_and_serves_other_queries(found):
    _, result = found
    fixed = result.of("fixed").evaluation.mean("AP")
    for name in ("em", "mce"):
        assert result.of(name).evaluation.mean("AP") > fixed + 0.2
        assert all(learnt.shared[2] > 0.05 for learnt in result.of(name).learnt)


def test_the_untrained_mixture_is_what_a_search_gives(found):
    engine, result = found
    assert [learnt.scorer().weights[:2] for learnt in result.of("untrained").learnt] == [Mixture().weights[:2]] * 3
    evaluation = result.of("untrained").evaluation
    hits = engine.search("w3 f1", k=1000)
    assert len(hits) > 4
    assert evaluation.of("AP")[evaluation.qids.index("3")] < 1


def test_documents_learn_from_training_queries_alone(found):
    _, result = found
    for fold, learnt in zip(deal(12, 3, 2), result.of("mce-per-document").learnt, strict=True):
        taught = {docno.split("-")[0].removeprefix("good") for docno in learnt.docnos}
        assert taught
        assert taught.isdisjoint(map(str, fold))


def test_the_table_has_a_line_for_each_way_with_differences(found):
    _, result = found
    lines = as_table(result).splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(SYSTEMS)
    assert lines[0].split()[:2] == ["AP", "nDCG@10"]
    em = lines[1 + SYSTEMS.index("em")]
    assert f"{result.of('em').evaluation.mean('AP'):.4f}" in em
    assert "p=" in em
    assert "p=" not in lines[1 + SYSTEMS.index("fixed")]
