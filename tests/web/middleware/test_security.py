"""Is everything refused that should be, is nothing refused that should not, and do responses carry what they must?"""

import asyncio
import re

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from searchlab.errors import SettingError
from searchlab.web.limits import Limits
from searchlab.web.middleware import auth, request_body
from searchlab.web.middleware.auth import Login, Tokens, local_address
from searchlab.web.middleware.csrf import csrf_of
from searchlab.web.middleware.request_body import form_of
from searchlab.web.middleware.security import Safety, protect

SECRET = bytes(range(32))
TOKEN = "a-token-of-many-letters"
LIMITS = Limits(body=200, import_body=1000, address=500, receiving=0.2)
HERE = "http://localhost:8000"
FORM = "application/x-www-form-urlencoded"


async def show(request: Request) -> Response:
    return PlainTextResponse(f"page {request.url.query}")


async def show_form(request: Request) -> Response:
    return PlainTextResponse(csrf_of(request))


async def write(request: Request) -> Response:
    fields = form_of(request).multi_items()
    return JSONResponse({"body": (await request.body()).decode(), "form": fields})


async def fail(request: Request) -> Response:
    raise RuntimeError("the password is 1234")


async def break_off(request: Request) -> Response:
    async def pieces():
        yield b"half"
        raise RuntimeError("the password is 1234")

    return StreamingResponse(pieces())


async def bring_own_headers(request: Request) -> Response:
    own = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'", "Cache-Control": "max-age=60"}
    return PlainTextResponse("report", headers=own)


ROUTES = [
    *(Route(path, show) for path in ("/", "/static/style.css", "/static/{rest:path}", "/api/search", "/document")),
    Route("/form", show_form),
    *(Route(path, write, methods=["POST"]) for path in ("/write", "/api/write", "/api/import", "/login")),
    *(Route(path, fail) for path in ("/fail", "/api/fail")),
    Route("/half", break_off),
    Route("/report", bring_own_headers),
]


def make(token=None, *, loopback=True, page=None, limits=LIMITS):
    settings = Safety(token, loopback, limits, secret=SECRET)
    app = Starlette(routes=ROUTES)
    return protect(app, settings, page) if page else protect(app, settings)


def client_of(app, base=HERE, **options):
    return TestClient(app, base_url=base, follow_redirects=False, **options)


@pytest.fixture
def client():
    return client_of(make())


@pytest.fixture
def guarded(monkeypatch):
    """A server with a token, whose answer to a wrong one comes at once."""
    monkeypatch.setattr(auth, "PENALTY", 0.0)
    return client_of(make(TOKEN, loopback=False), "http://searcher.example:8000")


