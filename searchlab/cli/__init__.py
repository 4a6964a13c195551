"""The command line.

A command parses its arguments, calls the Python API and prints. Results go to standard output, everything else
(progress, notes, warnings, errors) to standard error. Heavy modules are imported inside the commands: `--help` must
not wait for numba.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from typing import NoReturn

import typer

from searchlab.cli import commands  # noqa: F401  (importing a command adds it to the application)
from searchlab.cli.app import Interrupted, app
from searchlab.cli.messages import Verbosity, detail, print_error, set_verbosity
from searchlab.cli.printing.terminal_text import filter_streams
from searchlab.errors import ClusterWarning, DurabilityWarning, SearchlabError

# As shells report a command that Ctrl-C has ended.
INTERRUPTED = 130


def main() -> None:
    """Run the command line; a user's mistake ends in one line, not in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets a question mark.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    filter_streams()
    set_verbosity(Verbosity.NORMAL)
    for category in (ClusterWarning, DurabilityWarning):
        warnings.simplefilter("always", category)
    warnings.formatwarning = _format_warning
    began = time.perf_counter()
    try:
        # Without its stand-alone mode, typer returns the code of an Exit, and 130 for Ctrl-C.
        code = app(prog_name="searchlab", standalone_mode=False) or 0
        sys.stdout.flush()
    except SearchlabError as error:
        fail(str(error), error.exit_code)
    except Interrupted as error:
        fail("; ".join(["interrupted", *map(str, error.args)]), INTERRUPTED)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except SystemError as error:
        # Compiled code that is interrupted raises this.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has closed it (`searchlab query … | head -1`).
        _discard_output()
        sys.exit(0)
    except OSError as error:
        _discard_output()
        fail(f"{error.filename or 'standard output'}: {error.strerror or error}", 1)
    except MemoryError:
        fail("not enough memory", 1)
    except RecursionError:
        fail("the input is nested too deeply", 1)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        command = "searchlab" if context is None else context.command_path
        fail(f"{error.format_message().rstrip('.')}; see {command} --help", 2)
    if code == INTERRUPTED:
        fail("interrupted", INTERRUPTED)
    detail(f"finished in {time.perf_counter() - began:.2f} s")
    sys.exit(code)


def fail(message: str, code: int) -> NoReturn:
    """Print an error in one line, and exit."""
    print_error(message)
    sys.exit(code)


_format_other_warning = warnings.formatwarning


def _format_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning of searchlab like those that the commands print, without the line of code."""
    if issubclass(category, ClusterWarning | DurabilityWarning):
        return f"warning: {message}\n"
    return _format_other_warning(message, category, filename, lineno, line)


def _discard_output() -> None:
    """Discard what is still to be written: Python would try again, and complain, when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
