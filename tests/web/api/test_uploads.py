"""Uploads over HTTP: only files, only from this site, within bounds."""

from searchlab.records import Document
from searchlab.web.limits import Limits
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_indexes import OpenIndexes
from searchlab.web.uploads.upload_store import Uploads
from tests.web.search_client import client_for, client_of

FILE = {"content-type": "application/octet-stream"}
WHERE = {"name": "docs", "path": "a.txt"}


def test_a_file_is_sent_as_the_body(search_folder, tmp_path):
    uploads = Uploads(tmp_path / "uploads", tmp_path)
    state = AppState(OpenIndexes([search_folder]), uploads=uploads)
    with client_of(state) as client:
        assert client.post("/api/uploads", json={"name": "docs"}).json()["state"] == "receiving"
        sent = client.post("/api/uploads/file", params=WHERE, content=b"\x00\xff", headers=FILE)
        assert (sent.status_code, sent.json()["n_bytes"]) == (200, 2)
        assert (tmp_path / "uploads" / "docs" / "a.txt").read_bytes() == b"\x00\xff"
        for content_type in ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain"):
            refused = client.post(
                "/api/uploads/file", params=WHERE, content=b"x", headers={"content-type": content_type}
            )
            assert refused.status_code == 415
        assert client.post("/api/judgments", content=b"{}", headers=FILE).status_code == 415
        for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "http://evil.example"}):
            assert (
                client.post("/api/uploads/file", params=WHERE, content=b"x", headers=FILE | headers).status_code == 403
            )
        escaping = client.post("/api/uploads/file", params=WHERE | {"path": "../x"}, content=b"x", headers=FILE)
        assert escaping.status_code == 400
        assert client.delete("/api/uploads", params={"name": "docs"}).json() == {"deleted": "docs"}
        assert client.get("/api/uploads", params={"name": "docs"}).status_code == 404


def test_a_server_without_a_folder_takes_no_uploads(search_folder):
    with client_for(search_folder) as client:
        assert client.post("/api/uploads", json={"name": "docs"}).status_code == 404
        shown = client.get("/upload").text
        assert "takes no uploads" in shown and "without <code>--cluster</code> to add documents here" in shown


def test_a_token_is_needed_where_the_server_has_one(search_folder, tmp_path):
    state = AppState(OpenIndexes([search_folder]), uploads=Uploads(tmp_path / "uploads", tmp_path))
    with client_of(state, tokens=["a-token-of-many-letters"]) as client:
        assert client.post("/api/uploads", json={"name": "docs"}).status_code == 401
        assert client.post("/api/uploads/file", params=WHERE, content=b"x", headers=FILE).status_code == 401
    assert not (tmp_path / "uploads").exists()


def test_a_large_file_goes_to_disk_as_it_arrives_and_a_larger_one_leaves_nothing(search_folder, tmp_path):
    uploads = Uploads(tmp_path / "uploads", tmp_path)
    state = AppState(OpenIndexes([search_folder]), limits=Limits(max_upload_bytes=3 * 2**20), uploads=uploads)
    content = bytes(range(256)) * 4096 * 3
    with client_of(state) as client:
        client.post("/api/uploads", json={"name": "docs"})
        sent = client.post("/api/uploads/file", params=WHERE, content=content, headers=FILE)
        assert (sent.status_code, sent.json()["n_bytes"]) == (200, 3 * 2**20)
        assert (uploads.folder / "docs" / "a.txt").read_bytes() == content
        parts = (content[start : start + 100_000] for start in range(0, len(content), 100_000))
        for body in (content + b"x", (part for part in [*parts, b"x"])):
            where = WHERE | {"path": "b.txt"}
            refused = client.post("/api/uploads/file", params=where, content=body, headers=FILE)
            assert (refused.status_code, "too large" in refused.json()["error"]) == (413, True)
        assert list((uploads.folder / ".receiving").iterdir()) == []
        assert client.get("/api/uploads/all").json()["uploads"][0]["n_files"] == 1


def test_nothing_is_received_for_an_upload_that_cannot_take_it(search_folder, tmp_path):
    state = AppState(OpenIndexes([search_folder]), uploads=Uploads(tmp_path / "uploads", tmp_path))
    with client_of(state) as client:
        refused = client.post("/api/uploads/file", params=WHERE, content=b"x", headers=FILE)
        assert (refused.status_code, refused.json()["field"]) == (404, "name")
    assert not (tmp_path / "uploads").exists()


def test_the_index_of_an_upload_is_served_after_a_restart(build, search_folder, tmp_path):
    build([Document("u1", "Uploaded", "words of an upload")], folder=tmp_path / "docs")
    (tmp_path / "uploads" / "docs").mkdir(parents=True)
    state = AppState(OpenIndexes([search_folder]), uploads=Uploads(tmp_path / "uploads", tmp_path))
    with client_of(state) as client:
        assert client.get("/api/uploads", params={"name": "docs"}).json()["state"] == "done"
        found = client.get("/api/search", params={"q": "upload", "index": "docs"}).json()
        assert [hit["docno"] for hit in found["hits"]] == ["u1"]
