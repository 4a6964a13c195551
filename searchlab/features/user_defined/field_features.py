"""Stored fields as features: `field.year`, `field.citations.log`, `field.year.age`, `field.year.age-2020`.

A name is `field.`, the field's name, and perhaps a transform:

    (none)      the number; a date in years, 2024-07-02 as 2024.5; the greatest if a document has several
    log         ln(1 + number)
    age         the greatest number in the index - number
    age-2020    2020 - number

A document without a number or date in the field has NaN. The numbers are read from the columns of the index, not from
the stored documents. A field whose own name ends in `.log` or `.age` cannot be had without a transform.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from searchlab.features.catalogue import Feature, measured_feature
from searchlab.features.measuring.candidate_readings import NumberReading, find_greatest
from searchlab.features.query_context import QueryContext
from searchlab.indexing.snapshot import Snapshot
from searchlab.types import Array

FIELD = "field"
_REFERENCE = r"(?:(?<=age)-(?P<reference>\d{1,9}(?:\.\d{1,9})?))?"
_NAME = re.compile(rf"field\.(?P<field>[^\s,]+?)(?:\.(?P<transform>log|age){_REFERENCE})?")


class Transform(NamedTuple):
    """What is done to the number of a field: its formula in print, in words, and in Python."""

    formula: str
    words: str
    compute: Callable[[Array, float], Array]


# By the transform's name; the second argument is the reference of an age.
TRANSFORMS = {
    None: Transform("{field}", "{field} of the document", lambda numbers, _: numbers),
    "log": Transform("ln(1 + {field})", "{field} of the document (log)", lambda numbers, _: np.log1p(numbers)),
    "age": Transform("{reference} - {field}", "age by {field}", lambda numbers, reference: reference - numbers),
}


def find_field_feature(name: str) -> Feature | None:
    """The feature of a field by its name; None if the name is none of a field."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    field, transform = match["field"], TRANSFORMS[match["transform"]]
    given = match["reference"]

    def measure(query: QueryContext) -> Array:
        reference = find_greatest(query.engine, field) if given is None else float(given)
        return transform.compute(query.reader.read(NumberReading(field)), reference)

    reference = given or f"greatest {field} in the index"
    return measured_feature(
        name,
        transform.formula.format(field=field, reference=reference),
        "stored field",
        measure,
        check_index=lambda engine: find_greatest(engine, field),
    )


def describe_field_feature(name: str) -> str:
    """The description of a field's feature in words; empty if the name is none of a field."""
    match = _NAME.fullmatch(name)
    return "" if match is None else TRANSFORMS[match["transform"]].words.format(field=match["field"])


def list_field_features(snapshot: Snapshot) -> list[Feature]:
    """The features of all fields that have numbers or dates, without transforms."""
    features = []
    for field in snapshot.field_names:
        feature = find_field_feature(f"{FIELD}.{field}")
        columns = [shard.columns.fields.numbers_of(field) for shard in snapshot.shards]
        if feature is not None and any(column is not None and not np.isnan(column).all() for column in columns):
            features.append(feature)
    return features
