import io
import os
import re
import shlex
import subprocess
import sys

import pytest
import typer

import searchlab
from searchlab.cli.app import EXAMPLES, app

SEARCHLAB = [sys.executable, "-c", "from searchlab.cli import main; main()"]
ROOT = typer.main.get_command(app)
# Every command under its path, sub-commands included.
LEAVES = {
    " ".join(path): command
    for name, top in ROOT.commands.items()  # type: ignore[attr-defined]
    for path, command in (
        [((name, sub), leaf) for sub, leaf in top.commands.items()] if hasattr(top, "commands") else [((name,), top)]
    )
}


def test_commands_were_found():
    assert len(LEAVES) > 25
    assert set(LEAVES) == {name for section in EXAMPLES.values() for name in section}


def test_help_and_version_are_printed(run_cli):
    assert run_cli("--version") == (0, f"searchlab {searchlab.__version__}\n", "")
    for arguments in (["--help"], ["index", "--help"], ["query", "--help"], ["run", "--help"]):
        code, out, err = run_cli(*arguments)
        assert (code, err) == (0, "")
        assert out.lstrip().startswith("Usage: ")


def test_the_package_can_be_run_as_a_module():
    done = subprocess.run([sys.executable, "-m", "searchlab", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"searchlab {searchlab.__version__}\n")


def test_without_any_argument_the_help_is_printed_as_it_is(run_cli):
    code, out, err = run_cli()
    assert code in (0, 2)
    assert (out + err).lstrip().startswith("Usage: ")
    assert (out + err).count("\n") > 5


def test_help_lists_every_command_in_sections(run_cli):
    _, out, _ = run_cli("--help")
    listed = {}
    for title, body in re.findall(r"^([A-Z]\w+):\n((?:  .*\n)+)", out, re.MULTILINE):
        listed[title] = [line.split()[0] for line in body.splitlines() if line[:3].strip()]
    del listed["Options"]
    expected = {title: list(dict.fromkeys(name.split()[0] for name in names)) for title, names in EXAMPLES.items()}
    assert listed == expected
    cut = [line for line in out.splitlines() if line.endswith("...") and not line.startswith("Usage: ")]
    assert cut == []


@pytest.mark.parametrize("path", LEAVES)
def test_the_help_of_a_command_has_both_names_and_an_example(run_cli, path):
    code, out, err = run_cli(*path.split(), "-h")
    assert (code, err) == (0, "")
    assert run_cli(*path.split(), "--help")[1] == out
    assert out.startswith(f"Usage: searchlab {path} ")
    assert re.search(rf"^  Example: searchlab {path}\b", out, re.MULTILINE)


@pytest.mark.parametrize("path", LEAVES)
def test_the_example_of_a_command_parses(run_cli, path):
    (example,) = re.findall(r"^  Example: searchlab (.*)$", run_cli(*path.split(), "-h")[1], re.MULTILINE)
    arguments = shlex.split(example)[len(path.split()) :]
    context = LEAVES[path].make_context(path, arguments)
    assert context.args == []


@pytest.mark.parametrize("path", LEAVES)
def test_every_option_has_a_help_text_and_shows_what_it_takes(path):
    options = [each for each in LEAVES[path].params if each.param_type_name == "option"]
    assert {"quiet", "verbose"} <= {option.name for option in options}
    assert [option.name for option in options if not option.help] == []
    assert [option.name for option in options if not option.is_flag and not option.metavar] == []


@pytest.mark.parametrize("path", LEAVES)
def test_every_argument_shows_what_it_takes(path):
    arguments = [each for each in LEAVES[path].params if each.param_type_name == "argument"]
    assert [argument.name for argument in arguments if not (argument.help and argument.metavar)] == []


@pytest.mark.parametrize("group", ["judgments", "model", "reproduce"])
def test_a_group_without_a_command_prints_its_help(run_cli, group):
    code, out, err = run_cli(group)
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: searchlab {group} ")
    assert out.rstrip("\n") == run_cli(group, "-h")[1].rstrip("\n")


@pytest.mark.parametrize(
    ("arguments", "message", "command"),
    [
        (["--colour"], "No such option: --colour", "searchlab"),
        (["stast"], "No such command 'stast'. Did you mean 'stats'?", "searchlab"),
        (["stats", "--top", "many"], "Invalid value for '--top'", "searchlab stats"),
        (["stats", "many"], "Got unexpected extra argument", "searchlab stats"),
        (["judgments", "export"], "Missing argument 'qrels|topics'", "searchlab judgments export"),
        (["judgments", "shwo"], "No such command 'shwo'. Did you mean 'show'?", "searchlab judgments"),
    ],
)
def test_a_usage_error_names_the_help_of_its_command(run_cli, arguments, message, command):
    code, out, err = run_cli(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"searchlab: {message}")
    assert err.endswith(f"; see {command} --help\n")


def test_quiet_prints_warnings_but_no_notes(here, run_cli):
    with (here / "small.jsonl").open("a") as file:
        file.write('{"docno": \n')
    (here / "more").mkdir()
    (here / "more" / "a.bin").write_bytes(b"\0\1")
    (here / "more" / "b.txt").write_text("text")
    code, out, err = run_cli("index", "more", "small.jsonl", "-i", "all", "-q")
    assert code == 0
    assert out.startswith("indexes/all: 4 documents\n")
    assert all(line.startswith("warning: ") for line in err.splitlines())
    assert "warning: 1 bad record left out; --strict stops at the first" in err.splitlines()
    assert run_cli("stats", "--quiet")[2] == ""
    assert run_cli("stats")[2].startswith("index: indexes/all ")


def test_an_error_is_printed_even_if_quiet(here, run_cli):
    assert run_cli("stats", "-q", "-i", "none")[2].startswith("searchlab: indexes/none: no index here")


def test_a_quiet_session_reports_its_errors(here, run_cli, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("wing\n:nonsense\n"))
    code, out, err = run_cli("query", "--quiet")
    assert (code, "aero" in out) == (0, True)
    assert err.startswith("searchlab: unknown command ':nonsense'")
    assert len(err.splitlines()) == 1


def test_verbose_prints_every_skipped_file_and_timings(tmp_path, run_cli):
    (tmp_path / "many").mkdir()
    (tmp_path / "many" / "text.txt").write_text("text")
    for number in range(12):
        (tmp_path / "many" / f"{number:02}.bin").write_bytes(b"\0\1")
    _, _, err = run_cli("index", "many")
    assert err.count("skipped many/") == 10
    assert "skipped 2 more files; --report lists them all\n" in err
    _, _, err = run_cli("index", "many", "--rebuild", "--verbose")
    assert err.count("skipped many/") == 12
    assert re.search(r"^writing: \d+\.\d\d s$", err, re.MULTILINE)
    assert re.search(r"^finished in \d+\.\d\d s$", err, re.MULTILINE)


def test_quiet_and_verbose_exclude_each_other(run_cli):
    code, _, err = run_cli("indexes", "-v", "-q")
    assert code == 2
    assert "expected one of --quiet and --verbose, found both; see searchlab indexes --help" in err


def test_verbosity_does_not_outlive_a_command(here, run_cli):
    run_cli("stats", "-q")
    assert run_cli("stats")[2] == "index: indexes/small\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed_for_each_shell(tmp_path, shell):
    environment = os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    ended = subprocess.run(
        [*SEARCHLAB, "--show-completion", shell], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 0
    assert "_SEARCHLAB_COMPLETE" in ended.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("searchlab inde", {"index", "indexes"}),
        ("searchlab judgments ", {"show", "export", "import", "agree", "backup", "restore"}),
        ("searchlab stats -i s", {"small"}),
    ],
)
def test_commands_and_index_names_are_completed(here, words, expected):
    completing = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_SEARCHLAB_COMPLETE": "complete_bash"}
    ended = subprocess.run(SEARCHLAB, cwd=here, env=os.environ | completing, capture_output=True, text=True)
    assert set(ended.stdout.split()) == expected
