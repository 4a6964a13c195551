"""A mixture of language models whose weights EM learns from judged topics."""

import tempfile
from pathlib import Path

import searchlab
from searchlab.mixtures.training_queries import gather
from searchlab.mixtures.weight_training import learn_em

MEDICAL = Path(__file__).parents[1] / "corpora" / "medical"

topics = searchlab.read_topics(MEDICAL / "topics.tsv")
qrels = searchlab.read_qrels(MEDICAL / "qrels.txt")
train, test = topics[:13], topics[13:]

with tempfile.TemporaryDirectory() as folder:
    searchlab.index(MEDICAL, folder)
    engine = searchlab.open(folder)

    # P(t|d) is a weighted sum of the document's, its title's and the collection's model.
    learnt = learn_em(gather(engine, train, qrels, ["document", "corpus", "title"]))
    history = learnt.history
    print(f"mean ln P of a query's word: {history[0]:.4f} to {history[-1]:.4f} in {len(history) - 1} iterations")
    for name, weight in zip(learnt.components, learnt.shared, strict=True):
        print(f"{name:9} {weight:.3f}")

    trained = engine.retriever(learnt.scorer())
    equal = engine.retriever(searchlab.Mixture(document=0.5, corpus=0.5))
    print(searchlab.experiment([equal, trained], test, qrels, ["AP", "nDCG@10"], names=["fixed", "by EM"]))
