"""The files of the models of an index, beside its folder.

INDEX.model.json                           the model that `searchlab train` writes by default
INDEX.models/NAME.json                     models trained in the browser
INDEX.models/history/NAME/STAMP.json       their history (`model_history.py`)
INDEX.ranker.json                          the default ranker (`default_ranker.py`)
"""

from __future__ import annotations

import re
from pathlib import Path

from searchlab.errors import SettingError, unknown_name
from searchlab.rankers.builtin import BUILTIN

# The name of the model in INDEX.model.json.
TRAINED = "model"
HISTORY = "history"
# The name of a model is part of a file name and of URLs.
NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


def models_folder(folder: Path) -> Path:
    """The folder of the models that were trained in the browser for an index."""
    return folder.with_name(f"{folder.name}.models")


def trained_model_file(folder: Path) -> Path:
    """The model that `searchlab train` writes for an index."""
    return folder.with_name(f"{folder.name}.model.json")


def check_model_name(name: str) -> str:
    """The name of a model, which is part of a file name."""
    if not NAME_PATTERN.fullmatch(name):
        raise SettingError(f"name is {name[:60]!r}, expected up to 60 letters, digits, dots, - and _")
    return name


def model_file(folder: Path, name: str) -> Path:
    """The file of a model that was trained in the browser, whether it exists or not."""
    return models_folder(folder) / f"{check_model_name(name)}.json"


def list_model_files(folder: Path) -> dict[str, Path]:
    """The models of an index by name: that of `searchlab train` first, the others in the order of their names."""
    trained = trained_model_file(folder)
    own = {TRAINED: trained} if trained.is_file() else {}
    return own | {path.stem: path for path in sorted(models_folder(folder).glob("*.json"))}


def find_model(folder: Path, name: str) -> str | Path:
    """The file of a model of an index by its name; `builtin` for the built-in model."""
    if name == BUILTIN:
        return BUILTIN
    files = list_model_files(folder)
    if name not in files:
        raise unknown_name("model", name, [*files, BUILTIN])
    return files[name]
