"""Extensions are loaded on request only, in every process, and what depends on them is refused kindly without them."""

import hashlib
import os
import subprocess
import sys

import pytest

from searchlab import extensions
from searchlab.errors import SettingError
from searchlab.extensions import ENVIRONMENT, Origin, load_extensions, process_environment, register, require_origin
from searchlab.indexing.building import workers

SOURCE = """from searchlab.extensions import register
THINGS = {}
def double(x):
    return 2 * x
register(THINGS, "thing", "double", double, double)
"""


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch):
    modules, path = set(sys.modules), list(sys.path)
    monkeypatch.setattr(extensions, "ORIGINS", {})
    monkeypatch.setattr(extensions, "_LOADED", {})
    monkeypatch.setenv(ENVIRONMENT, "")
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("my_"):
            del sys.modules[name]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_things.py").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize("name", ["my_things.py", "./my_things.py", "my_things"])
def test_an_extension_is_a_file_or_a_module_of_the_current_folder_and_has_the_same_origin(folder, name):
    load_extensions([name])
    digest = hashlib.sha256(SOURCE.encode()).hexdigest()[:16]
    assert extensions.origin_of("thing", "double") == Origin("my_things", digest)
    assert sys.modules["my_things"].THINGS["double"](3) == 6


def test_line_ends_do_not_change_the_origin(folder):
    (folder / "my_other.py").write_bytes(SOURCE.replace("\n", "\r\n").encode())
    load_extensions(["my_things.py"])
    first = extensions.ORIGINS.pop(("thing", "double"))
    load_extensions(["my_other.py"])
    assert extensions.ORIGINS["thing", "double"].digest == first.digest


def test_an_extension_is_loaded_once_however_often_it_is_named(folder):
    (folder / "my_counter.py").write_text("print('loaded')\n")
    script = "from searchlab.extensions import load_extensions; load_extensions(['my_counter', 'my_counter.py'])"
    environment = os.environ | {ENVIRONMENT: "my_counter.py,my_counter"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "loaded\n"


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("my_nothing", None, "extension my_nothing: no such module, expected one or a file that ends in .py"),
        ("my_nothing.py", None, "extension my_nothing.py: no such file"),
        ("my_bad.py", "import nowhere_here", "extension my_bad.py: it imports nowhere_here, which is not installed"),
        ("my_bad.py", "1 / 0", r"extension my_bad.py: it could not be loaded \(ZeroDivisionError: division by zero\)"),
        ("my_bad.py", "x = (", r"extension my_bad.py: it could not be loaded \(SyntaxError: .*\)"),
        ("my_bad.py", "raise SystemExit(3)", r"extension my_bad.py: it could not be loaded \(SystemExit: 3\)"),
        ("json.py", "", "extension json.py: a module json is loaded already, expected another name of the file"),
        ("a,b", None, "extension 'a,b' has a comma in its name, expected none"),
    ],
)
def test_an_extension_that_cannot_be_loaded_is_one_line(folder, name, source, message):
    if source is not None:
        (folder / name).write_text(source)
    with pytest.raises(SettingError, match=f"^{message}$"):
        load_extensions([name])
    assert name.removesuffix(".py") == "json" or name.removesuffix(".py") not in sys.modules


def test_a_failed_extension_can_be_loaded_after_it_is_mended(folder):
    (folder / "my_bad.py").write_text("1 / 0")
    with pytest.raises(SettingError):
        load_extensions(["my_bad.py"])
    (folder / "my_bad.py").write_text("x = 1  # mended\n")
    load_extensions(["my_bad.py"])
    assert sys.modules["my_bad"].x == 1


def make_function(module, body="return 1"):
    space = {"__name__": module}
    exec(f"def f():\n    {body}", space)
    return space["f"]


def test_builtin_names_and_names_of_another_module_are_refused_but_a_cell_may_be_run_again():
    registry = {"bm25": 1}
    with pytest.raises(SettingError, match="scorer bm25 is built in, expected another name"):
        register(registry, "scorer", "bm25", 2, make_function("__main__"))
    register(registry, "scorer", "mine", 3, make_function("__main__"))
    before = extensions.origin_of("scorer", "mine")
    register(registry, "scorer", "mine", 4, make_function("__main__", "return 2"))
    assert registry == {"bm25": 1, "mine": 4}
    assert extensions.origin_of("scorer", "mine") != before
    with pytest.raises(SettingError, match="scorer mine is registered by a notebook or script already, expected"):
        register(registry, "scorer", "mine", 5, make_function("my_module"))
    assert extensions.origin_of("feature", "mine") is None


