"""The experiment on OHSUMED: which documents are ranked, who learns from which topics, how BM25 and LMIR are tuned."""

from dataclasses import replace

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.records import Document, Topic
from searchlab.report import plots
from searchlab.report.content import Figure, Paragraph, Table
from searchlab.reproduction import ohsumed_experiment as ohsumed
from searchlab.reproduction.letor import EQ_21
from searchlab.reproduction.ohsumed_experiment import (
    GRIDS,
    RANKERS,
    JudgedDocuments,
    deal_trials,
    gather_judged,
    run_ohsumed,
)
from searchlab.reproduction.ohsumed_report import format_ohsumed_table, ohsumed_report, verdicts
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import Pipeline
from searchlab.training.recipe import Recipe

N_TOPICS = 8
RECIPE = Recipe(measure="nDCG@5", dialect="paper", name="paper")


@pytest.fixture(scope="module")
def collection(build):
    """Eight topics: a document has the word of the topic three times, once or never, as its grade is 2, 1 or 0."""
    rng = np.random.default_rng(1)
    filler = [f"f{number}" for number in range(30)]
    documents, qrels, topics = [], {}, []
    for number in range(N_TOPICS):
        word = f"w{number}"
        topics.append(Topic(str(number), f"{word} f1"))
        qrels[str(number)] = {}
        for grade, repeats in ((2, 3), (1, 1), (0, 0)):
            for copy in range(2 + (grade == 0)):
                docno = f"{number}-{grade}-{copy}"
                documents.append(Document(docno, "f3 f4", " ".join([*rng.choice(filler, 12), *[word] * repeats])))
                qrels[str(number)][docno] = grade
        documents.append(Document(f"{number}-unjudged", "", f"{word} f1 f2"))
    topics.append(Topic("none", "w1"))
    qrels["0"]["lost"] = 2
    with SearchEngine(build(documents)) as engine:
        yield engine, topics, qrels


@pytest.fixture(scope="module")
def documents(collection):
    return gather_judged(*collection)


@pytest.fixture(scope="module")
def result(documents):
    return run_ohsumed(documents, name="small", n_docs=64, recipe=RECIPE, n_jobs=1)


def test_the_rows_are_the_judged_documents_alone(documents, collection):
    _, _, qrels = collection
    rows = list(zip(documents.table.qids, documents.table.docnos, documents.table.grades, strict=True))
    expected = [(qid, docno, grade) for qid, own in qrels.items() for docno, grade in own.items() if docno != "lost"]
    assert rows == expected
    assert (documents.n_unjudged, documents.n_missing, documents.n_skipped) == (0, 1, 1)
    assert documents.grades == {2: 16, 1: 16, 0: 24}
    assert list(documents.grades) == [2, 1, 0]
    assert documents.table.n_features == 7
    assert documents.n_without_pairs == 0


@pytest.mark.parametrize("model", GRIDS)
def test_documents_are_scored_as_a_search_scores_them(documents, collection, model):
    engine, topics, _ = collection
    for number, scorer in enumerate(GRIDS[model]):
        rows = documents.table.qids == "3"
        ours = dict(zip(documents.table.docnos[rows], documents.scores[model][number][rows], strict=True))
        (found,) = Pipeline(engine, scorer).run([topics[3]], k=1000)
        both = [(score, ours[docno]) for docno, score in zip(found.docnos, found.scores, strict=True) if docno in ours]
        assert len(both) >= 4
        searched, scored = np.array(both).T
        assert scored == pytest.approx(searched)


def test_unjudged_documents_are_drawn_from_what_a_search_finds(collection):
    engine, topics, qrels = collection
    drawn = gather_judged(engine, topics, qrels, n_unjudged=3, seed=1)
    assert drawn.n_unjudged == 3 * N_TOPICS
    assert drawn.grades[0] == 24 + 3 * N_TOPICS
    for topic in topics[:-1]:
        rows = drawn.table.qids == topic.qid
        added = [docno for docno in drawn.table.docnos[rows] if docno not in qrels[topic.qid]]
        (found,) = Pipeline(engine).run([topic], k=1000)
        assert len(added) == 3
        assert set(added) <= set(found.docnos)
    again = gather_judged(engine, topics, qrels, n_unjudged=3, seed=1)
    other = gather_judged(engine, topics, qrels, n_unjudged=3, seed=2)
    assert again.table.equals(drawn.table)
    assert not other.table.equals(drawn.table)
    with pytest.raises(SettingError, match="unjudged is -1, expected a whole number from 0"):
        gather_judged(engine, topics, qrels, n_unjudged=-1)


