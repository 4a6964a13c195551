"""The built-in model: a re-ranker that comes with searchlab, for indexes without judgments.

It was trained on several public collections at once (`benchmarks/builtin_model.py` trains it again). Features are
scaled within each query, so that their weights carry over to other collections.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from searchlab.errors import SettingError
from searchlab.rankers.bundle import Bundle, load_bundle

# The name of the model wherever the file of a model is expected; a file of this name is given as ./builtin.
BUILTIN = "builtin"
FILE = "builtin_model.json"


@cache
def load_builtin() -> Bundle:
    """The built-in model."""
    with as_file(files("searchlab.rankers") / FILE) as path:
        return load_bundle(path)


def as_bundle(model: object) -> Bundle:
    """A bundle as it is, read from a path, or the built-in model by its name."""
    if model == BUILTIN:
        return load_builtin()
    if isinstance(model, str | Path):
        return load_bundle(model)
    if not isinstance(model, Bundle):
        raise SettingError(f"the model is {type(model).__name__}, expected a Bundle, the path of one, or {BUILTIN!r}")
    return model
