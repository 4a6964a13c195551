"""The list of all models of an index and of their histories: filtered, and sorted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from searchlab.errors import SearchlabError
from searchlab.rankers.bundle import Bundle, load_bundle
from searchlab.rankers.model_store import model_history
from searchlab.rankers.model_store.model_files import list_model_files
from searchlab.training.advice import KINDS
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.training.models import read_comparison, read_trial
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState

# What a model is: the default ranker, the model of its name, a former or rejected one of it, or deleted.
IN_USE, PRESENT, FORMER, DELETED = "in use", "present", "history", "deleted"
USES = (IN_USE, PRESENT, FORMER, DELETED)
# Not cross-validated.
UNKNOWN = "unknown"
# Verdicts, the best first.
VERDICTS = ("helps", "not yet", "too few", "hurts", UNKNOWN)
MAX_READ_VERSIONS = 512

MODEL_WORDS = Parameter("words", "string", "only models whose names have these words", default="", max_length=100)
VERDICT = Parameter("verdict", "string", "only models of this verdict", default="", choices=("", *VERDICTS))
USE = Parameter("use", "string", "only models that are this", default="", choices=("", *USES))
# The orders of models, and how they are called.
ORDERS = {
    "": "latest first",
    "oldest": "oldest first",
    "name": "by name",
    "verdict": "best verdict first",
    "use": "in use first",
}
MODEL_ORDER = Parameter("order", "string", "the order of the models", default="", choices=tuple(ORDERS))


def list_model_versions(
    state: RequestState, *, words: str = "", verdict: str = "", use: str = "", order: str = ""
) -> dict[str, Any]:
    """All models, present, former and deleted, with their verdicts."""
    every = _read_all(state.index)
    wanted = words.casefold().split()
    found = [
        each
        for each in every
        if all(word in each["name"].casefold() for word in wanted)
        and (not verdict or (each["kind"] or UNKNOWN) == verdict)
        and (not use or each["use"] == use)
    ]
    keys: dict[str, Callable[[dict[str, Any]], Any]] = {
        "name": lambda each: each["name"].casefold(),
        "verdict": lambda each: VERDICTS.index(each["kind"] or UNKNOWN),
        "use": lambda each: USES.index(each["use"]),
    }
    found.sort(key=lambda each: (each["since"], each["version"] is None), reverse=order != "oldest")
    if order in keys:
        found.sort(key=keys[order])
    return {"index": state.index.name, "n_all": len(every), "models": found}


def _read_all(index: OpenIndex) -> list[dict[str, Any]]:
    folder, default = index.folder, index.default_ranker
    in_use = default.model if default is not None else None
    files = list_model_files(folder)
    records = [_record(name, path, None, IN_USE if name == in_use else PRESENT) for name, path in files.items()]
    for name in model_history.list_histories(folder):
        use = FORMER if name in files else DELETED
        records += [_record(name, path, path.stem, use) for path in model_history.list_history(folder, name)]
    return [each for each in records if each is not None]


def _record(name: str, path: Path, version: str | None, use: str) -> dict[str, Any] | None:
    """A model as it is listed; None if its file was removed just now."""
    try:
        stamp = path.stat()
    except OSError:
        return None
    since = datetime.fromtimestamp(int(stamp.st_mtime), UTC).isoformat()
    return {
        "name": name,
        "version": version,
        "since": since,
        "use": use,
        **_read(path, stamp.st_mtime_ns, stamp.st_size),
    }


@lru_cache(MAX_READ_VERSIONS)
def _read(path: Path, modified: int, size: int) -> dict[str, Any]:
    """What is listed of a file, which is read once as long as it stays the same."""
    try:
        bundle = load_bundle(path)
    except SearchlabError:
        unknown = dict.fromkeys(("kind", "verdict", "topic_set", "n_topics", "comparison"))
        return {"ranker": "", **unknown, "problem": "cannot be read"}
    return {"ranker": bundle.ranker, **_describe(bundle), "problem": None}


def _describe(bundle: Bundle) -> dict[str, Any]:
    trial, compared = read_trial(bundle), read_comparison(bundle)
    n_topics, topic_set = bundle.training.get("n_queries"), bundle.training.get("set")
    kind = (trial["advice"] or {}).get("kind")
    return {
        "kind": kind if kind in KINDS else None,
        "verdict": trial["verdict"],
        "topic_set": topic_set if isinstance(topic_set, str) else None,
        "n_topics": n_topics if isinstance(n_topics, int) else None,
        "comparison": compared["sentence"] if compared else None,
    }
