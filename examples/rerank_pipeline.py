"""A pipeline of BM25, RM3 and a learnt re-ranker, compared on topics that the model was not trained on."""

import tempfile
from pathlib import Path

import searchlab

MEDICAL = Path(__file__).parents[1] / "corpora" / "medical"

topics = searchlab.read_topics(MEDICAL / "topics.tsv")
qrels = searchlab.read_qrels(MEDICAL / "qrels.txt")
train, test = topics[:13], topics[13:]

with tempfile.TemporaryDirectory() as folder:
    searchlab.index(MEDICAL, folder)
    engine = searchlab.open(folder)
    model = searchlab.train_from_index(engine, train, qrels)
    print("cross-validated on the training topics:", model.trial["verdict"])

    bm25 = engine.retriever("bm25")
    expanded = bm25 >> searchlab.RM3()
    reranked = expanded >> searchlab.rerank(model)

    result = searchlab.experiment([bm25, expanded, reranked], test, qrels, ["AP", "nDCG@10"])
    print(f"\non the {len(test)} other topics:\n{result}")
