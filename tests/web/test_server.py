"""Does a real server say where it listens, stand up to hostile clients, and end well?"""

import asyncio
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from http.client import HTTPConnection
from types import SimpleNamespace

import httpx2 as httpx
import pytest
import uvicorn

from searchlab.errors import SearchlabError, SettingError
from searchlab.web import server as server_module
from searchlab.web.app import make_app
from searchlab.web.limits import Limits
from searchlab.web.server import Place

# An application with something slow in it; what `close` prints shows that the background was ended.
SCRIPT = """
import asyncio, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from searchlab.errors import SearchlabError
from searchlab.web import server
from searchlab.web.limits import Limits
from searchlab.web.middleware.security import protect

pool = ThreadPoolExecutor(1)

async def fast(request):
    return PlainTextResponse("fast")

async def slow(request):
    print("slow began", flush=True)
    await asyncio.sleep(float(request.query_params["seconds"]))
    return PlainTextResponse("slow")

async def stuck(request):
    future = pool.submit(time.sleep, 60)
    print("stuck began", flush=True)
    await asyncio.wrap_future(future)

async def write(request):
    return JSONResponse({"n": len(await request.body())})

async def fail(request):
    raise RuntimeError("the password is 1234")

def make(safety):
    routes = [Route("/", fast), Route("/slow", slow), Route("/stuck", stuck), Route("/fail", fail)]
    routes += [Route("/static/{name:path}", fast), Route("/api/write", write, methods=["POST"])]
    return protect(Starlette(routes=routes), safety)

host, port, token, drain = sys.argv[1], int(sys.argv[2]), sys.argv[3] or None, int(sys.argv[4])
server.HEAD, server.GRACE = 1, 1
limits = Limits(body=1000, receiving=0.5)
try:
    close = lambda: print("closed", flush=True)
    server.run(make, ["one", "two"], host, port, token, limits=limits, close=close, drain=drain)
except SearchlabError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
print("ended", flush=True)
"""


class Running:
    """A server in a process of its own."""

    def __init__(self, host="127.0.0.1", port=0, token="", drain=10):
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, host, str(port), token, str(drain)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.line = self.process.stdout.readline()
        found = re.fullmatch(r"searchlab serves one, two at (http://\S+)\n", self.line)
        self.address = found[1] if found else ""

    @property
    def port(self):
        return int(re.search(r":(\d+)(?:/|$)", self.address)[1])

    def end(self, *signals, patience=20):
        """Exit code, and what was printed since."""
        for each in signals:
            self.process.send_signal(each)
        out, err = self.process.communicate(timeout=patience)
        return self.process.returncode, out, err

    def exchange(self, data):
        """Send bytes as they are; gives all that comes until the server hangs up, which it has to."""
        with closing(socket.create_connection(("127.0.0.1", self.port), timeout=20)) as link:
            with suppress(BrokenPipeError, ConnectionResetError):
                link.sendall(data)
            got = b""
            with suppress(ConnectionResetError):
                while part := link.recv(65_536):
                    got += part
            return got


@pytest.fixture
def start():
    """Start servers, and leave none behind."""
    running = []

    def begin(*arguments, **options):
        running.append(Running(*arguments, **options))
        return running[-1]

    yield begin
    for each in running:
        if each.process.poll() is None:
            each.process.kill()
        each.process.communicate()


@pytest.fixture(scope="module")
def server():
    """One server for all that leaves it unharmed."""
    running = Running()
    yield running
    code, out, err = running.end(signal.SIGTERM)
    # After all that these tests have sent, it still ends well; what went wrong in the application is in its log.
    assert (code, out.replace("slow began\n", "")) == (0, "closed\nended\n")
    assert err.count("Traceback") == err.count("GET /fail")


def in_background(work):
    """Do something in a thread; gives a function that waits for what came of it."""
    came = []

    def do():
        try:
            came.append(work())
        except Exception as error:
            came.append(error)

    thread = threading.Thread(target=do)
    thread.start()

    def wait():
        thread.join(20)
        return came[0]

    return wait


