"""A seeded folder of mixed files: good ones of every format, and files with trouble; and the account of its reading."""

from __future__ import annotations

import gzip
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path

from benchmarks.folder_files import documents as files
from benchmarks.folder_files.record_files import RECORD_FILES, Record
from benchmarks.folder_files.troubles import make_troubles, tar_file
from searchlab.corpus.reading_notes import BAD_RECORD, COPY, SKIPPED_FILE, UNREADABLE_FILE, ReadingEvent

# One file of this many has trouble, and each trouble is there at least once.
TROUBLE_EVERY = 20
FILES_PER_FOLDER = 200
N_WORDS = 5000
RECORDS = 10
LEFT_OUT = (SKIPPED_FILE, UNREADABLE_FILE, BAD_RECORD, COPY)


class Writer:
    """Writes good files with random words."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        letters = "abcdefghiklmnoprstuvw"
        self._words = ["".join(self._random.choices(letters, k=self._random.randint(3, 10))) for _ in range(N_WORDS)]
        self._weights = list(accumulate(1 / (rank + 1) for rank in range(N_WORDS)))
        self._n_records = 0

    def words(self, n_words: int) -> str:
        """Words with Zipfian frequencies."""
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=n_words))

    def lines(self, n_lines: int) -> list[str]:
        """Lines as in a paper."""
        return [self.words(12) for _ in range(n_lines)]

    def docno(self) -> str:
        """A docno that no other record has."""
        self._n_records += 1
        return f"record-{self._n_records}"

    def kinds(self) -> dict[str, tuple[str, int, Callable[[], bytes]]]:
        """The suffix of each kind of good file, the number of its records, and what makes it."""
        return {
            "text": (".txt", 1, lambda: "\n".join(self.lines(60)).encode()),
            "gzip": (".txt.gz", 1, lambda: gzip.compress("\n".join(self.lines(60)).encode())),
            "markdown": (".md", 1, lambda: ("# " + "\n\n".join(self.lines(60))).encode()),
            "html": (".html", 1, lambda: ("<title>T</title><p>" + "</p><p>".join(self.lines(60))).encode()),
            "pdf": (".pdf", 1, lambda: files.pdf([self.lines(45) for _ in range(self._random.randint(1, 20))])),
            "docx": (".docx", 1, lambda: files.docx(self.lines(200), title=self.words(6), creator="A. Author")),
            "odt": (".odt", 1, lambda: files.odt([(1, self.words(6)), *self.lines(200)])),
            "odp": (".odp", 1, lambda: files.odt(self.lines(60), kind="presentation")),
            "rtf": (".rtf", 1, lambda: files.rtf(self.lines(200), title=self.words(6))),
            "epub": (
                ".epub",
                1,
                lambda: files.epub(["<p>" + "</p><p>".join(self.lines(100))] * 3, title=self.words(4)),
            ),
            "pptx": (".pptx", 1, lambda: files.pptx([self.lines(6) for _ in range(20)])),
            "xlsx": (
                ".xlsx",
                RECORDS,
                lambda: files.xlsx({"S": [["id", "title", "text"], *self._records()]}),
            ),
            "eml": (".eml", 1, lambda: files.eml(self.words(5), "\r\n".join(self.lines(30)))),
            "mbox": (
                ".mbox",
                RECORDS,
                lambda: files.mbox([self._mail() for _ in range(RECORDS)]),
            ),
            "zip": (".zip", 3, self._archive),
            "tar": (".tar", 3, lambda: tar_file(self._entries())),
            "tar.gz": (".tar.gz", 3, lambda: gzip.compress(tar_file(self._entries()))),
            "zip in zip": (".zip", 4, lambda: files.zipped({"e.eml": self._mail(), "f.zip": self._archive()})),
            **{
                name: (suffix, RECORDS, partial(self._record_file, write))
                for name, (suffix, write) in RECORD_FILES.items()
            },
        }

    def _record_file(self, write: Callable[[Sequence[Record]], str]) -> bytes:
        return write(self._records()).encode()

    def _records(self) -> list[Record]:
        return [Record(self.docno(), self.words(6), self.words(100)) for _ in range(RECORDS)]

    def _mail(self) -> bytes:
        return files.eml(self.words(5), self.words(99))

    def _archive(self) -> bytes:
        return files.zipped(self._entries())

    def _entries(self) -> dict[str, bytes]:
        pdf = files.pdf([self.lines(45)] * 2)
        return {"a.txt": self.words(300).encode(), "b/c.pdf": pdf, "d.docx": files.docx(self.lines(50))}


@dataclass(frozen=True)
class MixedFolder:
    """A folder: the number of records in each good file, and the trouble of each other one."""

    good: dict[Path, int]
    troubled: dict[Path, str]


def make_folder(folder: Path, n_files: int, seed: int = 1) -> MixedFolder:
    """Write a folder of mixed files."""
    writer = Writer(seed)
    good: dict[Path, int] = {}
    troubled: dict[Path, str] = {}
    troubles = make_troubles()
    n_troubled = max(len(troubles), n_files // TROUBLE_EVERY)
    kinds = list(writer.kinds().items())
    for number in range(n_files):
        part = folder / f"part {number // FILES_PER_FOLDER}"
        part.mkdir(parents=True, exist_ok=True)
        # Troubled files are spread over the folder.
        rank = number * n_troubled // n_files
        if rank != (number + 1) * n_troubled // n_files:
            name, (suffix, content) = list(troubles.items())[rank % len(troubles)]
            path = part / f"{number} {name}{suffix}"
            troubled[path] = name
        else:
            name, (suffix, n_records, make) = kinds[len(good) % len(kinds)]
            path, content = part / f"{number} {name}{suffix}", make()
            good[path] = n_records
        path.write_bytes(content)
    return MixedFolder(good, troubled)


class Account:
    """A listener of a reading: what was left out, by its location."""

    def __init__(self) -> None:
        self.events: list[ReadingEvent] = []

    def add(self, event: ReadingEvent) -> None:
        """Keep an event of what was left out."""
        if event.kind in LEFT_OUT:
            self.events.append(event)

    def clear(self) -> None:
        """Forget all events."""
        self.events.clear()


def find_gaps(made: MixedFolder, locations: Sequence[str], account: Account) -> list[str]:
    """What is wrong with the account of a reading that gave documents from these locations; none if nothing is."""
    read = Counter(_file_of(location) for location in locations)
    listed = Counter(_file_of(event.location) for event in account.events)
    gaps = [
        f"{path}: {read[path]} of {n} records read, {listed[path]} listed" for path, n in _wrong(made, read, listed)
    ]
    gaps += [f"{path}: neither read nor listed" for path in map(str, made.troubled) if not read[path] + listed[path]]
    known = {*map(str, made.good), *map(str, made.troubled)}
    return gaps + [f"{path}: not a file of the folder" for path in {*read, *listed} - known]


def _wrong(made: MixedFolder, read: Counter[str], listed: Counter[str]) -> list[tuple[str, int]]:
    return [(str(path), n) for path, n in made.good.items() if (read[str(path)], listed[str(path)]) != (n, 0)]


def _file_of(location: str) -> str:
    """The file on disk that a location is in: that of a record, of a line, or of an entry of an archive."""
    path = Path(location)
    for candidate in (path, *path.parents):
        for name in (str(candidate), str(candidate).partition("#")[0], str(candidate).rpartition(":")[0]):
            if name and Path(name).is_file():
                return name
    return location