# Names


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8000", "LOCALHOST:1", "127.0.0.1:8000", "127.8.9.1", "[::1]:80"]
)
def test_a_server_of_this_machine_answers_to_names_of_this_machine(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8000", "", "[::2]"),
        *("localhost:8000@evil.example", "127.0.0.1:x", "localhost:80,evil.example", "xlocalhost", "localhost\n"),
    ],
)
def test_a_name_that_was_made_to_point_here_is_refused(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 403


def test_a_request_without_a_name_is_refused():
    status, _, _ = asyncio.run(ask(make(), "GET", "/", headers=[]))
    assert status == 403


def test_a_server_with_a_token_answers_to_any_name(guarded):
    assert guarded.get("/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


# Methods and addresses


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_other_methods_are_refused(client, method):
    response = client.request(method, "/api/write")
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD, POST")
    assert response.json() == {"error": "expected GET, HEAD or POST"}


def test_an_address_may_be_long_but_not_longer(client):
    # "/" and the text after the question mark: 1 + 499 bytes.
    assert client.get("/?" + "q" * 499).status_code == 200
    assert client.get("/?" + "q" * 500).status_code == 414
    assert client.get("/" + "p" * 500).status_code == 414


def test_headers_may_be_many_and_long_but_not_more():
    host = (b"host", b"localhost")  # 9 bytes
    for headers, status in [
        ([host] + [(b"x", b"")] * 99, 200),
        ([host] + [(b"x", b"")] * 100, 431),
        ([host, (b"x", b"x" * 16_375)], 200),
        ([host, (b"x", b"x" * 16_376)], 431),
    ]:
        assert asyncio.run(ask(make(), "GET", "/", headers=headers))[0] == status


def test_a_websocket_is_closed():
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(make()({"type": "websocket", "path": "/", "headers": []}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


# Responses


@pytest.mark.parametrize("path", ["/", "/api/search", "/nowhere", "/fail", "/api/fail"])
def test_every_response_leaves_a_browser_no_room(path):
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
def test_refusals_carry_the_headers_too(client, method, path, status):
    response = client.request(method, path)
    assert response.status_code == status
    assert {"content-security-policy", "x-content-type-options"} <= set(response.headers)


def test_a_response_may_bring_headers_of_its_own(client):
    headers = client.get("/report").headers
    assert headers.get_list("content-security-policy") == ["default-src 'none'; style-src 'unsafe-inline'"]
    assert headers.get_list("cache-control") == ["max-age=60"]


@pytest.mark.parametrize(("path", "kind"), [("/fail", "text/html; charset=utf-8"), ("/api/fail", "application/json")])
def test_a_mistake_of_ours_is_logged_and_not_shown(caplog, path, kind):
    async def application(scope, receive, send):
        raise RuntimeError("the password is 1234")

    response = client_of(protect(application, Safety(None, True, secret=SECRET))).get(path)
    assert (response.status_code, response.headers["content-type"]) == (500, kind)
    assert "an internal error" in response.text
    assert "password" not in response.text
    assert "the password is 1234" in caplog.text


def test_half_a_response_does_not_look_whole(caplog):
    with pytest.raises(RuntimeError):
        client_of(make()).get("/half")
    assert "GET /half" in caplog.text


def test_what_is_logged_of_an_address_is_one_line(caplog):
    async def application(scope, receive, send):
        raise RuntimeError

    asyncio.run(ask(protect(application, Safety(None, True, secret=SECRET)), "GET", "/a\nforged line"))
    assert caplog.messages == ["GET /a\\nforged line"]


# Where writes come from


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": HERE},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin", "Origin": HERE},
        {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
        {"Origin": "https://LOCALHOST:8000"},
    ],
)
def test_writes_of_our_pages_and_of_programs_pass(client, headers):
    response = client.post("/api/write", json={"a": 1}, headers=headers)
    assert (response.status_code, response.json()["body"]) == (200, '{"a":1}')


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost:9000"},
        {"Origin": "http://localhost"},
        {"Origin": "null"},
        {"Origin": "http://evil.example/localhost:8000"},
        {"Origin": "localhost:8000.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": HERE},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "none", "Origin": "null"},
    ],
)
def test_writes_of_other_sites_are_refused(client, headers):
    assert client.post("/api/write", json={"a": 1}, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "multipart/form-data; boundary=x", "", "application/jsonx", "text/json"]
)
def test_what_a_form_of_another_site_could_send_is_refused(client, kind):
    assert client.post("/api/write", content=b"{}", headers={"Content-Type": kind}).status_code == 415


def test_the_content_type_may_have_parameters(client):
    headers = {"Content-Type": "Application/JSON ; charset=utf-8"}
    assert client.post("/api/write", content=b"{}", headers=headers).status_code == 200


