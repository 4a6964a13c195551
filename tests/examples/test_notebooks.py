"""Each notebook of examples/notebooks/ runs from top to bottom, and is stored without outputs."""

import os
import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "notebooks"

# A line of the output, as a pattern.
OUTPUTS = {
    "better_ranking": r"softmax is better than BM25, but not shown to be better than the built-in model yet: nDCG",
    "first_search": r"5 of 43 documents that match",
    "trec_experiment": r"BM25 \+ RM3 & \.7475\\rlap\{\\textsuperscript\{\$\\blacktriangle\$\}\} & ",
}
NAMES = sorted(OUTPUTS)


def read_notebook(name):
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def test_every_notebook_is_run():
    assert [path.stem for path in sorted(FOLDER.glob("*.ipynb"))] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_stored_without_outputs_and_traces_of_a_machine(name):
    notebook = read_notebook(name)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.language_info == {"name": "python"}
    for number, cell in enumerate(notebook.cells, start=1):
        assert (cell.id, cell.metadata) == (f"cell-{number}", {})
        if cell.cell_type == "code":
            assert (cell.execution_count, cell.outputs) == (None, [])


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_shows_what_it_is_about(name, tmp_path):
    notebook, files = read_notebook(name), sorted(FOLDER.iterdir())
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    client = nbclient.NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(FOLDER)}})
    client.execute(env=environment)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    shown = "\n".join(output.get("text") or output.data.get("text/html", "") for output in outputs)
    assert re.search(OUTPUTS[name], shown), shown
    assert sorted(FOLDER.iterdir()) == files
