"""Audit of the locked dependencies: looks up known vulnerabilities with pip-audit.

    python requirements/audit.py

pip-audit leaves out a release that its index does not know, and still succeeds. So a release with published
vulnerabilities is looked up first; an index that does not know those is not believed. All locked releases are looked
up, also those of other platforms and versions of Python.

Exit codes: 0 no known vulnerability; 1 at least one; 3 not everything could be looked up.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

LOCK_FILES = ("locked.txt", "locked-dev.txt")
# Jinja's sandbox could be left by str.format_map (CVE-2019-10906); mended in 2.10.1.
KNOWN_TO_BE_VULNERABLE = "jinja2==2.10"
VULNERABLE, UNKNOWN = 1, 3

_PIN = re.compile(r"^([A-Za-z0-9._-]+==[^\s;\\]+)", re.MULTILINE)


class LookupFailed(Exception):
    """The vulnerabilities of releases cannot be looked up; the message says why."""


def read_pins(folder: Path) -> list[str]:
    """All releases in the lock files, as name==version."""
    return sorted({pin for name in LOCK_FILES for pin in _PIN.findall((folder / name).read_text(encoding="utf-8"))})


def group_pins(pins: Iterable[str]) -> list[list[str]]:
    """The pins in lists that have each package once, as pip-audit wants them."""
    releases: dict[str, list[str]] = defaultdict(list)
    for pin in pins:
        releases[pin.partition("==")[0]].append(pin)
    most = max(map(len, releases.values()), default=0)
    return [[pins[turn] for pins in releases.values() if turn < len(pins)] for turn in range(most)]


def look_up(pins: list[str]) -> list[dict[str, Any]]:
    """What pip-audit says about each release."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pins.txt"
        path.write_text("\n".join(pins) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "--requirement", str(path)]
        command += ["--format", "json", "--progress-spinner", "off"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        answers: list[dict[str, Any]] = json.loads(ended.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        lines = ended.stderr.strip().splitlines() or ["it printed nothing"]
        raise LookupFailed(f"pip-audit failed ({lines[-1].strip()[:200]})") from None
    return answers


def audit(pins: list[str]) -> Iterator[tuple[int, str]]:
    """An exit code and a line for each problem."""
    if not any(answer.get("vulns") for answer in look_up([KNOWN_TO_BE_VULNERABLE])):
        raise LookupFailed(f"the index knows no vulnerability of {KNOWN_TO_BE_VULNERABLE}, which has some")
    for group in group_pins(pins):
        for answer in look_up(group):
            for found in answer.get("vulns", ()):
                mended = ", ".join(found["fix_versions"]) or "no release"
                yield VULNERABLE, f"{answer['name']} {answer['version']}: {found['id']}, mended in {mended}"
            if "skip_reason" in answer:
                yield UNKNOWN, f"{answer['name']}: {answer['skip_reason']}"


def main() -> int:
    """Print the problems and return the exit code."""
    pins = read_pins(Path(__file__).parent)
    try:
        problems = list(audit(pins))
    except LookupFailed as error:
        print(f"audit: nothing was audited: {error}", file=sys.stderr)
        return UNKNOWN
    for _, line in problems:
        print(line)
    if not problems:
        print(f"audit: no known vulnerability in {len(pins)} releases")
    return min((code for code, _ in problems), default=0)


if __name__ == "__main__":
    sys.exit(main())
