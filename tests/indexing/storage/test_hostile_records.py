"""Manifests of a stranger: whatever a value is replaced by, the answer is an error of one line, or nothing changes."""

import copy
import errno
import json
import os
import shutil

import numpy as np
import pytest

import searchlab
from searchlab.errors import CHECK_DISK, IndexCorrupt, SearchlabError
from searchlab.features.latent_semantics.semantic_space import SemanticSpace, build_space
from searchlab.indexing.building.indexer import build_index
from searchlab.indexing.checking.index_doctor import examine
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays import array_file
from searchlab.indexing.storage.layout import COLUMNS, MANIFEST
from searchlab.json_records import json_checksum
from searchlab.records import Document
from searchlab.topic_models.topic_model_store import build_topic_model, open_topic_model

DOCUMENTS = [Document(f"d{number}", f"wing {number % 3}", f"heat flow river lung {number % 5}") for number in range(12)]
HOSTILE = [
    None, True, -1, 10**30, 1.5, float("nan"), float("inf"), "", "../../precious", "/etc/passwd", "a\nb", "\x1b[2J",
    "\ud800", [], [[]], {}, {"a": 1}, [None], [1e308],
]  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile") / "it"
    build_index(lambda: iter(DOCUMENTS), folder, jobs=1)
    searchlab.delete(folder, ["d3"])
    build_space(folder, dims=2)
    build_topic_model(folder, n_topics=2)
    return folder


@pytest.fixture
def index(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "it")


def places(value, path=()):
    """The path of each value in nested dicts and lists."""
    if path:
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in entries:
        yield from places(inner, (*path, name))


def replaced(record, path, value):
    """A record with another value at a path, and the right checksum."""
    record = copy.deepcopy(record)
    home = record
    for name in path[:-1]:
        home = home[name]
    home[path[-1]] = value
    if path != ("checksum",):
        record.pop("checksum", None)
        record["checksum"] = json_checksum(record)
    return record


def answers_of_index(folder):
    with searchlab.open(folder) as engine:
        hits = engine.search("heat wing", k=None)
        return hits.docnos, hits.scores.tolist(), engine.snapshot.n_tokens


def answers_of_space(folder):
    space = SemanticSpace.open(Snapshot(folder))
    rows = np.zeros(3, np.int64)
    return space.vectors(rows, np.arange(3)).tolist(), space.query_vector({"heat": 1.0}).tolist(), space.n_bytes


def answers_of_topics(folder):
    model = open_topic_model(Snapshot(folder))
    topics = model.topics_given_document(np.zeros(3, np.int64), np.arange(3)).tolist()
    return topics, model.topics_given_words({"heat": 1.0}).tolist(), model.top_terms(1), model.trained_weights


KINDS = {".": answers_of_index, "semantic": answers_of_space, "topics/plsa": answers_of_topics}
# Values that are only shown, that change which documents or files are meant, or how they are analysed.
FREE = {
    *("generation", "written", "sources", "stop_list", "stop_words", "n_words", "seed", "made", "n_docs"),
    *("perplexity", "temperature", "alpha", "beta", "mean_length", "vectors"),
}


@pytest.mark.parametrize("name", KINDS)
def test_any_value_of_a_manifest_is_refused_in_one_line_or_harmless(index, name):
    ask, path = KINDS[name], index / name / MANIFEST
    right, record = ask(index), json.loads(path.read_text())
    n_refused = 0
    for place in places(record):
        for value in HOSTILE:
            path.write_text(json.dumps(replaced(record, place, value)))
            try:
                answers = ask(index)
            except SearchlabError as error:
                assert "\n" not in str(error)
                n_refused += 1
            else:
                # An index without shards is an empty one.
                assert answers == right or FREE & {*place} or (place, value) == (("shards",), []), (place, value)
    assert n_refused > 100


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    "content",
    [b"[" * 100_000, b'{"layout": ' * 50_000, b'{"layout": NaN}', b'{"layout": 1e999}', b'{"layout": 3, "layout": 3}',
     b'{"layout": ' + b"9" * 5000 + b"}", b"\xff\xfe", b'"\xed\xa0\x80"', b"null"],
    ids=lambda content: repr(content[:20]),
)  # fmt: skip
def test_what_is_no_manifest_is_an_error(index, name, content):
    (index / name / MANIFEST).write_bytes(content)
    with pytest.raises(IndexCorrupt):
        KINDS[name](index)


@pytest.mark.parametrize("name", KINDS)
def test_a_manifest_of_any_size_or_a_pipe_is_refused(index, name):
    path = index / name / MANIFEST
    path.unlink()
    with path.open("wb") as file:
        file.truncate(2**40)  # a sparse file
    with pytest.raises(IndexCorrupt, match="expected a file of at most 128 MB"):
        KINDS[name](index)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(IndexCorrupt, match="a named pipe, expected a file"):
        KINDS[name](index)


def seal(index, change):
    """Change the record of the first shard, and compute the checksum again."""
    record = json.loads((index / MANIFEST).read_text())
    del record["checksum"]
    change(record["shards"][0])
    (index / MANIFEST).write_text(json.dumps(record | {"checksum": json_checksum(record)}))


def test_pipes_in_a_shard_do_not_block(index):
    (shard,) = index.glob("shard-*")
    (shard / COLUMNS).unlink()
    os.mkfifo(shard / COLUMNS)
    seal(index, lambda record: record["files"].update({COLUMNS: [0, 0]}))
    with pytest.raises(IndexCorrupt, match="a named pipe, expected a file"):
        searchlab.open(index)
    assert not examine(index).healthy


def test_no_writer_removes_files_outside_the_index(index, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    for name in ("dead-letters", "thesis.txt", "shard-photos"):
        (precious / name).write_text(name)
    before = {path.name: path.read_text() for path in precious.iterdir()}
    for name in ("../precious", str(precious), "shard-x/../../precious"):
        seal(index, lambda record, name=name: record.update({"name": name}))
        with pytest.raises(IndexCorrupt):
            searchlab.delete(index, ["d1"])
    # A shard that is a link to a folder of the user.
    (index / "shard-link").symlink_to(precious)
    seal(index, lambda record: record.update({"name": "shard-link"}))
    with pytest.raises(SearchlabError):
        searchlab.delete(index, ["d1"])
    assert {path.name: path.read_text() for path in precious.iterdir()} == before


def test_an_artefact_that_is_a_link_removes_nothing_but_files_of_artefacts(index, tmp_path):
    precious = tmp_path / "precious"
    (precious / "photos").mkdir(parents=True)
    (precious / "thesis.txt").write_text("precious")
    shutil.rmtree(index / "semantic")
    (index / "semantic").symlink_to(precious)
    build_space(index, dims=2)
    build_space(index, dims=2)
    assert (precious / "thesis.txt").read_text() == "precious"
    assert (precious / "photos").is_dir()
    assert len(list(precious.glob("terms-*"))) == 1


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES, errno.ESTALE])
def test_a_file_that_the_system_cannot_read_is_no_reason_to_rebuild(index, monkeypatch, code):
    def fail(path):
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(array_file, "open_regular_file", fail)
    with pytest.raises(IndexCorrupt) as refused:
        searchlab.open(index)
    assert str(refused.value).endswith(f"{COLUMNS}: cannot be read ({os.strerror(code)}); {CHECK_DISK}")
    findings = examine(index).findings
    assert findings
    assert not [finding for finding in findings if "rebuild" in finding.remedy]
