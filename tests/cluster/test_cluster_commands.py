"""Every command with --cluster writes and prints what it does on one machine; the cluster is given by a file."""

import gzip
import io
import json
import random
import re
import shutil
import zipfile
from pathlib import Path

import pytest

import searchlab
from searchlab.experiments import report_builder
from searchlab.indexing.parts import cluster_build
from tests.cluster.conftest import WORDS
from tests.cluster.test_cluster_latent_topics import content_of
from tests.index_comparison import assert_same, content, json_lines

PLAN = """
title = "t"
index = "./it"
topics = "topics.tsv"
qrels = "qrels.txt"
output = "results"
measures = ["nDCG@10"]
[folds]
number = 3
[features]
set = "table1"
[[systems]]
name = "bm25"
scorer = "bm25"
grid = {k1 = [0.5, 1.2]}
[[systems]]
name = "rsvm"
ranker = "rsvm"
"""
CHOSEN = ("-i", "./it", "--topics", "topics.tsv", "--qrels", "qrels.txt")
LEARNT = ("--folds", 2, "--ranker", "rsvm", "-o", "model.json")
# What each command is given, and what it writes.
COMMANDS: dict[str, tuple[list[object], list[str]]] = {
    "index": (["index", "docs.jsonl", "-i", "./new", "--language", "english,german", "--ngrams", 3], ["new"]),
    "merge": (["merge", "-i", "./it"], ["it"]),
    "doctor": (["doctor", "-i", "./it"], []),
    "run": (["run", *CHOSEN[:4], "--rerank", "builtin", "-k", 20, "-o", "out.run"], ["out.run"]),
    "features": (["features", *CHOSEN, "-k", 10, "-o", "letor.txt"], ["letor.txt"]),
    "train": (["train", *CHOSEN, "--features", "table1", *LEARNT], ["model.json"]),
    "train FILE": (["train", "given.txt", *LEARNT], ["model.json"]),
    "tune": (["tune", *CHOSEN, "--grid", "b=0.2,0.9", "--folds", 3, "--json"], []),
    "experiment": (["experiment", "plan.toml"], ["results/runs/bm25.run", "results/runs/rsvm.run"]),
    "letor": (["reproduce", "letor", "ltr", "--rankers", "rsvm,single", "--json", "x.json"], ["x.json"]),
    "retrieval": (
        [
            "reproduce",
            "retrieval",
            "tiny",
            "--features",
            "table1",
            "--rankers",
            "rsvm",
            "--folds",
            2,
            "--json",
            "x.json",
        ],
        ["x.json"],
    ),
    "semantic": (["semantic", "-i", "./it", "--dims", 8], ["it/semantic"]),
    "topic-model": (["topic-model", "-i", "./it", "--n-topics", 3], ["it/topics/plsa"]),
}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory, build, documents, topics) -> Path:
    """A folder with all that the commands read."""
    home = tmp_path_factory.mktemp("workplace")
    draw = random.Random(11)
    (home / "docs.jsonl").write_text(json_lines(documents))
    build(documents, folder=home / "it", words_per_shard=600)
    chosen = [topic for topic in topics[:14] if topic.text]
    (home / "topics.tsv").write_text("".join(f"{topic.qid}\t{topic.text}\n" for topic in chosen))
    graded = [(topic.qid, f"d{number:03}") for topic in chosen for number in range(int(topic.qid), 300, 13)]
    (home / "qrels.txt").write_text("".join(f"{qid} 0 {docno} {draw.randint(0, 2)}\n" for qid, docno in graded))
    (home / "plan.toml").write_text(PLAN)
    rows = [
        f"{draw.randint(0, 2)} qid:{query} 1:{draw.random():.4f} 2:{draw.random():.4f} # docid = d{row}\n"
        for query in range(12)
        for row in range(8)
    ]
    (home / "given.txt").write_text("".join(rows))
    (home / "ltr" / "Fold1").mkdir(parents=True)
    for part, start in (("train", 0), ("vali", 32), ("test", 64)):
        (home / "ltr" / "Fold1" / f"{part}.txt").write_text("".join(rows[start : start + 32]))
    (home / "tiny").mkdir()
    shutil.copy(home / "docs.jsonl", home / "tiny")
    shutil.copy(home / "topics.tsv", home / "tiny")
    shutil.copy(home / "qrels.txt", home / "tiny")
    return home


def read(path: Path):
    """What must be the same of a file, an index or an artefact."""
    if (path / "manifest.json").exists() and path.name in ("it", "new"):
        return content(path)
    if path.is_dir():
        return content_of(path)
    return re.sub(r'"(written|\w*seconds)": [^,}]*', "", path.read_text())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_does_the_same_on_a_cluster(name, workplace, tmp_path, cluster, run_cli, monkeypatch):
    monkeypatch.setattr(cluster_build, "MIN_PART_BYTES", 2000)
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="1pt" height="1pt" viewBox="0 0 1 1"></svg>'
    for figure in ("bars", "curves", "differences", "precision_recall"):
        monkeypatch.setattr(report_builder, figure, lambda *given, **named: drawing)
    arguments, written = COMMANDS[name]
    found = {}
    for where, options in (("one", ()), ("many", ("--cluster", cluster._processes.scheduler_file))):
        shutil.copytree(workplace, tmp_path / where)
        monkeypatch.chdir(tmp_path / where)
        code, out, err = run_cli(*arguments, *options)
        assert code == 0, err
        assert ("cluster: 2 workers" in err) == (where == "many")
        # Shards and bytes on disk differ, as from one build to the next.
        out = re.sub(r"[\d.,]+ (s|MB|shards?|documents/s)\b|\([^)]*/s\)", "", out)
        # So do the seconds of a fit, in the column before the last two.
        out = re.sub(r"[\d.]+(?=( +\S+){2}$)", "", out, flags=re.MULTILINE) if name == "letor" else out
        found[where] = (
            out if name not in ("index", "merge") else "",
            [read(tmp_path / where / path) for path in written],
        )
    assert found["one"] == found["many"]


