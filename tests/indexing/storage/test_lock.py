import os
import subprocess
import sys
import textwrap

import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import IndexLocked, WriteFailed
from searchlab.indexing.building.indexer import build_index
from searchlab.indexing.storage.layout import WRITER_LOCK
from searchlab.indexing.storage.lock import writer_lock
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine

SETTINGS = AnalysisSettings()
NEW = [Document("new", "", "word")]


def files_below(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def previous(build, tmp_path):
    """An existing index whose one document is named `old`."""
    return build([Document("old", "", "word")], folder=tmp_path / "index", settings=SETTINGS)


def test_a_second_writer_sees_who_the_first_is(previous):
    before = files_below(previous)
    with writer_lock(previous), pytest.raises(IndexLocked, match=f"being written by process {os.getpid()} "):
        build_index(lambda: NEW, previous, SETTINGS, jobs=1)
    assert files_below(previous) == before
    assert [hit.docno for hit in SearchEngine(previous).search("word")] == ["old"]


def test_another_process_that_writes_is_named_and_its_death_frees_the_index(previous):
    script = textwrap.dedent(
        f"""
        from pathlib import Path
        from searchlab.indexing.storage.lock import writer_lock
        with writer_lock(Path({str(previous)!r})):
            print("held", flush=True)
            input()
        """
    )
    holder = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(IndexLocked, match=f"process {holder.pid} .* try again later"):
            build_index(lambda: NEW, previous, SETTINGS, jobs=1)
    finally:
        holder.kill()
        holder.communicate()
    assert build_index(lambda: NEW, previous, SETTINGS, jobs=1).n_docs == 2
    assert (previous / WRITER_LOCK).read_bytes() == b""


def test_a_path_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(WriteFailed, match="taken: cannot be written"):
        build_index(lambda: NEW, tmp_path / "taken", SETTINGS, jobs=1)
    assert (tmp_path / "taken").read_text() == "mine"
