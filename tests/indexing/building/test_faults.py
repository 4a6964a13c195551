"""What a command says after a file system call has failed is true; `benchmarks/crash.py --faults` tries every call."""

import importlib
import os
import random
import sys
import warnings
from pathlib import Path

import pytest

from searchlab.indexing.storage.commit import UNCHANGED, UNKNOWN
from searchlab.indexing.storage.layout import MANIFEST
from tests.hypothesis_profiles import examples

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
faults = importlib.import_module("faults")
file_calls = importlib.import_module("file_calls")

# The only other threads are those of NumPy's BLAS, which sleep: a forked process waits for none of them.
# A warning is what a command says, not an error.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*fork.*:DeprecationWarning", "always::searchlab.errors.DurabilityWarning"
)

OPERATIONS = [operation.name for operation in faults.plan()]
N_FAULTS = examples(6)
N_CALLS_AFTER_COMMIT = 12
# By default each of these calls fails with one of the errors, in a thorough run with each of them.
EVERY = 1 if examples(2) > 1 else len(faults.ERRORS)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(scope="module", autouse=True)
def process_state():
    """The working directory, the arguments and the warnings of this process, restored at the end."""
    here = Path.cwd()
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(sys, "argv", sys.argv)
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(warnings, "formatwarning", warnings.formatwarning)
        yield
    os.chdir(here)


@pytest.fixture(scope="module")
def steps(home, process_state):
    return {step.operation.name: step for step in faults.rehearse(home, faults.plan())}


def assert_all_true(outcomes):
    assert [faults.describe_outcome(outcome) for outcome in outcomes if outcome.problems] == []


def test_every_kind_of_call_is_seen(steps):
    seen = {call.name for step in steps.values() for call in step.calls}
    assert seen >= {"open", "write", "pwrite", "read", "fsync", "close", "flock", "mmap", "ftruncate"}
    assert seen >= {"stat", "mkdir", "rmdir", "unlink", "rename", "replace", "listdir", "scandir"}
    # The files of Whoosh too.
    assert any(call.name == "write" and call.path.endswith(".pst") for call in steps["index"].calls)
    assert all(len(step.calls) > 10 for step in steps.values())


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_a_command_says_after_a_fault_is_true(steps, home, operation):
    step = steps[operation]
    possible = list(faults.faults_of(step))
    chosen = random.Random(operation).sample(possible, min(N_FAULTS, len(possible)))
    outcomes = [faults.inject(step, fault, home) for fault in chosen]
    assert_all_true(outcomes)
    assert any(outcome.code for outcome in outcomes) or any(outcome.state == "new" for outcome in outcomes)


@pytest.mark.parametrize("error", faults.ERRORS)
@pytest.mark.parametrize("operation", ["delete and merge", "semantic, replaced"])
def test_what_fails_after_the_commit_does_not_undo_it(steps, home, operation, error):
    step = steps[operation]
    commit = next(
        place for place, call in enumerate(step.calls) if call.name == "replace" and Path(call.target).name == MANIFEST
    )
    at_commit = faults.inject(step, faults.Fault(commit, error), home)
    assert_all_true([at_commit])
    assert (at_commit.code, at_commit.state, UNCHANGED in at_commit.said) == (1, "old", True)
    places = range(commit + 1, commit + 1 + N_CALLS_AFTER_COMMIT)[list(faults.ERRORS).index(error) % EVERY :: EVERY]
    outcomes = [faults.inject(step, faults.Fault(place, error), home) for place in places]
    assert_all_true(outcomes)
    assert {outcome.state for outcome in outcomes} == {"new"}


def test_a_disk_that_fails_for_good_after_the_commit_loses_nothing(steps, home):
    step = steps["update"]
    commit = next(place for place, call in enumerate(step.calls) if call.name == "replace")
    outcome = faults.inject(step, faults.Fault(commit + 1, "EIO", lasting=True), home)
    assert_all_true([outcome])
    assert (outcome.state, UNKNOWN in outcome.said) == ("new", True)


def test_a_command_that_lies_is_found_out(steps, home):
    truth = steps["delete"]
    liar = faults.Operation("liar", lambda: None, truth.operation.state)
    step = faults.Step(liar, truth.start, truth.before, truth.after, truth.calls)
    assert faults.inject(step, faults.Fault(10**9, "EIO"), home).problems == ["said new, but the state is old"]


def test_calls_outside_the_folder_are_not_intercepted(tmp_path):
    calls = []
    (tmp_path / "inside").mkdir()
    with file_calls.intercept(tmp_path / "inside", file_calls.Hook(before=calls.append)):
        (tmp_path / "outside").write_text("x")
        (tmp_path / "inside" / "file").write_text("x")
        (tmp_path / "inside" / "file").rename(tmp_path / "inside" / "other")
    assert [(call.name, Path(call.path).name) for call in calls if call.name in ("open", "write", "rename")] == [
        ("open", "file"),
        ("write", "file"),
        ("rename", "file"),
    ]
