"""What can be typed?

Each command parses its arguments, calls the Python API and prints. Results go to standard output, everything
else (progress, warnings, errors) to standard error. Rooms are imported inside the commands: `--help` must not
wait for numba.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

from searchlab.cli.app import app
from searchlab.cli.commands import (  # noqa: F401  (they add their commands)
    evaluation,
    experiments,
    explaining,
    features,
    indexes,
    judgments,
    language,
    learning,
    reproducing,
    searches,
    serving,
    topics,
)
from searchlab.errors import SearchlabError


def main() -> None:
    """Run the command line: a mistake of the user's ends in one line, not in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets a question mark.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        # Without its stand-alone mode, typer gives back the code of an Exit, and 130 for Ctrl-C.
        code = app(standalone_mode=False) or 0
        sys.stdout.flush()
    except SearchlabError as error:
        fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except SystemError as error:
        # Compiled code that is interrupted says so in its own way.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        code = 130
    except BrokenPipeError:
        # The reader of our output has seen enough (`searchlab query … | head -1`).
        _drop_output()
        sys.exit(0)
    except OSError as error:
        _drop_output()
        fail(f"{error.filename or 'standard output'}: {error.strerror or error}", 1)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        fail(f"{error.format_message()}; see searchlab --help", 2)
    if code == 130:
        fail("interrupted", 130)
    sys.exit(code)


def _drop_output() -> None:
    """Let what is still to be written go nowhere: Python would try again, and complain, when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str, code: int) -> NoReturn:
    """Say what is wrong in one line, and end."""
    print(f"searchlab: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)
