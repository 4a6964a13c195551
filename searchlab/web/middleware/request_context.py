"""What does a request bring that safety asks for, and what does it take home? Headers and cookies.

Cookies do not know ports: two servers of one machine share them. So the port is part of their names.
"""

from __future__ import annotations

from starlette.types import Scope

PASS = "searchlab"
SEED = "searchlab-form"
# Where the visit of a request is kept in its scope.
KEY = "searchlab.visit"


class Visit:
    """One request as the guard sees it."""

    __slots__ = ("_scope", "cookies", "form", "headers", "seed")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        # Cookies to set, ready for the header.
        self.cookies: list[bytes] = []
        # The seed of this visitor's form tokens, when it has been asked for.
        self.seed: str | None = None
        # The body, if it is a form.
        self.form: str | None = None

    def header(self, name: bytes) -> str:
        """The value of a header; empty if there is none."""
        return self.headers.get(name, b"").decode("latin-1").strip()

    def cookie(self, name: str) -> str:
        """The value of one of our cookies; empty if there is none."""
        wanted = self._named(name)
        for each in self.header(b"cookie").split(";"):
            key, _, value = each.strip().partition("=")
            if key == wanted:
                return value
        return ""

    def set_cookie(self, name: str, value: str) -> None:
        """Let the browser keep a value until it is closed; no script and no other site's form can use it."""
        secure = "; Secure" if self._scope.get("scheme") == "https" else ""
        self.cookies.append(f"{self._named(name)}={value}; Path=/; HttpOnly; SameSite=Lax{secure}".encode("latin-1"))

    def _named(self, name: str) -> str:
        server = self._scope.get("server")
        return f"{name}-{(server[1] if server else None) or 0}"
