"""Train with the features of your own that `own_features.py` registers, and see what they weigh.

On so few topics the difference is chance; the other features were chosen so that there is something to see.
"""

import tempfile
from pathlib import Path

import own_features

import searchlab

MEDICAL = Path(__file__).parents[1] / "corpora" / "medical"

topics = searchlab.read_topics(MEDICAL / "topics.tsv")
qrels = searchlab.read_qrels(MEDICAL / "qrels.txt")
train, test = topics[:13], topics[13:]
print(f"{own_features.__name__} has registered own.recency and own.title_share")

with tempfile.TemporaryDirectory() as folder:
    searchlab.index(MEDICAL, folder)
    engine = searchlab.open(folder)
    model = searchlab.train_from_index(engine, train, qrels, "score.both.bm25,own.recency,own.title_share")
    for part in model.influences():
        print(f"weight of {part.label}: {part.amount:+.3f}")

    bm25 = engine.retriever("bm25")
    reranked = bm25 >> searchlab.rerank(model)
    print(searchlab.experiment([bm25, reranked], test, qrels, "nDCG@10"))

    hits = reranked.search("t-cell lymphoma", k=1)
    (explanation,) = reranked.explain(hits, hits.docnos)
    print(f"\n{explanation.docno} has {explanation.score:.3f}:")
    for part in explanation.parts:
        print(f"{part.amount:+.3f}  {part.label} is {part.raw:.3f}")
