"""Saved searches and past queries over HTTP."""

from tests.web.search_client import client_for, get_json

SEARCH = {"q": "heart failure", "system": "bm25", "filter": ["year=1990"], "sort": "year:desc", "name": "mine"}


def test_a_search_is_saved_listed_and_deleted(search_folder):
    with client_for(search_folder) as client:
        saved = client.post("/api/searches", json=SEARCH | {"judge": "ann"}).json()
        assert saved["name"] == "mine"
        assert saved["filters"] == ["year=1990"]
        assert get_json(client, "/api/searches", judge="ann")["saved"] == [saved]
        assert get_json(client, "/api/searches", judge="bob")["saved"] == []
        assert client.delete("/api/searches", params={"name": "mine", "judge": "bob"}).status_code == 400
        assert client.delete("/api/searches", params={"name": "mine", "judge": "ann"}).json() == {"deleted": saved}
        assert get_json(client, "/api/searches", judge="ann")["saved"] == []
        missing = client.delete("/api/searches", params={"name": "mine"})
        assert (missing.status_code, "unknown saved search" in missing.json()["error"]) == (400, True)
        assert client.delete("/api/searches").status_code == 400
        assert client.delete("/api/searches", params={"name": "a", "x": "y"}).status_code == 400
        assert client.post("/api/searches", json=SEARCH | {"q": " "}).status_code == 400


def test_the_history_is_deleted_as_a_whole(search_folder):
    with client_for(search_folder) as client:
        client.get("/", params={"q": "cells"})
        assert client.delete("/api/history").json()["n_deleted"] >= 0
        assert get_json(client, "/api/searches")["history"] == []


def test_a_judge_with_a_token_reads_and_deletes_only_their_own(search_folder):
    tokens = {"ann": "a-token-of-many-letters", "bob": "b-token-of-many-letters"}
    with client_for(search_folder, tokens=[f"{judge}={token}" for judge, token in tokens.items()]) as client:

        def ask(judge, method, **sent):
            headers = {"authorization": f"Bearer {tokens[judge]}"}
            return client.request(method, "/api/searches", headers=headers, **sent)

        assert ask("ann", "POST", json=SEARCH).json()["judge"] == "ann"
        assert [each["name"] for each in ask("ann", "GET").json()["saved"]] == ["mine"]
        assert ask("bob", "GET").json()["saved"] == []
        for method, values in (("GET", {"judge": "ann"}), ("DELETE", {"judge": "ann", "name": "mine"})):
            refused = ask("bob", method, params=values)
            assert (refused.status_code, refused.json()["field"]) == (403, "judge")
        assert ask("ann", "DELETE", params={"name": "mine"}).status_code == 200
