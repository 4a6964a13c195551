"""How is the application served, and how does that end?

One process, one address. The address is taken before anything is said of it, so that what is printed is true. The first
signal to end (Ctrl-C, SIGTERM) lets requests under way be answered, for ten seconds at most, and takes no new ones; a
second one does not wait. Either way what runs in the background is ended.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import resource
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import uvicorn
from starlette.types import ASGIApp

from searchlab.errors import SearchlabError, SettingError
from searchlab.web.limits import Limits
from searchlab.web.middleware.security import Safety
from searchlab.web.state.retirement import settle

if TYPE_CHECKING:
    from searchlab.web.state.app_state import Desk

# Seconds for requests under way when the server ends, and how much longer for threads that cannot be interrupted.
DRAIN = 10
GRACE = 2
# Seconds for the next request on a connection to begin, and for its head to arrive when it has begun.
KEEP_ALIVE = 5
HEAD = 20
# Bytes that the head of a request may have, its address included.
LONGEST_HEAD = 32_768
BACKLOG = 512
# Files and connections that may be open at a time, if the system allows as many.
MOST_FILES = 8192
# A token with fewer characters could be guessed.
SAFE_TOKEN = 16


def serve(desk: Desk, host: str = "127.0.0.1", port: int = 8000, token: str | None = None) -> None:
    """Serve the indexes of a desk until the process is told to end; port 0 takes one that is free."""
    from searchlab.web.app import make_app

    run(partial(make_app, desk), desk.shelf.names, host, port, token, limits=desk.limits, close=desk.close)


def run(
    make: Callable[[Safety], ASGIApp],
    names: Sequence[str],
    host: str,
    port: int,
    token: str | None = None,
    *,
    limits: Limits | None = None,
    close: Callable[[], None] = lambda: None,
    drain: int = DRAIN,
) -> None:
    """Serve the application that `make` gives for a degree of safety; `close` is called at the end, perhaps twice."""
    place = Place.take(host, port)
    if token is None and not place.loopback:
        token = secrets.token_urlsafe()
    try:
        settings = Safety(token, place.loopback, limits or Limits(), secret=secrets.token_bytes(32))
        if token is not None and len(token) < SAFE_TOKEN and not place.loopback:
            told = f"warning: the token has {len(token)} characters, and other machines can try it"
            print(f"{told}; {SAFE_TOKEN} or more are safe", file=sys.stderr, flush=True)
        shown = f"{place.address}/?token={quote(token, safe='')}" if token is not None else place.address
        config = uvicorn.Config(
            make(settings),
            ws="none",
            # The other parser that uvicorn may find does not bound the head of a request.
            http="h11",
            # Messages of uvicorn tell of what hostile clients do, and of requests that were cut off at the end.
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            # Headers that anyone can send are no proof of where a request comes from.
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=drain,
            h11_max_incomplete_event_size=LONGEST_HEAD,
            backlog=BACKLOG,
        )
        settle()
        server = _Server(config, f"searchlab serves {', '.join(names)} at {shown}", drain, close)
        try:
            server.run(sockets=[place.listener])
        finally:
            server.rest()
    finally:
        place.listener.close()
        close()


@dataclass(frozen=True)
class Place:
    """Where the server can be reached: a socket that is bound, and the address to type."""

    listener: socket.socket
    address: str
    loopback: bool

    @classmethod
    def take(cls, host: str, port: int) -> Place:
        """Bind to a host, by its name or number, and a port; IPv4 first, if a name has both."""
        if not 0 <= port <= 65_535:
            raise SettingError(f"--port is {port}, expected 0 to 65535")
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise SettingError(f"--host {host}: no such address, expected one of this machine's") from None
        family, kind, protocol, _, where = min(found, key=lambda each: each[0] != socket.AF_INET)
        listener = socket.socket(family, kind, protocol)
        try:
            # A server that has just ended must not keep its successor waiting.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(where)
            # Two that are bound with this option collide only here.
            listener.listen(BACKLOG)
        except OSError as error:
            listener.close()
            raise _not_taken(error, host, port) from None
        number = ipaddress.ip_address(str(listener.getsockname()[0]).partition("%")[0])
        shown = _own_number(family) if number.is_unspecified else host
        port = listener.getsockname()[1]
        return cls(listener, f"http://{f'[{shown}]' if ':' in shown else shown}:{port}", number.is_loopback)


def _not_taken(error: OSError, host: str, port: int) -> SearchlabError:
    if error.errno == errno.EADDRINUSE:
        return SearchlabError(f"{host}:{port}: in use already; --port names another, and 0 takes one that is free")
    if error.errno == errno.EADDRNOTAVAIL:
        return SettingError(f"--host {host}: no such address, expected one of this machine's")
    return SearchlabError(f"{host}:{port}: cannot be served ({error.strerror})")


def _own_number(family: int) -> str:
    """The address by which other machines reach this one: that from which it would reach them. Nothing is sent."""
    example, alone = ("2001:db8::1", "::1") if family == socket.AF_INET6 else ("192.0.2.1", "127.0.0.1")
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((example, 9))
            return str(probe.getsockname()[0])
        except OSError:
            return alone


def _make_room() -> int:
    """Let the process open as many files as it may, up to a sensible number; how many that is."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if most == resource.RLIM_INFINITY else min(most, MOST_FILES)
    if now == resource.RLIM_INFINITY or now >= wanted:
        return MOST_FILES if now == resource.RLIM_INFINITY else now
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
        return wanted
    return now


