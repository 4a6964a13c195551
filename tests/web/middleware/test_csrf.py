"""Writes of other sites are rejected, by their origin and by the CSRF token of forms."""

import re

import pytest
from starlette.applications import Starlette

from searchlab.web.middleware.security import SecurityMiddleware, SecuritySettings
from tests.web.middleware.guarded_app import HERE, LIMITS, ROUTES, client_of, make

# Origins


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
def test_writes_of_the_same_origin_and_of_programs_pass(client, headers):
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
def test_writes_of_other_sites_are_rejected(client, headers):
    assert client.post("/api/write", json={"a": 1}, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "multipart/form-data; boundary=x", "", "application/jsonx", "text/json"]
)
def test_content_types_that_a_form_of_another_site_could_send_are_rejected(client, kind):
    assert client.post("/api/write", content=b"{}", headers={"Content-Type": kind}).status_code == 415


def test_the_content_type_may_have_parameters(client):
    headers = {"Content-Type": "Application/JSON ; charset=utf-8"}
    assert client.post("/api/write", content=b"{}", headers=headers).status_code == 200


def test_other_sites_may_link_but_not_load(client):
    for site in ("cross-site", "same-site"):
        for mode, status in [("navigate", 200), ("no-cors", 403), ("cors", 403), ("", 403)]:
            headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
            assert client.get("/api/search", headers=headers).status_code == status
    assert client.get("/", headers={"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}).status_code == 200


# Forms


def test_a_form_with_the_csrf_token_of_its_client_passes(client):
    page = client.get("/form")
    assert re.fullmatch("[0-9a-f]{64}", page.text)
    cookie = page.headers["set-cookie"]
    assert re.fullmatch(r"searchlab-form-8000=[0-9a-f]{32}; Path=/; HttpOnly; SameSite=Lax", cookie)
    response = client.post("/write", data={"csrf": page.text, "note": "käse & co", "r": ["a", "b"]})
    assert response.status_code == 200
    assert response.json()["form"] == [["csrf", page.text], ["note", "käse & co"], ["r", "a"], ["r", "b"]]
    assert response.json()["body"].startswith("csrf=")


def test_all_forms_of_a_client_have_one_csrf_token_and_one_cookie(client):
    first, second = client.get("/form"), client.get("/form")
    assert first.text == second.text
    assert "set-cookie" not in second.headers


def test_a_form_without_its_csrf_token_or_with_another_is_rejected(client):
    other = client_of(make()).get("/form").text
    token = client.get("/form").text
    assert other != token
    for data in ({}, {"csrf": ""}, {"csrf": other}, {"csrf": token[:-1]}, {"csrf": "é"}):
        assert client.post("/write", data={"a": "1"} | data).status_code == 403
    # The right token without the cookie.
    assert client_of(make()).post("/write", data={"csrf": token}).status_code == 403


def test_a_csrf_token_of_an_earlier_server_is_rejected(client):
    page = client.get("/form")
    later = SecurityMiddleware(Starlette(routes=ROUTES), SecuritySettings((), True, LIMITS, secret=b"x" * 32))
    again = client_of(later, cookies=dict(client.cookies))
    assert again.post("/write", data={"csrf": page.text}).status_code == 403


def test_an_invalid_seed_is_replaced(client):
    client.cookies.set("searchlab-form-8000", "short")
    assert "set-cookie" in client.get("/form").headers


def test_two_servers_on_one_machine_do_not_share_cookies(client):
    other = client_of(make(), "http://localhost:9000")
    assert other.get("/form").headers["set-cookie"].startswith("searchlab-form-9000=")


def test_cookies_are_secure_with_tls():
    page = client_of(make(), "https://localhost:8000").get("/form")
    assert page.headers["set-cookie"].endswith("; Secure")
