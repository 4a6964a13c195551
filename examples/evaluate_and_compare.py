"""Evaluate runs by trec_eval's rules, see the hardest topics, and test whether a difference may be chance."""

import tempfile
from pathlib import Path

import searchlab

MEDICAL = Path(__file__).parents[1] / "corpora" / "medical"
MEASURES = ["AP", "nDCG@10", "P@5", "RR"]

topics = searchlab.read_topics(MEDICAL / "topics.tsv")
qrels = searchlab.read_qrels(MEDICAL / "qrels.txt")

with tempfile.TemporaryDirectory() as folder:
    searchlab.index(MEDICAL, folder)
    engine = searchlab.open(folder)
    bm25 = engine.retriever("bm25").run(topics)
    rm3 = (engine.retriever("bm25") >> searchlab.RM3()).run(topics)

# Each number is the one that trec_eval prints for the same files.
evaluations = [
    searchlab.evaluate_run(qrels, bm25, MEASURES, name="bm25"),
    searchlab.evaluate_run(qrels, rm3, MEASURES, name="rm3"),
]
for evaluation in evaluations:
    print(f"{evaluation.name:5}", "  ".join(f"{name} {mean:.4f}" for name, mean in evaluation.means.items()))

comparison = searchlab.compare_evaluations(evaluations, measures=["AP", "nDCG@10"])
print(*comparison.sentences(), sep="\n")

by_topic = dict(zip(evaluations[0].qids, evaluations[0].values_of("AP"), strict=True))
print("\nhardest topics for bm25:")
for topic in sorted(topics, key=lambda topic: by_topic[topic.qid])[:3]:
    print(f"AP {by_topic[topic.qid]:.3f}  {topic.qid}: {topic.text}")
