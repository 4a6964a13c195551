"""Saved searches: a file beside the index, which survives and is read strictly."""

import json

import pytest

from searchlab.errors import IndexCorrupt, SettingError
from searchlab.judgments.searches import saved_searches
from searchlab.judgments.searches.saved_searches import SavedSearch, SavedSearches, searches_file


@pytest.fixture
def path(tmp_path):
    return searches_file(tmp_path / "it")


@pytest.fixture
def searches(path):
    return SavedSearches(path)


def test_a_saved_search_is_read_again_by_another(searches, path):
    assert path.name == "it.searches.json"
    assert searches.list("ann") == ()
    saved = searches.save(SavedSearch("heart", "heart failure", "bm25", ("year=[1990 TO]",), "year:desc", "ann"))
    assert saved.made.endswith("+00:00")
    assert SavedSearches(path).list("ann") == (saved,)
    assert SavedSearches(path).list() == SavedSearches(path).list("bob") == ()


def test_the_latest_comes_first_and_a_name_is_used_once_and_then_numbered(searches):
    for name, query in [("a", "one"), ("b", "two"), (" a ", "three"), ("", "four  words")]:
        searches.save(SavedSearch(name, query, "bm25"))
    assert [(each.name, each.query) for each in searches.list()] == [
        ("four words", "four  words"),
        ("a (2)", "three"),
        ("b", "two"),
        ("a", "one"),
    ]
    # The same search is not saved twice, whatever number its name has.
    assert [searches.save(SavedSearch("a", query, "bm25")).name for query in ("three", "one")] == ["a (2)", "a"]
    assert searches.save(SavedSearch("a", "one", "bm25", k=20)).name == "a (3)"
    assert searches.delete("a").query == "one"
    assert [each.name for each in searches.list()] == ["a (3)", "a (2)", "four words", "b"]
    with pytest.raises(SettingError, match="unknown saved search 'a'"):
        searches.delete("a")


def test_each_judge_has_their_own_and_those_of_all(searches):
    for judge, query in (("ann", "hers"), ("bob", "his"), ("", "for all")):
        searches.save(SavedSearch("a", query, "bm25", judge=judge))
    assert [each.query for each in searches.list("ann")] == ["for all", "hers"]
    assert [each.query for each in searches.list("eve")] == ["for all"]
    assert searches.delete("a", "ann").query == "hers"
    assert [each.query for each in searches.list("bob")] == ["for all", "his"]
    assert searches.delete("a", "ann").query == "for all"
    with pytest.raises(SettingError, match="unknown saved search 'a'"):
        searches.delete("a", "ann")


def test_names_and_numbers_are_bounded(searches, monkeypatch):
    with pytest.raises(SettingError, match="has 101 characters"):
        searches.save(SavedSearch("x" * 101, "q", "bm25"))
    monkeypatch.setattr(saved_searches, "MAX_SEARCHES_OF_JUDGE", 1)
    searches.save(SavedSearch("a", "q", "bm25"))
    with pytest.raises(SettingError, match="delete one first"):
        searches.save(SavedSearch("b", "q", "bm25"))


def test_the_longest_name_is_numbered_within_its_bound(searches):
    names = [searches.save(SavedSearch("x" * 100, query, "bm25")).name for query in ("one", "two")]
    assert names == ["x" * 100, f"{'x' * 96} (2)"]


def test_a_deleted_search_is_restored_with_all_that_it_had(searches, path):
    saved = searches.save(SavedSearch("a", "q", "bm25", ("year=1990",), "year:desc", "ann", "", False, True, 50))
    assert searches.delete("a", "ann") == saved
    with pytest.raises(SettingError, match="unknown saved search 'a'"):
        searches.restore("a", "bob")
    assert SavedSearches(path).restore("a", "ann") == saved
    assert SavedSearches(path).list("ann") == (saved,)
    searches.delete("a", "ann")
    searches.save(SavedSearch("a", "another", "bm25", judge="ann"))
    assert searches.restore("a", "ann").name == "a (2)"


def test_searches_of_earlier_versions_are_read(searches, path):
    former = {"name": "a", "query": "q", "system": "bm25", "filters": [], "sort": "", "judge": "", "made": ""}
    path.write_text(json.dumps({"format": saved_searches.FORMAT, "searches": [former]}))
    assert searches.list() == (SavedSearch("a", "q", "bm25"),)


@pytest.mark.parametrize("wrong", [{"system": "a\x11b"}, {"sort": "a\nb"}, {"judge": "\x00"}])
def test_a_search_that_could_not_be_read_again_is_not_saved(searches, path, wrong):
    searches.save(SavedSearch("a", "q", "bm25"))
    with pytest.raises(SettingError, match="expected a line of text"):
        searches.save(SavedSearch(**{"name": "b", "query": "q", "system": "bm25"} | wrong))
    assert [each.name for each in SavedSearches(path).list()] == ["a"]


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{}", "\x00", "[" * 100_000),
        '{"format": "x", "searches": []}',
        '{"format": "searchlab searches 1", "searches": [1]}',
        '{"format": "searchlab searches 1", "searches": [{"name": "a\\nb"}]}',
    ],
)
def test_a_damaged_file_is_reported_in_one_line_and_not_overwritten(searches, path, content):
    path.write_text(content)
    for action in (searches.list, lambda: searches.save(SavedSearch("a", "q", "bm25"))):
        with pytest.raises(IndexCorrupt, match=r"^it\.searches\.json: no list of saved searches \(.*\)$"):
            action()
    assert path.read_text() == content
