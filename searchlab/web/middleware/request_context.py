"""What the security middleware knows of one request: headers, cookies, the form.

Cookies are shared by all ports of a host, so two servers on one machine would overwrite each other's. So the port is
part of the cookie names.
"""

from __future__ import annotations

from starlette.types import Scope

from searchlab.web.middleware.access_tokens import AccessToken

AUTH_COOKIE = "searchlab"
CSRF_COOKIE = "searchlab-form"
# The key of the context in the ASGI scope of a request.
SCOPE_KEY = "searchlab.request"


class RequestContext:
    """Headers and cookies of one request, and the cookies to set in its response."""

    __slots__ = ("_scope", "cookies_to_set", "csrf_seed", "form", "headers", "judge", "token")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        # Values of Set-Cookie headers.
        self.cookies_to_set: list[bytes] = []
        # The seed of the client's CSRF token, once it is needed.
        self.csrf_seed: str | None = None
        # The body, if it is a form.
        self.form: str | None = None
        # The access token of the login cookie or the header, if any.
        self.token: AccessToken | None = None
        # The judge bound to the login, empty if they have not given their name; None if the request may name any.
        self.judge: str | None = None

    def header(self, name: bytes) -> str:
        """The value of a header; empty if it is missing."""
        return self.headers.get(name, b"").decode("latin-1").strip()

    @property
    def method(self) -> str:
        """The method of the request."""
        return str(self._scope["method"])

    @property
    def path(self) -> str:
        """The path of the request, decoded."""
        return str(self._scope["path"])

    @property
    def url(self) -> str:
        """The URL of the request, without the host."""
        path = (self._scope.get("raw_path") or self._scope["path"].encode()).decode("latin-1")
        query = self._scope["query_string"].decode("latin-1")
        return f"{path}?{query}" if query else path

    @property
    def client(self) -> str:
        """The address of the client; empty if it is not known."""
        client = self._scope.get("client")
        return str(client[0]) if client else ""

    def cookie(self, name: str) -> str:
        """The value of a cookie set by `set_cookie`; empty if it is missing."""
        wanted = self._with_port(name)
        for pair in self.header(b"cookie").split(";"):
            key, _, value = pair.strip().partition("=")
            if key == wanted:
                return value
        return ""

    def set_cookie(self, name: str, value: str) -> None:
        """Set a session cookie that neither scripts nor forms of other sites can use."""
        secure = "; Secure" if self._scope.get("scheme") == "https" else ""
        cookie = f"{self._with_port(name)}={value}; Path=/; HttpOnly; SameSite=Lax{secure}"
        self.cookies_to_set.append(cookie.encode("latin-1"))

    def _with_port(self, name: str) -> str:
        server = self._scope.get("server")
        return f"{name}-{(server[1] if server else None) or 0}"
