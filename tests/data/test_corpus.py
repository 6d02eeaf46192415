"""Fetching the text from a real local server that answers in every wrong way there is."""

import hashlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from remeasure.data import corpus
from remeasure.data.corpus import fetch
from remeasure.errors import UserError

TEXT = b"First Citizen:\nBefore we proceed any further, hear me speak.\n" * 50
SHA256 = hashlib.sha256(TEXT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """One path for each kind of answer."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        getattr(self, "answer_" + self.path.strip("/").split("?")[0])()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def send(self, body: bytes, status: int = 200, length: int | None = None, **more: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in more.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def answer_good(self) -> None:
        self.send(TEXT)

    def answer_slow(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(TEXT)))
        self.end_headers()
        for start in range(0, len(TEXT), 500):
            self.wfile.write(TEXT[start : start + 500])
            self.wfile.flush()
            time.sleep(0.02)

    def answer_other(self) -> None:
        self.send(TEXT.replace(b"speak", b"squeak"))

    def answer_cut(self) -> None:
        self.send(TEXT[:100], length=len(TEXT))
        self.close_connection = True

    def answer_missing(self) -> None:
        self.send(b"no such file", status=404)

    def answer_html(self) -> None:
        self.send(b"<html>Please log in</html>", Content_Type="text/html; charset=utf-8")

    def answer_loop(self) -> None:
        self.send(b"", status=302, Location="/loop")

    def answer_hang(self) -> None:
        time.sleep(2)
        self.close_connection = True

    def answer_drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(TEXT)))
        self.end_headers()
        for _ in range(40):
            self.wfile.write(b"x")
            self.wfile.flush()
            time.sleep(0.05)
        self.close_connection = True


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of the server."""
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(corpus.CORPUS_FILE, raising=False)
    monkeypatch.setattr(corpus, "TIMEOUT", httpx.Timeout(0.3))
    monkeypatch.setattr(corpus, "ATTEMPTS", 2)
    monkeypatch.setattr(corpus, "SECONDS_PER_ATTEMPT", 1.0)
    monkeypatch.setattr(corpus, "SECONDS_BEFORE_RETRY", 0.01)


@pytest.mark.parametrize("answer", ["good", "slow"])
def test_a_good_answer(server: str, tmp_path: Path, answer: str) -> None:
    seen: list[tuple[int, int | None]] = []
    target = tmp_path / "data" / "corpus.txt"
    url = f"{server}/{answer}"
    assert fetch([url], SHA256, target, lambda done, total: seen.append((done, total))) == url
    assert target.read_bytes() == TEXT
    assert seen[-1] == (len(TEXT), len(TEXT))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("other", "wrong content"),
        ("cut", r"RemoteProtocolError.*\(2 attempts\)"),
        ("missing", "answered 404"),
        ("html", "HTML page instead of the text"),
        ("loop", "redirected more than 5 times"),
        ("hang", r"ReadTimeout.*\(2 attempts\)"),
        ("drip", "not done after 1 seconds"),
    ],
)
def test_a_bad_answer_is_named_and_leaves_nothing(
    server: str, tmp_path: Path, answer: str, reason: str
) -> None:
    with pytest.raises(UserError, match=reason) as caught:
        fetch([f"{server}/{answer}"], SHA256, tmp_path / "corpus.txt")
    assert f"{server}/{answer}" in str(caught.value)
    assert "CORPUS_FILE=" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_the_next_source_is_tried(server: str, tmp_path: Path) -> None:
    refused = "http://127.0.0.1:1/input.txt"
    sources = [str(tmp_path / "nowhere.txt"), refused, f"{server}/other", f"{server}/good"]
    assert fetch(sources, SHA256, tmp_path / "corpus.txt") == f"{server}/good"


def test_every_failure_is_listed(tmp_path: Path) -> None:
    refused = "http://127.0.0.1:1/input.txt"
    with pytest.raises(UserError) as caught:
        fetch([str(tmp_path / "nowhere.txt"), refused], SHA256, tmp_path / "corpus.txt")
    message = str(caught.value)
    assert "nowhere.txt: No such file" in message
    assert f"{refused}: ConnectError" in message
    assert SHA256 in message


def test_the_environments_file_comes_first(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy.txt"
    copy.write_bytes(TEXT)
    monkeypatch.setenv(corpus.CORPUS_FILE, str(copy))
    assert fetch([f"{server}/good"], SHA256, tmp_path / "corpus.txt") == str(copy)


def test_what_was_there_survives_a_failure(server: str, tmp_path: Path) -> None:
    target = tmp_path / "corpus.txt"
    target.write_text("before")
    with pytest.raises(UserError):
        fetch([f"{server}/cut"], SHA256, target)
    assert target.read_text() == "before"
