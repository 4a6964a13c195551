import re
import signal
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

import httpx2 as httpx
import pytest

from searchlab.web import server

SEARCHLAB = [sys.executable, "-c", "from searchlab.cli import main; main()"]


@pytest.fixture
def served(monkeypatch):
    """What would be served, and how."""
    calls = []
    monkeypatch.setattr(server, "serve", lambda *arguments: calls.append(arguments))
    monkeypatch.delenv("SEARCHLAB_TOKEN", raising=False)
    return calls


@pytest.fixture
def process(here):
    """A server as users start it, for the index of `here`."""
    started = subprocess.Popen(
        [*SEARCHLAB, "serve", "--port", "0"], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    yield started
    if started.poll() is None:
        started.kill()
    started.communicate()


def test_the_newest_index_is_served_on_this_machine_unless_something_else_is_said(here, run_cli, served):
    code, out, err = run_cli("serve")
    assert (code, out, err) == (0, "", "index: indexes/small\n")
    ((app_state, host, port, tokens),) = served
    assert (app_state.indexes.names, app_state.reports, host, port, tokens) == (("small",), {}, "127.0.0.1", 8000, ())


def test_several_indexes_are_served_the_first_by_default(here, run_cli, served):
    assert run_cli("index", "small.jsonl", "-i", "other/place")[0] == 0
    code, _, err = run_cli(
        "serve", "-i", "other/place", "-i", "small", "--host", "::1", "--port", "0", "--token", "abc"
    )
    assert (code, err) == (0, "")
    ((app_state, *rest),) = served
    assert (app_state.indexes.names, app_state.indexes.folder()) == (("place", "small"), Path("other/place"))
    assert rest == ["::1", 0, ["abc"]]


def test_the_token_may_come_from_the_environment_which_other_users_cannot_see(here, run_cli, served, monkeypatch):
    monkeypatch.setenv("SEARCHLAB_TOKEN", "from-the-environment")
    assert run_cli("serve")[0] == 0
    assert served[0][3] == ["from-the-environment"]
    assert run_cli("serve", "--token", "typed")[0] == 0
    assert served[1][3] == ["typed"]


def test_each_judge_may_have_a_token(here, run_cli, served, monkeypatch):
    assert run_cli("serve", "--token", "ann=auto", "--token", "Bob Ray=abc")[0] == 0
    assert served[0][3] == ["ann=auto", "Bob Ray=abc"]
    monkeypatch.setenv("SEARCHLAB_TOKEN", "ann=abc bob=xyz")
    assert run_cli("serve")[0] == 0
    assert served[1][3] == ["ann=abc", "bob=xyz"]


def test_reports_are_found_in_their_folder(here, run_cli, served):
    report = here / "results" / "trial" / "report.html"
    report.parent.mkdir(parents=True)
    report.write_text("<p>report</p>")
    assert run_cli("serve", "--reports", "results")[0] == 0
    assert served[0][0].reports == {"trial": Path("results/trial/report.html")}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("-i nowhere", 1, "nowhere: no index here"),
        ("-i small -i nowhere", 1, "nowhere: no index here"),
        ("-i small -i twin/small", 2, "two indexes are called small: indexes/small and twin/small"),
        ("--model nowhere.json", 1, "nowhere.json: no such file"),
        ("--model small.jsonl", 1, "small.jsonl"),
        ("--reports nowhere", 2, "--reports nowhere: no such folder"),
        ("--port many", 2, "Invalid value for '--port'"),
    ],
)
def test_a_mistake_ends_in_one_line_before_anything_is_served(here, run_cli, served, arguments, code, message):
    found, out, err = run_cli("serve", *arguments.split())
    assert (found, out, served) == (code, "", [])
    last = err.splitlines()[-1]
    assert last.startswith("searchlab: ")
    assert message in last


def test_a_damaged_index_is_reported_before_anything_is_served(here, run_cli, served):
    next(here.glob("indexes/small/shard-*/columns")).write_bytes(b"")
    code, _, err = run_cli("serve")
    assert (code, served) == (1, [])
    assert "columns: 0 bytes, expected " in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("--port 70000", 2, "--port is 70000, expected 0 to 65535"),
        ("--host 192.0.2.1", 2, "--host 192.0.2.1: no such address"),
        ("--port 0 --token é", 2, "the token is empty or has other characters"),
    ],
)
def test_a_place_that_cannot_be_served_ends_in_one_line(here, run_cli, arguments, code, message):
    found, out, err = run_cli("serve", *arguments.split())
    assert (found, out) == (code, "")
    assert err.splitlines()[-1].startswith(f"searchlab: {message}")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_the_page_is_opened_and_ends_well(process, sign):
    line = process.stdout.readline()
    address = re.fullmatch(r"searchlab serves small at (http://127\.0\.0\.1:\d+) \(every user .*\)\n", line)[1]
    found = httpx.get(f"{address}/api/search", params={"q": "lymphoma"}).json()
    assert [each["docno"] for each in found["hits"]] == ["med-1"]
    assert "<form" in httpx.get(address).text
    process.send_signal(sign)
    assert process.communicate(timeout=20) == ("", "index: indexes/small\n")
    assert process.returncode == 0


PATHS = [
    *("/static/../../../etc/passwd", "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/static/..%2f..%2fsafety.py"),
    *("/static//etc/passwd", "/static/%2fetc%2fpasswd", "/static/..", "/static/", "/static/style.css%00.js"),
    *("/report/../../etc/passwd/", "/report/%2e%2e/", "/report/..%2f..%2fsmall.jsonl/", "/../small.jsonl"),
    *("/document?docno=../../small.jsonl", "/api/document?docno=/etc/passwd", "/api/search?q=x&index=../../etc"),
]


def test_no_path_in_a_request_leads_to_a_file(process):
    address = re.search(r"(http://\S+) ", process.stdout.readline())[1]
    assert httpx.get(f"{address}/static/style.css").status_code == 200
    host, port = address.removeprefix("http://").split(":")
    for path in PATHS:
        # Not by httpx, which would tidy the path.
        status, body = fetch(host, int(port), path)
        assert 400 <= status < 500, path
        assert "root:" not in body
        assert '"docno": "med-1"' not in body


def fetch(host, port, path):
    link = HTTPConnection(host, port, timeout=10)
    try:
        link.request("GET", path)
        response = link.getresponse()
        return response.status, response.read().decode()
    finally:
        link.close()