# Beginning


def test_the_line_tells_where_it_listens(server):
    assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d*", server.address)
    response = httpx.get(server.address)
    assert (response.status_code, response.text) == (200, "fast")
    assert "server" not in response.headers
    assert "default-src 'none'" in response.headers["content-security-policy"]


def test_a_port_in_use_is_told_in_one_line(server, start):
    other = start(port=server.port)
    code, out, err = other.end()
    assert (code, other.line, out) == (1, "", "")
    expected = f"127.0.0.1:{server.port}: in use already; --port names another, and 0 takes one that is free\n"
    assert err == expected


def test_the_port_is_free_again_at_once(start):
    first = start()
    assert httpx.get(first.address).status_code == 200
    assert first.end(signal.SIGTERM)[0] == 0
    second = start(port=first.port)
    assert second.address == first.address
    assert httpx.get(second.address).status_code == 200


@pytest.mark.parametrize(
    ("host", "port", "error", "message"),
    [
        ("127.0.0.1", -1, SettingError, "--port is -1, expected 0 to 65535"),
        ("127.0.0.1", 65_536, SettingError, "--port is 65536, expected 0 to 65535"),
        ("no such host", 0, SettingError, "--host no such host: no such address"),
        ("192.0.2.1", 0, SettingError, "--host 192.0.2.1: no such address"),
        ("x" * 70, 0, SettingError, "no such address"),
    ],
)
def test_a_place_that_cannot_be_is_told(host, port, error, message):
    with pytest.raises(error, match=message):
        Place.take(host, port)


def test_places_know_whether_other_machines_reach_them():
    for host, shown, loopback in [("127.0.0.1", "127.0.0.1", True), ("localhost", "localhost", True)]:
        place = Place.take(host, 0)
        with place.listener:
            port = place.listener.getsockname()[1]
            assert (place.address, place.loopback) == (f"http://{shown}:{port}", loopback)
            with pytest.raises(SearchlabError, match="in use already"):
                Place.take(host, port)
    place = Place.take("0.0.0.0", 0)
    with place.listener:
        assert not place.loopback
        assert "0.0.0.0" not in place.address


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 here")
def test_an_address_of_ipv6_is_written_in_brackets(start):
    running = start("::1")
    assert re.fullmatch(r"http://\[::1\]:\d+", running.address)
    assert httpx.get(running.address).text == "fast"


# Tokens


def test_beyond_this_machine_a_token_is_made_and_printed(start):
    running = start("0.0.0.0")
    token = re.search(r"/\?token=([\w-]{43})$", running.address)[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{running.port}") as client:
        assert client.get("/").status_code == 401
        assert client.get("/", headers={"Authorization": f"Bearer {token}"}).text == "fast"
        opened = client.get(f"/?token={token}", follow_redirects=True)
        assert (opened.text, opened.url.query) == ("fast", b"")
        assert client.get("/").text == "fast"
    assert httpx.get(running.address, follow_redirects=False).status_code == 303
    assert running.end(signal.SIGTERM) == (0, "closed\nended\n", "")


def test_a_short_token_is_warned_of_where_others_could_try_it(start):
    code, _, err = start("0.0.0.0", token="secret").end(signal.SIGTERM)
    told = "warning: the token has 6 characters, and other machines can try it; 16 or more are safe\n"
    assert (code, err) == (0, told)
    running = start("127.0.0.1", token="a/b&c")
    assert running.address.endswith("/?token=a%2Fb%26c")
    assert httpx.get(running.address, follow_redirects=False).status_code == 303
    assert running.end(signal.SIGTERM)[2] == ""


def test_a_token_that_cannot_be_sent_is_refused(start):
    running = start(token="two words")
    code, out, err = running.end()
    assert (code, running.line, out) == (2, "closed\n", "")
    assert err.startswith("the token is empty or has other characters")


# Ending


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_requests_under_way_are_answered_before_the_end(start, sign):
    running = start()
    with httpx.Client(base_url=running.address) as idle:
        idle.get("/")  # a connection that is kept open does not hold up the end
        answer = in_background(lambda: httpx.get(f"{running.address}/slow?seconds=1", timeout=20).text)
        assert running.process.stdout.readline() == "slow began\n"
        assert running.end(sign) == (0, "closed\nended\n", "")
    assert answer() == "slow"
    with pytest.raises(httpx.ConnectError):
        httpx.get(running.address)


def test_what_takes_too_long_is_given_up(start):
    running = start(drain=1)
    answer = in_background(lambda: httpx.get(f"{running.address}/slow?seconds=60", timeout=20).status_code)
    assert running.process.stdout.readline() == "slow began\n"
    assert running.end(signal.SIGTERM) == (0, "closed\nended\n", "")
    assert answer() == 500 or isinstance(answer(), httpx.HTTPError)


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT]])
def test_a_thread_that_does_not_end_is_left_behind(start, signals):
    # One signal has a second of patience, a second one none.
    running = start(drain=1 if len(signals) == 1 else 50)
    answer = in_background(lambda: httpx.get(f"{running.address}/stuck", timeout=20))
    assert running.process.stdout.readline() == "stuck began\n"
    for sign in signals[:-1]:
        running.process.send_signal(sign)
        time.sleep(0.3)
    code, out, err = running.end(signals[-1])
    assert (code, "closed\n" in out, err) == (0, True, "")
    assert answer() is not None


