"""The default ranker of an index is kept beside it, and used by name."""

import json

import pytest

import searchlab
from searchlab.errors import SettingError, SourceError
from searchlab.rankers.model_store.default_ranker import (
    default_ranker_file,
    read_default_ranker,
    remove_default_ranker,
    require_default_ranker,
    write_default_ranker,
)
from tests.rankers.model_store.three_documents import DOCUMENTS


@pytest.fixture
def folder(build, tmp_path):
    return build(DOCUMENTS, folder=tmp_path / "it")


def test_none_is_chosen_at_first(folder):
    assert read_default_ranker(folder) is None
    assert not remove_default_ranker(folder)
    with pytest.raises(SettingError, match="no default ranker was chosen; `searchlab model use NAME"):
        require_default_ranker(folder)


def test_a_choice_is_kept_replaced_and_removed(folder):
    write_default_ranker(folder, "bm25+rm3", "Ann\nB")
    chosen = read_default_ranker(folder)
    assert (chosen.system, chosen.model, chosen.chosen_by) == ("bm25+rm3", None, "Ann B")
    assert chosen.chosen.endswith("+00:00")
    write_default_ranker(folder, "model:builtin")
    assert read_default_ranker(folder).model == "builtin"
    assert remove_default_ranker(folder)
    assert read_default_ranker(folder) is None


def test_a_model_must_exist(folder):
    with pytest.raises(SettingError, match="mine"):
        write_default_ranker(folder, "model:mine")
    assert not default_ranker_file(folder).exists()


@pytest.mark.parametrize("change", [{"system": 3}, {"format": "other"}, {"system": "jm"}, {"checksum": 0}])
def test_a_damaged_record_is_refused_in_one_line(folder, change):
    write_default_ranker(folder, "bm25+rm3")
    path = default_ranker_file(folder)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(SourceError, match=r"it\.ranker\.json: not the record of a default ranker"):
        read_default_ranker(folder)
    path.write_text("{")
    with pytest.raises(SourceError, match="not the record"):
        read_default_ranker(folder)


def test_searches_of_an_index_that_is_opened_with_its_default_ranker_use_it(folder):
    with pytest.raises(SettingError, match="no default ranker"):
        searchlab.open(folder, rerank="default")
    write_default_ranker(folder, "jm")
    with searchlab.open(folder, rerank="default") as engine, searchlab.open(folder) as plain:
        by_jm = plain.search("alpha gamma", scorer="jm")
        assert engine.search("alpha gamma").scores.tolist() == by_jm.scores.tolist()
        # A scorer that is asked for is used.
        by_bm25 = plain.search("alpha gamma")
        assert engine.search("alpha gamma", scorer="bm25").scores.tolist() == by_bm25.scores.tolist()
        assert by_jm.scores.tolist() != by_bm25.scores.tolist()
