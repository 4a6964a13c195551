"""Effectiveness of query expansion by RM3.

    python benchmarks/expansion.py DIR [--collections cranfield,npl]

DIR holds collections as `quality.py` reads them. Each is indexed with the default settings and searched with and
without RM3, all settings being the defaults, 1000 documents a topic.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import ir_measures
from ir_measures import AP, nDCG
from quality import DEPTH, find, read_text
from report import table

import searchlab
from searchlab.retrieval.expansion import RM3
from searchlab.scorers.base import Scorer

SCORERS = {"bm25": searchlab.BM25(), "dirichlet": searchlab.Dirichlet()}
MEASURES = (AP, nDCG @ 10)


@dataclass(frozen=True)
class Comparison:
    """A scorer on a collection, by each measure: without expansion and with it."""

    collection: str
    scorer: str
    plain: tuple[float, ...]
    expanded: tuple[float, ...]

    @property
    def differences(self) -> tuple[float, ...]:
        """To four digits, as they are shown; adding 0 makes a zero of -0."""
        return tuple(round(new - old, 4) + 0 for old, new in zip(self.plain, self.expanded, strict=True))

    @property
    def row(self) -> list[str]:
        cells = [
            f"{number:{form}}"
            for old, new, difference in zip(self.plain, self.expanded, self.differences, strict=True)
            for number, form in ((old, ".4f"), (new, ".4f"), (difference, "+.4f"))
        ]
        improved = [str(measure) for measure, by in zip(MEASURES, self.differences, strict=True) if by > 0]
        return [self.collection, self.scorer, *cells, " and ".join(improved) or "no"]


def search(
    engine: searchlab.SearchEngine, topics: Iterable[searchlab.Topic], scorer: Scorer, expansion: RM3 | None
) -> Iterator[ir_measures.ScoredDoc]:
    """The run of all topics."""
    for ranking in searchlab.Pipeline(engine, scorer, expansion=expansion).run(topics, k=DEPTH):
        for docno, score in zip(ranking.docnos, ranking.scores, strict=True):
            yield ir_measures.ScoredDoc(ranking.qid, docno, score)


def compare(folder: Path) -> Iterator[Comparison]:
    """Index a collection and search it with each scorer, without expansion and with it."""
    qrels = list(ir_measures.read_trec_qrels(read_text(find(folder, "qrels.txt"))))
    topics = list(searchlab.read_topics(find(folder, "topics.tsv")))
    with tempfile.TemporaryDirectory() as work:
        index = Path(work) / "index"
        searchlab.index(find(folder, "docs.jsonl"), index)
        engine = searchlab.open(index)
        for name, scorer in SCORERS.items():
            plain, expanded = (
                ir_measures.calc_aggregate(MEASURES, qrels, search(engine, topics, scorer, expansion))
                for expansion in (None, RM3())
            )
            yield Comparison(
                folder.name,
                name,
                tuple(plain[measure] for measure in MEASURES),
                tuple(expanded[measure] for measure in MEASURES),
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--collections", type=lambda text: text.split(","), help="[default: all in DIR]")
    options = parser.parse_args()
    names = options.collections or sorted(path.parent.name for path in options.folder.glob("*/docs.jsonl*"))
    if not names:
        sys.exit(f"{options.folder}: expected folders with docs.jsonl, topics.tsv and qrels.txt")
    comparisons = [comparison for name in names for comparison in compare(options.folder / name)]
    header = [f"{part}{measure}{tail}" for measure in MEASURES for part, tail in (("", ""), ("", ", RM3"), ("Δ", ""))]
    print(table(["collection", "scorer", *header, "improved"], (found.row for found in comparisons), n_labels=2))


if __name__ == "__main__":
    main()
