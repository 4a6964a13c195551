"""The security middleware rejects what it should, and nothing else; responses have the security headers."""

import asyncio

import pytest

from searchlab.errors import SettingError
from searchlab.web.middleware.security import SecurityMiddleware, SecuritySettings
from tests.web.middleware.guarded_app import SECRET, TOKEN, client_of, make, send_request

# Host names


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8000", "LOCALHOST:1", "127.0.0.1:8000", "127.8.9.1", "[::1]:80"]
)
def test_a_loopback_server_answers_to_loopback_names(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8000", "", "[::2]"),
        *("localhost:8000@evil.example", "127.0.0.1:x", "localhost:80,evil.example", "xlocalhost", "localhost\n"),
    ],
)
def test_a_loopback_server_rejects_other_names(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 403


def test_a_request_without_a_host_is_rejected():
    status, _, _ = asyncio.run(send_request(make(), "GET", "/", headers=[]))
    assert status == 403


def test_a_server_with_a_token_answers_to_any_name(token_client):
    assert token_client.get("/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


# Methods, URLs and headers


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_other_methods_are_rejected(client, method):
    response = client.request(method, "/api/write")
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD, POST, DELETE")
    assert response.json() == {"error": "expected GET, HEAD, POST or DELETE", "field": None}


def test_a_deletion_by_another_site_or_without_a_token_is_rejected(client, token_client):
    assert client.delete("/api/item").json() == {"deleted": "?"}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}):
        assert client.delete("/api/item", headers=headers).status_code == 403
    assert client.request("DELETE", "/api/item", content=b"x").status_code == 413
    assert client.delete("/form").status_code == 405
    assert token_client.delete("/api/item").status_code == 401
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert token_client.delete("/api/item", headers=bearer).json() == {"deleted": "?"}


def test_the_length_of_a_url_is_bounded(client):
    # "/" and the text after the question mark: 1 + 499 bytes.
    assert client.get("/?" + "q" * 499).status_code == 200
    assert client.get("/?" + "q" * 500).status_code == 414
    assert client.get("/" + "p" * 500).status_code == 414


def test_number_and_length_of_headers_are_bounded():
    host = (b"host", b"localhost")  # 9 bytes
    for headers, status in [
        ([host] + [(b"x", b"")] * 99, 200),
        ([host] + [(b"x", b"")] * 100, 431),
        ([host, (b"x", b"x" * 16_375)], 200),
        ([host, (b"x", b"x" * 16_376)], 431),
    ]:
        assert asyncio.run(send_request(make(), "GET", "/", headers=headers))[0] == status


def test_a_websocket_is_closed():
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(make()({"type": "websocket", "path": "/", "headers": []}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


# Responses


@pytest.mark.parametrize("path", ["/", "/api/search", "/nowhere", "/fail", "/api/fail"])
def test_every_response_has_the_security_headers(path):
    response = client_of(make(), raise_server_exceptions=False).get(path)
    assert response.headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["x-frame-options"] == "DENY"
    assert response.headers["referrer-policy"] == "same-origin"
    assert response.headers["cross-origin-resource-policy"] == "same-origin"
    assert response.headers["cross-origin-opener-policy"] == "same-origin"
    assert response.headers["cache-control"] == ("no-store" if path.startswith("/api") else "private, no-cache")
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(("method", "path", "status"), [("PUT", "/", 405), ("POST", "/write", 415), ("GET", "/x", 404)])
def test_rejections_have_the_headers_too(client, method, path, status):
    response = client.request(method, path)
    assert response.status_code == status
    assert {"content-security-policy", "x-content-type-options"} <= set(response.headers)


def test_a_response_may_have_its_own_headers(client):
    headers = client.get("/report").headers
    assert headers.get_list("content-security-policy") == ["default-src 'none'; style-src 'unsafe-inline'"]
    assert headers.get_list("cache-control") == ["max-age=60"]


@pytest.mark.parametrize(("path", "kind"), [("/fail", "text/html; charset=utf-8"), ("/api/fail", "application/json")])
def test_an_internal_error_is_logged_and_not_shown(caplog, path, kind):
    async def application(scope, receive, send):
        raise RuntimeError("the password is 1234")

    response = client_of(SecurityMiddleware(application, SecuritySettings((), True, secret=SECRET))).get(path)
    assert (response.status_code, response.headers["content-type"]) == (500, kind)
    assert "internal error" in response.text
    assert "password" not in response.text
    assert "the password is 1234" in caplog.text


def test_an_incomplete_response_does_not_look_complete(caplog):
    with pytest.raises(RuntimeError):
        client_of(make()).get("/half")
    assert "GET /half" in caplog.text


def test_a_path_is_logged_in_one_line(caplog):
    async def application(scope, receive, send):
        raise RuntimeError

    asyncio.run(
        send_request(
            SecurityMiddleware(application, SecuritySettings((), True, secret=SECRET)), "GET", "/a\nforged line"
        )
    )
    assert caplog.messages == ["GET /a\\nforged line"]


# Settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tokens": (), "loopback": False}, "no token"),
        ({"tokens": (), "loopback": True, "secret": b"short"}, "the secret has 5 bytes"),
    ],
)
def test_unsafe_settings_are_rejected(settings, message):
    with pytest.raises(SettingError, match=message):
        SecuritySettings(**({"secret": SECRET} | settings))


def test_the_secret_is_not_shown():
    assert "secret" not in repr(SecuritySettings((), True, secret=SECRET))
