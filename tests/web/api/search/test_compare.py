"""Two systems are compared side by side, with the moves of documents and their reasons."""

from tests.web.search_client import get_json


def test_two_systems_are_compared(client, engine):
    found = get_json(client, "/api/compare", q="lymphoma cells", left="bm25", right="tfidf", k=4)
    left = [hit["docno"] for hit in found["left"]["hits"]]
    right = [hit["docno"] for hit in found["right"]["hits"]]
    assert left == engine.search("lymphoma cells", k=4).docnos
    for pair in found["pairs"]:
        assert (pair["left"], pair["right"]) == (left.index(pair["docno"]) + 1, right.index(pair["docno"]) + 1)
    assert found["overlap"] == 4
    moved = {pair["docno"] for pair in found["pairs"] if pair["left"] != pair["right"]}
    assert {move["docno"] for move in found["moves"]} == moved


def test_a_move_has_the_document_that_was_overtaken_and_reasons(client):
    """By tf·idf with raw frequencies a document with many cells overtakes a short one with all words."""
    found = get_json(client, "/api/compare", q="lymphoma cells", left="bm25:b=1", right="bm25:k1=50,b=0", k=4)
    risen = [move for move in found["moves"] if move["overtook"]]
    assert risen
    for move in risen:
        assert move["to"] < move["from"]
        assert move["sentence"].startswith(f"up from rank {move['from']} to rank {move['to']}, past ")
        assert move["why"] and all(reason["amount"] > 0 for reason in move["why"])
    fallen = [move for move in found["moves"] if move["overtaken_by"]]
    assert fallen
    for move in fallen:
        assert move["to"] > move["from"]
        assert move["overtook"] is None
        assert f"to rank {move['to']}, behind {move['overtaken_by']['title']}, which has more for " in move["sentence"]


def test_a_document_that_one_system_does_not_find_is_not_said_to_be_below(client):
    """RM3 also finds documents that have no word of the query."""
    query = {"q": "mice", "k": 20}
    gained = get_json(client, "/api/compare", **query, left="bm25", right="bm25+rm3")
    left = [hit["docno"] for hit in gained["left"]["hits"]]
    new = [move for move in gained["moves"] if move["docno"] not in left]
    assert new
    for move in new:
        assert move["sentence"].startswith(f"up to rank {move['to']} (not found on the left)")
    lost = get_json(client, "/api/compare", **query, left="bm25+rm3", right="bm25")
    gone = [move for move in lost["moves"] if move["to"] is None]
    assert {move["docno"] for move in gone} == {move["docno"] for move in new}
    for move in gone:
        assert move["sentence"].startswith(f"down from rank {move['from']} (not found on the right)")