# Hostile clients


def test_a_head_that_is_too_large_is_refused(server):
    assert server.exchange(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000).startswith(b"HTTP/1.1 400 ")
    # What arrives at once is not bounded by uvicorn.
    for n, width in [(101, 1), (50, 700)]:
        many = b"".join(b"X-%d: %s\r\n" % (place, b"x" * width) for place in range(n))
        answer = server.exchange(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + many + b"\r\n")
        assert re.match(rb"HTTP/1.1 (431|400) ", answer)
    assert httpx.get(f"{server.address}/?q={'q' * 20_000}").status_code == 414


def test_what_is_not_http_is_refused(server):
    for nonsense in (b"\0\1\2\3\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"):
        assert server.exchange(nonsense).startswith(b"HTTP/1.1 400 ")


def test_bodies_in_chunks_are_bounded_too(server):
    head = b"POST /api/write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"64\r\n" + b"x" * 100 + b"\r\n"
    assert b'{"n":1000}' in server.exchange(head + chunk * 10 + b"0\r\n\r\n")
    refused = server.exchange(head + chunk * 11 + b"0\r\n\r\n")
    assert refused.startswith(b"HTTP/1.1 413 ")
    assert b'{"error": "the body is too large' in refused


def test_a_body_may_not_be_longer_than_it_says_nor_dawdle(server):
    head = b"POST /api/write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    assert server.exchange(head + b"Content-Length: 1001\r\n\r\n").startswith(b"HTTP/1.1 413 ")
    assert b'{"n":2}' in server.exchange(head + b"Content-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\n\r\n")
    # Ten bytes are promised, and two come.
    late = server.exchange(head + b"Content-Length: 10\r\n\r\n{}")
    assert late.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in late.lower()
    both = b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    assert not server.exchange(head + both).startswith(b"HTTP/1.1 5")


@pytest.mark.parametrize("beginning", [b"", b"GET / HTTP/1.1\r\nHo"])
def test_a_head_that_dawdles_is_hung_up_on(server, beginning):
    assert server.exchange(beginning) == b""


def test_connections_in_use_are_not_hung_up_on(server):
    # Over longer than the patience with a head: one connection, never idle for long.
    with closing(HTTPConnection("127.0.0.1", server.port)) as link:
        ports = set()
        for _ in range(4):
            link.request("GET", "/slow?seconds=0.4")
            ports.add(link.sock.getsockname()[1])
            assert link.getresponse().read() == b"slow"
    assert len(ports) == 1


