"""`searchlab example`: copy a bundled collection into the current folder."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.atomic_file import open_atomic
from searchlab.cli.app import app
from searchlab.cli.messages import note
from searchlab.cli.terminal_text import pluralize
from searchlab.errors import WriteFailed, unknown_name

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

# The package whose folders are the examples.
PACKAGE = "searchlab.examples"


@app.command("example")
def example_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The example: medical")] = "medical",
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FOLDER", help="Where to write [default: a folder of the same name]"),
    ] = None,
) -> None:
    """Copy a bundled collection into the current folder.

    Documents, topics, judgments and an experiment, to try searchlab with. Existing files are not overwritten.
    """
    texts = _read_example(name)
    folder = Path(output or name)
    for file_name, text in texts.items():
        _refuse_other_content(folder / file_name, text)
    _write_files(folder, texts)
    print(f"{folder}: {pluralize(len(texts), 'file')}: {', '.join(texts)}")
    note(f"`searchlab index {folder}` indexes it")


def _read_example(name: str) -> dict[str, str]:
    """The texts of an example's files by their names."""
    examples: dict[str, Traversable] = {
        folder.name: folder
        for folder in resources.files(PACKAGE).iterdir()
        if folder.is_dir() and not folder.name.startswith(("_", "."))
    }
    if name not in examples:
        raise unknown_name("example", name, examples)
    files = sorted((file for file in examples[name].iterdir() if file.is_file()), key=lambda file: file.name)
    return {file.name: file.read_text(encoding="utf-8") for file in files if not file.name.endswith(".py")}


def _refuse_other_content(path: Path, text: str) -> None:
    """Refuse to overwrite a file with another content."""
    if path.is_dir():
        raise WriteFailed(f"{path}: a folder, expected a file or nothing")
    if path.exists() and path.read_bytes() != text.encode():
        raise WriteFailed(f"{path}: exists with another content; remove it, or choose another folder with -o")


def _write_files(folder: Path, texts: dict[str, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteFailed(f"{folder}: cannot be written ({error.strerror})") from None
    for file_name, text in texts.items():
        with open_atomic(folder / file_name) as file:
            file.write(text)
