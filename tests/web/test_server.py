"""A real server prints its URL, withstands hostile clients, and ends cleanly."""

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
from searchlab.web.server import Listener

INFINITY = resource.RLIM_INFINITY

# An application with slow routes; the line that `close` prints shows that background work was ended.
SCRIPT = """
import asyncio, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from searchlab.errors import SearchlabError
from searchlab.web import server
from searchlab.web.limits import Limits
from searchlab.web.middleware.security import SecurityMiddleware

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

async def loop(request):
    return PlainTextResponse(type(asyncio.get_running_loop()).__module__)

async def write(request):
    return JSONResponse({"n": len(await request.body())})

async def fail(request):
    raise RuntimeError("the password is 1234")

def make(security):
    paths = {"/": fast, "/slow": slow, "/stuck": stuck, "/fail": fail, "/loop": loop}
    routes = [Route(path, handler) for path, handler in paths.items()]
    routes += [Route("/static/{name:path}", fast), Route("/api/write", write, methods=["POST"])]
    return SecurityMiddleware(Starlette(routes=routes), security)

host, port, tokens, drain = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(), int(sys.argv[4])
server.HEAD_SECONDS, server.GRACE_SECONDS = 1, 1
limits = Limits(max_body_bytes=1000, body_seconds=0.5)
try:
    close = lambda: print("closed", flush=True)
    server.run_server(make, ["one", "two"], host, port, tokens, limits=limits, close=close, drain_seconds=drain)
except SearchlabError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
print("ended", flush=True)
"""


