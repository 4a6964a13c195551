"""Are the words found that begin so, the most frequent first?"""

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document
from searchlab.retrieval.suggest.autocomplete import MOST_WORDS, frequent_words


def test_the_most_frequent_words_come_first_and_words_of_no_document_do_not_come(build):
    documents = [Document("a", "", "term tern terrace the"), Document("b", "", "tern"), Document("c", "", "terminus")]
    folder = build(documents, settings=AnalysisSettings(stemmer="none"), words_per_shard=2)
    searchlab.indexing.building.indexer.delete(folder, ["c"])
    with searchlab.open(folder) as engine:
        assert frequent_words(engine.snapshot, "te") == ["tern", "term", "terrace"]
        assert frequent_words(engine.snapshot, "th") == []


def test_no_more_words_than_one_looks_at(build):
    words = " ".join(f"te{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    with searchlab.open(build([Document("a", "", words)])) as engine:
        assert len(frequent_words(engine.snapshot, "te")) == MOST_WORDS
        assert frequent_words(engine.snapshot, "tez") == ["tez"]
