"""Which requests are let in, and what does every response carry?

The guard stands before the whole application, so that no page can forget it. In this order: how long address and
headers are, the name by which the server is called, the method, where the request comes from (`csrf.py`), the token
(`tokens.py`), the body (`bodies.py`). Whatever it lets pass is answered with headers that leave a browser no room: no
script or style but our own files, no frames, no guessing of types, no addresses told to other sites.

By its name: a site may let its own name point to 127.0.0.1 after its page was loaded (DNS rebinding), and would then
be the same origin as ours. Behind a loopback address only the names of loopback are answered; elsewhere there is a
token, which such a page does not have.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from typing import NoReturn
from urllib.parse import quote, unquote_plus

from starlette.datastructures import QueryParams
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from searchlab.errors import SettingError
from searchlab.web.http_errors import INTERNAL
from searchlab.web.limits import Limits
from searchlab.web.middleware.auth import RESERVED, Login, LoginPage, Tokens, bearer, local_address, plain_login_page
from searchlab.web.middleware.csrf import (
    FIELD,
    FORM,
    FormTokens,
    kind_of_body,
    refuse_foreign_load,
    refuse_foreign_write,
)
from searchlab.web.middleware.rejections import Headers, Redirection, Refusal, is_api, send_redirection, send_refusal
from searchlab.web.middleware.request_body import Gone, receive_body, replay
from searchlab.web.middleware.request_context import KEY, Visit

__all__ = ["Login", "LoginPage", "Safety", "protect"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
LOGIN = "/login"
# Nothing in it is secret, and the page that asks for the token is to look well.
STATIC = "/static/"
IMPORT = "/api/import"
SHORTEST_SECRET = 16
MOST_HEADERS, LONGEST_HEADERS = 100, 16_384
WRONG = "this is not the token"

_LOOPBACK_HOST = re.compile(rb"(?i:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?")
# What a header can carry as it is.
_TOKEN = re.compile("[!-~]+")
_ALLOW: Headers = ((b"allow", b"GET, HEAD, POST"),)
_CHALLENGE: Headers = ((b"www-authenticate", b"Bearer"),)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Safety:
    """How strict the guard is: the token, if one is needed; whether the server is bound to a loopback address.

    `secret` signs cookies and forms, and is another one each time that the server is started.
    """

    token: str | None
    loopback: bool
    limits: Limits = field(default_factory=Limits)
    secret: bytes = field(repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.token is not None and not _TOKEN.fullmatch(self.token):
            raise SettingError("the token is empty or has other characters than expected: letters, digits and signs")
        if self.token is None and not self.loopback:
            raise SettingError("no token: expected one where other machines can reach the server")
        if len(self.secret) < SHORTEST_SECRET:
            raise SettingError(f"the secret has {len(self.secret)} bytes, expected {SHORTEST_SECRET} or more")


def protect(app: ASGIApp, settings: Safety, login_page: LoginPage = plain_login_page) -> ASGIApp:
    """The application behind the guard; `login_page` makes the page that asks for the token."""
    return _Guard(app, settings, login_page)


class _Guard:
    def __init__(self, app: ASGIApp, settings: Safety, login_page: LoginPage) -> None:
        self._app = app
        self._settings = settings
        self._login_page = login_page
        self._tokens = Tokens(settings.token, settings.secret)
        self._forms = FormTokens(settings.secret)
        always: Headers = (
            (b"content-security-policy", POLICY.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
            # With no-referrer, browsers would hide the origin of our own forms, too.
            (b"referrer-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
        )
        if settings.loopback:  # elsewhere, browsers complain that it has no effect without TLS
            always += ((b"cross-origin-opener-policy", b"same-origin"),)
        self._page_headers: Headers = (*always, (b"cache-control", b"private, no-cache"))
        self._api_headers: Headers = (*always, (b"cache-control", b"no-store"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        visit = scope[KEY] = Visit(scope)
        scope["searchlab.forms"] = self._forms
        own = self._api_headers if is_api(scope) else self._page_headers
        started = completed = False

        async def send_dressed(message: Message) -> None:
            nonlocal started, completed
            if message["type"] == "http.response.start":
                started = True
                headers = list(message.get("headers", ()))
                present = {name for name, _ in headers}
                headers += [header for header in own if header[0] not in present]
                headers += [(b"set-cookie", cookie) for cookie in visit.cookies]
                message = {**message, "headers": headers}
            else:
                completed = not message.get("more_body", False)
            await send(message)

        try:
            await self._app(scope, await self._admit(scope, receive, visit), send_dressed)
        except Redirection as redirection:
            await send_redirection(redirection, send_dressed)
        except Refusal as refusal:
            await send_refusal(refusal, scope, send_dressed)
        except Gone:
            return
        except Exception:
            log.exception("%s %s", scope["method"], scope["path"][:200].encode("unicode_escape").decode())
            if not started:
                await send_refusal(Refusal(500, INTERNAL), scope, send_dressed)
            elif not completed:
                raise  # the server then cuts the connection: half a response must not look whole

    async def _admit(self, scope: Scope, receive: Receive, visit: Visit) -> Receive:
        """From where the application gets the body; what is not to reach it is raised."""
        limits = self._settings.limits
        if len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"]) > limits.address:
            raise Refusal(414, f"the address is too long, expected at most {limits.address:,} bytes")
        headers = scope["headers"]
        if len(headers) > MOST_HEADERS or sum(len(value) for _, value in headers) > LONGEST_HEADERS:
            raise Refusal(431, f"expected at most {MOST_HEADERS} headers of {LONGEST_HEADERS:,} bytes in all")
        if self._settings.loopback and not _LOOPBACK_HOST.fullmatch(visit.headers.get(b"host", b"")):
            raise Refusal(403, "the server is called by a name that is not its own, expected localhost or 127.0.0.1")
        method = scope["method"]
        if method not in ("GET", "HEAD", "POST"):
            raise Refusal(405, "expected GET, HEAD or POST", headers=_ALLOW)
        if method == "POST":
            return await self._admit_write(scope, receive, visit)
        refuse_foreign_load(visit)
        if self._tokens.needed:
            await self._admit_read(scope, visit)
        elif scope["path"] == LOGIN:
            raise Redirection(b"/")
        return receive

    async def _admit_read(self, scope: Scope, visit: Visit) -> None:
        path: str = scope["path"]
        given, address = _without_token(scope)
        if given is not None and not is_api(scope) and path != LOGIN:
            if not await self._tokens.fits(given):
                raise self._ask_for_token(scope, visit, address, WRONG)
            self._tokens.give_pass(visit)
            raise Redirection(address)
        if path == LOGIN:
            back = local_address(QueryParams(scope["query_string"]).get("back", "/"))
            raise Redirection(back) if self._tokens.has_pass(visit) else self._ask_for_token(scope, visit, back)
        if not path.startswith(STATIC) or ".." in path:
            await self._require_token(scope, visit, address)

    async def _admit_write(self, scope: Scope, receive: Receive, visit: Visit) -> Receive:
        refuse_foreign_write(visit)
        limits = self._settings.limits
        is_login = self._tokens.needed and scope["path"] == LOGIN
        by_header = self._tokens.needed and not is_login and await self._require_token(scope, visit, b"/")
        kind = kind_of_body(visit, forms_only=is_login)
        most = limits.import_body if scope["path"] == IMPORT else limits.body
        body = await receive_body(receive, visit, most=most, seconds=limits.receiving)
        if kind == FORM:
            visit.form = body.decode("utf-8", "replace")
            fields = QueryParams(visit.form)
            if not by_header and not self._forms.fits(visit, fields.get(FIELD, "")):
                raise Refusal(403, "the form is not of this visit; load its page again, with cookies allowed")
            if is_login:
                await self._log_in(scope, visit, fields)
        return replay(body, receive)

    async def _log_in(self, scope: Scope, visit: Visit, fields: QueryParams) -> NoReturn:
        back = local_address(fields.get("back", "/"))
        if not await self._tokens.fits(fields.get("token", "")):
            raise self._ask_for_token(scope, visit, back, WRONG)
        self._tokens.give_pass(visit)
        raise Redirection(back)

    async def _require_token(self, scope: Scope, visit: Visit, back: bytes) -> bool:
        """Let those pass who have shown the token; says whether it stood in the header of this request."""
        given = bearer(visit)
        if given is None:
            if self._tokens.has_pass(visit):
                return False
            raise self._ask_for_token(scope, visit, back)
        if not await self._tokens.fits(given):
            raise self._ask_for_token(scope, visit, back, WRONG)
        return True

    def _ask_for_token(self, scope: Scope, visit: Visit, back: bytes, problem: str = "") -> Refusal:
        if is_api(scope):
            return Refusal(401, problem or "a token is needed: Authorization: Bearer TOKEN", headers=_CHALLENGE)
        page = self._login_page(Login(self._forms.make(visit), back.decode(), problem))
        return Refusal(401, "a token is needed", headers=_CHALLENGE, page=page)


def _without_token(scope: Scope) -> tuple[str | None, bytes]:
    """The token that an address brings, if any, and the address without it."""
    parts: list[bytes] = scope["query_string"].split(b"&") if scope["query_string"] else []
    tokens = [part for part in parts if part.startswith(b"token=")]
    rest = b"&".join(part for part in parts if part not in tokens)
    path = local_address(scope["path"].replace("%", "%25").replace("?", "%3F"))
    token = unquote_plus(tokens[-1][6:].decode("latin-1")) if tokens else None
    return token, path + (b"?" + quote(rest, safe=RESERVED).encode() if rest else b"")