# The environment.


def test_commands_use_the_cluster_of_the_environment(here, run_cli, cluster, monkeypatch):
    assert run_cli("run", "--topics", "topics.tsv", "-o", "one.run")[0] == 0
    monkeypatch.setenv("SEARCHLAB_CLUSTER", str(cluster._processes.scheduler_file))
    code, _, errors = run_cli("run", "--topics", "topics.tsv", "-o", "many.run")
    assert (code, "cluster: 2 workers" in errors) == (0, True)
    assert (here / "many.run").read_text() == (here / "one.run").read_text()
    # An empty option stands for this machine.
    assert "cluster" not in run_cli("run", "--topics", "topics.tsv", "-o", "again.run", "--cluster", "")[2]
    assert (here / "again.run").read_text() == (here / "one.run").read_text()
    # Commands without the option do not look at it.
    assert "cluster" not in run_cli("query", "heat")[2]


def test_standard_input_is_indexed_here_whatever_the_environment_says(here, run_cli, docs, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(docs.encode())))
    monkeypatch.setenv("SEARCHLAB_CLUSTER", "tcp://127.0.0.1:9")
    code, _, errors = run_cli("index", "-", "-i", "./piped")
    assert code == 0, errors
    assert "standard input is read by this machine, not by the cluster of SEARCHLAB_CLUSTER" in errors
    assert searchlab.examine(here / "piped").n_docs == 3
    code, _, errors = run_cli("index", "-", "-i", "./other", "--cluster", "local:1")
    assert (code, "standard input cannot be read on a cluster" in errors) == (2, True)


# Documents of other kinds, and an index with much in it.


def test_documents_in_archives_and_binary_files(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr(cluster_build, "MIN_PART_BYTES", 300)
    source = tmp_path / "source"
    source.mkdir()
    for number in range(4):
        with zipfile.ZipFile(source / f"{number}.zip", "w") as archive:
            archive.writestr(
                f"inner{number}.jsonl", json.dumps({"docno": f"zip{number}", "body": f"word{number} in zip"})
            )
            archive.writestr("sub/text.txt", f"Heading\n\nword{number} of a text")
        with zipfile.ZipFile(source / f"{number}.docx", "w") as archive:
            archive.writestr("word/document.xml", DOCX.format(f"word{number} of a letter"))
            archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        (source / f"{number}.jsonl.gz").write_bytes(gzip.compress(b'{"docno": "gz%d", "body": "word2"}' % number))
    try:
        import pypdfium2  # noqa: F401
    except ImportError:
        pass
    else:
        for number in range(2):
            (source / f"{number}.pdf").write_bytes(make_pdf(f"word{number} of a page"))
    results = []
    for name, where in (("one", None), ("many", cluster)):
        notes = searchlab.ReadingNotes()
        summary = searchlab.index(source, tmp_path / name, cluster=where, notes=notes)
        results.append((content(tmp_path / name), summary, notes))
    assert results[0][1].n_docs >= 16
    assert_same(*results)


DOCX = (
    '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    "<w:body><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:body></w:document>"
)
CONTENT_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'wordprocessingml.document.main+xml"/></Types>'
)


def make_pdf(text: str) -> bytes:
    """A page with a line of text."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources "
        b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + trailer


@pytest.fixture(scope="module")
def mixed(tmp_path_factory, documents, cluster) -> Path:
    """An index that a cluster has made and updated: two languages, n-grams, deleted and changed documents."""
    home = tmp_path_factory.mktemp("mixed")
    text = "Die Zellen der Lunge sind klein und rund"
    german = [searchlab.Document(f"g{n}", "Die Zellen", f"{text}, {WORDS[n]}.") for n in range(40)]
    changed = searchlab.Document("d003", "new", "word1 word2 word3")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_build, "MIN_PART_BYTES", 3000)
        for made in ([*german, *documents[:250]], [changed, *documents[240:]]):
            (home / "docs.jsonl").write_text(json_lines(made))
            searchlab.index(home / "docs.jsonl", home / "it", language="english,german", ngrams=3, cluster=cluster)
    searchlab.delete(home / "it", ["d001", "g3", "d100"])
    (home / "synonyms.txt").write_text("word1, word5\nlunge, word7\n")
    return home


@pytest.mark.parametrize("command", ["run", "features", "train"])
def test_synonyms_languages_ngrams_and_deletions(mixed, workplace, tmp_path, cluster, run_cli, command):
    shutil.copy(workplace / "qrels.txt", tmp_path)
    (tmp_path / "topics.tsv").write_text((workplace / "topics.tsv").read_text() + "90\tZellen der Lunge word7\n")
    options = {
        "run": ["--synonyms", mixed / "synonyms.txt", "--expand", "rm3", "-k", 30],
        "features": ["-k", 10, "--features", "letor45"],
        "train": ["--qrels", "qrels.txt", "--features", "table1", "--folds", 3],
    }[command]
    arguments = [command, "-i", mixed / "it", "--topics", "topics.tsv", *options, "-o"]
    code, _, errors = run_cli(*arguments, "one")
    assert code == 0, errors
    for divide in ("topics", "shards"):
        on_cluster = "--cluster", cluster._processes.scheduler_file, "--divide", divide
        code, _, errors = run_cli(*arguments, divide, *on_cluster)
        assert code == 0, errors
        assert read(tmp_path / divide) == read(tmp_path / "one"), divide
