"""Security middleware: checks every request, and adds security headers to every response.

It wraps the whole application, so that no route can omit it. The checks, in this order: the framing of the body, length
of URL and headers, the Host header, the method, the origin (`csrf.py`), the access token (`auth.py`), the body
(`request_body.py`). The headers allow no scripts or styles other than the server's own files, no frames, no guessing of
content types, and no referrer for other sites.

The framing: where a proxy believes Content-Length and the server Transfer-Encoding, the end of a body is the beginning
of a request that the proxy has not seen (request smuggling). No request may have both.

The Host header: a site may let its own name resolve to 127.0.0.1 after its page was loaded (DNS rebinding), and would
then have the same origin as this server. A server bound to a loopback address answers only to loopback names;
otherwise a token is required, which such a page does not have.
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
from searchlab.web.http_errors import INTERNAL_ERROR
from searchlab.web.limits import Limits
from searchlab.web.middleware.access_tokens import AccessToken
from searchlab.web.middleware.auth import (
    AUTH_SCOPE_KEY,
    URL_SAFE,
    LoginForm,
    LoginPage,
    TokenAuth,
    bearer_token,
    local_url,
    plain_login_page,
)
from searchlab.web.middleware.csrf import (
    CSRF_FIELD,
    FORM_TYPE,
    TOKENS_SCOPE_KEY,
    CsrfTokens,
    body_content_type,
    reject_cross_site_load,
    reject_cross_site_write,
)
from searchlab.web.middleware.rejections import (
    CLOSE,
    Headers,
    Redirect,
    Rejection,
    RejectionPage,
    is_api,
    send_redirect,
    send_rejection,
)
from searchlab.web.middleware.request_body import ClientDisconnected, check_declared_length, receive_body, replay
from searchlab.web.middleware.request_context import SCOPE_KEY, RequestContext

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
LOGIN_PATH = "/login"
# Served without a token: it holds no secrets, and the login page needs its style.
STATIC_PATH = "/static/"
# Writes with files or many records in them, whose bodies may be large.
LARGE_PATHS = frozenset(
    {
        *("/api/import", "/api/import/preview", "/api/import/table"),
        *("/api/judgments/batch", "/api/search/batch"),
        *("/api/topics/merge", "/topics/merge", "/topics/delete"),
    }
)
UPLOAD_PATH = "/api/uploads/file"
# A form that is sent without a login, which anybody can send.
MAX_FORM_BYTES_BEFORE_LOGIN = 131_072
MIN_SECRET_BYTES = 16
MAX_HEADERS, MAX_HEADER_BYTES = 100, 16_384
WRONG_TOKEN = "this is not the token"

_LOOPBACK_HOST = re.compile(rb"(?i:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?")
_ALLOW: Headers = ((b"allow", b"GET, HEAD, POST, DELETE"),)
_CHALLENGE: Headers = ((b"www-authenticate", b"Bearer"),)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SecuritySettings:
    """The access tokens, if any is required, and whether the server is bound to a loopback address.

    `secret` signs cookies and forms (`signing_secret.py`).
    """

    tokens: tuple[AccessToken, ...]
    loopback: bool
    limits: Limits = field(default_factory=Limits)
    secret: bytes = field(repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.tokens and not self.loopback:
            raise SettingError("no token, expected one where other machines can reach the server")
        if len(self.secret) < MIN_SECRET_BYTES:
            raise SettingError(f"the secret has {len(self.secret)} bytes, expected {MIN_SECRET_BYTES} or more")


class SecurityMiddleware:
    """ASGI middleware with the checks and headers of this module.

    `login_page` renders the login page, and `rejection_page` all other rejections of requests for pages.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: SecuritySettings,
        login_page: LoginPage = plain_login_page,
        rejection_page: RejectionPage | None = None,
    ) -> None:
        self._app = app
        self._settings = settings
        self._login_page = login_page
        self._rejection_page = rejection_page
        self._auth = TokenAuth(settings.tokens, settings.secret)
        self._csrf = CsrfTokens(settings.secret)
        headers: Headers = (
            (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
            # With no-referrer, browsers would hide the origin of the server's own forms, too.
            (b"referrer-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
        )
        if settings.loopback:  # elsewhere, browsers warn that it has no effect without TLS
            headers += ((b"cross-origin-opener-policy", b"same-origin"),)
        self._page_headers: Headers = (*headers, (b"cache-control", b"private, no-cache"))
        self._api_headers: Headers = (*headers, (b"cache-control", b"no-store"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        context = scope[SCOPE_KEY] = RequestContext(scope)
        scope[TOKENS_SCOPE_KEY] = self._csrf
        scope[AUTH_SCOPE_KEY] = self._auth
        security_headers = self._api_headers if is_api(scope) else self._page_headers
        started = completed = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started, completed
            if message["type"] == "http.response.start":
                started = True
                headers = list(message.get("headers", ()))
                present = {name for name, _ in headers}
                headers += [header for header in security_headers if header[0] not in present]
                headers += [(b"set-cookie", cookie) for cookie in context.cookies_to_set]
                message = {**message, "headers": headers}
            else:
                completed = not message.get("more_body", False)
            await send(message)

        try:
            await self._app(scope, await self._check(scope, receive, context), send_with_headers)
        except Redirect as redirect:
            await send_redirect(redirect, send_with_headers)
        except Rejection as rejection:
            await send_rejection(rejection, scope, send_with_headers, self._rejection_page)
        except ClientDisconnected:
            return
        except Exception:
            log.exception("%s %s", scope["method"], scope["path"][:200].encode("unicode_escape").decode())
            if not started:
                internal = Rejection(500, INTERNAL_ERROR)
                await send_rejection(internal, scope, send_with_headers, self._rejection_page)
            elif not completed:
                raise  # the server then closes the connection: an incomplete response must not look complete

    async def _check(self, scope: Scope, receive: Receive, context: RequestContext) -> Receive:
        """The `receive` for the application; raises a rejection or redirect if the request must not reach it."""
        if b"transfer-encoding" in context.headers:
            if b"content-length" in context.headers:
                raise Rejection(400, "expected either Content-Length or Transfer-Encoding, found both", headers=CLOSE)
            if scope.get("http_version") == "1.0":
                raise Rejection(400, "Transfer-Encoding in HTTP/1.0, expected Content-Length", headers=CLOSE)
        limits = self._settings.limits
        if len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"]) > limits.max_url_bytes:
            raise Rejection(414, f"the URL is too long, expected at most {limits.max_url_bytes:,} bytes")
        headers = scope["headers"]
        if len(headers) > MAX_HEADERS or sum(len(value) for _, value in headers) > MAX_HEADER_BYTES:
            raise Rejection(431, f"expected at most {MAX_HEADERS} headers of {MAX_HEADER_BYTES:,} bytes in all")
        if self._settings.loopback and not _LOOPBACK_HOST.fullmatch(context.headers.get(b"host", b"")):
            raise Rejection(403, "unknown host name, expected localhost or 127.0.0.1")
        method = scope["method"]
        if method not in ("GET", "HEAD", "POST", "DELETE"):
            raise Rejection(405, "expected GET, HEAD, POST or DELETE", headers=_ALLOW)
        if method == "POST":
            return await self._check_write(scope, receive, context)
        if method == "DELETE":
            return await self._check_deletion(scope, receive, context)
        reject_cross_site_load(context)
        if self._auth.required:
            await self._check_read(scope, context)
        elif scope["path"] == LOGIN_PATH:
            raise Redirect(b"/")
        return receive

    async def _check_read(self, scope: Scope, context: RequestContext) -> None:
        path: str = scope["path"]
        token, url = _split_off_token(scope)
        if token is not None and not is_api(scope) and path != LOGIN_PATH:
            await self._log_in(scope, context, token, url)
        if path == LOGIN_PATH:
            back = local_url(QueryParams(scope["query_string"]).get("back", "/"))
            raise Redirect(back) if self._auth.resume_login(context) else self._ask_for_token(scope, context, back)
        if not path.startswith(STATIC_PATH) or ".." in path:
            await self._require_token(scope, context, url)

    async def _check_write(self, scope: Scope, receive: Receive, context: RequestContext) -> Receive:
        reject_cross_site_write(context)
        limits = self._settings.limits
        is_login = self._auth.required and scope["path"] == LOGIN_PATH
        by_header = self._auth.required and not is_login and await self._require_login(scope, receive, context)
        is_file = scope["path"] == UPLOAD_PATH
        content_type = body_content_type(context, forms_only=is_login, files_only=is_file)
        max_bytes = limits.max_import_bytes if scope["path"] in LARGE_PATHS else limits.max_body_bytes
        if is_login:
            max_bytes = min(max_bytes, MAX_FORM_BYTES_BEFORE_LOGIN)
        if is_file:
            check_declared_length(context, limits.max_upload_bytes)
            return receive  # its handler writes it to disk as it arrives, and bounds it whatever it declares
        body = await receive_body(receive, context, max_bytes=max_bytes, seconds=limits.body_seconds)
        if content_type == FORM_TYPE:
            context.form = body.decode("utf-8", "replace")
            fields = QueryParams(context.form)
            if not by_header and not self._csrf.verify(context, fields.get(CSRF_FIELD, "")):
                raise Rejection(403, "the form has expired; reload its page, with cookies allowed")
            if is_login:
                await self._log_in(scope, context, fields.get("token", ""), local_url(fields.get("back", "/")))
        return replay(body, receive)

    async def _check_deletion(self, scope: Scope, receive: Receive, context: RequestContext) -> Receive:
        """A DELETE has no body. No form can send it, and no script of another site without a preflight request."""
        reject_cross_site_write(context)
        if not is_api(scope):
            raise Rejection(405, "expected GET, HEAD or POST", headers=_ALLOW)
        if self._auth.required:
            await self._require_token(scope, context, b"/")
        body = await receive_body(receive, context, max_bytes=0, seconds=self._settings.limits.body_seconds)
        return replay(body, receive)

    async def _log_in(self, scope: Scope, context: RequestContext, text: str, back: bytes) -> NoReturn:
        token = await self._auth.find(text, context.client)
        if token is None:
            raise self._ask_for_token(scope, context, back, WRONG_TOKEN)
        self._auth.log_in(context, token)
        raise Redirect(back)

    async def _require_login(self, scope: Scope, receive: Receive, context: RequestContext) -> bool:
        """Reject a write without token or login cookie; the login page then shows what was written in its form.

        A login ends when the token is changed, also while somebody writes.
        """
        length = context.header(b"content-length")
        is_form = context.header(b"content-type").partition(";")[0].strip().lower() == FORM_TYPE and not is_api(scope)
        is_small = length.isdecimal() and int(length) <= MAX_FORM_BYTES_BEFORE_LOGIN
        if bearer_token(context) is not None or self._auth.resume_login(context) or not (is_form and is_small):
            return await self._require_token(scope, context, b"/")
        seconds = self._settings.limits.body_seconds
        body = await receive_body(receive, context, max_bytes=MAX_FORM_BYTES_BEFORE_LOGIN, seconds=seconds)
        context.form = body.decode("utf-8", "replace")
        raise self._ask_for_token(scope, context, local_url(QueryParams(context.form).get("back", "/")))

    async def _require_token(self, scope: Scope, context: RequestContext, back: bytes) -> bool:
        """Reject a request without token or login cookie; returns whether the token was in the header."""
        text = bearer_token(context)
        if text is None:
            if self._auth.resume_login(context):
                return False
            raise self._ask_for_token(scope, context, back)
        token = await self._auth.find(text, context.client)
        if token is None:
            raise self._ask_for_token(scope, context, back, WRONG_TOKEN)
        # A program with a shared token names the judge with each request.
        context.token, context.judge = token, token.judge
        return True

    def _ask_for_token(self, scope: Scope, context: RequestContext, back: bytes, problem: str = "") -> Rejection:
        if is_api(scope):
            return Rejection(401, problem or "a token is needed: Authorization: Bearer TOKEN", headers=_CHALLENGE)
        entries = QueryParams(context.form) if context.form and scope["path"] != LOGIN_PATH else {}
        form = LoginForm(self._csrf.make(context), back.decode(), problem, scope["path"], entries)
        page = self._login_page(form)
        return Rejection(401, "a token is needed", headers=_CHALLENGE, page=page)


def _split_off_token(scope: Scope) -> tuple[str | None, bytes]:
    """The token in the URL of a request, if any, and the URL without it."""
    parts: list[bytes] = scope["query_string"].split(b"&") if scope["query_string"] else []
    tokens = [part for part in parts if part.startswith(b"token=")]
    rest = b"&".join(part for part in parts if part not in tokens)
    path = local_url(scope["path"].replace("%", "%25").replace("?", "%3F"))
    token = unquote_plus(tokens[-1][6:].decode("latin-1")) if tokens else None
    return token, path + (b"?" + quote(rest, safe=URL_SAFE).encode() if rest else b"")
