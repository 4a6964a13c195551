import io

from searchlab.corpus.trec.runs import write_run
from searchlab.records import Document, Topic
from searchlab.retrieval.batch import search_topics
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.dirichlet import Dirichlet


def test_topics_are_searched_in_their_order(build):
    engine = SearchEngine(build([Document("a", "", "red"), Document("b", "", "red blue")]))
    topics = [Topic("2", "blue"), Topic("1", "red"), Topic("3", "unknown")]
    rankings = list(search_topics(engine, iter(topics), k=5, scorer=Dirichlet(10), stream="body"))
    assert [ranking.qid for ranking in rankings] == ["2", "1", "3"]
    assert [ranking.docnos for ranking in rankings] == [["b"], ["a", "b"], []]
    assert rankings[1].scores == engine.search("red", scorer=Dirichlet(10), stream="body").scores.tolist()
    # Scores are plain numbers, which print as such.
    assert {type(score) for ranking in rankings for score in ranking.scores} == {float}
    file = io.StringIO()
    write_run(file, rankings)
    assert file.getvalue().count("\n") == 3