class Connection:
    """As much of a connection as is looked at."""

    def __init__(self, *, busy=False):
        self.cycle = SimpleNamespace(response_complete=not busy)
        self.transport = self
        self.is_open = True

    def close(self):
        self.is_open = False


def test_of_too_many_connections_those_are_closed_that_have_been_idle_the_longest(monkeypatch):
    monkeypatch.setattr(server_module, "_make_room", lambda: 6)
    own = server_module._Server(uvicorn.Config(lambda: None), "", 1, lambda: None)
    first, busy, second, third = Connection(), Connection(busy=True), Connection(), Connection()
    for connections in ([first, busy], [first, busy, second]):
        own.server_state.connections = set(connections)
        own._leave_dawdlers()
    assert all(each.is_open for each in (first, busy, second))
    own.server_state.connections = {first, busy, second, third}
    asyncio.run(own.on_tick(1))
    assert [each.is_open for each in (first, busy, second, third)] == [False, True, True, True]


@pytest.mark.parametrize(
    ("limits", "room", "asked"),
    [
        ((1024, 4096), 4096, (4096, 4096)),
        ((1024, 10**6), server_module.MOST_FILES, (server_module.MOST_FILES, 10**6)),
        ((1024, resource.RLIM_INFINITY), server_module.MOST_FILES, (server_module.MOST_FILES, resource.RLIM_INFINITY)),
        ((20_000, 20_000), 20_000, None),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), server_module.MOST_FILES, None),
    ],
)
def test_as_many_files_may_be_open_as_the_system_allows(monkeypatch, limits, room, asked):
    said = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda kind, wanted: said.append(wanted))
    assert server_module._make_room() == room
    assert said == ([asked] if asked else [])


def test_names_that_are_not_ours_are_refused(server):
    assert server.exchange(b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 403 ")
    assert server.exchange(b"GET / HTTP/1.0\r\nHost: evil.example\r\n\r\n").startswith(b"HTTP/1.1 403 ")
    assert server.exchange(b"GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").endswith(b"\r\n\r\nfast")
    assert server.exchange(b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    two = b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    assert server.exchange(two).startswith(b"HTTP/1.1 4")


def test_a_websocket_is_not_opened(server):
    upgrade = b"Connection: Upgrade, close\r\nUpgrade: websocket\r\n"
    upgrade += b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YQ==\r\n\r\n"
    answer = server.exchange(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + upgrade)
    assert not answer.startswith(b"HTTP/1.1 101")


def test_mistakes_of_ours_are_not_shown(server):
    response = httpx.get(f"{server.address}/fail")
    assert response.status_code == 500
    assert "password" not in response.text


def test_paths_that_lead_out_are_taken_as_they_are_and_not_followed(server):
    # That files are not found by them is for the application to show; the guard has them need the token.
    for path in (b"/../../etc/passwd", b"/%2e%2e/%2e%2e/etc/passwd", b"//etc/passwd", b"/..%2f..%2fetc/passwd"):
        answer = server.exchange(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 404 "), path
        assert b"root:" not in answer


def test_the_server_goes_on_after_connections_that_break(server):
    for _ in range(50):
        with closing(socket.create_connection(("127.0.0.1", server.port))) as link:
            link.sendall(b"POST /api/write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
            link.sendall(b"Content-Length: 500\r\n\r\nx")
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert httpx.get(server.address).text == "fast"


def test_a_desk_is_served_by_its_application_and_closed_at_the_end(monkeypatch):
    calls = []
    monkeypatch.setattr(server_module, "run", lambda *arguments, **options: calls.append((arguments, options)))
    desk = SimpleNamespace(shelf=SimpleNamespace(names=("medical",)), limits=Limits(k=7), close=lambda: None)
    server_module.serve(desk, "::1", 0, "token")
    (((make, *rest), options),) = calls
    assert (make.func, make.args) == (make_app, (desk,))
    assert rest == [("medical",), "::1", 0, "token"]
    assert options == {"limits": desk.limits, "close": desk.close}
