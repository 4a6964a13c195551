"""Access tokens are checked, in headers, URLs and the login form."""

import asyncio
import re

import pytest
from starlette.applications import Starlette

from searchlab.web.middleware import auth
from searchlab.web.middleware.access_tokens import AccessToken, parse_tokens
from searchlab.web.middleware.auth import LoginForm, TokenAuth, local_url
from searchlab.web.middleware.security import SecurityMiddleware, SecuritySettings
from tests.web.middleware.guarded_app import LIMITS, ROUTES, SECRET, TOKEN, client_of, make, send_request


def test_without_a_token_programs_get_json_and_browsers_the_login_page(token_client):
    response = token_client.get("/api/search")
    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    assert response.json() == {"error": "a token is needed: Authorization: Bearer TOKEN", "field": None}
    page = token_client.get("/document?docno=1&q=a%20b")
    assert page.status_code == 401
    assert '<form method="post" action="/login">' in page.text
    assert 'name="back" value="/document?docno=1&amp;q=a%20b"' in page.text
    assert TOKEN not in page.text


def test_the_application_may_supply_the_login_page():
    shown = []

    def page(login: LoginForm) -> str:
        shown.append(login)
        return "<p>mine</p>"

    response = client_of(make(TOKEN, page=page)).get("/?q=1")
    assert response.text == "<p>mine</p>"
    assert (shown[0].back, shown[0].problem, len(shown[0].csrf)) == ("/?q=1", "", 64)
    assert client_of(make(TOKEN, page=page)).get("/api/search").status_code == 401
    assert len(shown) == 1


def test_a_program_sends_the_token_with_each_request(token_client):
    for scheme in ("Bearer", "bearer"):
        headers = {"Authorization": f"{scheme} {TOKEN}"}
        assert token_client.get("/api/search", headers=headers).status_code == 200
        assert token_client.post("/api/write", json={}, headers=headers).status_code == 200
        # A form needs no CSRF token then: no other site can send the header.
        assert token_client.post("/write", data={"a": "1"}, headers=headers).status_code == 200
    assert token_client.get("/api/search").status_code == 401


@pytest.mark.parametrize(
    "value", ["Bearer", "Bearer ", "Bearer x", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", "Bearer é"]
)
def test_a_wrong_token_is_rejected(token_client, value):
    headers = {"Authorization": value.encode()}
    assert token_client.get("/api/search", headers=headers).status_code == 401
    assert token_client.post("/api/write", json={}, headers=headers).status_code == 401


def test_a_url_with_the_token_logs_in_and_redirects_to_the_url_without_it(token_client):
    response = token_client.get(f"/document?q=a%20b&token={TOKEN}&filter=year%3D1999")
    assert response.status_code == 303
    assert response.headers["location"] == "/document?q=a%20b&filter=year%3D1999"
    cookie = response.headers["set-cookie"]
    assert re.fullmatch(r"searchlab-8000=[0-9a-f]{64}\.; Path=/; HttpOnly; SameSite=Lax", cookie)
    assert TOKEN not in cookie
    assert token_client.get("/document?q=a%20b").status_code == 200
    assert token_client.get("/api/search").status_code == 200
    assert token_client.get(f"/?token={TOKEN}").headers["location"] == "/"


def test_forms_need_a_csrf_token_after_login_too(token_client):
    token_client.get(f"/?token={TOKEN}")
    assert token_client.post("/write", data={"a": "1"}).status_code == 403
    token = token_client.get("/form").text
    assert token_client.post("/write", data={"csrf": token}).status_code == 200
    assert token_client.post("/api/write", json={}).status_code == 200
    assert token_client.post("/api/write", json={}, headers={"Origin": "http://evil.example"}).status_code == 403


def test_the_api_takes_no_token_from_the_url(token_client):
    assert token_client.get(f"/api/search?token={TOKEN}").status_code == 401


def test_a_wrong_token_in_the_url_leads_to_the_login_page(token_client):
    response = token_client.get("/document?docno=1&token=wrong")
    assert response.status_code == 401
    assert "this is not the token" in response.text
    assert 'value="/document?docno=1"' in response.text
    assert "searchlab-8000" not in response.headers.get("set-cookie", "")


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "//evil.example/%2e%2e", "/%09/evil.example"])
def test_login_does_not_redirect_to_another_site(token_client, path):
    status, headers, _ = asyncio.run(
        send_request(make(TOKEN, loopback=False), "GET", path.replace("%09", "\t"), query=f"token={TOKEN}".encode())
    )
    assert status == 303
    location = headers[b"location"]
    assert location.startswith(b"/")
    assert location[1:2] not in (b"/", b"\\")
    assert b"\t" not in location


def test_the_login_page_takes_the_token_and_redirects_back(token_client):
    page = token_client.get("/?q=wing")
    csrf = re.search('name="csrf" value="([0-9a-f]+)"', page.text)[1]
    assert token_client.post("/login", data={"token": TOKEN, "back": "/?q=wing"}).status_code == 403
    wrong = token_client.post("/login", data={"token": "x", "back": "/?q=wing", "csrf": csrf})
    assert (wrong.status_code, "searchlab-8000" in token_client.cookies) == (401, False)
    right = token_client.post("/login", data={"token": TOKEN, "back": "/?q=wing", "csrf": csrf})
    assert (right.status_code, right.headers["location"]) == (303, "/?q=wing")
    assert token_client.get("/?q=wing").status_code == 200
    assert token_client.get("/login").headers["location"] == "/"


def test_login_is_by_form_alone(token_client):
    # The application has a route with this path: it must not be reached.
    assert token_client.post("/login", json={"token": "x"}).status_code == 415
    assert token_client.get("/login?back=//evil.example").status_code == 401


