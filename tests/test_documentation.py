"""Commands, Python blocks, links and paths in README, docs and ARCHITECTURE are run or resolved."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from dataclasses import asdict
from pathlib import Path

import pytest

from searchlab.analysis.languages import LANGUAGES
from searchlab.analysis.stemmers import STEMMERS
from searchlab.corpus import DOCUMENT_FORMATS, TOPIC_FORMATS
from searchlab.indexing.deduplication.duplicates import DUPLICATE_RULES
from searchlab.indexing.storage.columns import NGRAMS, STREAMS
from searchlab.mixtures.latent_topic_training import DEFAULT_MCE
from searchlab.mixtures.weight_training import PER_DOCUMENT_MCE, SHARED_MCE
from searchlab.retrieval.fusion import METHODS
from searchlab.scorers.registry import SCORERS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GUIDES = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *PAGES]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
MAIN = "from searchlab.cli import main; main()"


def page_name(page):
    return page.relative_to(ROOT).as_posix()


def commands_of(page):
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("searchlab ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


def python_of(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def folder(tmp_path):
    """A folder like that of a newcomer who has a clone: the bundled corpora and examples, and no index yet."""
    shutil.copytree(ROOT / "corpora", tmp_path / "corpora")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("results"))
    return tmp_path


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=240
    )


def try_server(folder, arguments, page, searchlab=(sys.executable, "-c", MAIN), environment=ENVIRONMENT):
    """Start the server on a free port, request its first page and the API calls of the page, and stop it."""
    command = [*searchlab, *arguments, "--port", "0"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            (address,) = re.findall(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
            paths = re.findall(r"^\$ curl 'http://127\.0\.0\.1:8000(/api/\S+)'", page.read_text("utf-8"), re.MULTILINE)
            for path in ["/", *paths]:
                with urllib.request.urlopen(address + path, timeout=60) as answer:
                    assert answer.status == 200
        finally:
            server.send_signal(signal.SIGTERM)
            assert server.wait(60) == 0


def test_the_guides_have_commands():
    assert sum(len(commands_of(page)) for page in PAGES) > 50
    assert len(commands_of(ROOT / "README.md")) >= 10


# The commands of the README are run from the wheel, in test_distribution.py: each in a process of its own.
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("page", [page for page in PAGES[1:] if commands_of(page)], ids=page_name)
def test_every_command_works_in_its_order(folder, run_cli, page):
    for arguments in commands_of(page):
        if arguments[0] == "serve":
            try_server(folder, arguments, page)
            continue
        if arguments[0] == "--extension":
            # What one command registers, the next must not find.
            result = run(folder, "-c", MAIN, *arguments)
            code, out, errors = result.returncode, result.stdout, result.stderr
        else:
            code, out, errors = run_cli(*arguments)
        assert code == 0, f"searchlab {shlex.join(arguments)}\n{errors}"
        assert out or {"-o", "--output"} & set(arguments), shlex.join(arguments)


@pytest.mark.parametrize("page", [page for page in PAGES if python_of(page)], ids=page_name)
def test_python_blocks_run_in_their_order(folder, page):
    result = run(folder, "-c", "\n".join(python_of(page)))
    assert result.returncode == 0, result.stderr
    # A relevant document of the collection that the page searches.
    shown = {"docs/searching.md": "zh-120", "docs/languages.md": "['1']"}
    assert shown.get(page_name(page), "med-043") in result.stdout


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 150


def test_every_scorer_is_documented():
    text = (ROOT / "docs" / "searching.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[a-z0-9-]+`(?:, `[a-z0-9-]+`)*) \|.*\|.*\|$", text, re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`([a-z0-9-]+)`", row)}
    assert SCORERS
    assert set(SCORERS) <= documented


def test_the_defaults_of_language_model_training_are_documented():
    text = (ROOT / "docs" / "language-models.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)`[^|]* \| (\S+) \| (\S+) \| (\S+) \|$", text, re.MULTILINE)
    in_print = [
        {name: default if isinstance(default, str) else f"{default:g}" for name, default in asdict(settings).items()}
        for settings in (SHARED_MCE, PER_DOCUMENT_MCE, DEFAULT_MCE)
    ]
    assert {name: defaults for name, *defaults in rows} == {
        name: [defaults[name] for defaults in in_print] for name in in_print[0]
    }


def test_the_help_of_the_commands_names_every_choice(folder):
    choices = {
        "index": [*DOCUMENT_FORMATS, *STEMMERS, *LANGUAGES, *DUPLICATE_RULES],
        "query": [*SCORERS, *STREAMS, NGRAMS],
        "run": [*SCORERS, *STREAMS, NGRAMS, *METHODS, *TOPIC_FORMATS],
    }
    for command, names in choices.items():
        wrapped = run(folder, "-c", MAIN, command, "--help").stdout
        text = re.sub(r"-\n +", "-", wrapped)
        assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parametrize("page", GUIDES, ids=page_name)
def test_links_to_files_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_every_path_that_the_architecture_names_exists():
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", ARCHITECTURE))
    assert len(named) > 50
    assert sorted(path for path in named if not ((ROOT / "searchlab" / path).exists() or (ROOT / path).exists())) == []


def test_every_room_has_a_heading_in_the_architecture():
    rooms = {path.parent.name for path in (ROOT / "searchlab").glob("*/__init__.py")}
    headings = set(re.findall(r"^## \[`([a-z_]+)/`\]", ARCHITECTURE, re.MULTILINE))
    assert rooms
    assert headings == rooms


QUESTIONS = [
    "tokenizer",
    "stemmer",
    "BM25",
    "top-k",
    "RM3",
    "snippets",
    "spelling",
    "TREC run writer",
    "feature formulas",
    "RankSVM estimator",
    "QP solver",
    "model file",
    "measures",
    "significance",
    "HTTP routes",
    "CSRF",
    "index format",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_architecture_says_where_a_thing_is(question):
    answers = re.findall(rf"^\| [^|]*\b{re.escape(question)}\b[^|]* \| (.*) \|$", ARCHITECTURE, re.MULTILINE)
    assert any(re.search(r"\]\(\S+\)", answer) for answer in answers)


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


def test_the_example_of_held_out_topics_prints_what_the_page_shows(folder, run_cli):
    page = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    (block,) = [block for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL) if "test.tsv" in block]
    assert run_cli("index", "corpora/medical")[0] == 0
    printed = ""
    for line in block.splitlines():
        if not line.startswith("$ "):
            assert line in printed.splitlines()
            continue
        command = line.removeprefix("$ ")
        if command.startswith("searchlab "):
            code, printed, errors = run_cli(*shlex.split(command)[1:])
        else:
            done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=240)
            code, printed, errors = done.returncode, done.stdout, done.stderr
        assert code == 0, errors
        assert "trained on these topics" not in errors
    assert "reranked is better" in printed