class Running:
    """A server in a separate process."""

    def __init__(self, host="127.0.0.1", port=0, token="", drain=10, before=""):
        self.process = subprocess.Popen(
            [sys.executable, "-c", before + SCRIPT, host, str(port), token, str(drain)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.line = self.process.stdout.readline()
        found = re.fullmatch(r"searchlab serves one, two at (http://[^\s,]+)( \(.*\)|, .*:|)\n", self.line)
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
        """Send raw bytes; returns all that is received until the server closes the connection, as it must."""
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
    """Starts servers, all of which are ended after the test."""
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
    """One server for all tests that do not end it."""
    running = Running()
    yield running
    code, out, err = running.end(signal.SIGTERM)
    # After all these tests, it still ends cleanly; exceptions of the application are in its log.
    assert (code, out.replace("slow began\n", "")) == (0, "closed\nended\n")
    assert err.count("Traceback") == err.count("GET /fail")


def in_background(work):
    """Do something in a thread; returns a function that waits for its result."""
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


# Start


def test_the_first_line_has_the_url(server):
    assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d*", server.address)
    response = httpx.get(server.address)
    assert (response.status_code, response.text) == (200, "fast")
    assert "server" not in response.headers
    assert "default-src 'none'" in response.headers["content-security-policy"]


def test_a_port_in_use_is_reported_in_one_line(server, start):
    other = start(port=server.port)
    code, out, err = other.end()
    assert (code, other.line, out) == (1, "", "")
    expected = f"127.0.0.1:{server.port}: already in use; choose another --port, or 0 for a free one\n"
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
def test_an_impossible_address_is_reported(host, port, error, message):
    with pytest.raises(error, match=message):
        Listener.bind(host, port)


def test_a_listener_knows_whether_it_is_loopback():
    for host, shown, loopback in [("127.0.0.1", "127.0.0.1", True), ("localhost", "localhost", True)]:
        listener = Listener.bind(host, 0)
        with listener.socket:
            port = listener.socket.getsockname()[1]
            assert (listener.url, listener.is_loopback) == (f"http://{shown}:{port}", loopback)
            with pytest.raises(SearchlabError, match="already in use"):
                Listener.bind(host, port)
    listener = Listener.bind("0.0.0.0", 0)
    with listener.socket:
        assert not listener.is_loopback
        assert "0.0.0.0" not in listener.url


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 here")
def test_an_ipv6_address_is_written_in_brackets(start):
    running = start("::1")
    assert re.fullmatch(r"http://\[::1\]:\d+", running.address)
    assert httpx.get(running.address).text == "fast"


# Tokens


def test_without_loopback_a_token_is_generated_and_printed(start):
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


def test_a_short_token_leads_to_a_warning_without_loopback(start):
    code, _, err = start("0.0.0.0", token="secret").end(signal.SIGTERM)
    warning = "warning: the token has 6 characters, and other machines can guess it; expected 16 or more\n"
    assert (code, err) == (0, warning)
    running = start("127.0.0.1", token="a/b&c")
    assert running.address.endswith("/?token=a%2Fb%26c")
    assert httpx.get(running.address, follow_redirects=False).status_code == 303
    assert running.end(signal.SIGTERM)[2] == ""


def test_the_first_line_says_that_every_user_of_the_machine_has_access(server, start):
    assert server.line.endswith(" (every user of this machine can read and judge; --token auto prevents it)\n")
    running = start(token="auto")
    assert re.search(r"/\?token=[\w-]{43}$", running.address)
    assert running.line.endswith(f"{running.address}\n")
    assert httpx.get(running.address.partition("?")[0]).status_code == 401
    opened = httpx.get(running.address, follow_redirects=False)
    assert (opened.status_code, opened.headers["location"]) == (303, "/")


def test_each_judge_gets_a_link(start):
    running = start(token="ann=token-a bob=auto")
    assert running.line.endswith(f" at {running.address}, with a link for each judge:\n")
    ann, bob = (running.process.stdout.readline() for _ in range(2))
    assert ann == f"  ann: {running.address}/?token=token-a\n"
    assert re.fullmatch(rf"  bob: {re.escape(running.address)}/\?token=[\w-]{{43}}\n", bob)
    assert httpx.get(bob.split()[1], follow_redirects=False).status_code == 303


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("first", ["Content-Length: 4", "Transfer-Encoding: chunked"])
def test_a_request_with_two_lengths_is_rejected_and_nothing_after_it_is_read(server, method, first):
    # By its Content-Length the body ends before the second request, by its Transfer-Encoding after it.
    smuggled = "GET /loop HTTP/1.1\r\nHost: localhost\r\n\r\n"
    second = {"C": "Transfer-Encoding: chunked", "T": "Content-Length: 4"}[first[0]]
    head = f"{method} /api/write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{first}\r\n{second}"
    got = server.exchange(f"{head}\r\n\r\n0\r\n\r\n{smuggled}".encode())
    status, _, rest = got.partition(b"\r\n")
    assert status == b"HTTP/1.1 400 Bad Request"
    assert b"connection: close" in rest.lower()
    assert got.count(b"HTTP/1.1") == 1
    assert b"expected either Content-Length or Transfer-Encoding, found both" in rest


def test_a_chunked_body_alone_is_accepted_except_in_http_1_0(server):
    def send(version):
        head = f"POST /api/write HTTP/{version}\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        return server.exchange(
            f"{head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n".encode()
        )

    assert send("1.1").endswith(b'{"n":2}')
    assert b" 400 Bad Request\r\n" in send("1.0")


def test_a_token_that_cannot_be_sent_is_rejected(start):
    running = start(token="tökén")
    code, out, err = running.end()
    assert (code, running.line, out) == (2, "closed\n", "")
    assert err.startswith("the token is empty or has other characters")


# End


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_requests_under_way_are_answered_before_the_end(start, sign):
    running = start()
    with httpx.Client(base_url=running.address) as idle:
        idle.get("/")  # a connection that is kept open does not delay the end
        answer = in_background(lambda: httpx.get(f"{running.address}/slow?seconds=1", timeout=20).text)
        assert running.process.stdout.readline() == "slow began\n"
        assert running.end(sign) == (0, "closed\nended\n", "")
    assert answer() == "slow"
    with pytest.raises(httpx.ConnectError):
        httpx.get(running.address)


def test_requests_that_take_too_long_are_abandoned(start):
    running = start(drain=1)
    answer = in_background(lambda: httpx.get(f"{running.address}/slow?seconds=60", timeout=20).status_code)
    assert running.process.stdout.readline() == "slow began\n"
    assert running.end(signal.SIGTERM) == (0, "closed\nended\n", "")
    assert answer() == 500 or isinstance(answer(), httpx.HTTPError)


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT]])
def test_the_process_ends_even_if_a_thread_does_not(start, signals):
    # After one signal the server waits a second, after two it does not wait.
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


