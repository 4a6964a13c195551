"""The catalogue of features: name, formula, source and function of each; `features.formulas` has the formulas.

A name is `family.stream.what`, such as `letor.title.bm25`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from searchlab.features.counts import Counts
from searchlab.features.formulas.document_formulas import DOCUMENT, MATCH
from searchlab.features.formulas.letor_formulas import LETOR
from searchlab.features.formulas.measured_features import MEASURED_FEATURES
from searchlab.features.formulas.paper_formulas import NALLAPATI, ORDRANK, TABLE1
from searchlab.features.formulas.query_formulas import QUERY
from searchlab.features.formulas.scorer_formulas import SCORE, bm25f
from searchlab.features.formulas.stream_formula import StreamFormula
from searchlab.indexing.storage.columns import STREAMS
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.features.query_context import QueryContext
    from searchlab.retrieval.engine import SearchEngine


@dataclass(frozen=True)
class Feature:
    """One feature.

    `counted` names the streams whose counts it needs, `needs` the supplier that computes it if it is no function of
    counts. A feature of a user's own has `measure` instead, which computes it for all candidates of a query; `version`
    changes with the code or the data that it depends on, and `check_index` raises SettingError if an index lacks it.
    """

    name: str
    formula: str
    stream: str
    source: str
    function: Callable[[Counts], Array]
    counted: tuple[str, ...]
    needs: str = ""
    measure: Callable[[QueryContext], Array] | None = None
    version: str = ""
    check_index: Callable[[SearchEngine], object] | None = None

    def check(self, engine: SearchEngine) -> None:
        """Raise SettingError if an index does not have what the feature needs."""
        if self.check_index is not None:
            self.check_index(engine)


def measured_feature(
    name: str, formula: str, source: str, measure: Callable[[QueryContext], Array], **more: Any
) -> Feature:
    """A feature that `measure` computes for all candidates of a query."""
    return Feature(name, formula, "", source, partial(read_measured, name), (), measure=measure, **more)


def compute_features(features: Sequence[Feature], counts: Counts) -> Array:
    """The features of all candidates: a row for each candidate, a column for each feature, NaN where undefined."""
    columns = np.empty((len(features), counts.n_candidates))
    with np.errstate(divide="ignore", invalid="ignore"):
        for column, feature in zip(columns, features, strict=True):
            column[:] = feature.function(counts)
    infinite = np.isinf(columns)
    if infinite.any():
        columns[infinite] = np.nan
    return columns.T


def read_measured(name: str, counts: Counts) -> Array:
    """A feature that has been measured."""
    return counts.measured[name]


def _stream_feature(name: str, row: StreamFormula, stream: str, source: str) -> Feature:
    return Feature(
        name, row.formula, stream, source, lambda counts: row.compute(counts.streams[stream].known), (stream,)
    )


def _all_features() -> Iterator[Feature]:
    """The catalogue, family by family; LETOR's features in its order."""
    for stream_index, stream in enumerate(STREAMS):
        for number, row in enumerate(LETOR, start=1 + stream_index * len(LETOR)):
            yield _stream_feature(f"letor.{stream}.{row.what}", row, stream, f"LETOR 3.0 OHSUMED, feature {number}")
    for family, source, rows in (
        ("table1", "Cao et al., SIGIR 2006, Table 1", TABLE1),
        ("nallapati", "Nallapati, SIGIR 2004", NALLAPATI),
        ("ordrank", "Sun et al., OrdRank, Table I", ORDRANK),
    ):
        for stream in STREAMS:
            for number, row in enumerate(rows, start=1):
                which = row.what if family == "ordrank" else f"feature {number}"
                yield _stream_feature(f"{family}.{stream}.{row.what}", row, stream, f"{source}, {which}")
    for family, rows in (("match", MATCH), ("doc", DOCUMENT), ("score", SCORE)):
        for stream in STREAMS:
            for row in rows:
                yield _stream_feature(f"{family}.{stream}.{row.what}", row, stream, row.source)
    fields = "BM25F, k1=1.2, title counted twice, b=0.75"
    yield Feature("score.both.bm25f", fields, "both", "Zaragoza et al., TREC-13", bm25f, STREAMS)
    for row in QUERY:
        yield _stream_feature(f"query.both.{row.what}", row, "both", row.source)
    for name, formula, stream, source, needs in MEASURED_FEATURES:
        yield Feature(name, formula, stream, source, partial(read_measured, name), (), needs)


# The kind under which extensions register features.
FEATURE = "feature"
# The features of searchlab, and those that extensions register.
CATALOGUE: dict[str, Feature] = {feature.name: feature for feature in _all_features()}
# The first parts of the names of built-in features.
FAMILIES = frozenset(name.partition(".")[0] for name in CATALOGUE)
