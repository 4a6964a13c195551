"""The history of the models of an index: what was replaced, what was no better, what was deleted.

A model that is trained again under its name replaces the former one only if it is better; the other of the two goes to
the history. So does a model that is deleted. A version of the history can become the model again. Each step copies
before it replaces or removes: if the process dies in between, a model is there twice, and none is lost.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from searchlab.atomic_file import make_folders, replace_atomically, sync_folder
from searchlab.errors import SearchlabError, SettingError, WriteFailed, unknown_name
from searchlab.rankers.bundle import Bundle, load_bundle
from searchlab.rankers.model_store.default_ranker import read_default_ranker, write_default_ranker
from searchlab.rankers.model_store.model_files import HISTORY, check_model_name, model_file, models_folder
from searchlab.rankers.systems import MODEL


@dataclass(frozen=True)
class StoredModel:
    """Where a new model is stored, and whether it is the model of its name now.

    `former` is the model before, and `former_version` its file in the history, if it was replaced.
    """

    path: Path
    is_current: bool
    former: Bundle | None
    former_version: Path | None = None


def store_trained_model(path: Path, bundle: Bundle) -> StoredModel:
    """Store a new model in its file; a model that is there already stays unless training found the new one better.

    What training found is in the bundle (`training/retraining.py`). A file that is no model is replaced.
    """
    make_folders(path.parent)
    if not path.is_file():
        bundle.save(path)
        return StoredModel(path, True, None)
    former = read_former(path)
    if former is None or dict(bundle.training.get("former") or {}).get("is_better") is True:
        version = _copy_to_history(path)
        bundle.save(path)
        return StoredModel(path, True, former, version)
    version = _new_version(path)
    bundle.save(version)
    return StoredModel(version, False, former)


def read_former(path: Path) -> Bundle | None:
    """The model of a file, None if there is none or it cannot be read."""
    try:
        return load_bundle(path) if path.is_file() else None
    except SearchlabError:
        return None


def list_history(folder: Path, name: str) -> list[Path]:
    """The versions of a model's history, the latest first."""
    return sorted((models_folder(folder) / HISTORY / check_model_name(name)).glob("*.json"), reverse=True)


def list_histories(folder: Path) -> list[str]:
    """The names of models that have a history."""
    home = models_folder(folder) / HISTORY
    return sorted(path.name for path in home.glob("*") if path.is_dir() and any(path.glob("*.json")))


def list_deleted(folder: Path) -> list[str]:
    """The names of models that are only in the history."""
    return [name for name in list_histories(folder) if not model_file(folder, name).is_file()]


def restore_version(folder: Path, name: str, version: str = "") -> Path:
    """Make a version of the history, by default the latest, the model of its name; returns the model's file."""
    versions = {path.stem: path for path in list_history(folder, name)}
    if not versions:
        raise SettingError(f"the model {name!r} has no history")
    if version and version not in versions:
        raise unknown_name("version", version, versions)
    chosen, path = versions[version or next(iter(versions))], model_file(folder, name)
    _ = load_bundle(chosen)  # a damaged version must not replace a good one
    with _disk_errors(path):
        if path.is_file():
            _copy_to_history(path)
        with replace_atomically(path) as temporary:
            shutil.copyfile(chosen, temporary)
        chosen.unlink()
    return path


def delete_model(folder: Path, name: str) -> Path:
    """Move a model to the history; returns its version there. The default ranker is not deleted."""
    path = _require_model(folder, name)
    default = read_default_ranker(folder)
    if default is not None and default.model == name:
        raise SettingError(f"the model {name!r} is the default ranker: choose another one first")
    with _disk_errors(path):
        version = _copy_to_history(path)
        path.unlink()
        sync_folder(path.parent)
    return version


def rename_model(folder: Path, name: str, new_name: str) -> Path:
    """Give a model and its history another name; if it is the default ranker, it stays that."""
    path, target = _require_model(folder, name), model_file(folder, new_name)
    if target.exists() or list_history(folder, new_name):
        raise SettingError(f"there is, or was, a model {new_name!r}: choose another name")
    default = read_default_ranker(folder)
    with _disk_errors(target):
        with replace_atomically(target) as temporary:
            shutil.copyfile(path, temporary)
        if default is not None and default.model == name:
            write_default_ranker(folder, f"{MODEL}{new_name}", default.chosen_by)
        history = models_folder(folder) / HISTORY / name
        if history.is_dir():
            history.rename(history.with_name(new_name))
        path.unlink()
        sync_folder(path.parent)
    return target


def _require_model(folder: Path, name: str) -> Path:
    path = model_file(folder, name)
    if not path.is_file():
        raise SettingError(f"the model {name!r} was not trained in the browser: its file is not changed here")
    return path


def _copy_to_history(path: Path) -> Path:
    version = _new_version(path)
    with _disk_errors(version), replace_atomically(version) as temporary:
        shutil.copyfile(path, temporary)
    return version


def _new_version(path: Path) -> Path:
    """A file for a model's history that does not exist yet, named by the time (UTC)."""
    home = path.parent / HISTORY / path.stem
    make_folders(home)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    names = [stamp, *(f"{stamp}-{number:02}" for number in range(2, 100))]
    return next(path for path in (home / f"{each}.json" for each in names) if not path.exists())


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WriteFailed(f"{path}: cannot be written ({error.strerror or error})") from None
