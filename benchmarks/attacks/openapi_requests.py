"""Requests that Schemathesis draws from the server's own OpenAPI description, on this machine only.

    pip install schemathesis
    python -m benchmarks.attacks.openapi_requests --seconds 100 [--seed 1]

Values that fit the description, values just outside of it, and sequences of requests. No answer may be an internal
error, or have a status, a type or fields that are not described; afterwards the index and its judgments must be
healthy. What the server's HTTP parser refuses before searchlab sees it (URLs of more than 64 kB) is plain text, and is
not counted.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.attack import make_index
from benchmarks.attacks.requests import list_damage
from benchmarks.server_process import HOST, searchlab_command, served

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
PHASES = "coverage,fuzzing,stateful"
# A failure of the description of types, where the answer is that of the HTTP parser.
REFUSED_BY_PARSER = re.compile(r"ST105 Undocumented Content-Type\n\n +Received: text/plain")
FAILURE = re.compile(r"^- ST\d+ .+$", re.MULTILINE)


def run(home: Path, program: str, seconds: int, seed: int) -> tuple[str, list[str]]:
    """Serve a small index and attack the server; returns what Schemathesis counted, and the failures."""
    folder = home / "attacked"
    make_index(folder)
    command = searchlab_command("serve", "-i", folder, "--port", "0", "--uploads", home / "uploads")
    with (home / "errors").open("w+") as errors, served("searchlab", command, errors=errors) as server:
        options = ["--phases", PHASES, "--checks", ",".join(CHECKS), "--max-time", str(seconds), "--seed", str(seed)]
        url = f"http://{HOST}:{server.port}/api/openapi.json"
        ended = subprocess.run(
            [program, "run", url, *options, "-n", "20", "--generation-database", "none", "--continue-on-failure"],
            capture_output=True,
            text=True,
            cwd=home,
            check=False,
        )
        failures = [] if server.process.poll() is None else [f"the server ended with {server.process.returncode}"]
        errors.seek(0)
        said = errors.read()
    found = REFUSED_BY_PARSER.sub("", ended.stdout)
    counted = re.search(r"Test cases:\n +(.+)", ended.stdout)
    if counted is None:
        failures.append(f"Schemathesis failed: {(ended.stderr or ended.stdout)[-2000:]}")
    failures += [f"{each}{found[found.index(each) + len(each) :][:500]}" for each in FAILURE.findall(found)]
    return counted[1] if counted else "", failures + list_damage(folder, said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    program = shutil.which("schemathesis") or str(Path(sys.executable).with_name("schemathesis"))
    if not Path(program).is_file():
        sys.exit("schemathesis is missing: pip install schemathesis")
    with tempfile.TemporaryDirectory() as home:
        counted, failures = run(Path(home), program, arguments.seconds, arguments.seed)
    print("\n".join([counted, f"failures: {len(failures)}", *failures[:50]]))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