def test_other_sites_may_lead_here_but_not_load_anything(client):
    for site in ("cross-site", "same-site"):
        for mode, status in [("navigate", 200), ("no-cors", 403), ("cors", 403), ("", 403)]:
            headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
            assert client.get("/api/search", headers=headers).status_code == status
    assert client.get("/", headers={"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}).status_code == 200


# Forms


def test_a_form_with_the_token_of_its_visitor_passes(client):
    page = client.get("/form")
    assert re.fullmatch("[0-9a-f]{64}", page.text)
    cookie = page.headers["set-cookie"]
    assert re.fullmatch(r"searchlab-form-8000=[0-9a-f]{32}; Path=/; HttpOnly; SameSite=Lax", cookie)
    response = client.post("/write", data={"csrf": page.text, "note": "käse & co", "r": ["a", "b"]})
    assert response.status_code == 200
    assert response.json()["form"] == [["csrf", page.text], ["note", "käse & co"], ["r", "a"], ["r", "b"]]
    assert response.json()["body"].startswith("csrf=")


def test_all_forms_of_a_visitor_have_one_token_and_one_cookie(client):
    first, second = client.get("/form"), client.get("/form")
    assert first.text == second.text
    assert "set-cookie" not in second.headers


def test_a_form_without_its_token_or_with_a_strangers_is_refused(client):
    stranger = client_of(make())
    other = stranger.get("/form").text
    own = client.get("/form").text
    assert other != own
    for data in ({}, {"csrf": ""}, {"csrf": other}, {"csrf": own[:-1]}, {"csrf": "é"}):
        assert client.post("/write", data={"a": "1"} | data).status_code == 403
    # The right token without the cookie.
    assert client_of(make()).post("/write", data={"csrf": own}).status_code == 403


def test_a_token_of_an_earlier_server_is_refused(client):
    page = client.get("/form")
    later = protect(Starlette(routes=ROUTES), Safety(None, True, LIMITS, secret=b"x" * 32))
    again = client_of(later, cookies=dict(client.cookies))
    assert again.post("/write", data={"csrf": page.text}).status_code == 403


def test_a_seed_that_is_not_ours_is_replaced(client):
    client.cookies.set("searchlab-form-8000", "short")
    assert "set-cookie" in client.get("/form").headers


def test_two_servers_of_one_machine_do_not_share_cookies(client):
    other = client_of(make(), "http://localhost:9000")
    assert other.get("/form").headers["set-cookie"].startswith("searchlab-form-9000=")


def test_cookies_are_for_tls_alone_if_there_is_tls():
    page = client_of(make(), "https://localhost:8000").get("/form")
    assert page.headers["set-cookie"].endswith("; Secure")


# Tokens


def test_without_a_token_programs_get_json_and_browsers_the_page_that_asks_for_it(guarded):
    response = guarded.get("/api/search")
    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    assert response.json() == {"error": "a token is needed: Authorization: Bearer TOKEN"}
    page = guarded.get("/document?id=1&q=a%20b")
    assert page.status_code == 401
    assert '<form method="post" action="/login">' in page.text
    assert 'name="back" value="/document?id=1&amp;q=a%20b"' in page.text
    assert TOKEN not in page.text


def test_the_application_may_supply_that_page():
    shown = []

    def page(login: Login) -> str:
        shown.append(login)
        return "<p>mine</p>"

    response = client_of(make(TOKEN, page=page)).get("/?q=1")
    assert response.text == "<p>mine</p>"
    assert (shown[0].back, shown[0].problem, len(shown[0].csrf)) == ("/?q=1", "", 64)
    assert client_of(make(TOKEN, page=page)).get("/api/search").status_code == 401
    assert len(shown) == 1


def test_a_program_shows_the_token_with_each_request(guarded):
    for scheme in ("Bearer", "bearer"):
        headers = {"Authorization": f"{scheme} {TOKEN}"}
        assert guarded.get("/api/search", headers=headers).status_code == 200
        assert guarded.post("/api/write", json={}, headers=headers).status_code == 200
        # A form needs no csrf then: no other site can send the header.
        assert guarded.post("/write", data={"a": "1"}, headers=headers).status_code == 200
    assert guarded.get("/api/search").status_code == 401


@pytest.mark.parametrize(
    "value", ["Bearer", "Bearer ", "Bearer x", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", "Bearer é"]
)
def test_a_wrong_token_is_refused(guarded, value):
    headers = {"Authorization": value.encode()}
    assert guarded.get("/api/search", headers=headers).status_code == 401
    assert guarded.post("/api/write", json={}, headers=headers).status_code == 401


def test_an_address_with_the_token_gives_a_pass_and_leads_to_the_same_without_it(guarded):
    response = guarded.get(f"/document?q=a%20b&token={TOKEN}&filter=year%3D1999")
    assert response.status_code == 303
    assert response.headers["location"] == "/document?q=a%20b&filter=year%3D1999"
    cookie = response.headers["set-cookie"]
    assert re.fullmatch(r"searchlab-8000=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Lax", cookie)
    assert TOKEN not in cookie
    assert guarded.get("/document?q=a%20b").status_code == 200
    assert guarded.get("/api/search").status_code == 200
    assert guarded.get(f"/?token={TOKEN}").headers["location"] == "/"


def test_a_pass_does_not_spare_the_proof_that_a_form_is_ours(guarded):
    guarded.get(f"/?token={TOKEN}")
    assert guarded.post("/write", data={"a": "1"}).status_code == 403
    token = guarded.get("/form").text
    assert guarded.post("/write", data={"csrf": token}).status_code == 200
    assert guarded.post("/api/write", json={}).status_code == 200
    assert guarded.post("/api/write", json={}, headers={"Origin": "http://evil.example"}).status_code == 403


def test_the_api_takes_no_token_from_the_address(guarded):
    assert guarded.get(f"/api/search?token={TOKEN}").status_code == 401


def test_a_wrong_token_in_the_address_is_asked_for_again(guarded):
    response = guarded.get("/document?id=1&token=wrong")
    assert response.status_code == 401
    assert "this is not the token" in response.text
    assert 'value="/document?id=1"' in response.text
    assert "searchlab-8000" not in response.headers.get("set-cookie", "")


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "//evil.example/%2e%2e", "/%09/evil.example"])
def test_the_token_leads_to_no_other_site(guarded, path):
    status, headers, _ = asyncio.run(
        ask(make(TOKEN, loopback=False), "GET", path.replace("%09", "\t"), query=f"token={TOKEN}".encode())
    )
    assert status == 303
    place = headers[b"location"]
    assert place.startswith(b"/")
    assert place[1:2] not in (b"/", b"\\")
    assert b"\t" not in place


def test_the_page_that_asks_takes_the_token_and_leads_back(guarded):
    page = guarded.get("/?q=wing")
    csrf = re.search('name="csrf" value="([0-9a-f]+)"', page.text)[1]
    assert guarded.post("/login", data={"token": TOKEN, "back": "/?q=wing"}).status_code == 403
    wrong = guarded.post("/login", data={"token": "x", "back": "/?q=wing", "csrf": csrf})
    assert (wrong.status_code, "searchlab-8000" in guarded.cookies) == (401, False)
    right = guarded.post("/login", data={"token": TOKEN, "back": "/?q=wing", "csrf": csrf})
    assert (right.status_code, right.headers["location"]) == (303, "/?q=wing")
    assert guarded.get("/?q=wing").status_code == 200
    assert guarded.get("/login").headers["location"] == "/"


def test_logging_in_is_done_by_a_form_alone(guarded):
    # The application has a route by this name: it must not be reached.
    assert guarded.post("/login", json={"token": "x"}).status_code == 415
    assert guarded.get("/login?back=//evil.example").status_code == 401


def test_where_no_token_is_needed_the_login_page_leads_on(client):
    response = client.get("/login")
    assert (response.status_code, response.headers["location"]) == (303, "/")


def test_styles_are_for_everyone_but_nothing_beyond_them(guarded):
    assert guarded.get("/static/style.css").status_code == 200
    for path in ("/static/../api/search", "/static/%2e%2e/api/search", "/static", "/staticx/"):
        status, _, _ = asyncio.run(ask(make(TOKEN), "GET", path.replace("%2e", ".")))
        assert status == 401, path
    assert guarded.post("/static/style.css", json={}).status_code == 401


def test_a_pass_of_an_earlier_server_is_worth_nothing(guarded):
    guarded.get(f"/?token={TOKEN}")
    later = protect(Starlette(routes=ROUTES), Safety(TOKEN, False, LIMITS, secret=b"x" * 32))
    assert client_of(later, "http://searcher.example:8000", cookies=dict(guarded.cookies)).get("/").status_code == 401


def test_wrong_tokens_wait_and_only_so_many_at_a_time(monkeypatch):
    monkeypatch.setattr(auth, "GUESSES", 2)
    asked_to_wait = []

    async def scenario():
        release = asyncio.Event()

        async def sleep(seconds):
            asked_to_wait.append(seconds)
            await release.wait()

        monkeypatch.setattr(auth.asyncio, "sleep", sleep)
        own = Tokens(TOKEN, SECRET)
        guesses = [asyncio.create_task(own.fits("x")) for _ in range(2)]
        await asyncio.wait(guesses, timeout=0.01)
        with pytest.raises(auth.Refusal) as refused:
            await own.fits(TOKEN)
        release.set()
        assert await asyncio.gather(*guesses) == [False, False]
        assert await own.fits(TOKEN)
        return refused.value.status

    assert asyncio.run(scenario()) == 429
    assert asked_to_wait == [auth.PENALTY] * 2


@pytest.mark.parametrize(
    ("text", "address"),
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
def test_an_address_to_go_on_to_is_one_of_ours(text, address):
    assert local_address(text) == address


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"token": None, "loopback": False}, "no token"),
        ({"token": "", "loopback": True}, "the token is empty"),
        ({"token": "two words", "loopback": True}, "other characters"),
        ({"token": "tökén", "loopback": True}, "other characters"),
        ({"token": None, "loopback": True, "secret": b"short"}, "the secret has 5 bytes"),
    ],
)
def test_settings_that_are_not_safe_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        Safety(**({"secret": SECRET} | settings))


