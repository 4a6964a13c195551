"""The Chinese collection is retrieved by words, by n-grams and by both."""

from pathlib import Path

import pytest

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.corpus import read_documents

COLLECTION = Path(__file__).parents[2] / "corpora" / "chinese"


@pytest.fixture(scope="module")
def engine(build):
    with searchlab.open(
        build(read_documents(COLLECTION / "docs.jsonl"), settings=AnalysisSettings(ngrams=1))
    ) as engine:
        yield engine


def ndcg(run):
    return searchlab.evaluate_run(searchlab.read_qrels(COLLECTION / "qrels.txt"), run, ["nDCG@10"]).means["nDCG@10"]


def test_the_collection_is_complete(engine):
    topics = searchlab.read_topics(COLLECTION / "topics.tsv")
    qrels = searchlab.read_qrels(COLLECTION / "qrels.txt")
    docnos = set(engine.snapshot.docnos())
    assert (len(docnos), len(topics), sum(map(len, qrels.values()))) == (122, 18, 285)
    assert [topic.qid for topic in topics] == list(qrels)
    for judged in qrels.values():
        assert set(judged) <= docnos
        assert {0, 1, 2} == set(judged.values())


def test_words_ngrams_and_both_find_relevant_documents(engine):
    topics = searchlab.read_topics(COLLECTION / "topics.tsv")
    runs = {stream: list(searchlab.Pipeline(engine, stream=stream).run(topics)) for stream in ("both", "ngrams")}
    assert ndcg(runs["both"]) > 0.6
    assert ndcg(runs["ngrams"]) > 0.7
    assert ndcg(searchlab.fuse([runs["both"], runs["ngrams"]], "combsum")) > 0.68


def test_whole_runs_as_words_would_find_next_to_nothing(engine):
    # What an analyzer does that takes a run of characters between punctuation marks for a word.
    clauses = {
        document.docno: set(f"{document.title}，{document.body}".replace("。", "，").split("，"))
        for document in engine.snapshot.documents()
    }
    topics = searchlab.read_topics(COLLECTION / "topics.tsv")
    found = [docno for topic in topics for docno, texts in clauses.items() if topic.text in texts]
    assert len(found) <= 1
