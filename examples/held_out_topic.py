"""BM25 and a learnt model side by side, with the grades, on a topic that the model was not trained on."""

import tempfile
from pathlib import Path

import searchlab

MEDICAL = Path(__file__).parents[1] / "corpora" / "medical"
QID = "11"

topics = searchlab.read_topics(MEDICAL / "topics.tsv")
qrels = searchlab.read_qrels(MEDICAL / "qrels.txt")
train, test = topics[1::2], topics[::2]
(shown,) = [topic for topic in test if topic.qid == QID]

with tempfile.TemporaryDirectory() as folder:
    searchlab.index(MEDICAL, folder)
    engine = searchlab.open(folder)
    model = searchlab.train_from_index(engine, train, qrels, recipe=searchlab.Recipe.for_search(n_folds=0))
    systems = {"BM25": engine.retriever("bm25"), "the model": searchlab.Reranker(engine, model).pipeline()}

    print(f"{shown.text} (grades: 2 relevant, 1 partly, 0 not)")
    for name, system in systems.items():
        print(f"\n{name}")
        for hit in system.search(shown.text, k=5):
            print(f"  {hit.rank}  grade {qrels[QID].get(hit.docno, 0)}  {hit.docno}  {hit.title}")

    print(f"\nmeans over the {len(test)} topics that the model was not trained on")
    for name, system in systems.items():
        means = searchlab.evaluate_run(qrels, system.run(test, k=100), ["nDCG@10", "AP"]).means
        print(f"  {name:9}  " + "  ".join(f"{measure} {mean:.4f}" for measure, mean in means.items()))
