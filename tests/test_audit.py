"""The audit of locked dependencies, with a pip-audit that answers as the index in a test does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

AUDIT = Path(__file__).parents[1] / "requirements" / "audit.py"
CANARY = {"jinja2==2.10": ["PYSEC-2019-217"]}
# Answers as pip-audit does: packages with vulnerabilities by the index, without them, or left out.
PIP_AUDIT = """
import json, os, sys
from pathlib import Path
index = json.loads(os.environ["INDEX"])
if index is None:
    sys.exit("no route to host")
pins = Path(sys.argv[sys.argv.index("--requirement") + 1]).read_text().split()
assert len({pin.partition("==")[0] for pin in pins}) == len(pins), "duplicate requirements"
answers = []
for name, _, version in (pin.partition("==") for pin in pins):
    ids = index.get(f"{name}=={version}")
    if ids is None:
        answers.append({"name": name, "skip_reason": "not found"})
    else:
        vulns = [{"id": each, "fix_versions": ["9.9"]} for each in ids]
        answers.append({"name": name, "version": version, "vulns": vulns})
print(json.dumps({"dependencies": answers, "fixes": []}))
sys.exit(any(answer.get("vulns") for answer in answers))
"""


@pytest.fixture
def audit(tmp_path):
    """A function that audits lock files against an index: vulnerabilities by release, or None for none in reach."""
    (tmp_path / "pip_audit.py").write_text(PIP_AUDIT)
    (tmp_path / "audit.py").write_bytes(AUDIT.read_bytes())
    (tmp_path / "locked.txt").write_text(
        "# a comment\n"
        "numpy==1.0 ; python_full_version < '3.12' \\\n    --hash=sha256:00\n    # via scipy\n"
        "numpy==2.0 ; python_full_version >= '3.12' \\\n    --hash=sha256:00\n"
    )
    (tmp_path / "locked-dev.txt").write_text(
        "numpy==2.0 \\\n    --hash=sha256:00\npytest==9.0 \\\n    --hash=sha256:00\n"
    )

    def run(index):
        environment = os.environ | {"INDEX": json.dumps(index), "PYTHONPATH": str(tmp_path)}
        command = [sys.executable, str(tmp_path / "audit.py")]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        return ended.returncode, ended.stdout.splitlines(), ended.stderr.splitlines()

    return run


CLEAN = CANARY | {"numpy==1.0": [], "numpy==2.0": [], "pytest==9.0": []}


def test_releases_without_known_vulnerabilities_pass(audit):
    assert audit(CLEAN) == (0, ["audit: no known vulnerability in 3 releases"], [])


@pytest.mark.parametrize("pin", ["numpy==1.0", "numpy==2.0", "pytest==9.0"])
def test_a_vulnerability_is_found_whatever_python_the_release_is_for(audit, pin):
    name, _, version = pin.partition("==")
    assert audit(CLEAN | {pin: ["CVE-1"]}) == (1, [f"{name} {version}: CVE-1, mended in 9.9"], [])


def test_an_index_that_does_not_know_a_published_vulnerability_is_not_believed(audit):
    for index in ({}, CLEAN | {"jinja2==2.10": []}):
        code, out, err = audit(index)
        assert (code, out) == (3, [])
        assert err == ["audit: nothing was audited: the index knows no vulnerability of jinja2==2.10, which has some"]


def test_where_no_index_is_in_reach_one_line_says_so(audit):
    assert audit(None) == (3, [], ["audit: nothing was audited: pip-audit failed (no route to host)"])


def test_a_release_that_the_index_does_not_know_is_no_success(audit):
    index = {pin: ids for pin, ids in CLEAN.items() if pin != "pytest==9.0"}
    assert audit(index) == (3, ["pytest: not found"], [])
    assert audit(index | {"numpy==1.0": ["CVE-1"]})[0] == 1
