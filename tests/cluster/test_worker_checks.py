import re

import pytest
from distributed.comm import CommClosedError

from searchlab.cluster import worker_checks
from searchlab.cluster.worker_checks import (
    check_folder,
    check_sources,
    check_versions,
    describe_versions,
    installed_versions,
)
from searchlab.errors import ClusterError
from tests.cluster import worker_tasks


def answering(*answers):
    """Workers that answer so, whatever they are asked."""
    return lambda function, *arguments: {f"tcp://w{number}:1": answer for number, answer in enumerate(answers)}


def test_equal_versions_pass_and_another_one_is_named():
    here = describe_versions()
    check_versions(answering(here, here), ())
    with pytest.raises(ClusterError, match=r"worker tcp://w1:1 has numpy 0.1, expected .* as the client has"):
        check_versions(answering(here, here | {"numpy": "0.1"}), ())


def test_a_worker_that_joins_later_is_checked_before_its_first_task(cluster, monkeypatch):
    # The client changes after the workers were checked, as if all of them were replaced by others.
    here = installed_versions() | {"numpy": "0.1"}
    monkeypatch.setattr("searchlab.cluster.cluster.installed_versions", lambda: here)
    with pytest.raises(ClusterError, match=r"worker tcp://127.* has numpy .*, expected 0\.1 as the client has"):
        cluster.run(worker_tasks.double, [(1,)])


def test_a_worker_that_is_lost_before_it_answers_is_not_waited_for(cluster, monkeypatch):
    lost = [{"tcp://w0:1": CommClosedError("stream is closed"), "tcp://w1:1": 1}, {"tcp://w1:1": 1}]
    monkeypatch.setattr(cluster.client, "run", lambda *arguments, **options: lost.pop(0))
    assert cluster._ask_all(worker_tasks.double, 1) == {"tcp://w1:1": 1}
    assert not lost


def test_other_code_of_the_same_version_is_named():
    here = describe_versions()
    with pytest.raises(ClusterError, match="searchlab's code 00"):
        check_versions(answering(here | {"searchlab's code": "00"}), ())


def test_a_worker_without_searchlab_is_named():
    with pytest.raises(ClusterError, match=r"w0.*install searchlab\[cluster\] there"):
        check_versions(answering(ModuleNotFoundError("No module named 'searchlab'")), ())


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
        assert function is worker_checks.answer_probe
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
