"""Training on one collection and testing on another: who learns from which topics, and what the table shows."""

from dataclasses import dataclass

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.records import Document, Topic
from searchlab.report.content import Paragraph, Table
from searchlab.reproduction.cross_collection.collection import MUS, prepare_collection
from searchlab.reproduction.cross_collection.cross_collection_report import cross_report, format_cross_table
from searchlab.reproduction.cross_collection.cross_training import run_cross
from searchlab.reproduction.cross_collection.learners import (
    CROSS_RANKERS,
    LANGUAGE_MODEL,
    LanguageModelLearner,
    MixtureLearner,
    RankerLearner,
    TrainedScorer,
    make_learners,
)
from searchlab.reproduction.cross_collection.result import CrossCell, CrossResult
from searchlab.reproduction.retrieval import make_reranker_recipes
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.dirichlet import Dirichlet

N_TOPICS = 15


def make_documents(sign, seed):
    """Topics of a word each: relevant documents have it once, the others thrice; reversed for sign -1."""
    rng = np.random.default_rng(seed)
    filler = [f"f{number}" for number in range(30)]
    documents, qrels, topics = [], {}, []
    for number in range(N_TOPICS):
        word = f"w{number}"
        topics.append(Topic(str(number), f"{word} f1"))
        qrels[str(number)] = {f"good{number}-{copy}": 1 for copy in range(2)}
        for copy in range(5):
            kind = "good" if copy < 2 else "bad"
            repeats = 1 if (kind == "good") == (sign > 0) else 3
            text = " ".join([*rng.choice(filler, 12), *[word] * repeats])
            documents.append(Document(f"{kind}{number}-{copy}", "f3 f4", text))
    return documents, topics, qrels


@pytest.fixture(scope="module")
def collections(build):
    """In `once` and `again` relevant documents have the word once; in `thrice` it is the other way round."""
    made = []
    engines = []
    for name, sign, seed in (("once", 1, 1), ("again", 1, 2), ("thrice", -1, 3)):
        documents, topics, qrels = make_documents(sign, seed)
        engines.append(SearchEngine(build(documents)))
        made.append(prepare_collection(name, engines[-1], topics, qrels))
    yield made
    for engine in engines:
        engine.close()


@pytest.fixture(scope="module")
def result(collections):
    return run_cross(collections, make_learners(make_reranker_recipes(["rsvm"], 3, 0)), n_folds=3)


def test_every_system_is_trained_and_tested_on_every_collection(result):
    systems = (LANGUAGE_MODEL, "mixture, EM", "mixture, MCE", "rsvm")
    assert result.systems == systems
    keys = {(cell.system, cell.trained_on, cell.tested_on) for cell in result.cells}
    names = ("once", "again", "thrice")
    assert keys == {(system, source, target) for system in systems for source in names for target in names}
    assert all(len(cell.values) == N_TOPICS for cell in result.cells)
    assert result.left_out == ()


def test_a_model_takes_along_what_it_has_learnt(result):
    # What is relevant in `once` is relevant in `again`, and not in `thrice`.
    assert result.cell("rsvm", "once", "once").mean > 0.95
    assert result.cell("rsvm", "once", "again").mean > 0.95
    assert result.cell("rsvm", "once", "thrice").mean < 0.6
    moved = result.cell("rsvm", "once", "thrice")
    assert moved.own.significant
    assert moved.own.difference < 0
    assert result.cell("rsvm", "once", "once").own is None
    assert "systems are significantly worse by AP than trained on the collection itself" in result.verdict()


def test_a_language_model_is_applied_with_the_statistics_of_the_test_collection(collections, result):
    once, _, thrice = collections
    means = [np.mean(once.evaluate(Pipeline(once.engine, Dirichlet(mu)).run(once.data.topics))) for mu in MUS]
    best = Dirichlet(MUS[int(np.argmax(means))])
    expected = evaluate_run(thrice.qrels, Pipeline(thrice.engine, best).run(thrice.data.topics), ["AP"])
    cell = result.cell(LANGUAGE_MODEL, "once", "thrice")
    assert cell.mean == pytest.approx(expected.mean("AP"))
    assert cell.learnt == f"μ={best.mu:g}"


@dataclass
class SpyLearner:
    """Records the topics that it learns from and ranks."""

    name: str = "spy"

    def __post_init__(self):
        self.learnt, self.ranked = [], []

    def learn(self, collection, topics):
        self.learnt.append((collection.name, set(topics.tolist())))
        spy = self

        class Trained(TrainedScorer):
            def rank(self, target, held_out):
                spy.ranked.append((collection.name, set(topics.tolist()), target.name, set(held_out.tolist())))
                return super().rank(target, held_out)

        return Trained(Dirichlet(), "")


