"""Reading of the text form of LightGBM's models; LightGBM itself is not needed.

A model is a header, and for each tree a paragraph of lines `name=value`, the first `Tree=0`. Lists have blanks between
their values, and numbers all their digits. `decision_type` has bits: 1 categorical, 2 undefined values go left, and
from bit 2 on the rule for missing values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from searchlab.errors import SettingError
from searchlab.rankers.models.tree import Tree
from searchlab.rankers.models.tree_model import TreeModel
from searchlab.types import Floats, Ints

CATEGORICAL, DEFAULT_LEFT = 1, 2
# One score for each row, with the highest for the best document.
SINGLE_SCORE = {"num_class": "1", "num_tree_per_iteration": "1"}
LARGEST = np.finfo(np.float64).max


def read_lightgbm(text: str) -> TreeModel:
    """The trees of a model; raises SettingError if it has anything that `TreeModel` has not."""
    header, *paragraphs = text.split("end of trees")[0].split("\nTree=")
    settings = _entries(header)
    for name, expected in SINGLE_SCORE.items():
        if settings.get(name) != expected:
            raise SettingError(f"a model of LightGBM has {name}={settings.get(name)}, expected {expected}")
    if "average_output" in header.splitlines():
        raise SettingError("a model of LightGBM averages its trees (random forest), expected a sum of trees")
    n_features = int(settings["max_feature_idx"]) + 1
    try:
        return TreeModel(tuple(_read_tree(_entries(each)).check(n_features) for each in paragraphs), n_features)
    except (KeyError, ValueError) as error:
        raise SettingError(f"a model of LightGBM cannot be read ({error})") from None


def _entries(paragraph: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in paragraph.splitlines() if "=" in line)


def _read_tree(entries: dict[str, str]) -> Tree:
    if entries.get("is_linear", "0") != "0":
        raise ValueError("linear models in leaves, expected numbers")
    decisions = _whole(entries, "decision_type")
    if (decisions & CATEGORICAL).any():
        raise ValueError("categorical splits, expected thresholds")
    values = _floats(entries, "leaf_value")
    # A tree of one leaf has no numbers of documents.
    leaf_counts = _whole(entries, "leaf_count") if len(values) > 1 else np.ones(1, dtype=np.int64)
    return Tree(
        features=_whole(entries, "split_feature"),
        # A node that parts undefined values from all others has the threshold infinity.
        thresholds=np.clip(_floats(entries, "threshold"), -LARGEST, LARGEST),
        missing=decisions >> 2,
        default_left=(decisions & DEFAULT_LEFT) > 0,
        left=_whole(entries, "left_child"),
        right=_whole(entries, "right_child"),
        gains=np.maximum(_floats(entries, "split_gain"), 0.0),
        counts=_whole(entries, "internal_count"),
        leaf_values=values,
        leaf_counts=leaf_counts,
    )


def _floats(entries: dict[str, str], name: str) -> Floats:
    return np.array(_words(entries, name), dtype=np.float64)


def _whole(entries: dict[str, str], name: str) -> Ints:
    return np.array(_words(entries, name), dtype=np.int64)


def _words(entries: dict[str, str], name: str) -> list[Any]:
    return entries.get(name, "").split()
