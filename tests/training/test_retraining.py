"""A new model is compared with the former one on topics that prove something: brute force says the same."""

from dataclasses import replace

import numpy as np
import pytest

from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.rankers.bundle import load_bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.reranking import Reranker
from searchlab.records import Document, Ranking, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.training import from_index
from searchlab.training.from_index import train_from_index
from searchlab.training.query_folds import deal_folds
from searchlab.training.recipe import Recipe
from searchlab.training.retraining import FORMER, NEW, NEW_TOPICS, NOT_COMPARED, SAME_FOLDS, recipe_of
from searchlab.training.training_set import prepare_training

N_TOPICS = 24
GOOD, POOR = ("letor.both.bm25", "letor.title.bm25"), ("letor.both.bm25", "doc.both.length")
STAGE = FirstStage(12)
RECIPE = Recipe(
    "rsvm",
    {"C": 0.05},
    measure="nDCG@10",
    dialect="trec",
    powers=False,
    n_folds=4,
    n_parts=2,
    n_repeats=2,
    name="paper",
)


@pytest.fixture(scope="module")
def engine(build):
    """Of most relevant documents the word is in the title; texts differ, so that each topic has another value."""
    random = np.random.default_rng(7)
    filler = [f"f{number}" for number in range(40)]
    documents = []
    for number in range(N_TOPICS):
        for copy in range(10):
            text = " ".join(random.choice(filler, int(random.integers(5, 30))))
            title = f"w{number} f2" if random.random() < (0.8 if copy < 3 else 0.2) else "f3 f4"
            words = " ".join([f"w{number}"] * int(random.integers(1, 6)))
            documents.append(Document(f"{number:02d}-{copy}", title, f"{text} {words}"))
    with SearchEngine(build(documents)) as opened:
        yield opened


QRELS = {str(n): {f"{n:02d}-{copy}": 1 for copy in range(3)} | {f"{n:02d}-9": 0} for n in range(N_TOPICS)}


def topics(*numbers):
    return [Topic(str(number), f"w{number}") for number in numbers]


def train(engine, numbers, features=GOOD, former=None, recipe=RECIPE, **options):
    found = topics(*numbers)
    return train_from_index(engine, found, QRELS, features, recipe=recipe, first_stage=STAGE, former=former, **options)


@pytest.fixture(scope="module")
def half(engine):
    return train(engine, range(12))


@pytest.fixture(scope="module")
def most(engine):
    return train(engine, range(18))


def measure(rankings):
    qrels = {ranking.qid: QRELS[ranking.qid] for ranking in rankings}
    found = evaluate_run(qrels, rankings, ["nDCG@10"], dialect="trec", complete=True, warn=False)
    return dict(zip(qrels, found.values_of("nDCG@10").tolist(), strict=True))


def held_out(bundle):
    found = bundle.trial["held_out"]
    return dict(zip(found["qids"], found["values"][bundle.label], strict=True))


@pytest.mark.parametrize("features", [GOOD, POOR])
def test_the_former_model_itself_ranks_the_topics_that_it_has_not_learnt_from(engine, half, features):
    new = train(engine, range(N_TOPICS), features, former=half)
    found = new.training["former"]
    unseen = [str(number) for number in range(12, N_TOPICS)]
    assert (found["kind"], found["n_topics"], found["measure"]) == (NEW_TOPICS, 12, "nDCG@10")
    pipeline = Reranker(engine, half).pipeline()
    rankings = []
    for topic in topics(*range(12, N_TOPICS)):
        hits = pipeline.search(topic.text, k=1000)
        rankings.append(Ranking(topic.qid, hits.docnos, hits.scores.tolist()))
    by_hand = measure(rankings)
    assert found["means"][FORMER] == pytest.approx(np.mean([by_hand[qid] for qid in unseen]))
    assert found["means"][NEW] == pytest.approx(np.mean([held_out(new)[qid] for qid in unseen]))
    assert found["is_better"] == (found["means"][NEW] > found["means"][FORMER] + 1e-9)
    assert found["verdict"] == half.trial["verdict"]
    for name, (low, high) in found["intervals"].items():
        assert low <= found["means"][name] <= high
    assert "on 12 topics that neither has learnt from" in found["sentence"]
    assert "on 12 topics that neither has learnt from" in new._repr_html_()


def test_a_model_that_ranks_new_topics_better_takes_the_place_and_a_worse_one_does_not(engine, half):
    poor = train(engine, range(12), POOR)
    better = train(engine, range(N_TOPICS), GOOD, former=poor).training["former"]
    worse = train(engine, range(N_TOPICS), POOR, former=half).training["former"]
    assert (better["is_better"], worse["is_better"]) == (True, False)
    assert better["sentence"].startswith("The new model is better than the former one: nDCG@10 .")
    assert better["sentence"].endswith("; it takes the place of the former one.")
    assert worse["sentence"].startswith("The new model is not better than the former one: nDCG@10 .")
    assert worse["sentence"].endswith("; the former one stays.")


@pytest.mark.parametrize("features", [GOOD, POOR])
def test_with_few_new_topics_both_learn_in_the_same_folds_from_what_they_learnt_from(engine, most, features):
    new = train(engine, range(N_TOPICS), features, former=most)
    found = new.training["former"]
    data = prepare_training(engine, topics(*range(N_TOPICS)), QRELS, GOOD, STAGE)
    table, validation = data.table, RECIPE.validation_measure(QRELS)
    repeats = []
    for seed in (0, 1):
        scores = np.zeros(table.n_rows)
        for fold in deal_folds(N_TOPICS, 4, seed):
            aside = np.isin(table.qids.tolist(), [str(number) for number in fold])
            former = np.isin(table.qids.tolist(), [str(number) for number in range(18)])
            learnt = replace(RECIPE, seed=seed).learn(table.rows(former & ~aside), validation)
            scores[aside] = learnt.scores(table.rows(aside))
        repeats.append(list(measure(data.rerank(scores)).values()))
    assert (found["kind"], found["n_topics"]) == (SAME_FOLDS, N_TOPICS)
    assert found["means"][FORMER] == pytest.approx(np.mean(repeats))
    assert found["means"][NEW] == pytest.approx(np.mean(list(held_out(new).values())))
    assert "on 24 held-out topics in the same folds (the former settings learnt from its 18 topics" in found["sentence"]
    assert "6 topics are new to the former one)" in found["sentence"]