def test_on_the_diagonal_no_topic_is_ranked_by_what_was_learnt_from_it(collections):
    spy = SpyLearner()
    run_cross(collections[:2], [spy], n_folds=4)
    everyone = set(range(N_TOPICS))
    own = [each for each in spy.ranked if each[0] == each[2]]
    assert len(own) == 2 * 4
    assert all(not learnt & ranked and learnt | ranked == everyone for _, learnt, _, ranked in own)
    moved = [each for each in spy.ranked if each[0] != each[2]]
    assert [(source, target) for source, _, target, _ in moved] == [("once", "again"), ("again", "once")]
    assert all(learnt == ranked == everyone for _, learnt, _, ranked in moved)


def test_what_cannot_be_trained_is_left_out_and_said(collections):
    class Failing(SpyLearner):
        def learn(self, collection, topics):
            if collection.name == "once":
                raise SettingError("too little")
            return super().learn(collection, topics)

    found = run_cross(collections[:2], [Failing()], n_folds=2)
    assert found.left_out == ("spy, trained on once: too little",)
    assert found.cell("spy", "once", "again") is None
    # There is no diagonal to compare with.
    assert found.cell("spy", "again", "once").own is None
    with pytest.raises(SettingError, match="3 topics to train with, expected at least 10"):
        MixtureLearner("em").learn(collections[0], np.arange(3))


def test_one_collection_is_refused(collections):
    with pytest.raises(SettingError, match="1 collection to train and test on, expected at least two"):
        run_cross(collections[:1], [LanguageModelLearner()])


def test_learners_have_the_names_of_the_table():
    learners = make_learners(make_reranker_recipes(CROSS_RANKERS, 5, 0))
    assert [each.name for each in learners] == [LANGUAGE_MODEL, "mixture, EM", "mixture, MCE", "svm", "maxent", "rsvm"]
    assert isinstance(learners[-1], RankerLearner)


@pytest.fixture(scope="module")
def made_up():
    """Ten topics: BM25 .5 everywhere; the SVM .75 where it was trained and .25 elsewhere; the LM .5."""
    from searchlab.evaluation.comparison import compare_values

    baseline = np.full(10, 0.5)
    cells = []
    for target in ("a", "b"):
        for source in ("a", "b"):
            value = 0.75 if source == target else 0.25
            for system, values in (("svm", np.full(10, value)), (LANGUAGE_MODEL, baseline)):
                own = np.full(10, 0.75 if system == "svm" else 0.5)
                compared = compare_values(system, values, "BM25", baseline, "AP")
                against = None if source == target else compare_values(system, values, "own", own, "AP")
                cells.append(CrossCell(system, source, target, values, "C=1", compared, against))
    sizes = {"a": (100, 10), "b": (200, 10)}
    return CrossResult(sizes, dict.fromkeys(sizes, baseline), ("svm", LANGUAGE_MODEL), tuple(cells), ("x: why",), 5)


def test_the_table_marks_the_diagonal_and_what_differs_from_bm25(made_up):
    assert format_cross_table(made_up).splitlines() == [
        "trained on  AP                  a           b",
        "–           BM25            .5000       .5000",
        "a           svm             .7500 cv ↑  .2500 ↓",
        "            LM, μ trained   .5000 cv    .5000",
        "b           svm             .2500 ↓     .7500 cv ↑",
        "            LM, μ trained   .5000       .5000 cv",
    ]
    assert made_up.verdict() == (
        "Trained on another collection, 2 of 4 systems are significantly worse by AP than trained on the collection "
        "itself; 0 are significantly better than BM25, 2 worse."
    )


def test_the_report_has_the_table_the_cost_and_the_lectures_comparison(made_up):
    report = cross_report(made_up, "nallapati")
    blocks = [block for section in report.sections for block in section.blocks]
    tables = {block.name: block for block in blocks if isinstance(block, Table)}
    assert set(tables) == {"cross", "cross-cost", "svm-lm"}
    assert tables["cross"].rows[1] == ("a", "svm", "C=1", 0.75, 0.25)
    assert tables["cross"].marks[1, 3] == "cv ↑"
    assert tables["cross-cost"].rows[0] == ("a", "svm", None, "-.500*")
    assert tables["svm-lm"].rows[0] == ("a", "SVM (p = .002)", "LM (p = .002)")
    texts = [block.text for block in blocks if isinstance(block, Paragraph)]
    assert any("better than the language model in 2 of 4 cells and worse in 2;" in text for text in texts)
    assert "Left out: x: why." in texts


def test_json_has_every_cell(made_up):
    record = made_up.to_json()
    assert len(record["cells"]) == 8
    first = record["cells"][0]
    assert (first["system"], first["trained_on"], first["tested_on"], first["AP"]) == ("svm", "a", "a", 0.75)
    assert first["cross_validated"]
    assert first["against_diagonal"] is None
    assert record["collections"]["b"] == {"documents": 200, "topics": 10, "BM25": 0.5}
