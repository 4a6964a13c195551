"""Authentication by an access token.

Programs send the token with each request (`Authorization: Bearer`). Browsers send it once, in the URL or in the form of
`/login`, and get a cookie with HMAC(secret, token), from which the token cannot be recovered and which expires with the
server. Comparisons take constant time. A wrong token is answered after a delay, and only a few such answers may be
pending: that bounds the guesses per second over all clients. Clients that are logged in do not notice.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from searchlab.web.middleware.rejections import Rejection
from searchlab.web.middleware.request_context import AUTH_COOKIE, RequestContext

# At most MAX_PENDING_GUESSES / WRONG_TOKEN_SECONDS guesses a second.
WRONG_TOKEN_SECONDS = 0.5
MAX_PENDING_GUESSES = 10
# Characters that are not quoted in a URL.
URL_SAFE = "/?&=%:@!$'()*+,;~"


@dataclass(frozen=True)
class LoginForm:
    """Contents of the login page: the hidden fields `csrf` and `back`, and an error message.

    The form is posted to `/login`; its field `token` holds the access token.
    """

    csrf: str
    back: str
    problem: str


LoginPage = Callable[[LoginForm], str]


class TokenAuth:
    """Checks access tokens and login cookies."""

    def __init__(self, token: str | None, secret: bytes) -> None:
        self.required = token is not None
        self._token = (token or "").encode()
        self._cookie = hmac.new(secret, b"token:" + self._token, hashlib.sha256).hexdigest()
        self._n_pending = 0

    def is_logged_in(self, context: RequestContext) -> bool:
        """Whether the request has a valid login cookie."""
        return hmac.compare_digest(context.cookie(AUTH_COOKIE).encode(), self._cookie.encode())

    def log_in(self, context: RequestContext) -> None:
        """Set the login cookie."""
        context.set_cookie(AUTH_COOKIE, self._cookie)

    async def verify(self, token: str) -> bool:
        """Whether this is the access token; a negative answer is delayed."""
        if self._n_pending >= MAX_PENDING_GUESSES:
            raise Rejection(429, "too many wrong tokens; try again in a moment", headers=((b"retry-after", b"1"),))
        if hmac.compare_digest(token.encode(), self._token):
            return True
        self._n_pending += 1
        try:
            await asyncio.sleep(WRONG_TOKEN_SECONDS)
        finally:
            self._n_pending -= 1
        return False


def bearer_token(context: RequestContext) -> str | None:
    """The token in the Authorization header, if there is one."""
    scheme, _, token = context.header(b"authorization").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def local_url(text: str) -> bytes:
    """A URL of this server, quoted for a header; `/` for any other."""
    if not text.startswith("/") or text[1:2] in ("/", "\\"):
        return b"/"
    return quote(text, safe=URL_SAFE).encode()


def plain_login_page(form: LoginForm) -> str:
    """A login page without styles."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>searchlab: token</title>'
        f"<h1>A token is needed</h1><p>{escape(form.problem)}</p>"
        f'<form method="post" action="/login"><input type="hidden" name="csrf" value="{escape(form.csrf)}">'
        f'<input type="hidden" name="back" value="{escape(form.back)}"><label>Token '
        '<input type="password" name="token" required autofocus></label> <button>Log in</button></form></html>'
    )