def test_the_secret_is_not_shown():
    assert "secret" not in repr(Safety(None, True, secret=SECRET))


# Bodies


async def ask(app, method, path, *, headers=None, query=b"", pieces=(b"",), gap=0.0, ending=True):
    """One request, its body in pieces with gaps between them; gives status, headers and body of the response."""
    if headers is None:
        headers = [(b"host", b"localhost:8000"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query}
    scope |= {"headers": headers, "server": ("127.0.0.1", 8000), "scheme": "http", "root_path": ""}
    coming = list(pieces)
    sent = []

    async def receive():
        if len(coming) < len(pieces):
            await asyncio.sleep(gap)
        if not coming:
            return {"type": "http.disconnect"}
        part = coming.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(coming) or not ending}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    if not sent:
        return None, {}, b""
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(each.get("body", b"") for each in sent[1:])


def post(path="/api/write", length=None, app=None, **options):
    headers = [(b"host", b"localhost:8000"), (b"content-type", b"application/json")]
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    return asyncio.run(ask(app or make(), "POST", path, headers=headers, **options))


def test_a_body_of_the_largest_size_passes_however_it_is_cut():
    for pieces in ([b"x" * 200], [b"x" * 100, b"x" * 100], [b"x"] * 200, [b"", b"x" * 200, b""]):
        status, _, body = post(pieces=pieces)
        assert (status, body.count(b"x")) == (200, 200)


