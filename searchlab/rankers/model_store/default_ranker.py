"""The default ranker of an index: the system that searches use unless another one is asked for.

It is a line in `INDEX.ranker.json` beside the index, so that it survives a rebuild: the name of a system
(`systems.py`), such as `model:mine` or `bm25+rm3`, who chose it, and when. Without the file, BM25 is used.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from searchlab.atomic_file import open_atomic, sync_folder
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.corpus.text_files import read_text_file
from searchlab.errors import SettingError, SourceError, WriteFailed
from searchlab.json_records import json_checksum, one_line, parse_record, without_checksum
from searchlab.rankers.model_store.model_files import find_model
from searchlab.rankers.systems import MODEL

FORMAT = "searchlab default ranker 1"
# The name that stands for the default ranker wherever the name or the file of a model is expected.
DEFAULT = "default"


@dataclass(frozen=True)
class DefaultRanker:
    """The name of a system, who chose it, and when (UTC)."""

    system: str
    chosen_by: str = ""
    chosen: str = ""

    @property
    def model(self) -> str | None:
        """The name of its model; None if it is a scorer."""
        return self.system.removeprefix(MODEL) if self.system.startswith(MODEL) else None


def default_ranker_file(folder: Path) -> Path:
    """The file of the default ranker of an index."""
    return folder.with_name(f"{folder.name}.ranker.json")


def read_default_ranker(folder: Path) -> DefaultRanker | None:
    """The default ranker of an index; None if none was chosen."""
    path = default_ranker_file(folder)
    if not path.exists():
        return None
    try:
        record = without_checksum(parse_record(read_text_file(path)))
        if one_line(record, "format") != FORMAT:
            raise ValueError(f"format is {record['format']!r}, expected {FORMAT!r}")
        return DefaultRanker(one_line(record, "system"), one_line(record, "chosen_by"), one_line(record, "chosen"))
    except ValueError as error:
        remedy = "choose a ranker again, or remove the file"
        raise SourceError(path, f"not the record of a default ranker ({error}); {remedy}") from None


def require_default_ranker(folder: Path) -> DefaultRanker:
    """The default ranker of an index; an error that says how to choose one if there is none."""
    chosen = read_default_ranker(folder)
    if chosen is None:
        how = f"`searchlab model use NAME -i {folder}` chooses one, or `Use from now on` in the browser"
        raise SettingError(f"{folder}: no default ranker was chosen; {how}")
    return chosen


def write_default_ranker(folder: Path, system: str, chosen_by: str = "") -> DefaultRanker:
    """Make a system the default ranker of an index; its model must exist."""
    chosen = DefaultRanker(system, on_one_line(chosen_by), datetime.now(UTC).isoformat(timespec="seconds"))
    if chosen.model is not None:
        _ = find_model(folder, chosen.model)
    record = {"format": FORMAT, "system": system, "chosen_by": chosen.chosen_by, "chosen": chosen.chosen}
    with open_atomic(default_ranker_file(folder)) as file:
        file.write(json.dumps(record | {"checksum": json_checksum(record)}, ensure_ascii=False, indent=1) + "\n")
    return chosen


def remove_default_ranker(folder: Path) -> bool:
    """Let an index be searched by BM25 again; returns whether there was another default ranker."""
    path = default_ranker_file(folder)
    try:
        path.unlink()
        sync_folder(path.parent)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise WriteFailed(f"{path}: cannot be removed ({error.strerror})") from None
    return True
