"""Are searches and re-rankers compared on the same topics, trained on others, and told as they came out?"""

from dataclasses import replace

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import compare_evaluations
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.run_evaluation import Evaluation, evaluate_run
from searchlab.records import Document, Topic
from searchlab.report.content import Figure, Paragraph, Table
from searchlab.reproduction import retrieval
from searchlab.reproduction.retrieval import (
    LANGUAGE_MODELS,
    MEASURES,
    MIXTURE,
    RetrievalResult,
    RetrievalSystem,
    make_reranker_recipes,
    run_retrieval,
    search_with_mixture,
)
from searchlab.reproduction.retrieval_report import (
    compare_with_paper,
    format_retrieval_table,
    marks_of,
    retrieval_report,
)
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import Pipeline

N_TOPICS = 12


@pytest.fixture(scope="module")
def collection(build):
    """Twelve topics of a word each: what is relevant has it in the title, what is not more often in its text."""
    rng = np.random.default_rng(1)
    filler = [f"f{number}" for number in range(30)]
    documents, qrels, topics = [], {}, []
    for number in range(N_TOPICS):
        word = f"w{number}"
        topics.append(Topic(str(number), f"{word} f1"))
        qrels[str(number)] = {f"good{number}-{copy}": 1 for copy in range(2)}
        for copy in range(5):
            text = " ".join(rng.choice(filler, 12))
            if copy < 2:
                documents.append(Document(f"good{number}-{copy}", f"{word} f2", text))
            else:
                documents.append(Document(f"bad{number}-{copy}", "f3 f4", f"{text} {word} {word}"))
    topics.append(Topic("none", "w1"))
    with SearchEngine(build(documents)) as engine:
        yield engine, topics, qrels


@pytest.fixture(scope="module")
def outcome(collection):
    engine, topics, qrels = collection
    return run_retrieval(
        engine, topics, qrels, name="small", features=["table1", "letor45"], rankers=["rsvm"], n_folds=3
    )


def test_every_system_is_evaluated_on_every_topic_with_a_relevant_document(outcome):
    names = ["BM25", *LANGUAGE_MODELS, "RM3", MIXTURE, "rsvm, table1", "rsvm, letor45"]
    assert [system.name for system in outcome.systems] == names == [each.name for each in outcome.evaluations]
    assert {each.qids for each in outcome.evaluations} == {tuple(str(number) for number in range(N_TOPICS))}
    assert (outcome.n_topics, outcome.n_skipped, outcome.n_folds, outcome.left_out) == (12, 1, 3, ())


def test_searches_are_those_of_the_engine(outcome, collection):
    engine, topics, qrels = collection
    plain = evaluate_run(qrels, Pipeline(engine).run(topics[:-1]), ["nDCG@10"])
    assert outcome.mean("BM25", "nDCG@10") == pytest.approx(plain.mean("nDCG@10"))


def test_what_is_learnt_serves_other_topics(outcome):
    # BM25 prefers what has the word twice; that this is wrong here is seen in either set of features.
    assert outcome.mean("BM25", "nDCG@10") < 0.7
    for features in ("table1", "letor45"):
        assert outcome.mean(f"rsvm, {features}", "nDCG@10") > 0.95
    assert outcome.verdict().startswith("small: rsvm, ")
    assert "is better than BM25 on 12 of 12 topics" in outcome.verdict()


def test_a_mixture_learns_from_the_topics_of_other_folds_alone(collection, monkeypatch):
    from searchlab.mixtures import weight_training

    engine, topics, qrels = collection
    taught = []

    def spy(queries, **options):
        taught.append(set(queries.qids))
        return learn(queries, **options)

    learn = weight_training.learn_mce
    monkeypatch.setattr(weight_training, "learn_mce", spy)
    found = search_with_mixture(engine, topics, qrels, 3, 0)
    assert [ranking.qid for ranking in found] == [topic.qid for topic in topics]
    everyone = {str(number) for number in range(N_TOPICS)}
    held_out = [everyone - own for own in taught]
    assert sorted(qid for own in held_out for qid in own) == sorted(everyone)


def test_what_cannot_be_trained_is_left_out_and_said(collection, monkeypatch):
    engine, topics, qrels = collection
    monkeypatch.setattr(retrieval, "MIN_TOPICS", 100)
    found = run_retrieval(engine, topics, qrels, name="small", features=[], rankers=["rsvm"], n_folds=2)
    assert found.left_out == (f"{MIXTURE}: 12 topics to train with, expected at least 100",)
    assert [system.name for system in found.systems] == ["BM25", *LANGUAGE_MODELS, "RM3"]