def test_a_body_that_is_too_large_is_refused_whatever_its_length_was_said_to_be():
    for length in (None, 5, 201, 10**30):
        status, _, body = post(pieces=[b"x" * 160, b"x" * 41], length=length)
        assert (status, body) == (413, b'{"error": "the body is too large, expected at most 200 bytes"}')


def test_a_body_without_end_is_not_read_to_its_end():
    taken = []

    async def scenario():
        async def receive():
            taken.append(1)
            return {"type": "http.request", "body": b"x" * 60, "more_body": True}

        sent = []

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/api/write", "query_string": b"", "scheme": "http"}
        scope["headers"] = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        await make()(scope, receive, send)
        return sent[0]["status"]

    # 60, 120, 180, 240: the fourth piece is one too many.
    assert (asyncio.run(scenario()), len(taken)) == (413, 4)


def test_what_is_said_to_be_too_large_is_not_read_at_all():
    status, _, _ = post(length=201, pieces=[])
    assert status == 413


def test_imports_may_be_larger():
    assert post("/api/import", pieces=[b"x" * 1000])[0] == 200
    assert post("/api/import", pieces=[b"x" * 1001])[0] == 413
    assert post("/api/import/", pieces=[b"x" * 201])[0] == 413


def test_a_body_that_dawdles_is_given_up():
    # 0.2 seconds are allowed; the last piece would come after 0.45.
    status, headers, body = post(pieces=[b"x"] * 10, gap=0.05)
    assert (status, headers[b"connection"]) == (408, b"close")
    assert body == b'{"error": "the body took too long to arrive"}'


def test_a_large_body_may_take_longer_if_it_keeps_coming(monkeypatch):
    # The first piece, which comes at once, is worth ten seconds; all of them take 0.3.
    monkeypatch.setattr(request_body, "BYTES_PER_SECOND", 10)
    assert post(pieces=[b"x" * 100, b"x", b"x"], gap=0.15)[0] == 200


def test_nothing_is_sent_to_whoever_has_left():
    assert post(pieces=[b"x"], ending=False) == (None, {}, b"")


def test_a_body_is_not_read_before_the_token_was_shown():
    async def receive():
        raise AssertionError("read")

    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/write", "query_string": b"", "headers": headers}
    asyncio.run(make(TOKEN)(scope, receive, send))
    assert sent[0]["status"] == 401
