"""Random HTTP requests: valid ones, and ones that are wrong in their path, method, headers, parameters or body.

Requests are drawn from the server's own routes and their declared parameters, so that every handler is reached. A
request is bytes, because many of these could not be sent by a library.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_from_bytes, urlencode

from benchmarks.attacks.fuzz_seeds import FILTERS, MEASURES, QUERIES, SYSTEMS
from benchmarks.attacks.mutation import JSON_VALUES, mutate
from searchlab.web.api.parameters import Parameter
from searchlab.web.routes.routing import ENDPOINTS, FORMS, PAGES

JSON_TYPE, FORM_TYPE = "application/json", "application/x-www-form-urlencoded"
READS = [(endpoint.path, endpoint.parameters) for endpoint in ENDPOINTS if not endpoint.is_write] + [
    (page.path, page.parameters) for page in PAGES
]
WRITES = [(endpoint.path, endpoint.parameters) for endpoint in ENDPOINTS if endpoint.is_write]
FORM_PATHS = [(form.path, form.parameters) for form in FORMS]
# Likely values of parameters; others get values of their kind.
VALUES: dict[str, Sequence[str]] = {
    "q": [query.decode() for query in QUERIES],
    "query": ["heat wing", "blood"],
    "docno": ["d0003", "d0100", "zz", "d0007"],
    "against": ["d0030", "d0031"],
    "index": ["attacked"],
    "system": [system.decode() for system in SYSTEMS],
    "systems": ["bm25", "jm", "dirichlet+rm3"],
    "left": ["bm25", "jm"],
    "right": ["dirichlet", "bm25+rm3"],
    "filter": [filter.decode() for filter in FILTERS],
    "topic_set": ["attacked", "searches"],
    "qid": ["1", "2"],
    "judge": ["ann", "bob"],
    "measure": MEASURES[0].decode().split(","),
    "measures": MEASURES[0].decode().split(","),
    "topics": ["1\theat wing\n2\tblood\n"],
    "qrels": ["1 0 d0003 1\n"],
    "text": ["boundary layer"],
    "id": ["1", "x"],
}
PATHS = (
    *("/", "/static/style.css", "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "//etc/passwd"),
    *(
        "/report/../../etc/passwd/",
        "/report/%2e%2e%2f%2e%2e%2fetc%2fpasswd/",
        "/report/x/",
        "/api/openapi.json",
        "/api",
    ),
    *(
        "/login",
        "/login?back=//evil.example",
        "/name",
        "/api/jobs/..",
        "/api/jobs/%00",
        "/%00",
        "/%ff%fe",
        "/api/search/",
    ),
    *(
        "/\\..\\..\\etc\\passwd",
        "/;/",
        "/?" + "a=b&" * 3000,
        "/" + "a" * 20_000,
        "/" + "%41" * 6000,
        "*",
        "http://x/",
        "",
    ),
)
METHODS = ("PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "PRI", "GET\tX", "A" * 300)
HEADERS = (
    *("Host: evil.example", "Host:", "Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"),
    *("Cookie: judge=%00%ff", "Cookie: " + "a=b; " * 500, "Cookie: judge=\xff", "Cookie: searchlab-form-0=x; judge"),
    *("Authorization: Bearer x", "Authorization: Basic \xe9", "Content-Length: -1", "Content-Length: 9" + "9" * 30),
    *("Transfer-Encoding: chunked", "Transfer-Encoding: gzip", "Expect: 100-continue", "Upgrade: websocket"),
    *("Range: bytes=0-9999999", "If-None-Match: *", "X: " + "y" * 40_000, "X\0: y", " folded", "Accept-Encoding: \x01"),
    *(
        "X-Forwarded-For: ::1",
        "X-Http-Method-Override: DELETE",
        "Content-Type: text/plain",
        "Content-Type: application/json",
    ),
)
WRONG_TYPES = (
    "text/plain",
    "multipart/form-data; boundary=x",
    "",
    "application/xml",
    "application/json; charset=utf-7",
)
MAX_BODY_BYTES = 70_000


@dataclass(frozen=True)
class HostileRequest:
    """The bytes of a request, and its kind.

    `must_be_refused` if it writes without permission. One that is not `complete` may be shorter than it says; the
    client closes its side then, so that the server need not wait for the rest.
    """

    kind: str
    content: bytes
    must_be_refused: bool = False
    complete: bool = True


def draw_request(draw: random.Random, port: int) -> HostileRequest:
    """A random request to a server on this port."""
    (kind,) = draw.choices(list(KINDS), [4 if kind in ("read", "write") else 1 for kind in KINDS])
    return KINDS[kind](kind, draw, port)


def _head(method: str, target: str, port: int, *headers: str) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _value(parameter: Parameter, draw: random.Random) -> Any:
    """A value for a parameter: mostly one of its kind."""
    if draw.random() < 0.05:
        return draw.choice(JSON_VALUES)
    if parameter.name in VALUES:
        text = draw.choice(VALUES[parameter.name])
        if draw.random() < 0.15:
            text = mutate([text.encode()], (), draw).decode("utf-8", "replace")[:3000]
        return [text] if parameter.kind == "strings" else text
    if parameter.kind in ("integer", "number"):
        return draw.choice((1, 2, 3, 1, 2, 3, 0, -1, 10**9, 0.5, parameter.maximum, parameter.minimum))
    if parameter.kind == "boolean":
        return draw.choice((True, False))
    text = draw.choice(parameter.choices) if parameter.choices else "x" * draw.choice((1, 5, 2000))
    return [text] if parameter.kind == "strings" else text


def _values(parameters: Sequence[Parameter], draw: random.Random) -> dict[str, Any]:
    values = {each.name: _value(each, draw) for each in parameters if each.required or draw.random() < 0.4}
    if values and draw.random() < 0.1:
        del values[draw.choice(list(values))]
    if draw.random() < 0.05:
        values["unknown"] = 1
    return values


def _encode(values: dict[str, Any]) -> str:
    texts = {name: value if isinstance(value, list) else [value] for name, value in values.items()}
    pairs = [(name, str(item).encode("utf-8", "replace")) for name, items in texts.items() for item in items]
    return urlencode(pairs)


def _read(kind: str, draw: random.Random, port: int) -> HostileRequest:
    path, parameters = draw.choice(READS)
    path = path.replace("{id}", quote(draw.choice(("1", "x", "../1")), safe=""))
    return HostileRequest(kind, _head("GET", f"{path}?{_encode(_values(parameters, draw))}", port))


def _write(kind: str, draw: random.Random, port: int) -> HostileRequest:
    path, parameters = draw.choice(WRITES)
    body = json.dumps(_values(parameters, draw)).encode()
    return with_body(kind, path, body, JSON_TYPE, port)


def _cross_site_write(kind: str, draw: random.Random, port: int) -> HostileRequest:
    path, parameters = draw.choice(WRITES)
    body = json.dumps(_values(parameters, draw)).encode()
    origin = draw.choice(("Origin: http://evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"))
    return with_body(kind, path, body, JSON_TYPE, port, origin, must_be_refused=True)


def _form_without_csrf(kind: str, draw: random.Random, port: int) -> HostileRequest:
    path, parameters = draw.choice(FORM_PATHS)
    values = _values(parameters, draw)
    if draw.random() < 0.5:
        values["csrf"] = draw.choice(("", "0" * 64, "\xe9", "x" * 5000))
    seed = draw.choice(("", f"Cookie: searchlab-form-{port}={'0' * 32}"))
    headers = [seed] if seed else []
    return with_body(kind, path, _encode(values).encode(), FORM_TYPE, port, *headers, must_be_refused=True)


def _broken_body(kind: str, draw: random.Random, port: int) -> HostileRequest:
    path, parameters = draw.choice(WRITES + FORM_PATHS)
    valid = json.dumps(_values(parameters, draw)).encode()
    body = draw.choice(
        (
            mutate([valid], (), draw),
            b"[" * draw.randrange(30_000),
            b'{"a":' * draw.randrange(10_000),
            draw.randbytes(draw.randrange(500)),
            b"x" * draw.randrange(MAX_BODY_BYTES),
            b"",
        )
    )
    return with_body(kind, path, body, draw.choice((JSON_TYPE, FORM_TYPE, *WRONG_TYPES)), port)


def with_body(
    kind: str, path: str, body: bytes, content_type: str, port: int, *headers: str, must_be_refused: bool = False
) -> HostileRequest:
    """A request with a body of this content type."""
    head = _head("POST", path, port, f"Content-Type: {content_type}", f"Content-Length: {len(body)}", *headers)
    return HostileRequest(kind, head + body, must_be_refused)


def _path(kind: str, draw: random.Random, port: int) -> HostileRequest:
    target = draw.choice(PATHS)
    if draw.random() < 0.4:
        target = quote_from_bytes(mutate([target[:200].encode()], (b"../", b"%2f", b"//", b"?"), draw), safe="/%?&=")
    return HostileRequest(kind, _head("GET", target, port), complete=False)


def _method(kind: str, draw: random.Random, port: int) -> HostileRequest:
    path, parameters = draw.choice(READS + WRITES)
    return HostileRequest(kind, _head(draw.choice(METHODS), f"{path}?{_encode(_values(parameters, draw))}", port))


def _header(kind: str, draw: random.Random, port: int) -> HostileRequest:
    headers = draw.sample(HEADERS, draw.choice((1, 1, 2, 4)))
    return HostileRequest(
        kind, _head(draw.choice(("GET", "POST")), "/api/search?q=heat", port, *headers), complete=False
    )


def _chunks(kind: str, draw: random.Random, port: int) -> HostileRequest:
    head = _head("POST", "/api/judgments", port, f"Content-Type: {JSON_TYPE}", "Transfer-Encoding: chunked")
    body = mutate([b'5\r\n{"a":\r\n3\r\n 1}\r\n0\r\n\r\n'], (b"\r\n", b"ffffffff\r\n", b"-1\r\n", b"0\r\n\r\n"), draw)
    return HostileRequest(kind, head + body, complete=False)


def _garbage(kind: str, draw: random.Random, port: int) -> HostileRequest:
    valid = _head("GET", "/api/search?q=heat", port)
    content = draw.choice((draw.randbytes(draw.randrange(2000)), mutate([valid], (b"\r\n",), draw)))
    return HostileRequest(kind, content, complete=False)


KINDS: dict[str, Callable[[str, random.Random, int], HostileRequest]] = {
    "read": _read,
    "write": _write,
    "write of another site": _cross_site_write,
    "form without CSRF": _form_without_csrf,
    "broken body": _broken_body,
    "path": _path,
    "method": _method,
    "header": _header,
    "chunks": _chunks,
    "garbage": _garbage,
}
