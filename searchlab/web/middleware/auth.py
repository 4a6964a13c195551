"""Who may come in, where a token is needed?

Programs send it with each request (`Authorization: Bearer`). Browsers show it once, in the address or in the form of
`/login`, and get a pass for it: a cookie with HMAC(secret, token), from which the token cannot be learnt, and which
ends with the server. Comparisons take the same time wherever two values differ. A wrong token waits for its answer,
and only so many wait at a time: that bounds the guesses a second, whoever makes them. Those who have a pass notice
nothing of it.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from searchlab.web.middleware.rejections import Refusal
from searchlab.web.middleware.request_context import PASS, Visit

# Guesses a second are at most GUESSES / PENALTY.
PENALTY = 0.5
GUESSES = 10
# What stands for itself in an address.
RESERVED = "/?&=%:@!$'()*+,;~"


@dataclass(frozen=True)
class Login:
    """What the page that asks for the token has to say: hidden fields `csrf` and `back`, and what went wrong before.

    The form goes by POST to `/login`; the token is its field `token`.
    """

    csrf: str
    back: str
    problem: str


LoginPage = Callable[[Login], str]


class Tokens:
    """Knows the token, and those who have shown it."""

    def __init__(self, token: str | None, secret: bytes) -> None:
        self.needed = token is not None
        self._token = (token or "").encode()
        self._pass = hmac.new(secret, b"token:" + self._token, hashlib.sha256).hexdigest()
        self._waiting = 0

    def has_pass(self, visit: Visit) -> bool:
        """Whether the browser has shown the token before."""
        return hmac.compare_digest(visit.cookie(PASS).encode(), self._pass.encode())

    def give_pass(self, visit: Visit) -> None:
        """Remember that the browser has shown it."""
        visit.set_cookie(PASS, self._pass)

    async def fits(self, given: str) -> bool:
        """Whether this is the token; the answer no takes a while."""
        if self._waiting >= GUESSES:
            raise Refusal(429, "too many wrong tokens; try again in a moment", headers=((b"retry-after", b"1"),))
        if hmac.compare_digest(given.encode(), self._token):
            return True
        self._waiting += 1
        try:
            await asyncio.sleep(PENALTY)
        finally:
            self._waiting -= 1
        return False


def bearer(visit: Visit) -> str | None:
    """The token in the header of a request, if it has one."""
    scheme, _, token = visit.header(b"authorization").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def local_address(text: str) -> bytes:
    """An address on this server, as it may be sent in a header; the first page for any other."""
    if not text.startswith("/") or text[1:2] in ("/", "\\"):
        return b"/"
    return quote(text, safe=RESERVED).encode()


def plain_login_page(login: Login) -> str:
    """A page that asks for the token, without any ornament."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>searchlab: token</title>'
        f"<h1>A token is needed</h1><p>{escape(login.problem)}</p>"
        f'<form method="post" action="/login"><input type="hidden" name="csrf" value="{escape(login.csrf)}">'
        f'<input type="hidden" name="back" value="{escape(login.back)}"><label>Token '
        '<input type="password" name="token" required autofocus></label> <button>Go on</button></form></html>'
    )
