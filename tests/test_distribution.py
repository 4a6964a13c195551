"""The wheel: what it contains, and that the tour of the README works from it, away from the clone."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import searchlab
from tests.test_documentation import ROOT, commands_of, python_of, try_server

pytest.importorskip("build")
pytest.importorskip("hatchling")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode == 0, ended.stderr
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """An environment with the wheel; dependencies are those of this environment, without its copy of searchlab."""
    home = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    install = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install", "--quiet"]
    offline = ["--no-deps", "--no-index", "--disable-pip-version-check", str(wheel)]
    subprocess.run([*install, *offline], check=True, capture_output=True)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    copy_compiled_kernels(site)
    return home / "bin"


def copy_compiled_kernels(site: Path) -> None:
    """Copy what numba has compiled for the clone beside the same modules of the wheel, to compile nothing twice.

    Numba accepts it for a module of the same size and the same time of the last change.
    """
    for compiled in (ROOT / "searchlab").rglob("__pycache__/*.nb[ic]"):
        module = compiled.parents[1] / f"{compiled.name.partition('.')[0]}.py"
        shutil.copy2(compiled, site / compiled.parent.relative_to(ROOT))
        shutil.copystat(module, site / module.relative_to(ROOT))


def test_the_wheel_has_pages_types_and_the_bundled_collection(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    examples = {f"searchlab/examples/{name}/docs.jsonl" for name in ("chinese", "medical")}
    assert {"searchlab/py.typed", "searchlab/rankers/builtin_model.json", *examples} <= names
    for folder in ("web/static", "web/templates"):
        files = {f"searchlab/{folder}/{path.name}" for path in (ROOT / "searchlab" / folder).iterdir()}
        assert files
        assert files <= names
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "searchlab").rglob("*.py")}
    assert modules <= names
    assert not [name for name in names if name.startswith("tests/")]


def test_the_version_is_in_one_place(wheel):
    assert wheel.name.startswith(f"searchlab-{searchlab.__version__}-")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [searchlab.__version__]


def test_the_tour_works_from_the_wheel(installed, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*command):
        ended = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240, check=False
        )
        assert ended.returncode == 0, f"{command}\n{ended.stderr}"
        return ended.stdout

    assert str(installed.parent) in run(installed / "python", "-c", "import searchlab; print(searchlab.__file__)")
    page = ROOT / "README.md"
    for arguments in commands_of(page):
        if arguments[0] == "serve":
            try_server(tmp_path, arguments, page, searchlab=[str(installed / "searchlab")], environment=environment)
        else:
            run(installed / "searchlab", *arguments)
    assert "med-043" in run(installed / "python", "-c", "\n".join(python_of(page)))
