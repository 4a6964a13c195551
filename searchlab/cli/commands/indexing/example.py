"""`searchlab example`: copy a bundled collection, and its experiment if it has one, into the current folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.app import app
from searchlab.cli.messages import note
from searchlab.errors import WriteFailed, unknown_name

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

NAMES = ("chinese", "medical")


@app.command("example")
def example_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The collection: medical or chinese")],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FOLDER", help="The folder to write into [default: this folder]")
    ] = "",
) -> None:
    """Copy a bundled collection into the current folder.

    Writes corpora/NAME (documents, topics, judgments) and, for medical, examples/NAME.toml (an experiment). A file
    that exists with another content is not overwritten.
    """
    if name not in NAMES:
        raise unknown_name("example", name, NAMES)
    texts = {Path(output) / path: file.read_text(encoding="utf-8") for path, file in _bundled_files(name).items()}
    for path, text in texts.items():
        if path.exists() and (not path.is_file() or path.read_bytes() != text.encode()):
            raise WriteFailed(f"{path}: exists with another content; remove it, or choose another folder with -o")
    for path, text in texts.items():
        _write(path, text)
        print(path)
    note(f"`searchlab index {Path(output) / 'corpora' / name}` indexes the collection")


def _bundled_files(name: str) -> dict[Path, Traversable]:
    """The files of an example by where they are copied to: from the package, or in a clone from its folders."""
    from importlib import resources

    package = resources.files("searchlab")
    bundled = package / "examples" / name
    if bundled.is_dir():
        files = list(bundled.iterdir())
    else:
        clone = Path(str(package)).parent
        files = [*(clone / "corpora" / name).iterdir(), *(clone / "examples").glob(f"{name}.toml")]
    copies = {Path("corpora") / name / file.name: file for file in files if not file.name.endswith(".toml")}
    copies |= {Path("examples") / file.name: file for file in files if file.name.endswith(".toml")}
    return dict(sorted(copies.items()))


def _write(path: Path, text: str) -> None:
    from searchlab.atomic_file import make_folders, open_atomic

    try:
        make_folders(path.parent)
    except OSError as error:
        raise WriteFailed(f"{path.parent}: cannot be written ({error.strerror})") from None
    with open_atomic(path) as file:
        file.write(text)
