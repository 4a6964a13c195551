"""Folds of LETOR datasets: the files for training, validation and test.

Each fold is a folder with three files: `Fold1/train.txt`, `Fold1/vali.txt` and `Fold1/test.txt`, or by older names
trainingset, validationset and testset, gzipped or not. A folder that contains the files is a single fold. The file for
validation may be absent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from searchlab.corpus.collection import visible_entries
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.corpus.text_cleaning import shown_path
from searchlab.errors import SourceError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.letor.letor_files import read_letor

PARTS = {
    "train": ("train", "training", "trainingset"),
    "valid": ("vali", "valid", "validation", "validationset"),
    "test": ("test", "testing", "testset"),
}
SUFFIXES = ("", ".txt", ".dat", ".letor")
_FOLD = re.compile(r"fold[ _-]?([0-9]{1,6})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fold:
    """The paths of the three files of a fold; `valid` is None if there is no file for validation."""

    name: str
    train: Path
    valid: Path | None
    test: Path

    def read(
        self, *, missing: str | None = None, notes: ReadingNotes | None = None
    ) -> tuple[FeatureTable, FeatureTable | None, FeatureTable]:
        """The tables for training, validation (if there is one) and test; `missing` is as for `read_letor`."""
        train, test = (read_letor(path, missing=missing, notes=notes) for path in (self.train, self.test))
        valid = None if self.valid is None else read_letor(self.valid, missing=missing, notes=notes)
        return train, valid, test


def read_folds(folder: str | Path) -> list[Fold]:
    """The folds in a folder, ordered by number."""
    folder = Path(folder)
    name = shown_path(folder)
    try:
        if not folder.is_dir():
            raise SourceError(name, "expected a folder of folds, found a file" if folder.exists() else "no such folder")
        numbered = _numbered_folders(folder)
        if not numbered:
            if any(_files_of(folder).values()):
                return [_fold(folder)]
            raise SourceError(name, "expected folders Fold1, Fold2, …, found none")
        absent = [number for number in range(min(numbered), max(numbered)) if number not in numbered]
        if absent:
            found = ", ".join(path.name for path in numbered.values())
            raise SourceError(name, f"expected folds without gaps, found {shown_path(found)}, but no Fold{absent[0]}")
        return [_fold(path) for path in numbered.values()]
    except OSError as error:
        raise SourceError(shown_path(error.filename or name), error.strerror or str(error)) from error


def _numbered_folders(folder: Path) -> dict[int, Path]:
    found: dict[int, Path] = {}
    for path in visible_entries(folder):
        match = _FOLD.fullmatch(path.name)
        if match and path.is_dir():
            other = found.setdefault(int(match[1]), path)
            if other is not path:
                names = shown_path(f"{other.name} and {path.name}")
                raise SourceError(shown_path(folder), f"expected one folder a fold, found {names}")
    return dict(sorted(found.items()))


def _fold(folder: Path) -> Fold:
    files = _files_of(folder)
    for part, paths in files.items():
        if len(paths) != 1 and (paths or part != "valid"):
            found = shown_path(" and ".join(path.name for path in paths)) or "none"
            expected = f"{PARTS[part][0]}.txt or {PARTS[part][-1]}.txt, gzipped or not"
            raise SourceError(shown_path(folder), f"expected one file of the {part} part ({expected}), found {found}")
    valid = files["valid"][0] if files["valid"] else None
    return Fold(shown_path(folder.resolve().name), files["train"][0], valid, files["test"][0])


def _files_of(folder: Path) -> dict[str, list[Path]]:
    names = {part: {word + suffix for word in words for suffix in SUFFIXES} for part, words in PARTS.items()}
    files = [path for path in visible_entries(folder) if path.is_file()]
    return {part: [path for path in files if path.name.lower().removesuffix(".gz") in names[part]] for part in PARTS}
