import pytest

from searchlab.cli.commands.indexing import example

FILES = {"docs.jsonl": '{"docno": "é"}\n', "topics.tsv": "1\tx\n", "qrels.txt": "1 0 é 1\n", "medical.toml": "x = 1\n"}


@pytest.fixture
def bundled(tmp_path_factory, monkeypatch):
    """A folder of examples with one collection, in place of the package's."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "medical").mkdir()
    (folder / "__pycache__").mkdir()
    for name, text in {**FILES, "__init__.py": ""}.items():
        (folder / "medical" / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(example.resources, "files", lambda package: folder)
    return folder


def test_the_files_of_an_example_are_copied(bundled, tmp_path, run_cli):
    code, out, err = run_cli("example", "medical")
    assert (code, out) == (0, "medical: 4 files: docs.jsonl, medical.toml, qrels.txt, topics.tsv\n")
    assert err == "`searchlab index medical` indexes it\n"
    assert {path.name: path.read_text("utf-8") for path in (tmp_path / "medical").iterdir()} == FILES


def test_the_same_again_changes_nothing_and_another_folder_can_be_chosen(bundled, tmp_path, run_cli):
    first = run_cli("example", "medical")
    assert run_cli("example", "medical") == first
    assert run_cli("example", "medical", "-o", "a/b")[0] == 0
    assert (tmp_path / "a" / "b" / "topics.tsv").read_text() == "1\tx\n"


def test_a_file_with_another_content_is_not_overwritten(bundled, tmp_path, run_cli):
    (tmp_path / "medical").mkdir()
    (tmp_path / "medical" / "topics.tsv").write_text("mine\n")
    code, out, err = run_cli("example", "medical")
    assert (code, out) == (1, "")
    assert err == (
        "searchlab: medical/topics.tsv: exists with another content; remove it, or choose another folder with -o\n"
    )
    assert [path.name for path in (tmp_path / "medical").iterdir()] == ["topics.tsv"]
    assert (tmp_path / "medical" / "topics.tsv").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["medicla"], 2, "unknown example 'medicla' (did you mean medical?); there is: medical"),
        (["medical", "-o", "file"], 1, "file: cannot be written"),
        (["medical", "-o", "taken"], 1, "taken/docs.jsonl: a folder, expected a file or nothing"),
    ],
)
def test_a_mistake_ends_in_one_line(bundled, tmp_path, run_cli, arguments, code, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "taken" / "docs.jsonl").mkdir(parents=True)
    found, out, err = run_cli("example", *arguments)
    assert (found, out) == (code, "")
    assert err.startswith(f"searchlab: {message}")
    assert len(err.splitlines()) == 1
