"""Is what is served always what is on disk, and does nobody wait for it?"""

import json
import threading
from pathlib import Path

import numpy as np
import pytest

import searchlab
from searchlab.errors import IndexMissing, SettingError
from searchlab.features.preprocessing.preprocessor import Preparation
from searchlab.features.sets import make_set
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.models import LinearModel
from searchlab.records import Document
from searchlab.web.http_errors import NotFound
from searchlab.web.state import open_indexes as shelf_module
from searchlab.web.state.open_indexes import Shelf, models_folder


@pytest.fixture
def folder(build, tmp_path):
    return build([Document("a", "Alpha", "alpha beta"), Document("b", "Beta", "beta")], folder=tmp_path / "it")


def save_model(path, features="table1", ranker="rsvm"):
    names = make_set(features).names
    path.parent.mkdir(exist_ok=True)
    Bundle(ranker, {}, LinearModel(np.ones(len(names))), names, Preparation.named(), first_stage=FirstStage(k=5)).save(
        path
    )


def test_an_index_is_opened_once(folder):
    shelf = Shelf([folder])
    assert shelf.get() is shelf.get("it")
    assert shelf.names == ("it",)


def test_a_change_on_disk_is_seen_by_the_next_request_and_not_by_the_one_under_way(folder, build):
    shelf = Shelf([folder])
    before = shelf.get()
    build([Document("c", "Gamma", "gamma")], folder=folder)
    after = shelf.get()
    assert after.generation != before.generation or after is not before
    assert after.system("bm25").search("gamma").docnos == ["c"]
    assert before.system("bm25").search("gamma").docnos == []
    assert before.engine.document("a").title == "Alpha"


def test_it_is_known_whether_something_has_to_be_opened(folder, build):
    shelf = Shelf([folder])
    assert not shelf.is_current(None)
    shelf.get()
    assert shelf.is_current(None) and shelf.is_current("it")
    assert not shelf.is_current("other")
    build([Document("c", "Gamma", "gamma")], folder=folder)
    assert not shelf.is_current("it")
    shelf.get()
    assert shelf.is_current("it")


def test_while_a_new_state_is_opened_others_get_the_old_one(folder, build, monkeypatch):
    shelf = Shelf([folder])
    before = shelf.get()
    build([Document("c", "Gamma", "gamma")], folder=folder)
    opening, go_on = threading.Event(), threading.Event()
    real = shelf_module.SearchEngine

    def slow(*arguments):
        opening.set()
        assert go_on.wait(10)
        return real(*arguments)

    monkeypatch.setattr(shelf_module, "SearchEngine", slow)
    found = []
    opener = threading.Thread(target=lambda: found.append(shelf.get()))
    opener.start()
    assert opening.wait(10)
    assert shelf.get() is before
    go_on.set()
    opener.join()
    assert shelf.get() is found[0] is not before


def test_an_index_that_went_bad_is_served_as_it_was(folder, caplog):
    shelf = Shelf([folder])
    before = shelf.get()
    (folder / "manifest.json").write_text("{")
    assert shelf.get().engine is before.engine
    assert "serving the last good state" in caplog.text
    caplog.clear()
    shelf.get()
    assert not caplog.text  # told once, not with each request


def test_an_index_that_is_not_there_is_an_error_at_once(tmp_path):
    with pytest.raises(IndexMissing):
        Shelf([tmp_path / "none"]).get()


def test_names_that_are_not_on_the_shelf_are_not_looked_for_on_disk(folder, tmp_path):
    shelf = Shelf([folder])
    for name in ("other", "../it", str(folder), "it/"):
        with pytest.raises(NotFound, match="there is: it"):
            shelf.get(name)


def test_two_indexes_of_one_name_are_refused(folder, tmp_path):
    with pytest.raises(SettingError, match="two indexes are called it"):
        Shelf([folder, tmp_path / "elsewhere" / "it"])
    with pytest.raises(SettingError, match="no index"):
        Shelf([])


def test_models_beside_the_index_are_offered_as_they_come_and_go(folder):
    shelf = Shelf([folder])
    first = shelf.get()
    assert not first.models
    save_model(models_folder(folder) / "mine.json")
    second = shelf.get()
    assert list(second.models) == ["mine"]
    assert second.engine is first.engine  # the index itself has not changed
    assert ("model:mine", "mine (rsvm)", "model") in second.systems()
    assert second.system("model:mine").search("beta").docnos
    save_model(folder.with_name("it.model.json"), ranker="rsvm-ir")
    assert list(shelf.get().models) == ["model", "mine"]
    (models_folder(folder) / "mine.json").unlink()
    assert list(shelf.get().models) == ["model"]


