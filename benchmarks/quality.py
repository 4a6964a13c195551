"""Effectiveness of searchlab, compared with Lucene and a plain reference.

    python benchmarks/quality.py DIR [--collections cranfield,npl]

DIR holds collections as folders, each with docs.jsonl, topics.tsv and qrels.txt, gzipped or not. Each is indexed
with the default settings and searched with every scorer, 1000 documents a topic.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import ir_measures
from ir_measures import AP, nDCG
from report import table

import searchlab

SCORERS = {
    "bm25": searchlab.BM25(),
    "dirichlet": searchlab.Dirichlet(mu=1000),
    "jm": searchlab.JelinekMercer(),
    "absolute": searchlab.AbsoluteDiscount(),
    "tfidf": searchlab.TFIDF(),
    "bm25f": searchlab.BM25F(),
    "two-stage": searchlab.TwoStage(),
}
TOLERANCE = 0.004
DEPTH = 1000

# AP and nDCG@10 of the top 1000, title and body as one text. "plain" is a direct implementation of the formula
# over Porter stems without the words of Snowball's English stop list.
REFERENCES: dict[str, dict[str, dict[str, tuple[float, float]]]] = {
    "bm25": {  # k1 = 1.2, b = 0.75
        "Lucene": {
            "cranfield": (0.3053, 0.3675),
            "cisi": (0.2183, 0.3845),
            "npl": (0.2855, 0.4326),
            "cf": (0.2706, 0.4936),
            "nfcorpus": (0.1523, 0.3272),
        },
        "plain": {
            "cranfield": (0.3145, 0.3728),
            "cisi": (0.2285, 0.4097),
            "npl": (0.2885, 0.4365),
            "cf": (0.2798, 0.5143),
            "nfcorpus": (0.1519, 0.3266),
        },
    },
    "dirichlet": {  # mu = 1000
        "Lucene": {
            "cranfield": (0.2626, 0.3243),
            "cisi": (0.2009, 0.3504),
            "npl": (0.2096, 0.3230),
            "cf": (0.2505, 0.4648),
            "nfcorpus": (0.1476, 0.3146),
        },
        "plain": {
            "cranfield": (0.2930, 0.3530),
            "cisi": (0.2286, 0.3973),
            "npl": (0.2232, 0.3345),
            "cf": (0.2729, 0.4996),
            "nfcorpus": (0.1481, 0.3179),
        },
    },
    "jm": {  # document weight 0.5
        "plain": {
            "cranfield": (0.2943, 0.3573),
            "cisi": (0.2152, 0.4038),
            "npl": (0.2776, 0.4267),
            "cf": (0.2618, 0.4815),
            "nfcorpus": (0.1475, 0.3150),
        },
    },
    "absolute": {  # delta = 0.7
        "plain": {
            "cranfield": (0.3034, 0.3625),
            "cisi": (0.2130, 0.4070),
            "npl": (0.2742, 0.4196),
            "cf": (0.2591, 0.4830),
            "nfcorpus": (0.1474, 0.3160),
        },
    },
}


@dataclass(frozen=True)
class Score:
    """A scorer on a collection."""

    collection: str
    scorer: str
    ap: float
    ndcg: float

    def reference(self, name: str) -> tuple[float, float] | None:
        return REFERENCES.get(self.scorer, {}).get(name, {}).get(self.collection)

    @property
    def differences(self) -> tuple[float, float] | None:
        """AP and nDCG@10 less those of the better reference."""
        known = [found for name in ("Lucene", "plain") if (found := self.reference(name))]
        if not known:
            return None
        best_ap, best_ndcg = (max(values) for values in zip(*known, strict=True))
        # To four digits, as the references are given; adding 0 makes a zero of -0.
        return round(self.ap - best_ap, 4) + 0, round(self.ndcg - best_ndcg, 4) + 0

    @property
    def verdict(self) -> str:
        if self.differences is None:
            return ""
        return "met" if min(self.differences) >= -TOLERANCE else "not met"


def find(folder: Path, name: str) -> Path:
    """A file of a collection, gzipped or not."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return path
    sys.exit(f"{folder}: expected {name} or {name}.gz")


def read_text(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


def evaluate(folder: Path) -> Iterator[Score]:
    """Index a collection and search it with every scorer."""
    qrels = list(ir_measures.read_trec_qrels(read_text(find(folder, "qrels.txt"))))
    topics = searchlab.read_topics(find(folder, "topics.tsv"))
    with tempfile.TemporaryDirectory() as work:
        index = Path(work) / "index"
        searchlab.index(find(folder, "docs.jsonl"), index)
        engine = searchlab.open(index)
        for name, scorer in SCORERS.items():
            run = [
                ir_measures.ScoredDoc(ranking.qid, docno, score)
                for ranking in searchlab.Pipeline(engine, scorer).run(topics, k=DEPTH)
                for docno, score in zip(ranking.docnos, ranking.scores, strict=True)
            ]
            means = ir_measures.calc_aggregate([AP, nDCG @ 10], qrels, run)
            yield Score(folder.name, name, means[AP], means[nDCG @ 10])


def row(score: Score) -> list[str]:
    references = [score.reference(name) or ("", "") for name in ("Lucene", "plain")]
    cells = [score.ap, score.ndcg, *references[0], *references[1]]
    differences = [f"{difference:+.4f}" for difference in score.differences or ()] or ["", ""]
    return [
        score.collection,
        score.scorer,
        *(f"{cell:.4f}" if cell else "" for cell in cells),
        *differences,
        score.verdict,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--collections", type=lambda text: text.split(","), help="[default: all in DIR]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the scores here")
    options = parser.parse_args()
    names = options.collections or sorted(path.parent.name for path in options.folder.glob("*/docs.jsonl*"))
    if not names:
        sys.exit(f"{options.folder}: expected folders with docs.jsonl, topics.tsv and qrels.txt")
    scores = [score for name in names for score in evaluate(options.folder / name)]
    header = ["collection", "scorer", "AP", "nDCG@10"]
    header += [f"{name} {measure}" for name in ("Lucene", "plain") for measure in ("AP", "nDCG@10")]
    print(table([*header, "ΔAP", "ΔnDCG@10", f"within {TOLERANCE}"], map(row, scores), n_labels=2))
    if options.json:
        options.json.write_text(json.dumps([asdict(score) for score in scores], indent=2))


if __name__ == "__main__":
    main()
