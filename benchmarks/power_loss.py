"""Power loss: an operation's calls are recorded, and states that a crashed machine can leave on disk are made of them.

The model of a disk is the weakest that POSIX allows. Until a file is synced, each write to it may have reached the disk
or not, and the file may have been extended by garbage. Until a folder is synced, each change of its entries (a file
created, renamed or removed) may have reached the disk or not, in any combination.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from file_calls import FileCall, Hook, intercept

ROOT = 0


@dataclass(frozen=True)
class Event:
    """Something that happened to a file or folder, by its number."""

    number: int


@dataclass(frozen=True)
class Written(Event):
    """Bytes were written to a file."""

    offset: int
    data: bytes


@dataclass(frozen=True)
class Resized(Event):
    """A file was truncated or extended."""

    size: int


@dataclass(frozen=True)
class Linked(Event):
    """Entries of a folder changed, all at once: a name stands for another file or folder, or, None, for none."""

    entries: dict[str, int | None]


@dataclass(frozen=True)
class Synced(Event):
    """A file or folder was synced."""


@dataclass
class Recording:
    """The files and folders below a folder, and what happens to them.

    `contents` has the content of each file at the beginning by its number, `folders` the entries of each folder, also
    of those that are made later.
    """

    home: Path
    contents: dict[int, bytes] = field(default_factory=dict)
    folders: dict[int, dict[str, int]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._numbers = {str(self.home): ROOT}
        self._open: dict[int, int] = {}
        self.folders[ROOT] = {}
        for path in sorted(self.home.rglob("*")):
            number = self._numbers[str(path)] = len(self._numbers)
            self.folders[self._numbers[str(path.parent)]][path.name] = number
            if path.is_dir():
                self.folders[number] = {}
            else:
                self.contents[number] = path.read_bytes()
        self._next = len(self._numbers)

    def note(self, call: FileCall) -> None:
        """Add the events of a call that has succeeded."""
        change = getattr(self, f"_note_{call.name}", None)
        if change:
            change(call)

    def _note_open(self, call: FileCall) -> None:
        flags = call.arguments[1]
        if call.path not in self._numbers:
            self._create(call.path)
        number = self._open[call.descriptor] = self._numbers[call.path]
        if flags & os.O_TRUNC:
            self.events.append(Resized(number, 0))

    def _create(self, path: str) -> None:
        self._numbers[path] = self._next
        self._next += 1
        self._link(path, self._numbers[path])

    def _link(self, path: str, number: int | None, **others: int | None) -> None:
        folder, name = self._numbers[str(Path(path).parent)], Path(path).name
        self.events.append(Linked(folder, others | {name: number}))

    def _note_mkdir(self, call: FileCall) -> None:
        self._create(call.path)
        self.folders[self._numbers[call.path]] = {}

    def _note_unlink(self, call: FileCall) -> None:
        self._link(call.path, None)
        del self._numbers[call.path]

    _note_remove = _note_rmdir = _note_unlink

    def _note_replace(self, call: FileCall) -> None:
        assert Path(call.path).parent == Path(call.target).parent
        number = self._numbers.pop(call.path)
        self._link(call.target, number, **{Path(call.path).name: None})
        self._numbers[call.target] = number

    _note_rename = _note_replace

    def _note_write(self, call: FileCall) -> None:
        data = bytes(call.arguments[0])
        offset = os.lseek(call.descriptor, 0, os.SEEK_CUR) - len(data)
        self.events.append(Written(self._open[call.descriptor], offset, data))

    def _note_pwrite(self, call: FileCall) -> None:
        data, offset = call.arguments
        self.events.append(Written(self._open[call.descriptor], offset, bytes(data)))

    def _note_ftruncate(self, call: FileCall) -> None:
        self.events.append(Resized(self._open[call.descriptor], call.arguments[0]))

    def _note_fsync(self, call: FileCall) -> None:
        self.events.append(Synced(self._open[call.descriptor]))


@contextmanager
def record(home: Path) -> Iterator[Recording]:
    """Record what happens below a folder."""
    recording = Recording(home)
    with intercept(home, Hook(after=recording.note)):
        yield recording


def crash_state(recording: Recording, n_events: int, rng: random.Random, to: Path) -> None:
    """Write to a folder what a crash after so many events can leave."""
    happened = recording.events[:n_events]
    last_sync = {event.number: place for place, event in enumerate(happened) if isinstance(event, Synced)}
    # Sometimes nearly everything that was not synced is lost, sometimes nearly nothing.
    share = rng.choice([0.0, 0.1, 0.5, 0.9, 1.0])
    contents = {number: bytearray(content) for number, content in recording.contents.items()}
    folders = {number: dict(entries) for number, entries in recording.folders.items()}
    unsynced = set()
    for place, event in enumerate(happened):
        if place > last_sync.get(event.number, -1):
            unsynced.add(event.number)
            if rng.random() >= share:
                continue
        apply(event, contents, folders)
    for number in unsynced & contents.keys():
        damage(contents[number], rng)
    write_tree(ROOT, contents, folders, to)


def apply(event: Event, contents: dict[int, bytearray], folders: dict[int, dict[str, int]]) -> None:
    """Let an event happen to files and folders."""
    match event:
        case Written(number, offset, data):
            content = contents.setdefault(number, bytearray())
            content.extend(bytes(max(0, offset - len(content))))
            content[offset : offset + len(data)] = data
        case Resized(number, size):
            content = contents.setdefault(number, bytearray())
            content.extend(bytes(max(0, size - len(content))))
            del content[size:]
        case Linked(number, entries):
            folder = folders.setdefault(number, {})
            for name, other in entries.items():
                folder.pop(name, None)
                if other is not None:
                    folder[name] = other


def damage(content: bytearray, rng: random.Random) -> None:
    """What can become of the end of a file that was not synced: it stays, it is lost, or it is garbage."""
    cut = rng.randrange(len(content) + 1)
    choice = rng.choice(["keep", "truncate", "zeros", "garbage"])
    if choice == "truncate":
        del content[cut:]
    elif choice == "zeros":
        content[cut:] = bytes(len(content) - cut)
    elif choice == "garbage":
        content[cut:] = rng.randbytes(len(content) - cut + rng.randrange(20))


def write_tree(number: int, contents: dict[int, bytearray], folders: dict[int, dict[str, int]], to: Path) -> None:
    """Write a folder and everything below it; an entry without content is an empty file."""
    to.mkdir(parents=True, exist_ok=True)
    for name, other in folders.get(number, {}).items():
        if other in folders:
            write_tree(other, contents, folders, to / name)
        else:
            (to / name).write_bytes(contents.get(other, b""))


def crash_points(recording: Recording, n: int, rng: random.Random) -> list[int]:
    """Numbers of events after which to crash: the end, all around the renames of manifests, and random ones."""
    n_events = len(recording.events)
    renames = [
        place
        for place, event in enumerate(recording.events)
        if isinstance(event, Linked) and len(event.entries) > 1 and "manifest.json" in event.entries
    ]
    near = [min(n_events, max(0, place + rng.randrange(-6, 8))) for place in renames for _ in range(n // 4 + 1)]
    rng.shuffle(near)
    chosen = [n_events, *near[: n // 2]]
    return chosen + [rng.randrange(n_events + 1) for _ in range(n - len(chosen))]
