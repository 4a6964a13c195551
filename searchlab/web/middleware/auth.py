"""Authentication by access tokens (`access_tokens.py`).

Programs send a token with each request (`Authorization: Bearer`). Browsers send it once, in the URL or in the form of
`/login`, and get a cookie, from which the token cannot be recovered:

    HMAC(secret, token, name) "." name

The name is the judge's. A token that belongs to a judge decides it, and the cookie has none. Visitors who share a token
give their names once, and the signature binds the name to the cookie.

Tokens are compared first, in constant time: a right token is accepted whatever others send. A wrong one is answered
after a delay, and only a few such answers may be pending for one client address: that bounds its guesses per second.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote, unquote

from searchlab.web.middleware.access_tokens import AccessToken
from searchlab.web.middleware.rejections import Rejection
from searchlab.web.middleware.request_context import AUTH_COOKIE, RequestContext

# At most MAX_PENDING_GUESSES / WRONG_TOKEN_SECONDS guesses a second from one client address.
WRONG_TOKEN_SECONDS = 0.5
MAX_PENDING_GUESSES = 10
# A site has that many bits of an IPv6 address in common, and may use all addresses with them.
IPV6_SITE_BITS = 64
# Characters that are not quoted in a URL.
URL_SAFE = "/?&=%:@!$'()*+,;~"
# The key of the authentication in the ASGI scope of a request.
AUTH_SCOPE_KEY = "searchlab.auth"


@dataclass(frozen=True)
class LoginForm:
    """Contents of the login page: the hidden fields `csrf` and `back`, and an error message.

    The form is posted to `/login`; its field `token` holds the access token. `entries` are those of a form that was
    sent to the path `sent_to` without a login: they must not be lost.
    """

    csrf: str
    back: str
    problem: str
    sent_to: str = ""
    entries: Mapping[str, str] = field(default_factory=dict)


LoginPage = Callable[[LoginForm], str]


class TokenAuth:
    """Checks access tokens and login cookies."""

    def __init__(self, tokens: Sequence[AccessToken], secret: bytes) -> None:
        self.required = bool(tokens)
        self._tokens = tuple(tokens)
        self._secret = secret
        self._n_pending: Counter[str] = Counter()

    def resume_login(self, context: RequestContext) -> bool:
        """Whether the request has a valid login cookie; then it is a request of the judge that the cookie names."""
        signature, _, quoted = context.cookie(AUTH_COOKIE).partition(".")
        name = unquote(quoted)
        owners = [
            token for token in self._tokens if hmac.compare_digest(signature.encode(), self._sign(token, name).encode())
        ]
        for token in owners:
            context.token, context.judge = token, token.judge or name
        return bool(owners)

    def log_in(self, context: RequestContext, token: AccessToken, name: str = "") -> None:
        """Set the login cookie; `name` is what a visitor with a shared token is called."""
        context.set_cookie(AUTH_COOKIE, f"{self._sign(token, name)}.{quote(name, safe='')}")

    def name_judge(self, context: RequestContext, name: str) -> bool:
        """Give a visitor with a shared token their name until they log in again; false if they have one."""
        if context.token is None or context.judge != "":
            return context.judge == name
        self.log_in(context, context.token, name)
        return True

    async def find(self, text: str, client: str) -> AccessToken | None:
        """The access token with this text; None, after a delay, if there is none."""
        found = [token for token in self._tokens if hmac.compare_digest(text.encode(), token.text.encode())]
        if found:
            return found[0]
        address = _guessing_address(client)
        if self._n_pending[address] >= MAX_PENDING_GUESSES:
            raise Rejection(429, "too many wrong tokens; try again in a moment", headers=((b"retry-after", b"1"),))
        self._n_pending[address] += 1
        try:
            await asyncio.sleep(WRONG_TOKEN_SECONDS)
        finally:
            self._n_pending[address] -= 1
            if not self._n_pending[address]:
                del self._n_pending[address]
        return None

    def _sign(self, token: AccessToken, name: str) -> str:
        signed = f"token:{token.text}={name}"  # a token has no =
        return hmac.new(self._secret, signed.encode(), hashlib.sha256).hexdigest()


def _guessing_address(client: str) -> str:
    """What the guesses of a client are counted under: its address, or the site of an IPv6 address."""
    try:
        address = ipaddress.ip_address(client.partition("%")[0])
    except ValueError:
        return client
    if isinstance(address, ipaddress.IPv4Address) or address.ipv4_mapped is not None:
        return client
    return str(ipaddress.ip_network((address, IPV6_SITE_BITS), strict=False))


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