def test_the_same_settings_and_topics_with_other_judgments_take_over_uncompared_but_other_settings_do_not(engine, half):
    same = train(engine, range(12), former=half).training["former"]
    assert (same["kind"], same["is_better"], same["means"]) == (NOT_COMPARED, True, {})
    assert same["sentence"] == (
        "The new model cannot be compared with the former one, as settings and topics are the same and only judgments"
        " can have changed; it takes the place of the former one, since it has learnt from the judgments of today."
    )
    other = train(engine, range(12), former=half, recipe=replace(RECIPE, ranker="maxent", settings={}))
    assert other.training["former"]["kind"] == SAME_FOLDS


def test_a_topic_whose_text_was_edited_is_not_new(engine, half):
    edited = replace(half, training={**half.training, "topics": {str(n): f"other words {n}" for n in range(12)}})
    found = train(engine, range(N_TOPICS - 4), former=edited).training["former"]
    assert (found["kind"], found["n_topics"]) == (SAME_FOLDS, N_TOPICS - 4)


def test_a_model_that_cannot_be_compared_fairly_stays_and_says_why(engine, half, most):
    unknown = replace(half, training={name: value for name, value in half.training.items() if name != "topics"})
    from_file = replace(half, first_stage=None)
    elsewhere = replace(half, training={**half.training, "topics": {"x": "y"}})
    for former, recipe, reason in (
        (unknown, RECIPE, "the file of the former one does not say which topics it was trained on"),
        (from_file, RECIPE, "the former one was trained from a file of features"),
        (half, replace(RECIPE, n_folds=0), "it was not cross-validated"),
        (elsewhere, RECIPE, "only 0 topics of the former one are judged now"),
    ):
        found = train(engine, range(8), former=former, recipe=recipe).training["former"]
        assert (found["kind"], found["is_better"]) == (NOT_COMPARED, False)
        assert found["sentence"].startswith("The new model cannot be compared with the former one: ")
        assert reason in found["sentence"]


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe.for_search("softmax"),
        Recipe.for_search("rsvm", settings={"C": 0.05}, prior="none"),
        Recipe.for_search("rsvm-ir", name="paper", imputation="zero", normalisation="query-rank"),
        Recipe.for_search("maxent"),
    ],
)
def test_a_model_is_trained_again_as_its_file_says(engine, recipe, tmp_path):
    quick = replace(recipe, n_folds=0)
    trained = train_from_index(engine, topics(*range(8)), QRELS, GOOD, recipe=quick, first_stage=STAGE)
    trained.save(tmp_path / "it.json")
    again = recipe_of(load_bundle(tmp_path / "it.json"), Recipe.for_search("lambdamart", n_folds=0, measure="AP"))
    repeated = train_from_index(engine, topics(*range(8)), QRELS, GOOD, recipe=again, first_stage=STAGE)
    assert repeated.model.to_json() == trained.model.to_json()


def test_a_former_model_that_does_not_fit_the_index_any_more_is_replaced(engine, half):
    analyser = {**half.analyser, "fingerprint": "0" * 16, "stemmer": "none"}
    definitions = {**half.definitions, GOOD[0]: "another formula"}
    for former, reason in (
        (replace(half, analyser=analyser), "the model was trained on texts with stemmer none"),
        (replace(half, definitions=definitions), f"the model was trained with {GOOD[0]} as another formula"),
    ):
        found = train(engine, range(12), former=former).training["former"]
        assert (found["kind"], found["is_better"], found["means"]) == (NOT_COMPARED, True, {})
        assert found["sentence"].startswith("The former model cannot be used any more, the new one can: ")
        assert found["sentence"].endswith("; it takes the place of the former one.")
        assert reason in found["sentence"]
        assert str(engine.snapshot.folder.parent) not in found["sentence"]


@pytest.mark.parametrize(
    "change",
    [
        {"recipe": {"name": "paper", "label": "x", "summary": "x", "prior": "builtin"}},
        {"recipe": {"name": "paper", "label": "x", "summary": "x", "given": [3]}},
        {"training": {"topic_hashes": [{}], "topics": {}}},
    ],
    ids=str,
)
def test_the_file_of_a_stranger_does_not_end_a_training(engine, half, change):
    found = train(engine, range(13), former=replace(half, **change)).training["former"]
    assert (found["kind"], found["is_better"]) == (NOT_COMPARED, False)
    assert "the file of the former one does not say how it was trained (" in found["sentence"]


def test_candidates_of_the_former_model_are_divided_as_those_of_the_new_one(engine, half, monkeypatch):
    divisions = []

    def prepare(*arguments):
        divisions.append(arguments[7])
        return prepare_training(*arguments)

    monkeypatch.setattr(from_index, "prepare_training", prepare)
    found = train(engine, range(12), POOR, former=half, divide="shards").training["former"]
    assert (found["kind"], divisions) == (SAME_FOLDS, ["shards", "shards"])


def test_without_a_former_model_nothing_is_compared(half):
    assert "former" not in half.training
