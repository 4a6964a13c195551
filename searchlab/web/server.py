"""The HTTP server: one process, one address.

The socket is bound before its address is printed, so that the printed line is true. The first signal to end (Ctrl-C,
SIGTERM) stops new requests and gives those under way ten seconds; a second signal does not wait. Either way all
background work is ended.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import uvicorn
from starlette.types import ASGIApp

from searchlab.errors import SearchlabError, SettingError
from searchlab.web.limits import Limits
from searchlab.web.middleware.access_tokens import AUTO, AccessToken, parse_tokens
from searchlab.web.middleware.security import SecuritySettings
from searchlab.web.middleware.signing_secret import load_signing_secret, signing_secret_file
from searchlab.web.state.retirement import freeze_startup_objects

if TYPE_CHECKING:
    from searchlab.web.state.app_state import AppState

resource: ModuleType | None
try:
    import resource
except ImportError:  # Windows
    resource = None

# Seconds for requests under way when the server ends, and the time after that for threads, which cannot be interrupted.
DRAIN_SECONDS = 10
GRACE_SECONDS = 2
# Seconds until the next request on a connection must begin, and until its head must be complete.
KEEP_ALIVE_SECONDS = 5
HEAD_SECONDS = 20
# Bytes of the head of a request, its URL included.
MAX_HEAD_BYTES = 32_768
BACKLOG = 512
# Files and connections that may be open at a time, if the system allows it.
MAX_OPEN_FILES = 8192
# A shorter token could be guessed.
MIN_TOKEN_LENGTH = 16


def serve(app_state: AppState, host: str = "127.0.0.1", port: int = 8000, tokens: Sequence[str] = ()) -> None:
    """Serve the application until the process is asked to end; port 0 takes a free one.

    Each token is written as TOKEN or NAME=TOKEN (`middleware/access_tokens.py`).
    """
    from searchlab.web.app import make_app

    names, limits, close = app_state.indexes.names, app_state.limits, app_state.close
    secret = load_signing_secret(_find_secret_file(app_state))
    run_server(partial(make_app, app_state), names, host, port, tokens, limits=limits, close=close, secret=secret)


def _find_secret_file(app_state: AppState) -> Path:
    """The file of the secret: beside the first index, or beside the uploads of a server that began without an index."""
    if app_state.uploads is not None:
        of_uploads = signing_secret_file(app_state.uploads.folder)
        if not app_state.indexes.names or of_uploads.exists():
            return of_uploads
    return signing_secret_file(app_state.indexes.folder())


def run_server(
    make_app: Callable[[SecuritySettings], ASGIApp],
    names: Sequence[str],
    host: str,
    port: int,
    tokens: Sequence[str] = (),
    *,
    limits: Limits | None = None,
    close: Callable[[], None] = lambda: None,
    drain_seconds: int = DRAIN_SECONDS,
    secret: bytes | None = None,
) -> None:
    """Serve the application that `make_app` returns; `close` is called at the end, perhaps twice.

    `secret` signs cookies and forms, and `auto` tokens are derived from it; by default it is drawn for this process.
    """
    listener = Listener.bind(host, port)
    try:
        secret = secret or secrets.token_bytes(32)
        access_tokens = parse_tokens(tokens or (() if listener.is_loopback else (AUTO,)), secret)
        security = SecuritySettings(access_tokens, listener.is_loopback, limits or Limits(), secret=secret)
        shortest = min((len(token.text) for token in access_tokens), default=MIN_TOKEN_LENGTH)
        if shortest < MIN_TOKEN_LENGTH and not listener.is_loopback:
            warning = f"warning: the token has {shortest} characters, and other machines can guess it"
            print(f"{warning}; expected {MIN_TOKEN_LENGTH} or more", file=sys.stderr, flush=True)
        config = uvicorn.Config(
            make_app(security),
            # uvloop where it is installed; Windows and PyPy do not have it, and get asyncio's own loop.
            loop="auto",
            ws="none",
            # uvicorn's other HTTP parser does not bound the head of a request.
            http="h11",
            # uvicorn logs what hostile clients do, and requests that were cut off at the end.
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            # Any client can send these headers: they do not prove where a request comes from.
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=drain_seconds,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            backlog=BACKLOG,
        )
        freeze_startup_objects()
        served = ", ".join(names) or "no index yet, documents can be added,"
        message = f"searchlab serves {served} at {_describe_access(listener.url, access_tokens)}"
        server = _Server(config, message, drain_seconds, close)
        try:
            server.run(sockets=[listener.socket])
        finally:
            server.cancel_timer()
    finally:
        listener.socket.close()
        close()


@dataclass(frozen=True)
class Listener:
    """A socket that is bound and listens, and its URL."""

    socket: socket.socket
    url: str
    is_loopback: bool

    @classmethod
    def bind(cls, host: str, port: int) -> Listener:
        """Bind to a host, by name or number, and a port; IPv4 first if a name has both."""
        if not 0 <= port <= 65_535:
            raise SettingError(f"--port is {port}, expected 0 to 65535")
        try:
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise SettingError(f"--host {host}: no such address, expected one of this machine's") from None
        family, kind, protocol, _, address = min(addresses, key=lambda each: each[0] != socket.AF_INET)
        listener = socket.socket(family, kind, protocol)
        try:
            # Without it, the port of a server that has just ended would be blocked for a while.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            # With that option, a second server on the same port fails only here.
            listener.listen(BACKLOG)
        except OSError as error:
            listener.close()
            raise _bind_error(error, host, port) from None
        number = ipaddress.ip_address(str(listener.getsockname()[0]).partition("%")[0])
        shown = _outgoing_address(family) if number.is_unspecified else host
        port = listener.getsockname()[1]
        return cls(listener, f"http://{f'[{shown}]' if ':' in shown else shown}:{port}", number.is_loopback)


def _describe_access(url: str, tokens: Sequence[AccessToken]) -> str:
    """The URL, with who may use it; links with tokens log in."""
    links = [f"{url}/?token={quote(token.text, safe='')}" for token in tokens]
    if not links:
        return f"{url} (every user of this machine can read and judge; --token auto prevents it)"
    if tokens[0].judge is None:
        return links[0]
    of_judges = [f"  {token.judge}: {link}" for token, link in zip(tokens, links, strict=True)]
    return "\n".join([f"{url}, with a link for each judge:", *of_judges])


def _bind_error(error: OSError, host: str, port: int) -> SearchlabError:
    if error.errno == errno.EADDRINUSE:
        return SearchlabError(f"{host}:{port}: already in use; choose another --port, or 0 for a free one")
    if error.errno == errno.EADDRNOTAVAIL:
        return SettingError(f"--host {host}: no such address, expected one of this machine's")
    return SearchlabError(f"{host}:{port}: cannot be served ({error.strerror})")


def _outgoing_address(family: int) -> str:
    """The address of this machine in its network: that of an outgoing connection. Nothing is sent."""
    example, loopback = ("2001:db8::1", "::1") if family == socket.AF_INET6 else ("192.0.2.1", "127.0.0.1")
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((example, 9))
            return str(probe.getsockname()[0])
        except OSError:
            return loopback


def _raise_file_limit() -> int:
    """Raise the limit of open files up to `MAX_OPEN_FILES`, as far as the system allows; returns the limit."""
    if resource is None:
        return MAX_OPEN_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return MAX_OPEN_FILES if soft == resource.RLIM_INFINITY else int(soft)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return int(wanted)
    return int(soft)


class _Server(uvicorn.Server):
    """A server that prints its address when it listens, ends cleanly after a signal, and bounds every wait."""

    def __init__(self, config: uvicorn.Config, message: str, drain_seconds: int, close: Callable[[], None]) -> None:
        super().__init__(config)
        self._message = message
        self._drain_seconds = drain_seconds
        self._close = close
        self._exit_timer: threading.Timer | None = None
        # The last request of each idle connection, and since when it is idle.
        self._idle: dict[Any, tuple[Any, float]] = {}
        self._max_connections = _raise_file_limit() // 2

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print(self._message, flush=True)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # uvicorn would raise the same signal again at the end; but this end is the expected one, with exit code 0.
        self.force_exit = self.should_exit
        self._start_exit_timer(GRACE_SECONDS if self.should_exit else self._drain_seconds + GRACE_SECONDS)
        self.should_exit = True

    def _start_exit_timer(self, seconds: float) -> None:
        if self._exit_timer is not None:
            self._exit_timer.cancel()
        self._exit_timer = threading.Timer(seconds, self._exit_now)
        self._exit_timer.daemon = True
        self._exit_timer.start()

    def _exit_now(self) -> None:
        """End the process: a thread that is still busy cannot be interrupted."""
        try:
            self._close()
        finally:
            os._exit(0)

    def cancel_timer(self) -> None:
        """Cancel the exit timer, unless a thread is still busy: Python would wait for it."""
        threads = [each for each in threading.enumerate() if each is not threading.current_thread()]
        if self._exit_timer is not None and all(thread.daemon for thread in threads):
            self._exit_timer.cancel()

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0 or len(self.server_state.connections) > self._max_connections:
            self._close_idle_connections()
        return await super().on_tick(counter)

    def _close_idle_connections(self) -> None:
        """Close connections on which no request has begun for too long: uvicorn would keep them open.

        If there are too many connections, those idle for the longest are closed: indexes and judgments need open
        files, too.
        """
        now = time.monotonic()
        idle: dict[Any, tuple[Any, float]] = {}
        for connection in list(self.server_state.connections):
            cycle = getattr(connection, "cycle", None)
            if cycle is not None and not cycle.response_complete:
                continue
            last_cycle, since = self._idle.get(connection, (cycle, now))
            if last_cycle is not cycle:
                since = now
            if now - since > HEAD_SECONDS:
                connection.transport.close()
            else:
                idle[connection] = (cycle, since)
        excess = max(0, len(self.server_state.connections) - self._max_connections)
        for connection in sorted(idle, key=lambda each: idle[each][1])[:excess]:
            connection.transport.close()
        self._idle = idle
