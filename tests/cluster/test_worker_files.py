import re

import pytest

from searchlab.cluster.worker_files import answer_probe, check_folder, check_sources
from searchlab.errors import ClusterError
from tests.cluster.fake_workers import answering


def test_a_file_that_a_worker_does_not_see_is_named(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text("12345")
    check_sources(answering({str(path): "a file of 5 bytes"}), [path])
    problem = f"w1:1 finds {path} to be unreadable (No such file), expected a file of 5 bytes as here"
    with pytest.raises(ClusterError, match=re.escape(problem)):
        check_sources(answering({str(path): "a file of 5 bytes"}, {str(path): "unreadable (No such file)"}), [path])


def test_a_folder_that_is_another_one_in_a_worker_is_named(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()

    def ask_all(function, folder, token):
        assert function is answer_probe
        return {"tcp://w0:1": function(folder, token), "tcp://w1:1": function(str(there), token)}

    with pytest.raises(ClusterError, match=r"worker tcp://w1:1: .* is not the same folder there"):
        check_folder(ask_all, here)
    assert list(here.iterdir()) == []


def test_a_shared_folder_passes_and_stays_clean(cluster, tmp_path):
    cluster.check_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_leave_to_write_is_named(tmp_path):
    with pytest.raises(ClusterError, match="read-only"):
        check_folder(answering({"reply": "", "problem": "read-only"}), tmp_path)
