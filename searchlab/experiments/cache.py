"""What has been computed before?

Pieces of an experiment are kept in the folder `cache` of its results, each under a key that is the fingerprint of
everything that it depends on. A run that was interrupted finds what is done, and one with another setting what has not
changed. A piece appears when it is complete; one that cannot be read is computed anew.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from searchlab import __version__
from searchlab.atomic_file import open_atomic_binary
from searchlab.errors import WriteFailed
from searchlab.features.feature_table import FeatureTable
from searchlab.records import Ranking
from searchlab.types import Array

FOLDER = "cache"
_ABOUT = "about"


def fingerprint(*parts: Any) -> str:
    """Sixteen hexadecimal digits that change with any part, or with the version of searchlab."""
    text = json.dumps([__version__, *parts], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Cache:
    """Named arrays with something about them, by kind and key; it remembers which were asked for.

    With `salt`, which becomes part of all names, nothing of before is found.
    """

    def __init__(self, folder: Path, salt: str = "") -> None:
        self.folder = folder
        self._salt = salt
        self._used: set[str] = set()

    def get(self, kind: str, key: str) -> tuple[dict[str, Array], dict[str, Any]] | None:
        """What was kept, if it was and can be read."""
        try:
            with self.path(kind, key).open("rb") as file, np.load(file, allow_pickle=False) as kept:
                arrays = {name: kept[name] for name in kept.files}
                return arrays, json.loads(str(arrays.pop(_ABOUT)))
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
            return None

    def put(self, kind: str, key: str, arrays: Mapping[str, Array], about: Mapping[str, Any]) -> None:
        """Keep arrays of numbers or texts, and what is to be known about them, as plain JSON."""
        path = self.path(kind, key)
        everything: dict[str, Any] = {_ABOUT: np.array(json.dumps(dict(about))), **arrays}
        with open_atomic_binary(path) as file:
            np.savez(file, **everything)

    def sweep(self) -> None:
        """Remove what was not asked for: pieces of earlier plans."""
        for path in self.folder.glob("*"):
            if path.name not in self._used and path.suffix in (".npz", ".json"):
                path.unlink(missing_ok=True)

    def path(self, kind: str, key: str, suffix: str = ".npz") -> Path:
        """The file of a piece, which may not be there yet."""
        name = f"{kind}-{key}{self._salt}{suffix}"
        self._used.add(name)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteFailed(f"{self.folder}: cannot be made ({error.strerror})") from None
        return self.folder / name


def store_table(cache: Cache, key: str, table: FeatureTable) -> None:
    """Keep a table of features with its grades."""
    grades = {} if table.grades is None else {"grades": table.grades}
    arrays = {"qids": table.qids.astype(str), "docnos": table.docnos.astype(str), "values": table.values, **grades}
    cache.put("features", key, arrays, {"names": list(table.names)})


def load_table(cache: Cache, key: str) -> FeatureTable | None:
    """The table that was kept."""
    found = cache.get("features", key)
    if found is None:
        return None
    arrays, about = found
    return FeatureTable(
        about["names"], arrays["qids"].tolist(), arrays["docnos"].tolist(), arrays["values"], arrays.get("grades")
    )


def store_run(cache: Cache, key: str, rankings: Iterable[Ranking], about: Mapping[str, Any]) -> None:
    """Keep the rankings of a run."""
    listed = list(rankings)
    arrays = {
        "qids": np.array([ranking.qid for ranking in listed], dtype=str),
        "lengths": np.array([len(ranking.docnos) for ranking in listed], dtype=np.int64),
        "docnos": np.array([docno for ranking in listed for docno in ranking.docnos], dtype=str),
        "scores": np.array([score for ranking in listed for score in ranking.scores], dtype=np.float64),
    }
    cache.put("run", key, arrays, about)


def load_run(cache: Cache, key: str) -> tuple[Sequence[Ranking], dict[str, Any]] | None:
    """The rankings that were kept, and what was kept about them."""
    found = cache.get("run", key)
    if found is None:
        return None
    arrays, about = found
    ends = np.cumsum(arrays["lengths"])
    docnos, scores = arrays["docnos"].tolist(), arrays["scores"].tolist()
    starts = (ends - arrays["lengths"]).tolist()
    places = zip(arrays["qids"].tolist(), starts, ends.tolist(), strict=True)
    return [Ranking(qid, docnos[start:end], scores[start:end]) for qid, start, end in places], about