class _Server(uvicorn.Server):
    """A server that says when it listens, ends well by a signal, and does not wait for ever for anyone."""

    def __init__(self, config: uvicorn.Config, message: str, drain: int, close: Callable[[], None]) -> None:
        super().__init__(config)
        self._message = message
        self._drain = drain
        self._close = close
        self._alarm: threading.Timer | None = None
        self._idle: dict[Any, tuple[Any, float]] = {}
        self._most = _make_room() // 2

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print(self._message, flush=True)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Not uvicorn's way, which is to die by the same signal when all is done: this end was asked for.
        self.force_exit = self.should_exit
        self._set_alarm(GRACE if self.should_exit else self._drain + GRACE)
        self.should_exit = True

    def _set_alarm(self, seconds: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = threading.Timer(seconds, self._give_up)
        self._alarm.daemon = True
        self._alarm.start()

    def _give_up(self) -> None:
        """A thread cannot be interrupted; the process can be left."""
        try:
            self._close()
        finally:
            os._exit(0)

    def rest(self) -> None:
        """No alarm is needed any more, unless a thread is still busy: Python would wait for it."""
        busy = [each for each in threading.enumerate() if each is not threading.current_thread() and not each.daemon]
        if self._alarm is not None and not busy:
            self._alarm.cancel()

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0 or len(self.server_state.connections) > self._most:
            self._leave_dawdlers()
        return await super().on_tick(counter)

    def _leave_dawdlers(self) -> None:
        """Close connections on which no request has begun for too long: uvicorn waits as long as they are open.

        Of more than there is room for, those are closed that have been idle the longest: indexes and judgments need
        files, too.
        """
        now = time.monotonic()
        idle: dict[Any, tuple[Any, float]] = {}
        for connection in list(self.server_state.connections):
            cycle = getattr(connection, "cycle", None)
            if cycle is not None and not cycle.response_complete:
                continue
            before, since = self._idle.get(connection, (cycle, now))
            if before is not cycle:
                since = now
            if now - since > HEAD:
                connection.transport.close()
            else:
                idle[connection] = (cycle, since)
        excess = max(0, len(self.server_state.connections) - self._most)
        for connection in sorted(idle, key=lambda own: idle[own][1])[:excess]:
            connection.transport.close()
        self._idle = idle