def test_a_head_that_is_too_large_is_rejected(server):
    assert server.exchange(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000).startswith(b"HTTP/1.1 400 ")
    # uvicorn does not bound a head that arrives at once.
    for n, width in [(101, 1), (50, 700)]:
        many = b"".join(b"X-%d: %s\r\n" % (number, b"x" * width) for number in range(n))
        answer = server.exchange(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + many + b"\r\n")
        assert re.match(rb"HTTP/1.1 (431|400) ", answer)
    assert httpx.get(f"{server.address}/?q={'q' * 20_000}").status_code == 414


def test_what_is_not_http_is_rejected(server):
    for nonsense in (b"\0\1\2\3\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"):
        assert server.exchange(nonsense).startswith(b"HTTP/1.1 400 ")


def test_bodies_in_chunks_are_bounded_too(server):
    head = b"POST /api/write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"64\r\n" + b"x" * 100 + b"\r\n"
    assert b'{"n":1000}' in server.exchange(head + chunk * 10 + b"0\r\n\r\n")
    rejected = server.exchange(head + chunk * 11 + b"0\r\n\r\n")
    assert rejected.startswith(b"HTTP/1.1 413 ")
    assert b'{"error": "the body is too large' in rejected


def test_a_body_must_not_be_longer_than_announced_nor_slow(server):
    head = b"POST /api/write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    assert server.exchange(head + b"Content-Length: 1001\r\n\r\n").startswith(b"HTTP/1.1 413 ")
    assert b'{"n":2}' in server.exchange(head + b"Content-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\n\r\n")
    # Ten bytes are announced, and two sent.
    late = server.exchange(head + b"Content-Length: 10\r\n\r\n{}")
    assert late.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in late.lower()
    both = b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    assert not server.exchange(head + both).startswith(b"HTTP/1.1 5")


@pytest.mark.parametrize("beginning", [b"", b"GET / HTTP/1.1\r\nHo"])
def test_a_connection_with_a_slow_head_is_closed(server, beginning):
    assert server.exchange(beginning) == b""


def test_connections_in_use_are_not_closed(server):
    # For longer than the time limit of a head: one connection, never idle for long.
    with closing(HTTPConnection("127.0.0.1", server.port)) as link:
        ports = set()
        for _ in range(4):
            link.request("GET", "/slow?seconds=0.4")
            ports.add(link.sock.getsockname()[1])
            assert link.getresponse().read() == b"slow"
    assert len(ports) == 1


class Connection:
    """The parts of a connection that the server uses."""

    def __init__(self, *, busy=False):
        self.cycle = SimpleNamespace(response_complete=not busy)
        self.transport = self
        self.is_open = True

    def close(self):
        self.is_open = False


def test_of_too_many_connections_those_idle_the_longest_are_closed(monkeypatch):
    monkeypatch.setattr(server_module, "_raise_file_limit", lambda: 6)
    server = server_module._Server(uvicorn.Config(lambda: None), "", 1, lambda: None)
    first, busy, second, third = Connection(), Connection(busy=True), Connection(), Connection()
    for connections in ([first, busy], [first, busy, second]):
        server.server_state.connections = set(connections)
        server._close_idle_connections()
    assert all(each.is_open for each in (first, busy, second))
    server.server_state.connections = {first, busy, second, third}
    asyncio.run(server.on_tick(1))
    assert [each.is_open for each in (first, busy, second, third)] == [False, True, True, True]