def test_judgments_of_one_grade_are_refused_unless_unjudged_documents_are_added(collection):
    engine, topics, qrels = collection
    relevant = {qid: {docno: 1 for docno, grade in own.items() if grade} for qid, own in qrels.items()}
    with pytest.raises(SettingError, match=r"have one grade only \(1\), expected two grades to make pairs of"):
        gather_judged(engine, topics, relevant)
    assert gather_judged(engine, topics, relevant, n_unjudged=2).grades == {1: 32, 0: 16}
    with pytest.raises(SettingError, match="none of 9 topics has a judged document in the index"):
        gather_judged(engine, topics, {})


def test_every_topic_is_tested_once_and_not_trained_on_then(documents):
    data = deal_trials(documents.table, seed=3)
    assert len(data.names) == 4
    tested = [qid for _, _, test in data.tables for qid in test.query_ids]
    assert sorted(tested) == sorted(documents.table.query_ids)
    for train, valid, test in data.tables:
        assert valid is None
        assert set(train.query_ids) == set(documents.table.query_ids) - set(test.query_ids)
    other = deal_trials(documents.table, seed=4)
    assert [table[2].query_ids for table in other.tables] != [table[2].query_ids for table in data.tables]


def by_hand(perfect, seed=0):
    """Four topics with the grades 2, 1, 0: the scorer `perfect` orders them well, all others in reverse.

    On the topics that the first trial does not train with, it is the other way round.
    """
    qids = [qid for qid in "abcd" for _ in range(3)]
    grades = np.array([2, 1, 0] * 4)
    table = FeatureTable(["x"], qids, [str(row) for row in range(12)], grades[:, None] + 0.5, grades)
    trained = np.isin(table.qids, deal_trials(table, seed=seed).tables[0][0].query_ids)
    scores = {
        model: np.tile(np.where(trained, -grades, grades).astype(float), (len(grid), 1))
        for model, grid in GRIDS.items()
    }
    for model in GRIDS:
        scores[model][perfect] *= -1
    return JudgedDocuments(table, scores, 0, 0, 0), trained


def test_bm25_and_lmir_are_tuned_on_the_training_topics_of_the_first_trial(monkeypatch):
    monkeypatch.setattr(ohsumed, "RANKERS", ("rsvm",))
    documents, trained = by_hand(perfect=2)
    found = run_ohsumed(documents, name="x", n_docs=12, recipe=RECIPE, n_jobs=1)
    assert found.tuned == {model: grid[2] for model, grid in GRIDS.items()}
    # Three topics are ranked well, AP(rel=2) is 1; the fourth in reverse: the document of grade 2 is third.
    for model in GRIDS:
        values = dict(zip(found.results[model].qids, found.results[model].values(EQ_21).tolist(), strict=True))
        reversed_qid = documents.table.qids[~trained][0]
        assert values.pop(reversed_qid) == pytest.approx(1 / 3)
        assert list(values.values()) == [1, 1, 1]


def test_only_the_highest_grade_counts_in_map(monkeypatch):
    monkeypatch.setattr(ohsumed, "RANKERS", ("rsvm",))
    documents, _ = by_hand(perfect=0)
    # The grades 0, 2 and 3 instead of 0, 1 and 2: grade 2 is not relevant any more.
    shifted = replace(documents, table=documents.table.with_grades(np.array([3, 2, 0] * 4)))
    plain, other = (
        run_ohsumed(each, name="x", n_docs=12, recipe=RECIPE, n_jobs=1).results["BM25"].values(EQ_21).tolist()
        for each in (documents, shifted)
    )
    assert plain == other


