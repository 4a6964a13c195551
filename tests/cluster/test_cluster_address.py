import json

import pytest

from searchlab.cluster.cluster_address import ClusterAddress
from searchlab.errors import SettingError


def test_local_workers_are_as_many_as_written():
    assert ClusterAddress.parse("local:3") == ClusterAddress("local:3", n_workers=3)
    assert (ClusterAddress.parse("local").n_workers or 0) >= 1


def test_a_scheduler_has_a_host_and_a_port():
    assert ClusterAddress.parse("tls://head:8786").scheduler == "tls://head:8786"


@pytest.mark.parametrize(
    "text",
    [
        *("", "local:0", "local:x", "local:99999", "head:8786", "tcp://head", "tcp://:8786", "http://head:8786"),
        *("tcp://head:99999999", "tcp://[::1", "no-such-file.json"),
    ],
)
def test_other_texts_are_refused(text):
    with pytest.raises(SettingError, match="expected"):
        ClusterAddress.parse(text)


def test_a_scheduler_file_is_read(tmp_path):
    path = tmp_path / "scheduler.json"
    path.write_text(json.dumps({"address": "tcp://10.0.0.1:8786"}))
    address = ClusterAddress.parse(path)
    assert address.scheduler_file == path
    assert address.is_exposed


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"address": 3}', '{"address": "head"}'])
def test_a_file_of_another_kind_is_refused(tmp_path, content):
    path = tmp_path / "scheduler.json"
    path.write_text(content)
    with pytest.raises(SettingError, match="scheduler"):
        ClusterAddress.parse(path)


@pytest.mark.parametrize(
    ("address", "exposed"),
    [
        ("tcp://127.0.0.1:8786", False),
        ("tcp://localhost:8786", False),
        ("tcp://[::1]:8786", False),
        ("tls://10.0.0.1:8786", False),
        ("tcp://10.0.0.1:8786", True),
        ("tcp://head:8786", True),
        ("local:2", False),
    ],
)
def test_only_plain_connections_beyond_this_machine_are_exposed(address, exposed):
    assert ClusterAddress.parse(address).is_exposed == exposed
