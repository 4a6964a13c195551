import gzip
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path):
    """Write a file below tmp_path; the content is gzipped if the name ends in .gz."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        stored = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(stored) if name.endswith(".gz") else stored)
        return path

    return write_file


@pytest.fixture
def message():
    """The message of the error that a call raises, checked to be of the given class."""

    def catch(error_class, call, *arguments, **settings) -> str:
        with pytest.raises(error_class) as caught:
            list(call(*arguments, **settings))
        assert type(caught.value) is error_class
        return str(caught.value)

    return catch
