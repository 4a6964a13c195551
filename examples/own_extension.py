"""An extension with a scorer, an analyzer, a document format and a measure; `docs/extending.md` explains them."""

import re
from dataclasses import dataclass

import numpy as np

import searchlab


@searchlab.scorer("lnu")
@dataclass(frozen=True)
class Lnu(searchlab.FormulaScorer):
    """Tf·idf with pivoted unique normalisation, after Singhal, Buckley, Mitra (SIGIR 1996).

    w = (1 + ln tf) / (1 - slope + slope·unique/pivot) · ln(1 + N/df)
    """

    slope: float = 0.2
    pivot: float = 60

    def weigh(self, tf, length, term, unique_length):
        """0 for a document without the term."""
        norm = 1 - self.slope + self.slope * unique_length / self.pivot
        return np.where(tf > 0, 1 + np.log(np.maximum(tf, 1)), 0) / norm * np.log1p(term.n_docs / term.doc_freq)


@searchlab.analyzer("hyphens")
class Hyphens:
    """Words with hyphens stay whole: T-cell is one word."""

    def words(self, text):
        """Start, end and word."""
        return [(m.start(), m.end(), m.group().lower()) for m in re.finditer(r"\w+(?:-\w+)*", text)]

    def stem(self, word):
        """Without the ending of the plural; None leaves a word out."""
        return None if word in {"a", "of", "the"} else word.removesuffix("s") or word


@searchlab.document_format("notes", "one note a line: docno | text", suffixes=[".notes"])
def read_notes(opened):
    """Yields a dict a line."""
    for _, line in opened.lines():
        docno, _, text = line.partition("|")
        yield {"docno": docno.strip(), "body": text.strip()}


@searchlab.measure("Junk", "share of documents that are judged irrelevant")
def junk(topic):
    """0 for a topic without any document."""
    return np.sum(topic.is_judged & ~topic.is_relevant) / max(len(topic.ranked), 1)