def test_models_that_are_given_are_offered_for_every_index(folder, build, tmp_path):
    other = build([Document("x", "", "xi")], folder=tmp_path / "other")
    save_model(tmp_path / "given.model.json")
    shelf = Shelf([folder, other], [tmp_path / "given.model.json"])
    assert shelf.names == ("it", "other")
    assert list(shelf.get("it").models) == list(shelf.get("other").models) == ["given"]


def test_models_that_are_of_no_use_are_told_and_not_offered(folder):
    home = models_folder(folder)
    home.mkdir()
    (home / "broken.json").write_text("{")
    save_model(home / "needy.json", features="semantic")  # there is no semantic space
    record = json.loads((home / "needy.json").read_text())
    opened = Shelf([folder]).get()
    assert record and "broken.json" in opened.unreadable["broken"]
    assert "needy" in opened.misfits
    assert [name for name, _, kind in opened.systems() if kind == "model"] == []


def test_only_scorers_that_can_be_used_are_offered(folder):
    opened = Shelf([folder]).get()
    names = [name for name, _, _ in opened.systems()]
    assert names[:3] == ["bm25", "bm25+rm3", "bm25f"]
    assert "plsa" not in names
    for name in names:
        assert opened.system(name).search("alpha beta").docnos[0] in "ab"
    searchlab.build_topics(folder, n_topics=2)
    assert len(opened.system("bm25").search("alpha")) == 1
    assert "plsa" in [name for name, _, _ in Shelf([folder]).get().systems()]


def test_an_index_that_could_not_be_opened_is_tried_again_though_nothing_has_changed(
    folder, build, monkeypatch, caplog
):
    shelf = Shelf([folder])
    shelf.get()
    build([Document("c", "Gamma", "gamma")], folder=folder)
    real = shelf_module.SearchEngine

    def refuse(folder):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(shelf_module, "SearchEngine", refuse)
    monkeypatch.setattr(shelf_module, "RETRY", 0.0)
    for _ in range(3):
        assert shelf.get().system("bm25").search("beta").docnos == ["b", "a"]
    assert sum("Too many open files" in record.message for record in caplog.records) == 1
    monkeypatch.setattr(shelf_module, "SearchEngine", real)
    assert shelf.get().system("bm25").search("gamma").docnos == ["c"]
    assert shelf.get() is shelf.get()


def test_an_index_that_could_not_be_opened_is_not_tried_again_at_once(folder, build, monkeypatch):
    shelf = Shelf([folder])
    shelf.get()
    build([Document("c", "Gamma", "gamma")], folder=folder)
    tried = []

    def refuse(folder):
        tried.append(folder)
        raise IndexMissing("nothing here")

    monkeypatch.setattr(shelf_module, "SearchEngine", refuse)
    monkeypatch.setattr(shelf_module, "RETRY", 1000.0)
    assert shelf.get() is shelf.get()
    assert len(tried) == 1


def test_a_model_that_is_written_in_its_place_is_read_again(folder):
    path = models_folder(folder) / "slow.json"
    path.parent.mkdir()
    path.write_text("{")
    (path.parent / "gone.json").symlink_to("nowhere")
    shelf = Shelf([folder])
    assert set(shelf.get().unreadable) == {"gone", "slow"}
    save_model(path.parent.parent / "made.json")
    path.write_bytes((path.parent.parent / "made.json").read_bytes())
    assert set(shelf.get().models) == {"slow"}
    assert all(str(folder.parent) not in problem for problem in shelf.get().unreadable.values())


def test_the_last_state_is_known_without_a_look_at_the_disk(folder, build):
    shelf = Shelf([folder])
    assert shelf.last() is None
    opened = shelf.get()
    build([Document("c", "Gamma", "gamma")], folder=folder)
    assert shelf.last() is opened
    assert shelf.get() is shelf.last() is not opened


@pytest.mark.parametrize("where", ["absolute", "relative"])
def test_messages_do_not_tell_where_an_index_lies(tmp_path, monkeypatch, where):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "some where" / "it" if where == "absolute" else Path("some where/it")
    shelf = Shelf([folder])
    assert shelf.without_folders(f"{folder}: no index") == "it: no index"
    assert shelf.without_folders(f"{folder.absolute()}.models/m.json: bad") == "it.models/m.json: bad"
    assert Shelf([Path("it")]).without_folders("it: a/b AND ./c") == "it: a/b AND ./c"
