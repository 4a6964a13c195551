"""A server multiplies matrices with one thread, and processes that it starts are free to use more."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os
import sys
from searchlab.cli.blas_threads import load_numpy_with_one_thread

assert "numpy" not in sys.modules
load_numpy_with_one_thread()
import threadpoolctl

print([library["num_threads"] for library in threadpoolctl.threadpool_info() if library["internal_api"] == "openblas"])
print(os.environ.get("OPENBLAS_NUM_THREADS"))
"""


@pytest.mark.parametrize(("given", "threads", "left"), [({}, "1", "None"), ({"OPENBLAS_NUM_THREADS": "2"}, "2", "2")])
def test_blas_has_one_thread_unless_the_environment_says_otherwise(given, threads, left):
    pytest.importorskip("threadpoolctl")
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"} | given
    found = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == [f"[{threads}]", left]
