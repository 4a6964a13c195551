import importlib.resources
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
COPIES = [
    *("corpora/medical/README.md", "corpora/medical/docs.jsonl", "corpora/medical/qrels.txt"),
    *("corpora/medical/topics.tsv", "examples/medical.toml"),
]


def files_below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_collection_and_experiment_are_copied(tmp_path, run_cli):
    code, out, err = run_cli("example", "medical")
    assert (code, out.splitlines()) == (0, COPIES)
    assert err == "`searchlab index corpora/medical` indexes the collection\n"
    assert files_below(tmp_path) == COPIES
    for name in COPIES:
        assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes()
    assert "160 documents" in run_cli("index", "corpora/medical")[1]


def test_the_chinese_collection_has_no_experiment(tmp_path, run_cli):
    assert run_cli("example", "chinese")[0] == 0
    names = ["README.md", "docs.jsonl", "qrels.txt", "topics.tsv"]
    assert files_below(tmp_path) == [f"corpora/chinese/{name}" for name in names]
    assert "122 documents" in run_cli("index", "corpora/chinese", "--ngrams", "1")[1]


def test_an_installed_package_has_its_own_copy(tmp_path, tmp_path_factory, run_cli, monkeypatch):
    package = tmp_path_factory.mktemp("package")
    bundled = package / "examples" / "medical"
    bundled.mkdir(parents=True)
    (bundled / "docs.jsonl").write_text('{"docno": "é"}\n', encoding="utf-8")
    (bundled / "medical.toml").write_text("x = 1\n")
    monkeypatch.setattr(importlib.resources, "files", lambda name: package)  # type: ignore[attr-defined]
    assert run_cli("example", "medical")[0] == 0
    assert files_below(tmp_path) == ["corpora/medical/docs.jsonl", "examples/medical.toml"]
    assert (tmp_path / "corpora/medical/docs.jsonl").read_text("utf-8") == '{"docno": "é"}\n'


def test_the_same_again_changes_nothing_and_another_folder_can_be_chosen(tmp_path, run_cli):
    first = run_cli("example", "medical")
    assert run_cli("example", "medical") == first
    assert run_cli("example", "medical", "-o", "a/b")[0] == 0
    assert files_below(tmp_path / "a" / "b") == COPIES


def test_a_file_with_another_content_is_not_overwritten(tmp_path, run_cli):
    topics = tmp_path / "corpora" / "medical" / "topics.tsv"
    topics.parent.mkdir(parents=True)
    topics.write_text("mine\n")
    code, out, err = run_cli("example", "medical")
    assert (code, out) == (1, "")
    assert err == (
        "searchlab: corpora/medical/topics.tsv: exists with another content; "
        "remove it, or choose another folder with -o\n"
    )
    assert (files_below(tmp_path), topics.read_text()) == (["corpora/medical/topics.tsv"], "mine\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["medicla"], 2, "unknown example 'medicla' (did you mean medical?); there is: chinese, medical"),
        (["medical", "-o", "file"], 1, "file/corpora/medical: cannot be written"),
        (["medical", "-o", "taken"], 1, "taken/corpora/medical/docs.jsonl: exists with another content"),
    ],
)
def test_a_mistake_ends_in_one_line(tmp_path, run_cli, arguments, code, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "taken" / "corpora" / "medical" / "docs.jsonl").mkdir(parents=True)
    found, out, err = run_cli("example", *arguments)
    assert (found, out) == (code, "")
    assert err.startswith(f"searchlab: {message}")
    assert len(err.splitlines()) == 1
