"""The cache of an experiment: intermediate results by the fingerprint of everything they depend on.

Entries are files in the folder `cache` of the results. An interrupted run continues from them, and a run with another
setting reuses what has not changed. Entries are written atomically; one that cannot be read is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from searchlab import __version__
from searchlab.atomic_file import open_atomic_binary
from searchlab.corpus.text_files import open_regular_file
from searchlab.errors import SearchlabError, WriteFailed
from searchlab.extensions import registered_versions
from searchlab.features.feature_table import FeatureTable
from searchlab.json_records import parse_record, texts
from searchlab.records import Ranking
from searchlab.types import Array

FOLDER = "cache"
_ABOUT = "about"
# What reading an archive of arrays raises if it is damaged or hostile.
_UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    zipfile.BadZipFile,
)


def fingerprint(*parts: Any) -> str:
    """Sixteen hexadecimal digits that change with any part, the version of searchlab, or any extension in use."""
    text = json.dumps([__version__, *parts, *registered_versions()], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Cache:
    """Named arrays with metadata, by kind and key; records which entries were used.

    `salt` becomes part of all file names: with a new one the cache is empty.
    """

    def __init__(self, folder: Path, salt: str = "") -> None:
        self.folder = folder
        self._salt = salt
        self._used: set[str] = set()

    def get(self, kind: str, key: str, types: Mapping[str, str]) -> tuple[dict[str, Array], dict[str, Any]] | None:
        """The arrays and the metadata of an entry; None if it is missing, or not what `put` writes.

        `types` has the kinds that each array may have in NumPy's notation ("f", "i", "U"); others are left out.
        """
        try:
            with os.fdopen(open_regular_file(self.path(kind, key)), "rb") as file:
                _check_archive(file)
                with np.load(file, allow_pickle=False) as archive:
                    arrays = {name: archive[name] for name in (*types, _ABOUT) if name in archive.files}
            if any(arrays[name].dtype.kind not in types[name] for name in arrays if name != _ABOUT):
                return None
            return arrays, parse_record(str(arrays.pop(_ABOUT)))
        except _UNREADABLE:
            return None

    def put(self, kind: str, key: str, arrays: Mapping[str, Array], about: Mapping[str, Any]) -> None:
        """Store arrays of numbers or texts, with metadata as plain JSON."""
        path = self.path(kind, key)
        everything: dict[str, Any] = {_ABOUT: np.array(json.dumps(dict(about))), **arrays}
        with open_atomic_binary(path) as file:
            np.savez(file, **everything)

    def sweep(self) -> None:
        """Remove the entries that were not used, those of earlier plans."""
        for path in self.folder.glob("*"):
            if path.name not in self._used and path.suffix in (".npz", ".json"):
                path.unlink(missing_ok=True)

    def path(self, kind: str, key: str, suffix: str = ".npz") -> Path:
        """The file of an entry, which may not exist yet."""
        name = f"{kind}-{key}{self._salt}{suffix}"
        self._used.add(name)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteFailed(f"{self.folder}: cannot be created ({error.strerror})") from None
        return self.folder / name


def _check_archive(file: BinaryIO) -> None:
    """Refuse members that are compressed, which `put` never writes: a small file could unpack to gigabytes."""
    with zipfile.ZipFile(file) as archive:
        if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
            raise ValueError("a compressed member")
    file.seek(0)


def store_table(cache: Cache, key: str, table: FeatureTable) -> None:
    """Store a table of features with its grades."""
    grades = {} if table.grades is None else {"grades": table.grades}
    arrays = {"qids": table.qids.astype(str), "docnos": table.docnos.astype(str), "values": table.values, **grades}
    cache.put("features", key, arrays, {"names": list(table.names)})


def load_table(cache: Cache, key: str) -> FeatureTable | None:
    """The table that was stored, or None."""
    entry = cache.get("features", key, {"qids": "U", "docnos": "U", "values": "f", "grades": "if"})
    if entry is None:
        return None
    arrays, about = entry
    try:
        names, qids, docnos = texts(about, "names"), arrays["qids"].tolist(), arrays["docnos"].tolist()
        return FeatureTable(names, qids, docnos, arrays["values"], arrays.get("grades"))
    except (*_UNREADABLE, SearchlabError):
        return None


def store_run(cache: Cache, key: str, rankings: Iterable[Ranking], about: Mapping[str, Any]) -> None:
    """Store the rankings of a run with metadata."""
    listed = list(rankings)
    arrays = {
        "qids": np.array([ranking.qid for ranking in listed], dtype=str),
        "lengths": np.array([len(ranking.docnos) for ranking in listed], dtype=np.int64),
        "docnos": np.array([docno for ranking in listed for docno in ranking.docnos], dtype=str),
        "scores": np.array([score for ranking in listed for score in ranking.scores], dtype=np.float64),
    }
    cache.put("run", key, arrays, about)


def load_run(cache: Cache, key: str, qids: Sequence[str]) -> tuple[Sequence[Ranking], dict[str, Any]] | None:
    """The rankings that were stored with their metadata, or None; those of other topics than `qids` are none."""
    entry = cache.get("run", key, {"qids": "U", "lengths": "i", "docnos": "U", "scores": "f"})
    if entry is None or len(entry[0]) != 4 or any(array.ndim != 1 for array in entry[0].values()):
        return None
    arrays, about = entry
    lengths, n_rows = arrays["lengths"], len(arrays["docnos"])
    fits = arrays["qids"].tolist() == list(qids) and len(lengths) == len(qids) and len(arrays["scores"]) == n_rows
    if not fits or (lengths < 0).any() or (lengths > n_rows).any() or lengths.sum() != n_rows:
        return None
    ends = np.cumsum(lengths)
    docnos, scores = arrays["docnos"].tolist(), arrays["scores"].tolist()
    starts = (ends - lengths).tolist()
    bounds = zip(arrays["qids"].tolist(), starts, ends.tolist(), strict=True)
    return [Ranking(qid, docnos[start:end], scores[start:end]) for qid, start, end in bounds], about
