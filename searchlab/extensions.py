"""Extensions: modules that register features, scorers, rankers and other things of a user's own under names.

    searchlab --extension my_features train …          a module, or a file my_features.py
    SEARCHLAB_EXTENSIONS=my_features,other.py          the same from the environment

The command line and all processes that searchlab starts load them; a Python program imports them. Nothing that is
stored (a model, an index) ever loads an extension: it records the origin of what it depends on, and is refused with a
message if that is not loaded or has changed.

A registry is a dict from names to things; `register` adds to it, and records where the thing comes from.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

from searchlab.errors import SettingError

ENVIRONMENT = "SEARCHLAB_EXTENSIONS"
# The module of what is defined in a notebook, a script or an interactive session: no other process can load it.
MAIN = "__main__"
DIGEST_LENGTH = 16
MAX_MODULE_NAME = 200
_DIGEST = re.compile(r"[0-9a-f]{16}")

T = TypeVar("T")


@dataclass(frozen=True)
class Origin:
    """Where a registered thing comes from: its module, and a hash of the module's source.

    Of what is defined in a notebook or script (`__main__`), its own source is hashed.
    """

    module: str
    digest: str

    @classmethod
    def of(cls, thing: Any) -> Origin:
        """The origin of a function or class."""
        content = _module_source(thing) or _own_source(thing)
        return cls(thing.__module__, hashlib.sha256(content).hexdigest()[:DIGEST_LENGTH])

    @classmethod
    def from_json(cls, record: Any) -> Origin:
        """The origin that `to_json` wrote; the module of a stranger's file is a module's name and nothing else."""
        for name, is_right in (("module", _is_module_name), ("digest", _DIGEST.fullmatch)):
            value = record.get(name) if isinstance(record, Mapping) else None
            if not isinstance(value, str) or not is_right(value):
                raise SettingError("an origin is malformed, expected the name of a module and a hash")
        return cls(record["module"], record["digest"])

    def to_json(self) -> dict[str, str]:
        """The origin as plain JSON."""
        return {"module": self.module, "digest": self.digest}

    @property
    def place(self) -> str:
        """The module for people."""
        return "a notebook or script" if self.module == MAIN else f"module {self.module}"


# The origin of every registered thing, by its kind ("feature") and name.
ORIGINS: dict[tuple[str, str], Origin] = {}
# The extensions that were loaded by name or file, as other processes can load them.
_LOADED: dict[str, None] = {}


def register(registry: MutableMapping[str, T], kind: str, name: str, thing: T, definition: Any) -> None:
    """Add a thing to the registry of its kind; `definition` is the function or class that a user wrote.

    A built-in name, and a name that another module has registered, are refused. The same module may register a name
    again, as a notebook does when a cell is run again.
    """
    if not isinstance(name, str) or len(name.split()) != 1 or name != name.strip() or "," in name:
        raise SettingError(f"{kind} is called {name!r}, expected a word without blanks and commas")
    origin, known = Origin.of(definition), ORIGINS.get((kind, name))
    if known is None and name in registry:
        raise SettingError(f"{kind} {name} is built in, expected another name")
    if known is not None and known.module != origin.module:
        raise SettingError(f"{kind} {name} is registered by {known.place} already, expected another name")
    registry[name] = thing
    ORIGINS[kind, name] = origin


def origin_of(kind: str, name: str) -> Origin | None:
    """The origin of a registered thing; None for what is built in or unknown."""
    return ORIGINS.get((kind, name))


def registered_versions() -> list[list[str]]:
    """Kind, name and hash of everything that is registered: what is computed with it may depend on them."""
    return sorted([*key, origin.digest] for key, origin in ORIGINS.items())


def require_origin(kind: str, name: str, recorded: Origin, user: str) -> None:
    """Raise SettingError unless what `user`, such as "this model", depends on is loaded as it was recorded."""
    current = ORIGINS.get((kind, name))
    what = f"{kind} {name} of {user}"
    if current is None:
        if recorded.module == MAIN:
            remedy = "define it here as well, or move it to a module and make this again with --extension MODULE"
        else:
            remedy = f"searchlab --extension {recorded.module} …, or `import {recorded.module}` in Python"
        raise SettingError(f"{what} comes from {recorded.place}, which is not loaded: {remedy}")
    if current != recorded:
        where = "" if current.module == recorded.module else f", it is now in {current.place}"
        raise SettingError(
            f"{what}: {recorded.place} has changed since (hash {recorded.digest}, now {current.digest}{where}): "
            f"make {user.removeprefix('this ')} again, or load the former version"
        )


def failure(what: str, definition: Any, error: Exception) -> SettingError:
    """The error for an exception in a user's code: `what` failed, the reason, and the line of `definition`."""
    files = {code.co_filename for code in _codes(definition)}
    frames = traceback.extract_tb(error.__traceback__)
    frame = ([each for each in frames if each.filename in files] or frames)[-1]
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return SettingError(f"{what}: {reason} ({Path(frame.filename).name}, line {frame.lineno})")


