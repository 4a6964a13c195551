import pytest

from searchlab.analysis.analyzer import AnalysisSettings, Analyzer
from searchlab.errors import SettingError, SourceError


def test_stop_words_go_but_the_letter_of_t_cell_stays():
    analyzer = Analyzer(AnalysisSettings())
    assert analyzer.terms("The T-cell and I don't have a vitamin C") == ["t", "cell", "vitamin", "c"]
    assert analyzer.terms("DON’T") == []


def test_a_stop_list_comes_from_a_file_with_comments(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("# mine\nThe\nof  and # two of them\n\nnaïve\n", encoding="utf-8")
    settings = AnalysisSettings.from_names("none", str(path))
    assert settings.stop_words == {"the", "of", "and", "naive"}
    assert settings.stop_list == "stop.txt"
    assert Analyzer(settings).terms("The naïve state of mine") == ["state", "mine"]


def test_a_missing_stop_list_is_named():
    with pytest.raises(SettingError, match=r"unknown stop list 'nowhere.txt'; expected none, default or a file"):
        AnalysisSettings.from_names("porter", "nowhere.txt")


def test_a_stop_list_that_is_no_text_is_named(tmp_path):
    (tmp_path / "stop").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SourceError, match="cannot be read as a stop list"):
        AnalysisSettings.from_names("porter", str(tmp_path / "stop"))
    with pytest.raises(SourceError, match="cannot be read as a stop list"):
        AnalysisSettings.from_names("porter", str(tmp_path))
