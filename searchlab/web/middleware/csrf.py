"""Does a write come from a page of ours?

A browser lets any site send a form to any address, with the cookies of that address. Two locks, each enough alone:

- The browser says where a request comes from. `Sec-Fetch-Site` cannot be set by scripts, and has to be `same-origin`
  (or `none`: typed by the user); `Origin` has to name the host that is asked. Programs send neither, and may write.
- The body is JSON, which no form can send and no script may send to another site without being asked first; or it is
  a form with a field `csrf` = HMAC(secret, seed), where the seed is a random cookie. Another site can neither read the
  page in which the field stands nor compute it. A request with the token in its header needs neither.

Reads are harmless, but make work, and their time could tell what they found. So another site may lead to a page, but
not load anything from here into its own.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from starlette.requests import Request

from searchlab.web.middleware.rejections import Refusal
from searchlab.web.middleware.request_context import KEY, SEED, Visit

FIELD = "csrf"
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"

_SEED = re.compile("[0-9a-f]{32}")
_FOREIGN = ("cross-site", "same-site")


class FormTokens:
    """Makes and checks the tokens of forms."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def make(self, visit: Visit) -> str:
        """The token for all forms of this visitor, who gets a seed with the first."""
        if visit.seed is None:
            seed = visit.cookie(SEED)
            if not _SEED.fullmatch(seed):
                seed = secrets.token_hex(16)
                visit.set_cookie(SEED, seed)
            visit.seed = seed
        return self._of(visit.seed)

    def fits(self, visit: Visit, token: str) -> bool:
        """Whether a form was made for this visitor."""
        expected = self._of(visit.cookie(SEED))
        return hmac.compare_digest(expected.encode(), token.encode())

    def _of(self, seed: str) -> str:
        return hmac.new(self._secret, f"form:{seed}".encode(), hashlib.sha256).hexdigest()


def csrf_of(request: Request) -> str:
    """The value that the field `csrf` of a form has to have, for the visitor who asks."""
    token: str = request.scope["searchlab.forms"].make(request.scope[KEY])
    return token


def refuse_foreign_write(visit: Visit) -> None:
    """Let a write pass only if the browser does not say that it comes from elsewhere."""
    site, origin = visit.header(b"sec-fetch-site"), visit.header(b"origin")
    if site and site not in ("same-origin", "none"):
        raise Refusal(403, "this was sent by another site")
    # A browser may keep the origin to itself; it then has to say that it is the same.
    if origin and not (origin == "null" and site == "same-origin"):
        _, _, host = origin.partition("://")
        if host.lower() != visit.header(b"host").lower():
            raise Refusal(403, "this was sent by a page of another origin")


def refuse_foreign_load(visit: Visit) -> None:
    """Let a read pass unless another site wants to have it within a page of its own."""
    if visit.header(b"sec-fetch-site") in _FOREIGN and visit.header(b"sec-fetch-mode") != "navigate":
        raise Refusal(403, "another site may link to this, but not load it")


def kind_of_body(visit: Visit, *, forms_only: bool = False) -> str:
    """The content type of a write: a form or JSON, which alone are understood."""
    kind = visit.header(b"content-type").partition(";")[0].strip().lower()
    if kind not in ((FORM,) if forms_only else (FORM, JSON)):
        raise Refusal(415, f"unknown content type, expected {'' if forms_only else f'{JSON} or '}{FORM}")
    return kind
