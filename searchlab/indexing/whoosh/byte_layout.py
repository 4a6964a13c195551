"""Byte layout: rows and strings copied to where they begin among the bytes of a file."""

from __future__ import annotations

import numpy as np

from searchlab.indexing.storage.arrays.string_table import PackedStrings
from searchlab.types import Array


def put_rows(out: Array, begins: Array, rows: Array) -> None:
    """Copy each row to where it begins."""
    out[begins[:, None] + np.arange(rows.shape[1])] = rows


def put_strings(out: Array, begins: Array, strings: PackedStrings) -> None:
    """Copy each string to where it begins."""
    shifts = np.repeat(begins - strings.offsets[:-1], np.diff(strings.offsets))
    out[shifts + np.arange(len(shifts))] = strings.blob
