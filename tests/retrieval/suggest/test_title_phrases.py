"""Examples for an index: the pairs of words that most of its titles have."""

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document
from searchlab.retrieval.suggest import title_phrases
from searchlab.retrieval.suggest.title_phrases import frequent_title_phrases


def phrases_of(build, titles, n=6):
    documents = [Document(f"d{at}", title, "text") for at, title in enumerate(titles)]
    with searchlab.open(build(documents, settings=AnalysisSettings())) as engine:
        return frequent_title_phrases(engine.snapshot, n)


def test_the_phrases_of_most_titles_come_first_as_most_write_them(build):
    # By hand: heart failure 3 titles, of which two write it in the singular; blood pressure 2; the rest 1.
    titles = [
        *("Heart failure in men", "Heart failures", "On heart failure", "Blood pressure", "High blood pressure"),
        *("Blood culture", "The of heart"),
    ]
    assert phrases_of(build, titles) == ["heart failure", "blood pressure"]
    assert phrases_of(build, titles, 1) == ["heart failure"]


def test_no_two_phrases_share_a_word_and_signs_separate(build):
    titles = [
        "Heart failure risk",
        "Heart failure risk",
        "Stroke; aspirin",
        "Stroke; aspirin",
        "On at 12 34",
        "On at 12 34",
    ]
    assert phrases_of(build, titles) == ["failure risk"]


def test_a_title_that_repeats_itself_counts_once(build):
    assert phrases_of(build, ["heart failure heart failure", "other words"]) == []


def test_a_large_index_is_sampled(build, monkeypatch):
    monkeypatch.setattr(title_phrases, "MAX_READ_TITLES", 10)
    assert phrases_of(build, ["Heart failure"] * 60) == ["heart failure"]
