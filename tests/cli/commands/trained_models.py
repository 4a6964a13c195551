"""A collection to train from, the models that tests train, and the tables that are printed of them."""

import json
import re

SUBJECTS = ["heat", "wing", "cell", "prison", "river"]


MODELS = {
    "rsvm-ir": ["--set", "C=0.5"],
    "powers": ["--powers", "--set", "C=0.5"],
    "ordrank": ["--ranker", "ordrank", "--set", "C=0.5"],
    "rankboost": ["--ranker", "rankboost", "--set", "rounds=5"],
    "rsvm-knn": ["--ranker", "rsvm-knn", "--set", "k=2"],
    "svm": ["--ranker", "svm", "--set", "kernel=rbf", "--set", "C=1"],
}


def make_collection(folder):
    """Write a collection of five topics; a document has grade 2, 1 or 0 by how often it names its subject."""
    folder.mkdir()
    documents, qrels = [], []
    for number, subject in enumerate(SUBJECTS):
        other = SUBJECTS[(number + 1) % len(SUBJECTS)]
        for n, (repeats, filler, grade) in enumerate([(4, 3, 2), (3, 9, 2), (2, 9, 1), (1, 4, 0), (1, 15, 0)]):
            docno = f"{subject}-{n}"
            words = [subject] * repeats + [f"word{(number * 7 + n + step) % 23}" for step in range(filler)] + [other]
            documents.append({"docno": docno, "title": subject if n % 2 else "", "body": " ".join(words)})
            qrels.append(f"{number + 1} 0 {docno} {grade}")
    (folder / "docs.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (folder / "topics.tsv").write_text("".join(f"{n + 1}\t{s} word1\n" for n, s in enumerate(SUBJECTS)) + "6\tword2\n")
    (folder / "qrels.txt").write_text("\n".join(qrels) + "\n6 0 heat-1 0\n")


def table_of(out, first):
    """The lines of a printed table from its header on, until a blank one."""
    lines = out.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.split()[:1] == [first])
    rows = []
    for line in lines[begin + 1 :]:
        if not line.strip():
            break
        rows.append(re.split(r"\s{2,}", line.strip()))
    return rows


def in_units(text):
    """A number with four decimals as a whole number of ten-thousandths, exactly."""
    return round(float(text) * 10_000)
