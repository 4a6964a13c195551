# mypy: disable-error-code="attr-defined, union-attr"
"""A model is replaced only by a better one, and what was replaced or deleted can be restored."""

from pathlib import Path

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle, load_bundle
from searchlab.rankers.model_store import model_history
from searchlab.rankers.model_store.default_ranker import read_default_ranker, write_default_ranker
from searchlab.rankers.model_store.model_files import find_model, list_model_files, model_file
from searchlab.rankers.model_store.model_history import (
    delete_model,
    list_deleted,
    list_history,
    rename_model,
    restore_version,
    store_trained_model,
)
from searchlab.rankers.models.linear_model import LinearModel


def model(is_better=None, weight=1.0):
    """A model of which training says whether it is better than the former one."""
    training = {} if is_better is None else {"former": {"is_better": is_better}}
    return Bundle("linear", {}, LinearModel(np.array([weight])), ("own",), Preprocessor.named(), training=training)


def weight(path):
    return load_bundle(path).model.weights.tolist()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "it"


def test_the_first_model_of_a_name_is_stored(folder):
    stored = store_trained_model(model_file(folder, "mine"), model())
    assert (stored.path, stored.is_current, stored.former) == (model_file(folder, "mine"), True, None)
    assert list_history(folder, "mine") == []


def test_a_better_model_replaces_the_former_one_which_goes_to_the_history(folder):
    path = model_file(folder, "mine")
    store_trained_model(path, model(weight=1.0))
    stored = store_trained_model(path, model(True, weight=2.0))
    assert (stored.is_current, stored.former_version) == (True, list_history(folder, "mine")[0])
    assert stored.former.model.weights.tolist() == [1.0]
    assert weight(path) == [2.0]
    assert [weight(each) for each in list_history(folder, "mine")] == [[1.0]]


def test_a_model_that_is_no_better_goes_to_the_history(folder):
    path = model_file(folder, "mine")
    store_trained_model(path, model(weight=1.0))
    stored = store_trained_model(path, model(False, weight=2.0))
    assert not stored.is_current
    assert weight(path) == [1.0]
    assert weight(stored.path) == [2.0]
    assert list_history(folder, "mine") == [stored.path]
    assert list(list_model_files(folder)) == ["mine"]


def test_a_model_that_was_not_compared_does_not_replace_another(folder):
    store_trained_model(model_file(folder, "mine"), model(weight=1.0))
    assert not store_trained_model(model_file(folder, "mine"), model(weight=2.0)).is_current
    assert weight(model_file(folder, "mine")) == [1.0]


def test_an_unreadable_former_model_is_replaced_and_kept(folder):
    path = model_file(folder, "mine")
    path.parent.mkdir()
    path.write_text("{")
    assert store_trained_model(path, model()).is_current
    assert [each.read_text() for each in list_history(folder, "mine")] == ["{"]


def test_a_version_becomes_the_model_again_and_both_are_kept(folder):
    path = model_file(folder, "mine")
    store_trained_model(path, model(weight=1.0))
    store_trained_model(path, model(False, weight=2.0))
    restore_version(folder, "mine", list_history(folder, "mine")[0].stem)
    assert weight(path) == [2.0]
    assert [weight(each) for each in list_history(folder, "mine")] == [[1.0]]
    with pytest.raises(SettingError, match="20200101"):
        restore_version(folder, "mine", "20200101-000000")
    with pytest.raises(SettingError, match="no history"):
        restore_version(folder, "other")


def test_a_deleted_model_can_be_restored(folder):
    path = model_file(folder, "mine")
    store_trained_model(path, model(weight=3.0))
    delete_model(folder, "mine")
    assert (list_model_files(folder), list_deleted(folder)) == ({}, ["mine"])
    restore_version(folder, "mine")
    assert (weight(path), list_deleted(folder), list_history(folder, "mine")) == ([3.0], [], [])


def test_the_default_ranker_is_not_deleted_and_follows_a_new_name(folder):
    store_trained_model(model_file(folder, "mine"), model(weight=1.0))
    store_trained_model(model_file(folder, "mine"), model(True, weight=2.0))
    write_default_ranker(folder, "model:mine", "ann")
    with pytest.raises(SettingError, match="default ranker: choose another"):
        delete_model(folder, "mine")
    rename_model(folder, "mine", "ours")
    assert (read_default_ranker(folder).system, read_default_ranker(folder).chosen_by) == ("model:ours", "ann")
    assert list(list_model_files(folder)) == ["ours"]
    assert (len(list_history(folder, "ours")), list_history(folder, "mine")) == (1, [])
    with pytest.raises(SettingError, match="choose another name"):
        rename_model(folder, "ours", "ours")
    with pytest.raises(SettingError, match="letters, digits"):
        rename_model(folder, "ours", "../x")


def test_other_models_are_not_changed(folder):
    folder.with_name("it.model.json").write_text("{}")
    with pytest.raises(SettingError, match="was not trained in the browser"):
        delete_model(folder, "model")
    assert find_model(folder, "model") == folder.with_name("it.model.json")
    with pytest.raises(SettingError, match="none"):
        find_model(folder, "none")


@pytest.mark.parametrize("step", ["unlink", "replace"])
def test_a_failure_between_two_steps_loses_no_model(folder, monkeypatch, step):
    path = model_file(folder, "mine")
    store_trained_model(path, model(weight=1.0))
    monkeypatch.setattr(Path, "unlink", lambda *args, **kwargs: (_ for _ in ()).throw(OSError(28, "No space left")))
    if step == "unlink":
        with pytest.raises(Exception, match="No space left"):
            delete_model(folder, "mine")
    else:
        monkeypatch.setattr(model_history, "replace_atomically", _fails)
        with pytest.raises(Exception, match="No space left"):
            store_trained_model(path, model(True, weight=2.0))
    assert weight(path) == [1.0]


def _fails(path):
    raise OSError(28, "No space left")
