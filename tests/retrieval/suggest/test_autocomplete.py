"""Words are completed by the most frequent ones with their prefix."""

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document
from searchlab.retrieval.suggest.autocomplete import MAX_COMPLETIONS, complete_word


def test_the_most_frequent_words_come_first_and_words_of_no_document_do_not_come(build):
    documents = [Document("a", "", "term tern terrace the"), Document("b", "", "tern"), Document("c", "", "terminus")]
    folder = build(documents, settings=AnalysisSettings(stemmer="none"), words_per_shard=2)
    searchlab.indexing.building.deletion.delete(folder, ["c"])
    with searchlab.open(folder) as engine:
        assert complete_word(engine.snapshot, "te") == ["tern", "term", "terrace"]
        assert complete_word(engine.snapshot, "th") == []


def test_no_more_words_than_one_looks_at(build):
    words = " ".join(f"te{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    with searchlab.open(build([Document("a", "", words)])) as engine:
        assert len(complete_word(engine.snapshot, "te")) == MAX_COMPLETIONS
        assert complete_word(engine.snapshot, "tez") == ["tez"]
