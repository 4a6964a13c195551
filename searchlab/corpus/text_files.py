"""Files that are read whole: models, weights, plans, manifests, lists of words.

They are small. A file over the limit, a pipe or a device is refused, so that none fills the memory or waits for ever.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from searchlab.corpus.sources import kind_of_file
from searchlab.corpus.text_cleaning import shown_path
from searchlab.errors import SourceError

# A model with a million weights has about 25 MB.
MAX_TEXT_FILE_BYTES = 128 * 2**20


def read_text_file(path: str | Path, max_bytes: int = MAX_TEXT_FILE_BYTES) -> str:
    """The text of a file in UTF-8; raises SourceError if it cannot be read, UnicodeDecodeError if it is not UTF-8."""
    try:
        return read_small_file(path, max_bytes).decode("utf-8")
    except OSError as error:
        refused = error.errno in (errno.EINVAL, errno.EFBIG) and error.filename is not None
        problem = f"{error.strerror}" if refused else f"cannot be read ({error.strerror})"
        raise SourceError(shown_path(path), problem) from None


def read_small_file(path: str | Path, max_bytes: int = MAX_TEXT_FILE_BYTES) -> bytes:
    """The content of a file; raises OSError if it cannot be read, is over the limit, or is a pipe or a device."""
    with os.fdopen(open_regular_file(path), "rb") as file:
        # The file may grow while it is read.
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        problem = f"expected a file of at most {max_bytes // 2**20} MB, found a larger one"
        raise OSError(errno.EFBIG, problem, str(path))
    return content


def open_regular_file(path: str | Path) -> int:
    """The descriptor of a file that is opened for reading; raises OSError for a folder, a pipe or a device."""
    # A pipe without a writer would block.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, f"{kind_of_file(status)}, expected a file", str(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
