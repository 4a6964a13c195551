"""A reader of pickles that hold plain values only: numbers, strings, bytes, tuples, lists and dictionaries.

Whoosh's files contain pickles, and Python's own reader runs whatever code a pickle names, and reserves whatever memory
it claims. This reader knows no opcode that looks up a class or calls anything, and holds no more than the pickle itself
does. Within `plain_pickles` Whoosh reads its files by it.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from whoosh import columns
from whoosh.codec import whoosh3
from whoosh.filedb import structfile

MAX_PROTOCOL = 5


class NotPlain(ValueError):
    """A pickle that is damaged, or holds something other than plain values."""


class _Reader:
    """One pickle being read: its stack, and the values that it refers to again."""

    def __init__(self, file: BinaryIO) -> None:
        self._read = file.read
        self.stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def take(self, n: int) -> bytes:
        """The next n bytes."""
        data = self._read(n)
        if len(data) != n:
            raise NotPlain("the pickle ends too early")
        return data

    def number(self, code: str) -> Any:
        """The next number, in a format of the module struct."""
        return struct.unpack(code, self.take(struct.calcsize(code)))[0]

    def sized(self, code: str) -> bytes:
        """The next bytes, after their number."""
        return self.take(self.number(code))

    def push(self, value: Any) -> None:
        """Put a value on the stack."""
        self.stack.append(value)

    def mark(self) -> None:
        """Remember the height of the stack."""
        self._marks.append(len(self.stack))

    def to_mark(self) -> list[Any]:
        """Take everything above the last mark from the stack."""
        height = self._marks.pop()
        values = self.stack[height:]
        del self.stack[height:]
        return values

    def last(self, n: int) -> tuple[Any, ...]:
        """Take n values from the stack."""
        if n > len(self.stack):
            raise NotPlain("the pickle takes more values than it has")
        values = tuple(self.stack[len(self.stack) - n :])
        del self.stack[len(self.stack) - n :]
        return values

    def append(self, values: list[Any]) -> None:
        """Append values to the list on top of the stack."""
        self._top(list).extend(values)

    def set_items(self, values: list[Any]) -> None:
        """Add keys and values to the dictionary on top of the stack."""
        self._top(dict).update(zip(values[::2], values[1::2], strict=True))

    def remember(self, key: int | None = None) -> None:
        """Give the value on top of the stack a number."""
        self._memo[len(self._memo) if key is None else key] = self.stack[-1]

    def recall(self, key: int) -> None:
        """Put the value with a number on the stack."""
        self.push(self._memo[key])

    def protocol(self) -> None:
        """Check the version of the format."""
        if (version := self.number("<B")) > MAX_PROTOCOL:
            raise NotPlain(f"protocol {version}")

    def _top(self, kind: type) -> Any:
        if not isinstance(self.stack[-1], kind):
            raise NotPlain(f"items for something that is no {kind.__name__}")
        return self.stack[-1]


_OPCODES: dict[bytes, Callable[[_Reader], object]] = {
    pickle.PROTO: _Reader.protocol,
    pickle.FRAME: lambda reader: reader.take(8),
    pickle.NONE: lambda reader: reader.push(None),
    pickle.NEWTRUE: lambda reader: reader.push(True),
    pickle.NEWFALSE: lambda reader: reader.push(False),
    pickle.BININT: lambda reader: reader.push(reader.number("<i")),
    pickle.BININT1: lambda reader: reader.push(reader.number("<B")),
    pickle.BININT2: lambda reader: reader.push(reader.number("<H")),
    pickle.LONG1: lambda reader: reader.push(int.from_bytes(reader.sized("<B"), "little", signed=True)),
    pickle.BINFLOAT: lambda reader: reader.push(reader.number(">d")),
    pickle.SHORT_BINBYTES: lambda reader: reader.push(reader.sized("<B")),
    pickle.BINBYTES: lambda reader: reader.push(reader.sized("<I")),
    pickle.SHORT_BINUNICODE: lambda reader: reader.push(reader.sized("<B").decode("utf-8", "surrogatepass")),
    pickle.BINUNICODE: lambda reader: reader.push(reader.sized("<I").decode("utf-8", "surrogatepass")),
    pickle.EMPTY_TUPLE: lambda reader: reader.push(()),
    pickle.TUPLE1: lambda reader: reader.push(reader.last(1)),
    pickle.TUPLE2: lambda reader: reader.push(reader.last(2)),
    pickle.TUPLE3: lambda reader: reader.push(reader.last(3)),
    pickle.TUPLE: lambda reader: reader.push(tuple(reader.to_mark())),
    pickle.EMPTY_LIST: lambda reader: reader.push([]),
    pickle.APPEND: lambda reader: reader.append([*reader.last(1)]),
    pickle.APPENDS: lambda reader: reader.append(reader.to_mark()),
    pickle.EMPTY_DICT: lambda reader: reader.push({}),
    pickle.SETITEM: lambda reader: reader.set_items([*reader.last(2)]),
    pickle.SETITEMS: lambda reader: reader.set_items(reader.to_mark()),
    pickle.MARK: _Reader.mark,
    pickle.MEMOIZE: lambda reader: reader.remember(),
    pickle.BINPUT: lambda reader: reader.remember(reader.number("<B")),
    pickle.LONG_BINPUT: lambda reader: reader.remember(reader.number("<I")),
    pickle.BINGET: lambda reader: reader.recall(reader.number("<B")),
    pickle.LONG_BINGET: lambda reader: reader.recall(reader.number("<I")),
}


def load(file: BinaryIO) -> Any:
    """The value of the pickle that a file continues with; the file is left right after it."""
    reader = _Reader(file)
    try:
        while (opcode := reader.take(1)) != pickle.STOP:
            if opcode not in _OPCODES:
                raise NotPlain(f"opcode {opcode!r}, expected those of plain values")
            _OPCODES[opcode](reader)
        (value,) = reader.last(1)
    except NotPlain:
        raise
    except (LookupError, ValueError, TypeError, MemoryError) as error:
        raise NotPlain(f"a damaged pickle ({error or type(error).__name__})") from None
    return value


def loads(data: bytes) -> Any:
    """The value of a pickle."""
    return load(io.BytesIO(data))


@contextmanager
def plain_pickles() -> Iterator[None]:
    """Within it, Whoosh's readers of segments read pickles by this module."""
    places = [(columns, "loads", loads), (whoosh3, "loads", loads), (structfile, "load_pickle", load)]
    before = [getattr(module, name) for module, name, _ in places]
    for module, name, reader in places:
        setattr(module, name, reader)
    try:
        yield
    finally:
        for (module, name, _), reader in zip(places, before, strict=True):
            setattr(module, name, reader)
