import pytest

from searchlab.cluster.worker_versions import check_versions, describe_versions, installed_versions
from searchlab.errors import ClusterError
from tests.cluster import worker_tasks
from tests.cluster.fake_workers import answering


def test_equal_versions_pass_and_another_one_is_named():
    here = describe_versions()
    check_versions(answering(here, here), ())
    with pytest.raises(ClusterError, match=r"worker tcp://w1:1 has numpy 0.1, expected .* as the client has"):
        check_versions(answering(here, here | {"numpy": "0.1"}), ())


def test_other_code_of_the_same_version_is_named():
    here = describe_versions()
    with pytest.raises(ClusterError, match="searchlab's code 00"):
        check_versions(answering(here | {"searchlab's code": "00"}), ())


def test_a_worker_without_searchlab_is_named():
    with pytest.raises(ClusterError, match=r"w0.*install searchlab\[cluster\] there"):
        check_versions(answering(ModuleNotFoundError("No module named 'searchlab'")), ())


def test_a_worker_that_joins_later_is_checked_before_its_first_task(cluster, monkeypatch):
    # The client changes after the workers were checked, as if all of them were replaced by others.
    here = installed_versions() | {"numpy": "0.1"}
    monkeypatch.setattr("searchlab.cluster.cluster.installed_versions", lambda: here)
    with pytest.raises(ClusterError, match=r"worker tcp://127.* has numpy .*, expected 0\.1 as the client has"):
        cluster.run(worker_tasks.double, [(1,)])
