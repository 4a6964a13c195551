"""Does the README tell the truth?"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from searchlab.analysis.analyzer import STEMMERS
from searchlab.corpus import DOCUMENT_FORMATS, TOPIC_FORMATS
from searchlab.indexing.building.indexer import DUPLICATE_RULES
from searchlab.indexing.storage.columns import STREAMS
from searchlab.scorers.registry import SCORERS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL_BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
COMMANDS = [line for block in SHELL_BLOCKS for line in block.splitlines() if line.startswith("searchlab ")]
PYTHON_BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder like that of a newcomer: the bundled corpora, and no index yet."""
    folder = tmp_path_factory.mktemp("newcomer")
    shutil.copytree(ROOT / "corpora", folder / "corpora")
    shutil.copytree(ROOT / "examples", folder / "examples")
    return folder


def run(folder, *arguments):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


def try_server(folder, arguments):
    """Start it where a port is free, look at its first page and at what README asks of the API, and end it."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", "from searchlab.cli import main; main()", *arguments, "--port", "0"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            (address,) = re.findall(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
            for path in ["/", *re.findall(r"^\$ curl 'http://127\.0\.0\.1:8000(/api/\S+)'", README, re.MULTILINE)]:
                with urllib.request.urlopen(address + path, timeout=60) as answer:
                    assert answer.status == 200
        finally:
            server.send_signal(signal.SIGTERM)
            assert server.wait(60) == 0


def test_every_command_of_the_readme_works_in_its_order(folder):
    assert len(COMMANDS) >= 5
    for command in COMMANDS:
        arguments = shlex.split(command, comments=True)[1:]
        if arguments[0] == "serve":
            try_server(folder, arguments)
            continue
        result = run(folder, "-c", "from searchlab.cli import main; main()", *arguments)
        assert result.returncode == 0, f"{command}\n{result.stderr}"
        assert result.stdout or "-o" in arguments, command


def test_the_python_of_the_readme_runs(folder):
    assert len(PYTHON_BLOCKS) == 1
    result = run(folder, "-c", PYTHON_BLOCKS[0])
    assert result.returncode == 0, result.stderr
    assert "med-043" in result.stdout


def test_every_scorer_is_in_the_readme():
    rows = re.findall(r"^\| (`[a-z0-9-]+`(?:, `[a-z0-9-]+`)*) \|.*\|.*\|$", README, re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`([a-z0-9-]+)`", row)}
    assert set(SCORERS) <= documented


def test_the_help_of_the_commands_names_every_choice(folder):
    choices = {
        "index": [*DOCUMENT_FORMATS, *STEMMERS, *DUPLICATE_RULES],
        "query": [*SCORERS, *STREAMS],
        "run": [*SCORERS, *STREAMS, *TOPIC_FORMATS],
    }
    for command, names in choices.items():
        wrapped = run(folder, "-c", "from searchlab.cli import main; main()", command, "--help").stdout
        text = re.sub(r"-\n +", "-", wrapped)
        assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


def test_bundled_collection_has_what_its_readme_says():
    collection = ROOT / "corpora" / "medical"
    docnos = re.findall(r'^\{"docno": "(med-\d+)"', (collection / "docs.jsonl").read_text("utf-8"), re.MULTILINE)
    topics = dict(line.split("\t") for line in (collection / "topics.tsv").read_text("utf-8").splitlines())
    qrels = [line.split() for line in (collection / "qrels.txt").read_text("utf-8").splitlines()]
    judged = {qid: [row for row in qrels if row[0] == qid] for qid in topics}
    assert len(set(docnos)) == len(docnos) == 160
    assert len(topics) == 26
    assert "t-cell lymphoma associated with autoimmune symptoms" in topics.values()
    assert len(qrels) == len({(qid, docno) for qid, _, docno, _ in qrels}) == 717
    assert {docno for _, _, docno, _ in qrels} <= set(docnos)
    assert {grade for *_, grade in qrels} == {"0", "1", "2"}
    assert all(len(rows) >= 20 for rows in judged.values())
    assert all(sum(row[3] == "2" for row in rows) >= 3 for rows in judged.values())