def load_extensions(names: Iterable[str] = ()) -> None:
    """Load the extensions of the environment and these: modules by name, or files that end in .py.

    The environment is extended, so that processes started from here on load them too.
    """
    from_environment = os.environ.get(ENVIRONMENT, "").split(",")
    for name in [*filter(None, map(str.strip, from_environment)), *names]:
        _LOADED[_load(name)] = None
    if _LOADED:
        os.environ[ENVIRONMENT] = ",".join(_LOADED)


def process_environment() -> dict[str, str]:
    """Environment of a process that searchlab starts: where modules are found, and the extensions of this process.

    Modules that a program has imported are among them, except what a notebook or script defines itself.
    """
    path = [str(Path(__file__).parents[1]), *(folder or str(Path.cwd()) for folder in sys.path)]
    files = {Path(name).stem for name in _LOADED if name.endswith(".py")}
    imported = {origin.module: None for origin in ORIGINS.values() if origin.module not in {MAIN, *files}}
    extensions = ",".join({**_LOADED, **imported})
    return dict(os.environ) | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(path)), ENVIRONMENT: extensions}


def loaded_extensions() -> tuple[str, ...]:
    """The extensions of this process, as `load_extensions` takes them in another one."""
    return tuple(filter(None, process_environment()[ENVIRONMENT].split(",")))


def _load(name: str) -> str:
    """Load one extension; returns the name under which another process finds it."""
    if "," in name:
        raise SettingError(f"extension {name!r} has a comma in its name, expected none")
    is_file = name.endswith(".py")
    if is_file and not Path(name).is_file():
        raise SettingError(f"extension {name}: no such file")
    try:
        if is_file:
            _load_file(Path(name).resolve())
            return str(Path(name).resolve())
        _search_current_folder()
        importlib.import_module(name)
        return name
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise SettingError(f"extension {name}: it imports {error.name}, which is not installed") from error
        raise SettingError(f"extension {name}: no such module, expected one or a file that ends in .py") from None
    except SettingError as error:
        raise SettingError(f"extension {name}: {error}") from error
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise SettingError(f"extension {name}: it could not be loaded ({reason})") from error


def _search_current_folder() -> None:
    """Let modules be found in the current folder, after all others: a file there replaces no installed module."""
    folder = str(Path.cwd())
    if folder not in sys.path and "" not in sys.path:
        sys.path.append(folder)


def _load_file(path: Path) -> None:
    name = path.stem
    if not name.isidentifier():
        raise SettingError("expected a file name of letters, digits and _, because it names a module")
    known: ModuleType | None = sys.modules.get(name)
    file = getattr(known, "__file__", None)
    if file is not None and Path(file).resolve() == path:
        return
    if known is not None or name in sys.stdlib_module_names:
        raise SettingError(f"there is another module {name}, expected another name of the file")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def _is_module_name(text: str) -> bool:
    return len(text) <= MAX_MODULE_NAME and all(part.isidentifier() for part in text.split("."))


def _module_source(thing: Any) -> bytes:
    """The source of the module that defines a thing; empty for a notebook or script, and if it cannot be read."""
    file = getattr(sys.modules.get(thing.__module__), "__file__", None)
    if thing.__module__ == MAIN or file is None:
        return b""
    try:
        return Path(file).read_bytes().replace(b"\r\n", b"\n")
    except OSError:
        return b""


def _own_source(thing: Any) -> bytes:
    """The source of a function or class; its compiled code where there is no source, as in `python -c`."""
    try:
        return inspect.getsource(thing).encode()
    except (OSError, TypeError):
        return repr([_code_parts(code) for code in _codes(thing)]).encode()


def _codes(thing: Any) -> list[CodeType]:
    """The compiled code of a function, or of the functions of a class."""
    functions = [thing, *vars(thing).values()] if isinstance(thing, type) else [thing]
    # Methods of a registered scorer are wrapped.
    return [inspect.unwrap(each).__code__ for each in functions if inspect.isfunction(each)]


def _code_parts(code: CodeType) -> list[Any]:
    constants = [_code_parts(each) if isinstance(each, CodeType) else each for each in code.co_consts]
    return [code.co_code, code.co_names, constants]
