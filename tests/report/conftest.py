"""A report with every kind of block and with hostile texts, and a small table."""

import math

import numpy as np
import pytest

from searchlab.report import plots
from searchlab.report.content import Figure, Paragraph, RankedDocument, RankingPair, Report, Section, Table

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> \"'> & | `code` [link](javascript:alert(1)) "
    "![p](http://e.example/p) </style></svg> \\input{/etc/passwd} \\write18{rm} $x$ 100% a_b ^~#{} "
    "\u202egnp.exe\x00\x1b[31m {{ 7*7 }} {% raw %} 中文 é"
)


def everything(text: str) -> Report:
    """A report in which every text is `text`, or begins or ends with it."""
    entry = RankedDocument(1, text, text, text, 2, 3)
    table = Table(
        "main",
        text,
        (text, "AP", f"p {text}", "topics"),
        ((text, 0.25, None, 106), ("b", 0.4497, "<.0001", 1234), ("c", -0.5, math.nan, 7)),
        best=("AP",),
        marks={(0, 1): text, (1, 0): "†"},
        note=text,
    )
    figure = Figure("means", text, text, plots.bars({text: {text: (0.4, 0.3, 0.5), "b": 0.2}}, ylabel=text))
    other = Figure("lines", text, text, plots.curves([1, 2], {text: [1.0, 2.0], "b": [2, 1]}, xlabel=text, ylabel=text))
    sides = RankingPair(text, text, text, (entry, RankedDocument(2, "b", "", "", None, None)), (entry,))
    wide = Table(
        "wide", "Many columns.", tuple(f"nDCG@{k}" for k in range(30)), (tuple(np.linspace(0, 1, 30).tolist()),)
    )
    long = Table("long", text, ("topic", "AP"), tuple((f"{text} {n}", n / 50) for n in range(50)))
    blocks = (Paragraph(text), table, figure, other, wide)
    return Report(text, text, (Section(text, blocks), Section("Rankings", (sides, long))), {text: text, "seed": "7"})


@pytest.fixture(scope="session")
def hostile_report() -> Report:
    return everything(HOSTILE)


@pytest.fixture(scope="session")
def small_table() -> Table:
    return Table(
        "main",
        "Means.",
        ("system", "AP", "n"),
        (("BM25", 0.25, 106), ("RSVM_IR", 0.4497, 1234), ("none", None, 0)),
        best=True,
        marks={(1, 1): "†"},
        note="† better.",
    )