def test_without_a_token_the_login_page_redirects(client):
    response = client.get("/login")
    assert (response.status_code, response.headers["location"]) == (303, "/")


def test_static_files_need_no_token_but_all_else_does(token_client):
    assert token_client.get("/static/style.css").status_code == 200
    for path in ("/static/../api/search", "/static/%2e%2e/api/search", "/static", "/staticx/"):
        status, _, _ = asyncio.run(send_request(make(TOKEN), "GET", path.replace("%2e", ".")))
        assert status == 401, path
    assert token_client.post("/static/style.css", json={}).status_code == 401


def test_a_login_cookie_of_an_earlier_server_is_invalid(token_client):
    token_client.get(f"/?token={TOKEN}")
    later = SecurityMiddleware(
        Starlette(routes=ROUTES), SecuritySettings(parse_tokens([TOKEN], b"x" * 32), False, LIMITS, secret=b"x" * 32)
    )
    assert (
        client_of(later, "http://searcher.example:8000", cookies=dict(token_client.cookies)).get("/").status_code == 401
    )


def test_wrong_tokens_are_delayed_and_their_number_is_bounded(monkeypatch):
    monkeypatch.setattr(auth, "MAX_PENDING_GUESSES", 2)
    delays = []

    async def scenario():
        release = asyncio.Event()

        async def sleep(seconds):
            delays.append(seconds)
            await release.wait()

        monkeypatch.setattr(auth.asyncio, "sleep", sleep)  # type: ignore[attr-defined]
        token_auth = TokenAuth([AccessToken(TOKEN)], SECRET)
        guesses = [asyncio.create_task(token_auth.find("x", "192.0.2.1")) for _ in range(2)]
        await asyncio.wait(guesses, timeout=0.01)
        with pytest.raises(auth.Rejection) as error:  # type: ignore[attr-defined]
            await token_auth.find("y", "192.0.2.1")
        # During the flood a right token is accepted, even from its address, and others may still mistype.
        assert await token_auth.find(TOKEN, "192.0.2.1") == AccessToken(TOKEN)
        guesses.append(asyncio.create_task(token_auth.find("x", "192.0.2.2")))
        await asyncio.wait(guesses, timeout=0.01)
        release.set()
        assert await asyncio.gather(*guesses) == [None, None, None]
        assert not token_auth._n_pending  # no address is remembered
        return error.value.status

    assert asyncio.run(scenario()) == 429
    assert delays == [auth.WRONG_TOKEN_SECONDS] * 3


def test_guesses_are_counted_by_the_site_of_an_ipv6_address():
    assert auth._guessing_address("2001:db8::1") == auth._guessing_address("2001:db8::ffff:1%eth0")
    assert auth._guessing_address("2001:db8::1") != auth._guessing_address("2001:db8:0:1::1")
    assert auth._guessing_address("192.0.2.1") != auth._guessing_address("192.0.2.2")
    assert auth._guessing_address("::ffff:192.0.2.1") != auth._guessing_address("::ffff:192.0.2.2")


def test_a_flood_of_wrong_tokens_locks_nobody_out():
    async def scenario():
        app = make(TOKEN)
        host = (b"host", b"localhost:8000")
        wrong = [host, (b"authorization", b"Bearer wrong")]
        right = [host, (b"authorization", f"Bearer {TOKEN}".encode())]
        flood = [asyncio.create_task(send_request(app, "GET", "/api/search", headers=wrong)) for _ in range(100)]
        await asyncio.wait(flood, timeout=0.01)
        by_header = await send_request(app, "GET", "/api/search", headers=right)
        by_url = await send_request(app, "GET", "/", headers=[host], query=f"token={TOKEN}".encode())
        statuses = [status for status, _, _ in await asyncio.gather(*flood)]
        return by_header[0], by_url[0], statuses.count(401), statuses.count(429)

    assert asyncio.run(scenario()) == (200, 303, auth.MAX_PENDING_GUESSES, 100 - auth.MAX_PENDING_GUESSES)


# Judges


def session_cookie(client):
    return client.cookies["searchlab-8000"]


def test_a_login_cookie_with_another_name_is_invalid(token_client):
    token_client.get(f"/?token={TOKEN}")
    signature, _, name = session_cookie(token_client).partition(".")
    assert name == ""
    for forged in (f"{signature}.ann", f"{signature[:-1]}.", ".ann", "ann", ""):
        client = client_of(make(TOKEN), cookies={"searchlab-8000": forged})
        assert client.get("/").status_code == 401
    assert client_of(make(TOKEN), cookies={"searchlab-8000": f"{signature}."}).get("/").status_code == 200


def test_the_token_of_one_judge_logs_in_that_judge():
    app = make("ann=token-a", "bob=token-b")
    cookies = {}
    for name, token in (("ann", "token-a"), ("bob", "token-b")):
        client = client_of(app)
        assert client.get(f"/?token={token}").status_code == 303
        assert client.get("/").status_code == 200
        cookies[name] = session_cookie(client)
        assert client_of(app).get("/", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert cookies["ann"] != cookies["bob"]
    assert client_of(app).get("/?token=ann=token-a").status_code == 401


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("/", b"/"),
        ("/document?id=a%20b&q=x#y", b"/document?id=a%20b&q=x%23y"),
        ("/ä\r\nSet-Cookie: x", b"/%C3%A4%0D%0ASet-Cookie:%20x"),
        ("", b"/"),
        ("//evil.example", b"/"),
        ("/\\evil.example", b"/"),
        ("https://evil.example/", b"/"),
        ("javascript:alert(1)", b"/"),
    ],
)
def test_a_redirect_stays_on_this_server(text, url):
    assert local_url(text) == url
