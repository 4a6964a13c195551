"""Past queries are gathered, and recorded in one transaction for each index."""

from searchlab.web.state.query_recorder import MAX_PENDING_QUERIES, QueryHistory


class Store:
    """Remembers what is recorded at once."""

    def __init__(self):
        self.recorded = []

    def record_queries(self, *texts):
        self.recorded.append(texts)


def test_pending_queries_of_an_index_are_recorded_at_once_in_their_order(monkeypatch):
    monkeypatch.setattr("searchlab.web.state.query_recorder.GATHERING_SECONDS", 60)
    history, first, second = QueryHistory(), Store(), Store()
    for store, query in ((first, "wings"), (second, "lift"), (first, "heat flow")):
        history.add(store, query)
    assert (first.recorded, second.recorded) == ([], [])
    history.flush()
    assert (first.recorded, second.recorded) == ([("wings", "heat flow")], [("lift",)])
    history.add(first, "drag")
    history.close()
    assert first.recorded[1:] == [("drag",)]


def test_a_flood_of_queries_is_not_recorded(monkeypatch):
    monkeypatch.setattr("searchlab.web.state.query_recorder.GATHERING_SECONDS", 60)
    history, store = QueryHistory(), Store()
    for number in range(MAX_PENDING_QUERIES + 5):
        history.add(store, str(number))
    history.close()
    assert store.recorded == [tuple(str(number) for number in range(MAX_PENDING_QUERIES))]