def test_topics_with_documents_of_one_grade_are_counted():
    documents, _ = by_hand(perfect=0)
    equal = documents.table.with_grades(np.array([2, 1, 0] * 2 + [1, 1, 1, 0, 0, 0]))
    assert replace(documents, table=equal).n_without_pairs == 2


def test_all_systems_of_the_paper_are_compared(result):
    assert list(result.results) == ["BM25", "LMIR", *RANKERS]
    assert all(sorted(each.qids) == [str(number) for number in range(N_TOPICS)] for each in result.results.values())
    # The word occurs as often as its document is relevant: whoever learns from tf, or takes it, is right.
    assert result.results["rsvm-ir"].mean(EQ_21) == 1
    record = result.to_json()
    assert list(record["systems"]) == list(result.results)
    assert record["systems"]["rsvm"]["recipe"]["name"] == "paper"
    assert record["systems"]["BM25"]["recipe"] is None
    assert set(record["tuned"]["BM25"]) == {"k1", "b", "idf"}
    assert record["grades"] == {"2": 16, "1": 16, "0": 24}


def test_tuned_rows_are_marked(documents, monkeypatch):
    monkeypatch.setattr(ohsumed, "RANKERS", ("rsvm", "rsvm-ir"))
    tuned = run_ohsumed(documents, name="x", n_docs=64, recipe=replace(RECIPE, name="tuned"), n_jobs=1)
    assert list(tuned.results) == ["BM25", "LMIR", "rsvm, tuned", "rsvm-ir, tuned"]
    assert list(tuned.by_ranker) == ["BM25", "LMIR", "rsvm", "rsvm-ir"]
    assert "rsvm-ir, tuned" in format_ohsumed_table(tuned)


def test_the_table_tests_rsvm_ir_against_every_other_system(result):
    header, *rows = format_ohsumed_table(result).splitlines()
    assert header.split()[:4] == ["NDCG@1", "NDCG@3", "NDCG@5", "MAP"]
    assert [row.split()[0] for row in rows] == list(result.results)
    (ours,) = (row for row in rows if row.startswith("rsvm-ir "))
    assert ours.split()[1:] == ["1.0000*"] * 4
    counts = rows[2].split()[5:8]
    assert sum(map(int, counts)) == N_TOPICS
    assert "sign tests on NDCG@1 are significant for all three; here for none of the three." in verdicts(result)[1]


@pytest.fixture
def undrawn(monkeypatch):
    """Skip plotting, which is slow."""
    monkeypatch.setattr(plots, "_draw_svg", lambda *arguments, **options: "<svg/>")


def test_the_report_has_the_figures_and_tables_of_the_section(result, undrawn):
    report = ohsumed_report(result, RECIPE, ["1", "2"], "3")
    blocks = [block for section in report.sections for block in section.blocks]
    figures = {block.name for block in blocks if isinstance(block, Figure)}
    assert {"figure-1a", "figure-1b", "figure-1c", "figure-2", "figure-4", "figure-5", "figure-6"} <= figures
    tables = {block.name: block for block in blocks if isinstance(block, Table)}
    assert {"grades", "figure-4", "figure-5", "table-2", "table-3"} <= set(tables)
    assert tables["grades"].rows == (("2", 16), ("1", 16), ("0", 24))
    assert "query 3" in tables["table-3"].caption
    # The paper's p-values are not shown beside other data.
    assert "p in the paper" not in tables["table-2"].columns
    assert "small, 64 documents" in report.facts["collection"]
    texts = [block.text for block in blocks if isinstance(block, Paragraph)]
    assert any("1 topic without judged documents" in text for text in texts)
    assert any(text.startswith("Two queries, query 1") for text in texts)


def test_the_example_query_is_where_rsvm_ir_gains_most(result, undrawn):
    report = ohsumed_report(result, RECIPE)
    texts = [block.text for section in report.sections for block in section.blocks if isinstance(block, Paragraph)]
    assert any("an example, as in the paper, not evidence" in text for text in texts)
