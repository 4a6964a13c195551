import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import DuplicateError, SettingError
from searchlab.indexing.building.indexer import build_index
from searchlab.indexing.snapshot import Snapshot
from searchlab.records import Document

SETTINGS = AnalysisSettings()


def test_a_duplicate_is_refused_with_both_locations(tmp_path):
    documents = [Document("a", location="x:1"), Document("b", location="x:2"), Document("a", location="y:9")]
    with pytest.raises(DuplicateError, match=r"^y:9: docno 'a' was read already at x:1; .*keep-first") as caught:
        build_index(lambda: documents, tmp_path / "i", SETTINGS, jobs=1)
    assert caught.value.location == "y:9"
    assert not (tmp_path / "i").exists()


def test_a_duplicate_is_refused_wherever_it_was_read(tmp_path):
    with pytest.raises(DuplicateError, match="docno 'a'"):
        build_index(lambda: [Document("a", "one"), Document("a", "two")], tmp_path / "i", SETTINGS, jobs=1)


@pytest.mark.parametrize(("rule", "kept"), [("keep-first", "one"), ("keep-last", "three")])
def test_of_duplicates_the_chosen_one_is_kept(tmp_path, rule, kept):
    documents = [Document("a", "one"), Document("b"), Document("a", "two"), Document("a", "three")]
    summary = build_index(lambda: documents, tmp_path / "i", SETTINGS, jobs=1, on_duplicate=rule)
    assert (summary.n_docs, summary.n_duplicates) == (2, 2)
    assert Snapshot(tmp_path / "i").document("a").title == kept


def test_an_unknown_rule_for_duplicates_is_refused(tmp_path):
    with pytest.raises(SettingError, match="unknown rule for duplicates 'ignore'; there is: error, keep-first"):
        build_index(list, tmp_path / "i", SETTINGS, on_duplicate="ignore")
