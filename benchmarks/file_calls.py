"""Interception of file system calls: what this process does to files below a folder passes through a hook.

Functions of `os`, `fcntl` and `mmap` are replaced, and `open` by the pure Python version of the standard library,
which is made of functions of `os`. So every call is seen: of searchlab, of pathlib, of shutil, and of Whoosh.
"""

from __future__ import annotations

import _pyio
import builtins
import fcntl
import io
import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

# Calls with a path, which may be relative to a folder given by its descriptor, and calls with a descriptor.
PATH_CALLS = ("stat", "lstat", "mkdir", "rmdir", "unlink", "remove", "listdir", "scandir", "utime", "chmod")
RENAMES = ("rename", "replace", "link")
DESCRIPTOR_CALLS = ("read", "pread", "write", "pwrite", "fsync", "ftruncate", "fstat", "fchmod")


@dataclass(frozen=True)
class FileCall:
    """A call: the function's name, the path of the file, the new path of a renamed one, and all arguments."""

    name: str
    path: str
    target: str = ""
    descriptor: int = -1
    arguments: tuple[Any, ...] = ()

    @property
    def opens_for_writing(self) -> bool:
        """Whether this opens a file that may be created or changed."""
        return self.name == "open" and bool(self.arguments[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


@dataclass(frozen=True)
class Hook:
    """Functions that are called before a call, which they can prevent by raising an OSError, and after it."""

    before: Callable[[FileCall], None] = lambda call: None
    after: Callable[[FileCall], None] = lambda call: None


@contextmanager
def intercept(folder: Path, hook: Hook) -> Iterator[None]:
    """Let all calls on files below a folder pass through a hook."""
    functions = _Interception(str(folder.absolute()), hook).functions()
    originals = {(module, name): getattr(module, name) for module, name in functions}
    for (module, name), function in functions.items():
        setattr(module, name, function)
    try:
        yield
    finally:
        for (module, name), original in originals.items():
            setattr(module, name, original)


class _Interception:
    """The functions that replace the originals, and the paths of open files."""

    def __init__(self, folder: str, hook: Hook) -> None:
        self._folder = folder
        self._hook = hook
        self._paths: dict[int, str] = {}

    def functions(self) -> dict[tuple[Any, str], Any]:
        """The replacements, by module and name."""
        replaced: dict[tuple[Any, str], Any] = {
            (os, "open"): self._replace_open(os.open),
            (os, "close"): self._replace_close(os.close),
            (fcntl, "flock"): self._with_descriptor("flock", fcntl.flock),
            (mmap, "mmap"): self._with_descriptor("mmap", mmap.mmap),
            (io, "open"): _pyio.open,
            (builtins, "open"): _pyio.open,
        }
        replaced |= {(os, name): self._with_path(name, getattr(os, name)) for name in PATH_CALLS}
        replaced |= {(os, name): self._replace_rename(name, getattr(os, name)) for name in RENAMES}
        replaced |= {(os, name): self._with_descriptor(name, getattr(os, name)) for name in DESCRIPTOR_CALLS}
        return replaced

    def _resolve(self, path: Any, folder: int | None = None) -> str | None:
        """The absolute path, None if it is not below the folder."""
        if isinstance(path, int):
            return self._paths.get(path)
        base = Path.cwd() if folder is None else Path(self._paths.get(folder, "/"))
        absolute = os.path.normpath(base / os.fsdecode(path))
        return absolute if absolute == self._folder or absolute.startswith(f"{self._folder}/") else None

    def _run(self, call: FileCall, original: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        self._hook.before(call)
        result = original(*arguments, **keywords)
        self._hook.after(call)
        return result

    def _replace_open(self, original: Callable[..., int]) -> Callable[..., int]:
        def replacement(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            resolved = self._resolve(path, dir_fd)
            if resolved is None:
                return original(path, flags, mode, dir_fd=dir_fd)
            call = FileCall("open", resolved, arguments=(path, flags, mode))
            self._hook.before(call)
            descriptor = original(path, flags, mode, dir_fd=dir_fd)
            self._paths[descriptor] = resolved
            self._hook.after(replace(call, descriptor=descriptor))
            return descriptor

        return replacement

    def _replace_close(self, original: Callable[[int], None]) -> Callable[[int], None]:
        def replacement(descriptor: int) -> None:
            path = self._paths.pop(descriptor, None)
            original(descriptor)
            # A close that fails has closed the file all the same.
            if path is not None:
                self._hook.before(FileCall("close", path, descriptor=descriptor))

        return replacement

    def _with_path(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(path: Any = ".", *arguments: Any, **keywords: Any) -> Any:
            resolved = self._resolve(path, keywords.get("dir_fd"))
            if resolved is None:
                return original(path, *arguments, **keywords)
            return self._run(FileCall(name, resolved), original, path, *arguments, **keywords)

        return replacement

    def _replace_rename(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(path: Any, target: Any, **keywords: Any) -> Any:
            resolved, new = self._resolve(path), self._resolve(target)
            if resolved is None or new is None:
                return original(path, target, **keywords)
            return self._run(FileCall(name, resolved, new), original, path, target, **keywords)

        return replacement

    def _with_descriptor(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(descriptor: Any, *arguments: Any, **keywords: Any) -> Any:
            path = self._paths.get(descriptor)
            if path is None:
                return original(descriptor, *arguments, **keywords)
            call = FileCall(name, path, descriptor=descriptor, arguments=arguments)
            return self._run(call, original, descriptor, *arguments, **keywords)

        return replacement
