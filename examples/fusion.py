"""Fuse rankings of titles and bodies: in a pipeline, as a sum or by ranks, and afterwards from run files."""

import tempfile
from pathlib import Path

import searchlab

MEDICAL = Path(__file__).parents[1] / "corpora" / "medical"

topics = searchlab.read_topics(MEDICAL / "topics.tsv")
qrels = searchlab.read_qrels(MEDICAL / "qrels.txt")

with tempfile.TemporaryDirectory() as folder:
    searchlab.index(MEDICAL, f"{folder}/index")
    engine = searchlab.open(f"{folder}/index")
    body = engine.retriever("bm25", stream="body")
    title = engine.retriever("bm25", stream="title")

    # Reciprocal ranks (|) count the weak part as much as the strong one, unless it has a lower weight.
    weighted = searchlab.Fusion([body, title], "rrf", weights=[1, 0.2])
    result = searchlab.experiment([body, title, body + 0.5 * title, body | title, weighted], topics, qrels, "AP")
    print(result)

    # The same from files, which other engines may have written.
    files = [f"{folder}/body.run", f"{folder}/title.run"]
    for run, file in zip(result.runs, files, strict=False):
        run.write(file)
    print("\nfrom files, the titles with a weight of 0.2:")
    for method in ("rrf", "combsum", "combmnz", "borda"):
        fused = searchlab.fuse(files, method, weights=[1, 0.2])
        print(f"{method:8} AP {searchlab.evaluate_run(qrels, fused, 'AP').mean('AP'):.4f}")
