"""Bodies are bounded in size and time, and received before any work begins."""

import asyncio

from searchlab.web.middleware import request_body
from tests.web.middleware.guarded_app import TOKEN, make, send_request


def post(path="/api/write", length=None, app=None, **options):
    headers = [(b"host", b"localhost:8000"), (b"content-type", b"application/json")]
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    return asyncio.run(send_request(app or make(), "POST", path, headers=headers, **options))


def test_a_body_of_the_largest_size_passes_in_any_number_of_parts():
    for parts in ([b"x" * 200], [b"x" * 100, b"x" * 100], [b"x"] * 200, [b"", b"x" * 200, b""]):
        status, _, body = post(parts=parts)
        assert (status, body.count(b"x")) == (200, 200)


def test_a_body_that_is_too_large_is_rejected_whatever_its_content_length():
    for length in (None, 5, 201, 10**30):
        status, _, body = post(parts=[b"x" * 160, b"x" * 41], length=length)
        assert (status, body) == (413, b'{"error": "the body is too large, expected at most 200 bytes", "field": null}')


def test_an_endless_body_is_not_read_on():
    received = []

    async def scenario():
        async def receive():
            received.append(1)
            return {"type": "http.request", "body": b"x" * 60, "more_body": True}

        sent = []

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/api/write", "query_string": b"", "scheme": "http"}
        scope["headers"] = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        await make()(scope, receive, send)
        return sent[0]["status"]

    # 60, 120, 180, 240: the fourth part is one too many.
    assert (asyncio.run(scenario()), len(received)) == (413, 4)


def test_a_body_with_a_content_length_that_is_too_large_is_not_read():
    status, _, _ = post(length=201, parts=[])
    assert status == 413


def test_imports_may_be_larger():
    assert post("/api/import", parts=[b"x" * 1000])[0] == 200
    assert post("/api/import", parts=[b"x" * 1001])[0] == 413
    assert post("/api/import/", parts=[b"x" * 201])[0] == 413


def test_a_slow_body_is_rejected():
    # 0.2 seconds are allowed; the last part would come after 0.45.
    status, headers, body = post(parts=[b"x"] * 10, gap=0.05)
    assert (status, headers[b"connection"]) == (408, b"close")
    assert body == b'{"error": "the body took too long to arrive", "field": null}'


def test_a_large_body_may_take_longer(monkeypatch):
    # The first part, which comes at once, extends the limit by ten seconds; all parts take 0.3.
    monkeypatch.setattr(request_body, "MIN_BYTES_PER_SECOND", 10)
    assert post(parts=[b"x" * 100, b"x", b"x"], gap=0.15)[0] == 200


def test_nothing_is_sent_to_a_client_that_has_disconnected():
    assert post(parts=[b"x"], ending=False) == (None, {}, b"")


def test_a_body_is_not_read_before_the_token_is_checked():
    async def receive():
        raise AssertionError("read")

    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/write", "query_string": b"", "headers": headers}
    asyncio.run(make(TOKEN)(scope, receive, send))
    assert sent[0]["status"] == 401


def test_a_file_has_its_own_type_and_limit(client):
    def status(path, n_bytes, content_type="application/octet-stream"):
        return client.post(path, content=b"x" * n_bytes, headers={"content-type": content_type}).status_code

    assert status("/api/uploads/file", 300) == 200
    assert status("/api/uploads/file", 301) == 413
    assert status("/api/uploads/file", 3, "application/json") == 415
    assert status("/api/write", 3) == 415
