"""A PyTerrier experiment with retrievers and a model of searchlab; no Java is started."""

import tempfile
from pathlib import Path

import pandas as pd
import pyterrier as pt

import searchlab
from searchlab.pyterrier import Reranker, Retriever

MEDICAL = Path(__file__).parents[1] / "corpora" / "medical"

topics = pd.read_csv(MEDICAL / "topics.tsv", sep="\t", names=["qid", "query"], dtype=str)
qrels = searchlab.read_qrels(MEDICAL / "qrels.txt").to_dataframe().rename(columns={"relevance": "label"})
train, test = topics[:13], topics[13:]

with tempfile.TemporaryDirectory() as folder:
    searchlab.index(MEDICAL, folder)
    engine = searchlab.open(folder)
    model = searchlab.train_from_index(engine, train, qrels)

    bm25 = Retriever(engine)
    dirichlet = Retriever(engine.retriever(searchlab.Dirichlet(mu=500)))
    table = pt.Experiment(
        [bm25, dirichlet, bm25 % 100 >> Reranker(model, engine)],
        test,
        qrels,
        eval_metrics=["map", "ndcg_cut_10"],
        names=["BM25", "Dirichlet", "BM25, re-ranked"],
    )
    print(table.round(4).to_string(index=False))