@pytest.mark.parametrize(
    ("limits", "expected", "new_limits"),
    [
        ((1024, 4096), 4096, (4096, 4096)),
        ((1024, 10**6), server_module.MAX_OPEN_FILES, (server_module.MAX_OPEN_FILES, 10**6)),
        (
            (1024, resource.RLIM_INFINITY),
            server_module.MAX_OPEN_FILES,
            (server_module.MAX_OPEN_FILES, resource.RLIM_INFINITY),
        ),
        ((20_000, 20_000), 20_000, None),
        ((INFINITY, INFINITY), server_module.MAX_OPEN_FILES, None),
    ],
)
def test_as_many_files_may_be_open_as_the_system_allows(monkeypatch, limits, expected, new_limits):
    set_limits = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda kind, wanted: set_limits.append(wanted))
    assert server_module._raise_file_limit() == expected
    assert set_limits == ([new_limits] if new_limits else [])


def test_other_host_names_are_rejected(server):
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


def test_internal_errors_are_not_shown(server):
    response = httpx.get(f"{server.address}/fail")
    assert response.status_code == 500
    assert "password" not in response.text


def test_paths_outside_the_server_are_not_followed(server):
    # The application must not find files by them; the middleware requires the token for them.
    for path in (b"/../../etc/passwd", b"/%2e%2e/%2e%2e/etc/passwd", b"//etc/passwd", b"/..%2f..%2fetc/passwd"):
        answer = server.exchange(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 404 "), path
        assert b"root:" not in answer


def test_the_server_survives_broken_connections(server):
    for _ in range(50):
        with closing(socket.create_connection(("127.0.0.1", server.port))) as link:
            link.sendall(b"POST /api/write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
            link.sendall(b"Content-Length: 500\r\n\r\nx")
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert httpx.get(server.address).text == "fast"


def test_an_application_state_is_served_and_closed(monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr(server_module, "run_server", lambda *arguments, **options: calls.append((arguments, options)))
    indexes = SimpleNamespace(names=("medical",), folder=lambda: tmp_path / "medical")
    app_state = SimpleNamespace(indexes=indexes, limits=Limits(max_k=7), close=lambda: None, uploads=None)
    server_module.serve(app_state, "::1", 0, ["token"])
    (((make, *rest), options),) = calls
    assert (make.func, make.args) == (make_app, (app_state,))
    assert rest == [("medical",), "::1", 0, ["token"]]
    secret = (tmp_path / "medical.secret").read_bytes()
    assert options == {"limits": app_state.limits, "close": app_state.close, "secret": secret}


def test_a_server_that_began_without_an_index_keeps_its_secret(monkeypatch, tmp_path):
    secrets = []
    monkeypatch.setattr(server_module, "run_server", lambda *arguments, **options: secrets.append(options["secret"]))
    common = {"limits": Limits(), "close": lambda: None}
    uploads = SimpleNamespace(folder=tmp_path / "uploads")
    indexes = SimpleNamespace(names=(), folder=lambda: tmp_path / "first")
    server_module.serve(SimpleNamespace(indexes=indexes, uploads=uploads, **common))
    indexes.names = ("first",)
    server_module.serve(SimpleNamespace(indexes=indexes, uploads=uploads, **common))
    assert secrets == [(tmp_path / "uploads.secret").read_bytes()] * 2
    assert not (tmp_path / "first.secret").exists()


def test_without_uvloop_the_server_runs_on_asyncio(start):
    # Windows and PyPy have no uvloop.
    running = start(before="import sys; sys.modules['uvloop'] = None")
    assert httpx.get(f"{running.address}/loop").text.startswith("asyncio")
    assert running.end(signal.SIGTERM) == (0, "closed\nended\n", "")


def test_with_uvloop_the_server_runs_on_it(server):
    pytest.importorskip("uvloop")
    assert httpx.get(f"{server.address}/loop").text == "uvloop"


def test_without_limits_of_open_files_a_default_is_used(monkeypatch):
    monkeypatch.setattr(server_module, "resource", None)  # as on Windows
    assert server_module._raise_file_limit() == server_module.MAX_OPEN_FILES
