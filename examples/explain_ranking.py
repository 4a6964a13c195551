"""Why is a document above another? Both scores in parts, by BM25 and by a model."""

import tempfile
from pathlib import Path

import searchlab
from searchlab.rankers.explanation import compare_explanations, describe_lead

MEDICAL = Path(__file__).parents[1] / "corpora" / "medical"
QUERY = "lead poisoning in children"  # a topic that the model is not trained on

topics = searchlab.read_topics(MEDICAL / "topics.tsv")
qrels = searchlab.read_qrels(MEDICAL / "qrels.txt")

with tempfile.TemporaryDirectory() as folder:
    searchlab.index(MEDICAL, folder)
    engine = searchlab.open(folder)
    model = searchlab.train_from_index(engine, topics[:13], qrels)
    bm25 = engine.retriever("bm25")

    for name, pipeline in (("BM25", bm25), ("the model", bm25 >> searchlab.rerank(model))):
        hits = pipeline.search(QUERY, k=10)
        print(f"{name}:")
        for hit in hits[:3]:
            print(f"{hit.rank}. {hit.docno}  {hit.title}")
        first, second = pipeline.explain(hits, [docno for docno in hits.docnos if docno in ("med-010", "med-042")])
        for part in first.parts[:4]:
            print(f"  {part.amount:+.3f}  {part.label}")
        print(f"  {first.score:+.3f}  score of {first.docno}, the sum of {len(first.parts)} parts")
        print(f"  {describe_lead(first, second, compare_explanations(first, second))}\n")
