"""Reports have a way back into the site, and are those of the index that is shown."""

import json
import shutil

import pytest

from searchlab.experiments.stored_results import experiments_folder
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_indexes import OpenIndexes
from tests.web.search_client import client_of, get_json


@pytest.fixture
def folders(medical, experiment, build, tmp_path):
    """Two indexes; an experiment of each, and a report of another kind beside each."""
    other = shutil.copytree(medical, tmp_path / "other")
    results = shutil.copytree(experiments_folder(medical) / experiment, experiments_folder(other) / "theirs")
    manifest = json.loads((results / "manifest.json").read_text())
    manifest["index"]["name"] = "other"
    (results / "manifest.json").write_text(json.dumps(manifest))
    for folder in (medical, other):
        note = experiments_folder(folder) / f"note-{folder.name}"
        note.mkdir(exist_ok=True)
        (note / "report.html").write_text("<html><title>A note</title><body class=x><main>words</main></body></html>")
    return medical, other


def test_reports_are_those_of_the_index(folders):
    with client_of(AppState(OpenIndexes(folders))) as client:
        for index, names in (("medical", ["note-medical", "titles"]), ("other", ["note-other", "theirs"])):
            client.post("/api/topics", json={"topic_set": "mine", "text": "x", "index": index})
            found = get_json(client, "/api/measure", topic_set="mine", index=index)["reports"]
            assert [each["name"] for each in found] == names
            assert [each["is_experiment"] for each in found] == [False, True]


def test_a_report_leads_to_its_results_and_to_all_experiments(folders):
    with client_of(AppState(OpenIndexes(folders))) as client:
        theirs = client.get("/report/theirs/").text
        assert 'href="/experiments?index=other"' in theirs
        assert 'href="/experiment?index=other&amp;name=theirs"' in theirs
        note = client.get("/report/note-other/").text
        assert note.index("<body class=x>") < note.index("← Experiments") < note.index("<main>")
        assert "Results, with links" not in note
