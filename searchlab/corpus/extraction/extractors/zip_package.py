"""Zipped documents (Office files, OpenDocument, EPUB): their parts, read within limits.

Sizes in the directory of a zip file are claims; what counts is what has been unpacked.
"""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO

from searchlab.corpus.archives.zip_directory import open_zip
from searchlab.corpus.extraction.extracted import ExtractionFailed, TextCollector
from searchlab.corpus.extraction.extractors.safe_xml import Attributes, XmlHandler, parse_xml
from searchlab.corpus.extraction.limits import MAX_UNPACKED_MB, MEGABYTE

# Errors of a damaged zip file; NotImplementedError is an unknown method of compression, RuntimeError a password.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


class ZipPackage:
    """The parts of a zipped document."""

    def __init__(self, stream: BinaryIO) -> None:
        self._left = MAX_UNPACKED_MB * MEGABYTE
        try:
            self._zip = open_zip(stream)
        except ZIP_ERRORS as error:
            raise ExtractionFailed(f"damaged zip file ({error})") from None
        self.names = frozenset(self._zip.namelist())

    def __contains__(self, part: str) -> bool:
        return part in self.names

    @contextmanager
    def open(self, part: str) -> Iterator[BinaryIO]:
        """A part, to be read within the limit of all parts together."""
        if part not in self.names:
            raise ExtractionFailed(f"expected the part {part}, found none")
        try:
            with self._zip.open(part) as stored:
                yield _Limited(self, stored)  # type: ignore[misc]
        except ZIP_ERRORS as error:
            problem = "encrypted" if "password" in str(error) else f"damaged, {part}: {error}"
            raise ExtractionFailed(problem) from None

    def parse(self, part: str, handler: XmlHandler) -> None:
        """Pass the events of a part that is XML to a handler."""
        with self.open(part) as stream:
            parse_xml(stream, handler, part)

    def parse_if_present(self, part: str, handler: XmlHandler) -> None:
        """Pass the events of a part to a handler, if there is such a part."""
        if part in self.names:
            self.parse(part, handler)

    def read(self, part: str) -> bytes:
        """The content of a part."""
        with self.open(part) as stream:
            return b"".join(iter(lambda: stream.read(64 * 1024), b""))

    def count(self, n_bytes: int) -> None:
        """Count bytes that were unpacked."""
        self._left -= n_bytes
        if self._left < 0:
            raise ExtractionFailed(f"unpacks to more than {MAX_UNPACKED_MB} MB")

    def relationships(self, part: str) -> dict[str, str]:
        """The parts that an Office part refers to, by the ids of the references, and by the ends of their types."""
        folder, name = posixpath.split(part)
        listed = posixpath.join(folder, "_rels", f"{name}.rels")
        handler = _Relationships(folder)
        self.parse_if_present(listed, handler)
        return handler.targets

    def main_part(self, default: str) -> str:
        """The main part of an Office document."""
        found = self.relationships("").get("officeDocument", default)
        return found if found in self else default


class _Limited:
    """A part of a package; counts what is read."""

    def __init__(self, package: ZipPackage, stored: IO[bytes]) -> None:
        self._package = package
        self._stored = stored

    def read(self, size: int) -> bytes:
        data = self._stored.read(size)
        self._package.count(len(data))
        return data


class _Relationships(XmlHandler):
    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.targets: dict[str, str] = {}

    def start(self, name: str, attributes: Attributes) -> None:
        if name != "Relationship" or attributes.get("TargetMode") == "External":
            return
        target = attributes.get("Target", "")
        part = (
            target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(self._folder, target))
        )
        self.targets[attributes.get("Id", "")] = part
        self.targets.setdefault(posixpath.basename(attributes.get("Type", "")), part)


class Properties(XmlHandler):
    """Texts of elements by their names: title, creator, … of docProps/core.xml, meta.xml or a package of EPUB."""

    def __init__(self, wanted: frozenset[str], max_length: int) -> None:
        self._wanted = wanted
        self._text = TextCollector(max_length)
        self._open = ""
        self.values: dict[str, list[str]] = {}

    def start(self, name: str, attributes: Attributes) -> None:
        """Begin a wanted element."""
        if name in self._wanted:
            self._open = name
            self._text.take()

    def end(self, name: str) -> None:
        """Keep the text of a wanted element."""
        if name == self._open:
            self.values.setdefault(name, []).append(self._text.take().strip())
            self._open = ""

    def text(self, text: str) -> None:
        """Collect the text of a wanted element."""
        if self._open:
            self._text.add(text)

    def first(self, *names: str) -> str:
        """The first value that is not empty, of the first name that has one."""
        return next((value for name in names for value in self.values.get(name, ()) if value), "")

    def all(self, name: str) -> list[str]:
        """All values under a name."""
        return self.values.get(name, [])


CORE_PROPERTIES = frozenset({"title", "creator", "created", "keywords"})


def core_properties(package: ZipPackage, max_length: int) -> Properties:
    """Title, creator, created and keywords of an Office document."""
    properties = Properties(CORE_PROPERTIES, max_length)
    part = package.relationships("").get("core-properties", "docProps/core.xml")
    package.parse_if_present(part, properties)
    return properties