def test_wrong_names_and_numbers_are_refused_before_any_work():
    with pytest.raises(SettingError, match="unknown ranker 'rvsm'"):
        make_reranker_recipes(["rvsm"], 5, 0)
    with pytest.raises(SettingError, match="folds is 1, expected a whole number from 2"):
        make_reranker_recipes(["rsvm"], 1, 0)
    with pytest.raises(SettingError, match="seed is -1"):
        make_reranker_recipes(["rsvm"], 5, -1)


def test_rows_are_marked_by_the_recipe(collection):
    engine, topics, qrels = collection
    tuned = run_retrieval(
        engine, topics, qrels, name="small", features=["table1"], rankers=["rsvm"], recipe_name="tuned", n_folds=2
    )
    assert tuned.systems[-1] == RetrievalSystem("rsvm, tuned, table1", "table1", "rsvm, tuned")
    with pytest.raises(SettingError, match="unknown recipe 'own'"):
        make_reranker_recipes(["rsvm"], 5, 0, "own")


def made_up(values, systems):
    """An outcome with these values of nDCG@10 for ten topics; other measures are half of them."""
    rows = {name: np.outer(np.full(10, value), [1.0, 0.5, 0.5]) for name, value in values.items()}
    qids = tuple(str(number) for number in range(10))
    evaluations = [Evaluation(name, MEASURES, qids, own, make_dialect("trec")) for name, own in rows.items()]
    report = compare_evaluations(evaluations, baseline="BM25")
    return RetrievalResult("made-up", 100, 10, 2, 5, tuple(systems), tuple(evaluations), report, ("x: why",))


@pytest.fixture(scope="module")
def known():
    systems = [
        RetrievalSystem("BM25"),
        RetrievalSystem("RM3"),
        RetrievalSystem("rsvm, table1", "table1", "rsvm"),
        RetrievalSystem("ir", "other", "rsvm-ir"),
    ]
    return made_up({"BM25": 0.5, "RM3": 0.5, "rsvm, table1": 0.75, "ir": 0.25}, systems)


def test_signs_stand_where_a_difference_is_no_chance(known):
    # All ten topics agree: p = 2/2^10, three times that after correction; equal values are no difference.
    assert marks_of(known) == {(2, 1): "↑", (2, 2): "↑", (2, 3): "↑", (3, 1): "↓", (3, 2): "↓", (3, 3): "↓"}
    assert format_retrieval_table(known).splitlines() == [
        "made-up        nDCG@10       AP     P@10",
        "BM25            .5000    .2500    .2500",
        "RM3             .5000    .2500    .2500",
        "rsvm, table1    .7500↑   .3750↑   .3750↑",
        "ir              .2500↓   .1250↓   .1250↓",
    ]


def test_it_is_said_where_the_papers_finding_is_found_too(known):
    worse = made_up(
        {"BM25": 0.5, "rsvm, table1": 0.25},
        [RetrievalSystem("BM25"), RetrievalSystem("rsvm, table1", "table1", "rsvm")],
    )
    assert "here 1 of 2 such re-rankers are, 1 of them significantly." in compare_with_paper([known, worse])
    assert compare_with_paper([replace(known, systems=known.systems[:2])]).endswith("these were not tried here.")
    assert worse.verdict() == "made-up: nothing is better than BM25 by nDCG@10, 0.5000."


def test_json_has_every_system_with_its_means(known):
    record = known.to_json()
    assert list(record["systems"]) == ["BM25", "RM3", "rsvm, table1", "ir"]
    assert record["systems"]["rsvm, table1"]["nDCG@10"] == 0.75
    assert record["systems"]["rsvm, table1"]["ranker"] == "rsvm"
    assert record["systems"]["BM25"]["against_bm25"] is None
    assert record["systems"]["ir"]["against_bm25"].startswith("ir is worse than BM25 on 10 of 10 topics")
    assert record["left_out"] == ["x: why"]


def test_the_report_has_a_table_bars_and_a_sentence_for_each_system(known):
    report = retrieval_report([known])
    (section,) = report.sections
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    assert table.rows[2] == ("rsvm, table1", 0.75, 0.375, 0.375)
    assert table.marks == marks_of(known)
    figures = [block.name for block in section.blocks if isinstance(block, Figure)]
    assert figures == ["made-up-searches", "made-up-rerankers"]
    texts = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert "10 topics with a relevant document; 2 without were left out." in texts[0]
    assert [text.split(" is ")[0] for text in texts[2:4]] == ["rsvm, table1", "ir"]
    assert texts[-1] == "Left out: x: why."
    assert report.summary.startswith("made-up: rsvm, table1 is better than BM25 on 10 of 10 topics")