@pytest.mark.parametrize("name", ["", "two words", " blank", "a,b", None, 3])
def test_a_name_is_a_word(name):
    with pytest.raises(SettingError, match="expected a word without blanks and commas"):
        register({}, "feature", name, 1, make_function("__main__"))


def test_the_same_code_without_source_has_the_same_origin():
    one, same, other = (Origin.of(make_function("__main__", body)) for body in ("return 1", "return 1", "return 2"))
    assert one == same != other


def test_a_class_without_source_has_the_code_of_its_methods():
    def make(body):
        space = {"__name__": "__main__"}
        exec(f"class A:\n    def f(self):\n        return {body}", space)
        return Origin.of(space["A"])

    assert make("1") == make("1") != make("2")


def test_what_is_not_loaded_or_has_changed_is_refused_by_name():
    recorded = Origin("my_features", "0" * 16)
    expected = (
        "feature own.recency of this model comes from module my_features, which is not loaded: "
        "searchlab --extension my_features …, or `import my_features` in Python"
    )
    with pytest.raises(SettingError) as caught:
        require_origin("feature", "own.recency", recorded, "this model")
    assert str(caught.value) == expected
    extensions.ORIGINS["feature", "own.recency"] = recorded
    require_origin("feature", "own.recency", recorded, "this model")
    extensions.ORIGINS["feature", "own.recency"] = Origin("my_features", "1" * 16)
    with pytest.raises(SettingError, match=r"module my_features has changed since \(hash 0{16}, now 1{16}\): make mod"):
        require_origin("feature", "own.recency", recorded, "this model")
    extensions.ORIGINS["feature", "own.recency"] = Origin("__main__", "1" * 16)
    with pytest.raises(SettingError, match=r"now 1{16}, it is now in a notebook or script\)"):
        require_origin("feature", "own.recency", recorded, "this model")
    with pytest.raises(SettingError, match="comes from a notebook or script, which is not loaded: define it here"):
        require_origin("scorer", "mine", Origin("__main__", "0" * 16), "this index")


@pytest.mark.parametrize("record", [None, [], {}, {"module": "a"}, {"module": "a", "digest": 3}])
def test_a_malformed_origin_is_refused(record):
    with pytest.raises(SettingError, match="expected a module and a digest"):
        Origin.from_json(record)


def test_an_origin_survives_json():
    assert Origin.from_json(Origin("a", "b").to_json()) == Origin("a", "b")


def test_processes_get_the_extensions_wherever_they_run(folder):
    load_extensions(["my_things.py"])
    done = subprocess.run(
        [sys.executable, "-c", "from searchlab import extensions as e; e.load_extensions(); print(e.ORIGINS)"],
        env=process_environment(),
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "'double'" in done.stdout


def test_processes_get_modules_that_the_program_has_imported(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    __import__("my_things")
    register({}, "thing", "here", 1, make_function("__main__"))
    environment = process_environment()
    assert environment[ENVIRONMENT] == "my_things"
    done = subprocess.run(
        [sys.executable, "-c", "from searchlab import extensions as e; e.load_extensions(); print(len(e.ORIGINS))"],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "1\n"


def test_the_command_line_loads_extensions_before_the_command(folder, run_cli):
    (folder / "my_loud.py").write_text("print('here I am')\n")
    assert run_cli("--extension", "my_loud.py", "--version")[1].startswith("here I am\nsearchlab ")
    code, out, err = run_cli("--extension", "nowhere", "--version")
    assert (code, out) == (2, "")
    assert err == "searchlab: extension nowhere: no such module, expected one or a file that ends in .py\n"


def test_indexing_processes_load_the_extensions(folder, run_cli, monkeypatch):
    monkeypatch.setattr(workers, "MIN_PARALLEL_DOCS", 1)
    marks = folder / "marks"
    marks.mkdir()
    (folder / "my_marks.py").write_text(f"import os, pathlib\npathlib.Path({str(marks)!r}, str(os.getpid())).touch()\n")
    (folder / "docs.jsonl").write_text('{"docno": "a", "title": "b", "body": "c"}\n')
    code, _, err = run_cli("--extension", "my_marks.py", "index", "docs.jsonl", "-j", "2")
    assert code == 0, err
    assert len(list(marks.iterdir())) == 3  # the command's and two more
