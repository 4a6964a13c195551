import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from searchlab import cli, extensions
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.analysis.word_rules import WORD_RULES
from searchlab.corpus.documents import DOCUMENT_FORMATS
from searchlab.evaluation.measure_families import FAMILIES
from searchlab.evaluation.measures import parse_measure
from searchlab.features import extraction
from searchlab.features.catalogue import CATALOGUE
from searchlab.indexing.building import workers
from searchlab.indexing.building.indexer import build_index
from searchlab.rankers import reranking
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.scorers.registry import SCORERS
from tests.hypothesis_profiles import register_profiles

register_profiles()

# No stemming and no stop words, so that tests can count the words of texts without the analyzer.
PLAIN = AnalysisSettings("none", "none", frozenset())

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)

DOCS = (
    '{"docno": "med-1", "title": "T-cell lymphoma", "body": "Lymphomas of T cells.", "year": 1999}\n'
    '{"docno": "med-2", "title": "", "body": "The cell of a prison."}\n'
    '{"docno": "aero", "title": "Wings", "body": "Heat flow over wings."}\n'
)


def build_into(
    folder: Path,
    documents: Iterable[Document],
    settings: AnalysisSettings = PLAIN,
    words_per_shard: int | None = None,
    **options,
) -> Path:
    """Build an index from scratch in one process; a new shard begins after each `words_per_shard` words."""
    documents = list(documents)
    options = {"jobs": 1, "rebuild": True} | options
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)  # no test cuts the power
        if words_per_shard is not None:
            patch.setattr(workers, "MAX_WORDS_PER_SHARD", words_per_shard)
        build_index(lambda: iter(documents), folder, settings, **options)
    return folder


@pytest.fixture(scope="session")
def build(tmp_path_factory) -> Callable[..., Path]:
    """Index documents (see `build_into`) into a new folder, or into `folder`."""

    def build_somewhere(documents: Iterable[Document], *, folder: Path | None = None, **options) -> Path:
        return build_into(folder or tmp_path_factory.mktemp("index") / "it", documents, **options)

    return build_somewhere


@pytest.fixture(scope="session")
def indexed(tmp_path_factory) -> Callable[..., AbstractContextManager[Path]]:
    """An index that is removed at the end of the `with` block, for tests that make hundreds."""
    home = tmp_path_factory.mktemp("indexed")

    @contextmanager
    def index_temporarily(documents: Iterable[Document], **options) -> Iterator[Path]:
        try:
            yield build_into(home / "it", documents, **options)
        finally:
            shutil.rmtree(home / "it", ignore_errors=True)

    return index_temporarily


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """One browser for all tests of pages."""
    if not (CHROMIUM.exists() and DRIVER.exists()):
        pytest.skip(f"no browser: {CHROMIUM} and {DRIVER} are needed")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # With an explicit driver selenium does not look for one; its log is discarded.
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER), log_output=os.devnull))
    yield driver
    driver.quit()


@pytest.fixture
def registered_here(monkeypatch) -> Iterator[None]:
    """What a test registers or loads as an extension is forgotten after it."""
    modules, path = set(sys.modules), list(sys.path)
    registries: list[dict[str, Any]] = [CATALOGUE, SCORERS, WORD_RULES, DOCUMENT_FORMATS, FAMILIES]
    before = list(map(dict, registries))
    monkeypatch.setattr(extensions, "ORIGINS", {})
    monkeypatch.setattr(extensions, "_LOADED", {})
    monkeypatch.setenv(extensions.ENVIRONMENT, "")
    yield
    sys.path[:] = path
    for registry, known in zip(registries, before, strict=True):
        registry.clear()
        registry.update(known)
    parse_measure.cache_clear()
    for name in set(sys.modules) - modules:
        if name.startswith("my_"):
            del sys.modules[name]


@pytest.fixture
def work(monkeypatch) -> Counter[str]:
    """Counts real work from here on: searches of an engine, estimations of RM3, and feature extractions of a query."""
    counts: Counter[str] = Counter()

    def count(owner: object, name: str, what: str) -> None:
        function = getattr(owner, name)

        def counting(*arguments, **keywords):
            counts[what] += 1
            return function(*arguments, **keywords)

        monkeypatch.setattr(owner, name, counting)

    count(SearchEngine, "search", "searches")
    count(RM3, "estimate", "estimations")
    for module in (extraction, reranking):
        count(module, "extract_query", "extractions")
    return counts


@pytest.fixture
def run_cli(monkeypatch, capsys, tmp_path):
    """Run the command line in this process, in tmp_path; returns exit code, output and error output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["searchlab", *map(str, arguments)])
        capsys.readouterr()
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(bool(end.code))
        output = capsys.readouterr()
        return code, output.out, output.err

    return call


@pytest.fixture
def docs() -> str:
    """Three documents as JSON lines."""
    return DOCS


@pytest.fixture
def here(tmp_path, run_cli) -> Path:
    """A working folder with a corpus, its index, and topics."""
    (tmp_path / "small.jsonl").write_text(DOCS)
    (tmp_path / "topics.tsv").write_text("1\tt-cell lymphoma\n2\tflow of heat\n3\tthe\n")
    assert run_cli("index", "small.jsonl")[0] == 0
    return tmp_path
