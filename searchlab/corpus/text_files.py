"""Text files that are read whole: models, weights, plans, lists of words.

They are small. A file over the limit, a pipe or a device is refused, so that none fills the memory.
"""

from __future__ import annotations

import stat
from pathlib import Path

from searchlab.corpus.sources import kind_of_file
from searchlab.corpus.text_cleaning import shown_path
from searchlab.errors import SourceError

# A model with a million weights has about 25 MB.
MAX_TEXT_FILE_BYTES = 128 * 2**20


def read_text_file(path: str | Path, max_bytes: int = MAX_TEXT_FILE_BYTES) -> str:
    """The text of a file in UTF-8; raises SourceError if it cannot be read, UnicodeDecodeError if it is not UTF-8."""
    name = shown_path(path)
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            raise SourceError(name, f"{kind_of_file(status)}, expected a file")
        with Path(path).open("rb") as file:
            # The file may grow while it is read.
            content = file.read(max_bytes + 1)
    except OSError as error:
        raise SourceError(name, f"cannot be read ({error.strerror})") from None
    if len(content) > max_bytes:
        raise SourceError(name, f"expected a file of at most {max_bytes // 2**20} MB, found a larger one")
    return content.decode("utf-8")
