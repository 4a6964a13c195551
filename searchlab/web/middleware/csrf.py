"""Protection against cross-site request forgery (CSRF).

A browser lets any site send a form to any URL, with the cookies of that URL. Two independent checks, each sufficient:

- The browser states the origin of a request. `Sec-Fetch-Site`, which scripts cannot set, must be `same-origin` (or
  `none`: entered by the user); `Origin` must name the host of the request. Programs send neither, and may write.
- The body is JSON, which no form can send and no script may send to another site without a preflight request; or it is
  a form with a field `csrf` = HMAC(secret, seed), where the seed is a random cookie. Another site can neither read the
  page that contains the field nor compute it. A request with the access token in its header needs neither.

Reads change nothing, but they cost work, and their duration could reveal what they found. So another site may link to a
page, but not load anything from this server.
"""

from __future__ import annotations

import hmac
import re
import secrets

from starlette.requests import Request

from searchlab.web.middleware.rejections import Rejection
from searchlab.web.middleware.request_context import CSRF_COOKIE, SCOPE_KEY, RequestContext

CSRF_FIELD = "csrf"
FORM_TYPE = "application/x-www-form-urlencoded"
JSON_TYPE = "application/json"
# As with JSON, no form can send it, and no script to another site without a preflight request.
FILE_TYPE = "application/octet-stream"
# The key of the tokens in the ASGI scope of a request.
TOKENS_SCOPE_KEY = "searchlab.csrf"

_SEED = re.compile("[0-9a-f]{32}")
_OTHER_SITES = ("cross-site", "same-site")


class CsrfTokens:
    """Makes and verifies the CSRF tokens of forms."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def make(self, context: RequestContext) -> str:
        """The token for all forms of this client; sets the cookie with its seed if there is none."""
        if context.csrf_seed is None:
            seed = context.cookie(CSRF_COOKIE)
            if not _SEED.fullmatch(seed):
                seed = secrets.token_hex(16)
                context.set_cookie(CSRF_COOKIE, seed)
            context.csrf_seed = seed
        return self._sign(context.csrf_seed)

    def verify(self, context: RequestContext, token: str) -> bool:
        """Whether a token was made for this client."""
        expected = self._sign(context.cookie(CSRF_COOKIE))
        return hmac.compare_digest(expected.encode(), token.encode())

    def _sign(self, seed: str) -> str:
        return hmac.digest(self._secret, f"form:{seed}".encode(), "sha256").hex()


def csrf_token(request: Request) -> str:
    """The value for the field `csrf` of the forms in the response to a request."""
    token: str = request.scope[TOKENS_SCOPE_KEY].make(request.scope[SCOPE_KEY])
    return token


def reject_cross_site_write(context: RequestContext) -> None:
    """Reject a write that the browser attributes to another site."""
    site, origin = context.header(b"sec-fetch-site"), context.header(b"origin")
    if site and site not in ("same-origin", "none"):
        raise Rejection(403, "the request was sent by another site")
    # A browser may hide the origin; then it must state that it is the same.
    if origin and not (origin == "null" and site == "same-origin"):
        _, _, host = origin.partition("://")
        if host.lower() != context.header(b"host").lower():
            raise Rejection(403, "the request was sent by a page of another origin")


def reject_cross_site_load(context: RequestContext) -> None:
    """Reject a read by a page of another site, except navigation."""
    if context.header(b"sec-fetch-site") in _OTHER_SITES and context.header(b"sec-fetch-mode") != "navigate":
        raise Rejection(403, "another site may link to this server, but not load from it")


def body_content_type(context: RequestContext, *, forms_only: bool = False, files_only: bool = False) -> str:
    """The content type of a write: a form or JSON, or that of a file; others are rejected."""
    content_type = context.header(b"content-type").partition(";")[0].strip().lower()
    allowed = (FORM_TYPE,) if forms_only else (FILE_TYPE,) if files_only else (JSON_TYPE, FORM_TYPE)
    if content_type not in allowed:
        raise Rejection(415, f"unknown content type, expected {' or '.join(allowed)}")
    return content_type
