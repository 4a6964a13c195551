"""Indexes are served as they are on disk, without delay for other requests."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest

import searchlab
from searchlab.errors import IndexMissing, SettingError
from searchlab.features.feature_sets import make_feature_set
from searchlab.features.latent_semantics.semantic_space import build_space
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.model_store.model_files import models_folder
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.records import Document
from searchlab.web.http_errors import NotFound
from searchlab.web.state import open_indexes as open_indexes_module
from searchlab.web.state.open_indexes import OpenIndexes


@pytest.fixture
def folder(build, tmp_path):
    return build([Document("a", "Alpha", "alpha beta"), Document("b", "Beta", "beta")], folder=tmp_path / "it")


def save_model(path, features="table1", ranker="rsvm"):
    names = make_feature_set(features).names
    path.parent.mkdir(exist_ok=True)
    Bundle(ranker, {}, LinearModel(np.ones(len(names))), names, Preprocessor.named(), first_stage=FirstStage(k=5)).save(
        path
    )


def test_an_index_is_opened_once(folder):
    indexes = OpenIndexes([folder])
    assert indexes.get() is indexes.get("it")
    assert indexes.names == ("it",)


def test_a_change_on_disk_gives_a_new_state_and_leaves_the_previous_one_as_it_is(folder, build):
    indexes = OpenIndexes([folder])
    before = indexes.get()
    build([Document("c", "Gamma", "gamma")], folder=folder)
    after = indexes.get()
    assert after.generation != before.generation or after is not before
    assert after.system("bm25").search("gamma").docnos == ["c"]
    assert before.system("bm25").search("gamma").docnos == []
    assert before.engine.document("a").title == "Alpha"


def test_the_current_state_is_known_only_if_it_is_open(folder, build):
    indexes = OpenIndexes([folder])
    assert indexes.current() is None
    opened = indexes.get()
    assert indexes.current() is indexes.current("it") is opened
    assert indexes.current("other") is None
    build([Document("c", "Gamma", "gamma")], folder=folder)
    assert indexes.current("it") is None
    opened = indexes.get()
    assert indexes.current("it") is opened


def test_while_a_new_state_is_opened_others_get_the_old_one(folder, build, monkeypatch):
    indexes = OpenIndexes([folder])
    before = indexes.get()
    build([Document("c", "Gamma", "gamma")], folder=folder)
    opening, go_on = threading.Event(), threading.Event()
    real = open_indexes_module.SearchEngine  # type: ignore[attr-defined]

    def slow(*arguments, **options):
        opening.set()
        assert go_on.wait(10)
        return real(*arguments, **options)

    monkeypatch.setattr(open_indexes_module, "SearchEngine", slow)
    found = []
    opener = threading.Thread(target=lambda: found.append(indexes.get()))
    opener.start()
    assert opening.wait(10)
    assert indexes.get() is before
    go_on.set()
    opener.join()
    assert indexes.get() is found[0] is not before


def test_a_damaged_index_is_served_in_its_previous_state(folder, caplog):
    indexes = OpenIndexes([folder])
    before = indexes.get()
    (folder / "manifest.json").write_text("{")
    assert indexes.get().engine is before.engine
    assert "serving the previous state" in caplog.text
    caplog.clear()
    indexes.get()
    assert not caplog.text  # logged once, not with each request


def test_a_missing_index_is_an_error(tmp_path):
    with pytest.raises(IndexMissing):
        OpenIndexes([tmp_path / "none"]).get()


def test_unknown_names_are_not_looked_up_on_disk(folder, tmp_path):
    indexes = OpenIndexes([folder])
    for name in ("other", "../it", str(folder), "it/"):
        with pytest.raises(NotFound, match="expected one of it"):
            indexes.get(name)


def test_two_indexes_with_one_name_are_rejected(folder, tmp_path):
    with pytest.raises(SettingError, match="two indexes are called it"):
        OpenIndexes([folder, tmp_path / "elsewhere" / "it"])
    with pytest.raises(SettingError, match="no index"):
        OpenIndexes([])


def test_models_beside_the_index_are_offered_as_they_come_and_go(folder):
    indexes = OpenIndexes([folder])
    first = indexes.get()
    assert list(first.models) == ["builtin"]
    save_model(models_folder(folder) / "mine.json")
    second = indexes.get()
    assert list(second.models) == ["mine", "builtin"]
    assert second.engine is first.engine  # the index itself has not changed
    assert ("model:mine", "mine (rsvm)", "model") in second.systems
    assert second.system("model:mine").search("beta").docnos
    save_model(folder.with_name("it.model.json"), ranker="rsvm-ir")
    assert list(indexes.get().models) == ["model", "mine", "builtin"]
    (models_folder(folder) / "mine.json").unlink()
    assert list(indexes.get().models) == ["model", "builtin"]


def test_shared_models_are_offered_for_every_index(folder, build, tmp_path):
    other = build([Document("x", "", "xi")], folder=tmp_path / "other")
    save_model(tmp_path / "shared.model.json")
    indexes = OpenIndexes([folder, other], [tmp_path / "shared.model.json"])
    assert indexes.names == ("it", "other")
    assert list(indexes.get("it").models) == list(indexes.get("other").models) == ["shared", "builtin"]


def test_unusable_models_are_reported_and_not_offered(folder):
    home = models_folder(folder)
    home.mkdir()
    (home / "broken.json").write_text("{")
    save_model(home / "needy.json", features="semantic")  # there is no semantic space
    record = json.loads((home / "needy.json").read_text())
    opened = OpenIndexes([folder]).get()
    assert record and "broken.json" in opened.unreadable_models["broken"]
    assert "needy" in opened.unusable_models
    assert [name for name, _, kind in opened.systems if kind == "model"] == []


def test_only_usable_scorers_are_offered(folder):
    opened = OpenIndexes([folder]).get()
    names = [name for name, _, _ in opened.systems]
    assert names[:3] == ["bm25", "bm25+rm3", "bm25f"]
    assert "plsa" not in names
    for name in names:
        assert opened.system(name).search("alpha beta").docnos[0] in "ab"
    searchlab.build_topic_model(folder, n_topics=2)
    assert len(opened.system("bm25").search("alpha")) == 1
    assert "plsa" in [name for name, _, _ in OpenIndexes([folder]).get().systems]


def test_an_index_that_could_not_be_opened_is_tried_again_even_if_nothing_has_changed(
    folder, build, monkeypatch, caplog
):
    indexes = OpenIndexes([folder])
    indexes.get()
    build([Document("c", "Gamma", "gamma")], folder=folder)
    real = open_indexes_module.SearchEngine  # type: ignore[attr-defined]

    def fail(folder, **options):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(open_indexes_module, "SearchEngine", fail)
    monkeypatch.setattr(open_indexes_module, "RETRY_SECONDS", 0.0)
    for _ in range(3):
        assert indexes.get().system("bm25").search("beta").docnos == ["b", "a"]
    assert sum("Too many open files" in record.message for record in caplog.records) == 1
    monkeypatch.setattr(open_indexes_module, "SearchEngine", real)
    assert indexes.get().system("bm25").search("gamma").docnos == ["c"]
    assert indexes.get() is indexes.get()


def test_an_index_that_could_not_be_opened_is_not_tried_again_at_once(folder, build, monkeypatch):
    indexes = OpenIndexes([folder])
    indexes.get()
    build([Document("c", "Gamma", "gamma")], folder=folder)
    tried = []

    def fail(folder, **options):
        tried.append(folder)
        raise IndexMissing("nothing here")

    monkeypatch.setattr(open_indexes_module, "SearchEngine", fail)
    monkeypatch.setattr(open_indexes_module, "RETRY_SECONDS", 1000.0)
    assert indexes.get() is indexes.get()
    assert len(tried) == 1


def test_a_model_that_is_overwritten_in_place_is_read_again(folder):
    path = models_folder(folder) / "slow.json"
    path.parent.mkdir()
    path.write_text("{")
    (path.parent / "gone.json").symlink_to("nowhere")
    indexes = OpenIndexes([folder])
    assert set(indexes.get().unreadable_models) == {"gone", "slow"}
    save_model(path.parent.parent / "made.json")
    path.write_bytes((path.parent.parent / "made.json").read_bytes())
    assert set(indexes.get().models) == {"slow", "builtin"}


def test_the_built_in_model_is_offered_as_soon_as_the_index_has_a_semantic_space(folder):
    indexes = OpenIndexes([folder])
    assert indexes.get().unusable_models["builtin"] == "it: no semantic space; `searchlab semantic -i it` makes one"
    build_space(folder)
    assert indexes.get().usable_models == ("model:builtin",)
    assert indexes.get().system("model:builtin").search("beta").docnos


def test_problems_of_unreadable_models_do_not_name_the_folder(folder):
    path = models_folder(folder) / "slow.json"
    path.parent.mkdir()
    path.write_text("{")
    indexes = OpenIndexes([folder])
    assert indexes.get().unreadable_models
    assert all(str(folder.parent) not in problem for problem in indexes.get().unreadable_models.values())


def test_the_state_opened_last_is_known_without_a_look_at_the_disk(folder, build):
    indexes = OpenIndexes([folder])
    assert indexes.last_opened() is None
    opened = indexes.get()
    build([Document("c", "Gamma", "gamma")], folder=folder)
    assert indexes.last_opened() is opened
    assert indexes.get() is indexes.last_opened() is not opened


@pytest.mark.parametrize("where", ["absolute", "relative"])
def test_messages_do_not_contain_the_folder_of_an_index(tmp_path, monkeypatch, where):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "some where" / "it" if where == "absolute" else Path("some where/it")
    indexes = OpenIndexes([folder])
    assert indexes.without_folders(f"{folder}: no index") == "it: no index"
    assert indexes.without_folders(f"{folder.absolute()}.models/m.json: bad") == "it.models/m.json: bad"
    assert OpenIndexes([Path("it")]).without_folders("it: a/b AND ./c") == "it: a/b AND ./c"
