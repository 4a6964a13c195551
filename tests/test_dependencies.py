"""The lock files: they fit pyproject.toml, every release has hashes, and no address is in them."""

import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
DECLARED = {
    "locked.txt": PROJECT["dependencies"],
    "locked-dev.txt": [*PROJECT["dependencies"], *EXTRAS["dev"]],
}
# The Pythons and platforms that the lock files are for.
ENVIRONMENTS = [
    default_environment() | {"python_version": version, "python_full_version": f"{version}.0", "sys_platform": platform}
    for version in ("3.11", "3.12", "3.13")
    for platform in ("linux", "darwin")
]


def read_lock(name: str) -> list[tuple[Requirement, list[str]]]:
    """The releases of a lock file with their hashes."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8").replace("\\\n", " ")
    rows = [line.split(" --hash=") for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return [(Requirement(row[0]), [value.strip() for value in row[1:]]) for row in rows]


def versions_in(name: str, environment: dict[str, str]) -> dict[str, list[str]]:
    """The versions that a lock file gives each package in an environment."""
    versions: dict[str, list[str]] = defaultdict(list)
    for pin, _ in read_lock(name):
        if pin.marker is None or pin.marker.evaluate(environment):
            (clause,) = pin.specifier
            assert clause.operator == "=="
            versions[canonicalize_name(pin.name)].append(clause.version)
    return versions


@pytest.mark.parametrize("name", DECLARED)
def test_every_release_has_hashes(name):
    pins = read_lock(name)
    assert len(pins) > 40
    assert [pin.name for pin, hashes in pins if not hashes] == []
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", value) for _, hashes in pins for value in hashes)


@pytest.mark.parametrize("name", DECLARED)
def test_a_lock_file_has_no_address_and_no_option(name):
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert re.findall(r"\w+://\S*|\bfile:\S*|^-.*|^.* @ .*", text, re.MULTILINE) == []


@pytest.mark.parametrize(
    "environment", ENVIRONMENTS, ids=lambda each: f"{each['python_version']}-{each['sys_platform']}"
)
@pytest.mark.parametrize("name", DECLARED)
def test_every_declared_dependency_is_locked_once_within_its_bounds(name, environment):
    versions = versions_in(name, environment)
    assert {package: found for package, found in versions.items() if len(found) != 1} == {}
    wanted = [Requirement(text) for text in DECLARED[name]]
    assert wanted
    for requirement in wanted:
        if requirement.marker is None or requirement.marker.evaluate(environment):
            (version,) = versions[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version), f"{requirement}: {version} is locked; run `make lock`"


def test_the_development_tools_are_locked_with_the_same_runtime():
    for environment in ENVIRONMENTS:
        runtime, development = (versions_in(name, environment) for name in DECLARED)
        assert runtime.items() <= development.items()


def test_the_test_environment_has_what_the_optional_features_need():
    extras = ("dataframes", "documents", "languages", "pyterrier", "trees")
    assert [text for extra in extras for text in EXTRAS[extra] if text not in EXTRAS["dev"]] == []
