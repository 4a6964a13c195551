"""Backups on disk: the folders beside an index, and the record of a backup's files.

INDEX                                 the index
INDEX.backups/NAME/
  backup.json                         when it was made, each file with size and CRC-32, a checksum
  index/                              the index, with its semantic space and topic models
  judgments.sqlite                    INDEX.judgments.sqlite
  searches.json                       INDEX.searches.json
  model.json, models/                 INDEX.model.json, INDEX.models/ with its history
  ranker.json                         INDEX.ranker.json, the default ranker
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from searchlab.corpus.text_cleaning import shown_path
from searchlab.corpus.text_files import read_text_file
from searchlab.errors import IndexCorrupt, SettingError, SourceError, unknown_name
from searchlab.json_records import file_table, json_checksum, one_line, parse_record, whole_number, without_checksum

RECORD = "backup.json"
FORMAT = "searchlab backup 1"
# The parts of a backup, and what is added to the name of the index for the part beside it.
PARTS = {
    "index": "",
    "judgments.sqlite": ".judgments.sqlite",
    "searches.json": ".searches.json",
    "model.json": ".model.json",
    "models": ".models",
    "ranker.json": ".ranker.json",
}

_NAME = re.compile(r"\w[\w.+-]*")


@dataclass(frozen=True)
class BackupRecord:
    """What a backup holds: `files` has the size and CRC-32 of each file by its path in the backup."""

    name: str
    made: str
    generation: int
    n_docs: int
    files: dict[str, tuple[int, int]]

    @property
    def n_bytes(self) -> int:
        """The size of all files; those that are hard links take no space of their own."""
        return sum(size for size, _ in self.files.values())

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that the backup has, in the order of PARTS."""
        present = {name.partition("/")[0] for name in self.files}
        return tuple(part for part in PARTS if part in present)

    def to_text(self) -> str:
        """The record as it is written, with its checksum."""
        record = {"format": FORMAT, **asdict(self)}
        return json.dumps(record | {"checksum": json_checksum(record)}, ensure_ascii=False, indent=1) + "\n"


def part_beside(folder: Path, part: str) -> Path:
    """Where a part of a backup belongs: the folder of the index, or a file or folder beside it."""
    return folder.with_name(folder.name + PARTS[part])


def backups_of(folder: Path) -> Path:
    """The folder of the backups of an index."""
    return folder.with_name(f"{folder.name}.backups")


def check_backup_name(name: str) -> str:
    """The name of a backup, which is the name of a folder."""
    if not _NAME.fullmatch(name):
        raise SettingError(f"the name of the backup is {name!r}, expected letters, digits and any of _ . + -")
    return name


def read_backup_record(backup: Path) -> BackupRecord:
    """The record of the backup in a folder; raises IndexCorrupt if it is damaged or names files outside the backup."""
    path = backup / RECORD
    try:
        record = without_checksum(parse_record(read_text_file(path)))
        if one_line(record, "format") != FORMAT:
            raise ValueError(f"format is {record['format']!r}, expected {FORMAT!r}")
        files = file_table(record, "files")
        outside = [name for name in files if not is_within_backup(name)]
        if outside:
            raise ValueError(f"names a file outside the backup: {outside[0]!r}")
        name, made = one_line(record, "name"), one_line(record, "made")
        return BackupRecord(name, made, whole_number(record, "generation"), whole_number(record, "n_docs"), files)
    except (SourceError, ValueError) as error:
        reason = error.message if isinstance(error, SourceError) else str(error)
        raise IndexCorrupt(f"{shown_path(path)}: damaged ({' '.join(reason.split())}); use another backup") from None


def find_backup(folder: Path, name: str) -> Path:
    """The folder of a backup by its name; an unknown name is an error that lists the known ones."""
    known = list_backup_names(folder)
    if name not in known:
        if not known:
            home = shown_path(backups_of(folder))
            raise SettingError(f"{home}: no backup here; `searchlab backup create NAME` makes one")
        raise unknown_name("backup", name, known)
    return backups_of(folder) / name


def list_backup_names(folder: Path) -> list[str]:
    """The names of the backups of an index, sorted."""
    return sorted(path.parent.name for path in backups_of(folder).glob(f"*/{RECORD}") if path.parent.name[0] != ".")


def is_within_backup(name: str) -> bool:
    """Whether a path is below one of the parts of a backup; a stranger's record may name any file of the disk."""
    parts = PurePosixPath(name).parts
    return bool(parts) and parts[0] in PARTS and ".." not in parts and str(PurePosixPath(name)) == name
