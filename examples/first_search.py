"""Index a collection, search it by three scorers, and use the query syntax."""

import tempfile
from pathlib import Path

import searchlab

MEDICAL = Path(__file__).parents[1] / "corpora" / "medical"

with tempfile.TemporaryDirectory() as folder:
    summary = searchlab.index(MEDICAL, folder)
    print(f"{summary.n_docs} documents, {summary.n_tokens:,} words")
    engine = searchlab.open(folder)

    hits = engine.search("t-cell lymphoma with autoimmune symptoms", k=5)
    print(f"\n{len(hits)} of {hits.n_matches} documents that match:")
    for hit in hits:
        print(f"{hit.rank}. {hit.score:6.3f}  {hit.docno}  {hit.title}")
    print(f"\nbest passage of {hits[0].docno}: {hits[0].snippet.text}")

    print("\nthe first three by other scorers:")
    for scorer in (searchlab.BM25(k1=0.9, b=0.4), searchlab.Dirichlet(mu=500), "tfidf"):
        print(engine.search("t-cell lymphoma with autoimmune symptoms", scorer=scorer, k=3).docnos, scorer)

    print("\na phrase, since 2010:")
    for hit in engine.search('"b-cell lymphoma"', syntax="full", filters=["year=[2010 TO 2030]"], k=5):
        print(hit.document.fields["year"], hit.docno, hit.title)
