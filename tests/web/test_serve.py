"""The local page without a browser: what it answers, and whom it refuses."""

from __future__ import annotations

import contextlib
import errno
import gc
import gzip
import html
import http.client
import io
import json
import re
import shlex
import socket
import time
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from local_page import WAIT, Served

import unjudged as uj
from unjudged.cli import main
from unjudged.collection import membership
from unjudged.errors import UsageError
from unjudged.studies import QUESTIONS
from unjudged.web import jobs, listener
from unjudged.web.connections import Connection
from unjudged.web.guard import HEADERS, TOKEN
from unjudged.web.jobs import KEPT
from unjudged.web.uploads import MOST_RUNS, run_name

LIMIT = 200_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("serve") / "sim"
    uj.simulate("tiny", seed=6, out=out, topics=6, runs=8, teams=4, depth=6, K=30, C=300)
    return out


@pytest.fixture(scope="module")
def collection(folder: Path) -> uj.Collection:
    return uj.load(str(folder / "qrels.txt"), str(folder / "runs"), teams=folder / "teams.tsv")


@pytest.fixture(scope="module")
def served(collection: uj.Collection) -> Iterator[Served]:
    with Served(collection, max_upload=LIMIT) as running:
        yield running


def raw(served: Served, request: bytes, *, hang_up: bool = False) -> bytes:
    """What the server says to these bytes with the cookie; one that is told to hang up may do so before it answers."""
    request = request.replace(b"\r\n\r\n", f"\r\nCookie: unjudged-{served.port}={served.app.token}\r\n\r\n".encode(), 1)
    with socket.create_connection(("127.0.0.1", served.port), timeout=WAIT) as line:
        line.sendall(request)
        if hang_up:
            line.shutdown(socket.SHUT_WR)
        answer = b""
        while part := line.recv(65536):
            answer += part
    return answer


def status(answer: bytes) -> int:
    return int(answer.split()[1])


# -- whom it refuses


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example:{port}", "0.0.0.0:{port}",
     "127.0.0.1:{port}@evil.example", "127.0.0.1:{port}:1", "127.0.0.1:x", "[::1]:{port}", ""],
)  # fmt: skip
def test_other_host_names(served: Served, host: str) -> None:
    name = host.format(port=served.port).encode()
    for path in (b"/", b"/api/collection", b"/assets/report.js"):
        answer = raw(served, b"GET " + path + b" HTTP/1.1\r\nHost: " + name + b"\r\nConnection: close\r\n\r\n")
        assert status(answer) in (400, 421) and served.app.token.encode() not in answer


def test_missing_and_double_hosts(served: Served) -> None:
    own = f"127.0.0.1:{served.port}".encode()
    for head in (b"", b"Host: " + own + b"\r\nHost: evil.example\r\n", b"Host: evil.example\r\nHost: " + own + b"\r\n"):
        assert status(raw(served, b"GET / HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n")) in (400, 421)
    assert status(raw(served, b"GET / HTTP/1.0\r\n\r\n")) in (400, 421)
    assert (
        status(raw(served, b"GET / HTTP/1.1\r\nHost: LOCALHOST:%d\r\nConnection: close\r\n\r\n" % served.port)) == 200
    )


@pytest.mark.parametrize(
    "path", ["/", "/judge", "/api/collection", "/api/topics", "/assets/live.js", "/judge/judge.js", "/x"]
)
def test_nobody_sees_anything_without_the_secret(served: Served, path: str) -> None:
    wrong = "x" * len(served.app.token)
    strangers: list[dict[str, Any]] = [
        {},
        {"params": {"token": wrong}},
        {"params": {"token": ""}},
        {"params": {"token": [served.app.token, wrong]}},
        {"cookies": {f"unjudged-{served.port}": wrong}},
        {"cookies": {f"unjudged-{served.port + 1}": served.app.token}},  # of the page at another port
        {"headers": {TOKEN: wrong}},
    ]
    for given in strangers:
        answer = httpx.get(served.url + path, **given)
        assert answer.status_code == 403 and "Open the address that the terminal shows" in answer.text
        assert "set-cookie" not in answer.headers and served.app.token not in answer.text


def test_the_secret_in_the_address_becomes_a_cookie(served: Served) -> None:
    with httpx.Client(base_url=served.url) as client:
        answer = client.get(f"/judge?new=a%26b&{served.app.secret}&measure=P%4010")
        assert answer.status_code == 303 and answer.headers["location"] == "/judge?new=a%26b&measure=P%4010"
        said = answer.headers["set-cookie"]
        assert "HttpOnly" in said and "SameSite=Lax" in said and "Path=/" in said
        assert client.get("/api/collection").status_code == 200
    odd = f"GET //evil.example/?{served.app.secret} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert b"\r\nlocation: /evil.example/\r\n" in raw(served, odd.encode())  # never to another host
    assert (
        httpx.get(f"{served.url}/api/collection", headers=served.token).status_code == 200
    )  # scripts say it in a header


def test_bound_to_this_computer_alone(served: Served) -> None:
    assert served.socket.getsockname()[0] == "127.0.0.1"
    with listener(served.port) as other:  # taken: another one
        assert other.getsockname()[0] == "127.0.0.1" and other.getsockname()[1] != served.port
    with pytest.raises(UsageError, match="port"):
        listener(70000)


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/api/jobs"), ("POST", "/api/runs?name=x"), ("DELETE", "/api/jobs/1"), ("DELETE", "/api/runs?name=x"),
     ("PUT", "/api/jobs"), ("OPTIONS", "/api/jobs")],
)  # fmt: skip
def test_changes_need_the_token_and_the_own_site(served: Served, method: str, path: str) -> None:
    ask = served.client.request
    right = served.token
    assert ask(method, path).status_code == 403
    assert ask(method, path, headers={TOKEN: "x" * 43}).status_code == 403
    assert ask(method, path, headers={TOKEN: ""}).status_code == 403
    for other in (
        "http://evil.example",
        "null",
        f"http://localhost:{served.port + 1}",
        f"https://127.0.0.1:{served.port}",
    ):
        assert ask(method, path, headers={**right, "Origin": other}).status_code == 403
    for site in ("cross-site", "same-site", "none"):
        assert ask(method, path, headers={**right, "Sec-Fetch-Site": site}).status_code == 403
    assert ask(method, path, headers={**right, "Origin": served.url}).status_code != 403


def test_the_token_is_new_each_time(collection: uj.Collection, served: Served) -> None:
    with Served(collection) as other:
        assert other.app.token != served.app.token and len(other.app.token) >= 40


@pytest.mark.parametrize("path", ["/", "/api/collection", "/assets/live.js", "/nothing", "/api/jobs/999", "/api/jobs"])
def test_every_answer_has_the_safe_headers(served: Served, path: str) -> None:
    answer = served.client.get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "access-control-allow-origin" not in answer.headers
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy and "frame-ancestors 'none'" in policy


@pytest.mark.parametrize(
    "path",
    ["/assets/../app.py", "/assets/..%2f..%2fapp.py", "/assets/%2e%2e/%2e%2e/etc/passwd", "/assets//etc/passwd",
     "/assets/thresholds.toml", "/assets/page.py", "/assets/report.js%00.txt", "/..%5c..%5cetc", "/api/jobs/../../etc",
     "/api/jobs/1/../../../report.js", "/assets/"],
)  # fmt: skip
def test_path_tricks(served: Served, path: str) -> None:
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nConnection: close\r\n\r\n"
    assert status(raw(served, head.encode())) in (400, 404, 405)


def test_nothing_else_is_understood(served: Served) -> None:
    own = f"Host: 127.0.0.1:{served.port}\r\n".encode()
    upgrade = (
        own + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
    )
    assert b"101 Switching" not in raw(served, b"GET / HTTP/1.1\r\n" + upgrade + b"\r\n", hang_up=True)
    raw(served, b"\x16\x03\x01\x02\x00 hello", hang_up=True)  # not HTTP at all
    assert served.client.get("/api/collection").status_code == 200


# -- uploads


def run_text(folder: Path, name: str = "team01-1") -> bytes:
    return (folder / "runs" / name).read_bytes()


def upload(served: Served, name: str, content: bytes) -> Any:
    return served.client.post("/api/runs", params={"name": name}, content=content, headers=served.token)


def kept(served: Served) -> list[str]:
    return sorted(p.name for p in served.app.uploads.folder.iterdir())


@pytest.mark.parametrize(
    ("given", "name"),
    [("../../etc/cron.d/x", "x"), ("..\\..\\boot.ini", "boot.ini"), ("/etc/passwd", "passwd"),
     ("a\0b\n\x1b[31m.run", "ab[31m.run"),
     ("new.run.gz", "new.run"), ("<script>alert(1)<!--.txt", "<script>alert(1)<!--.txt"), ("é" * 300, "é" * 100)],
)  # fmt: skip
def test_upload_names_are_names_only(served: Served, folder: Path, given: str, name: str) -> None:
    assert run_name(given) == name
    before = kept(served)
    answer = upload(served, given, run_text(folder))
    assert answer.status_code == 200 and answer.json()["run"] == name
    assert name in answer.json()["runs"] and answer.json()["added"] == [name]
    (new,) = set(kept(served)) - set(before)
    assert new.startswith("upload-") and new[7:].isdigit()
    page = served.client.get("/").text
    assert "<script>alert" not in page
    assert served.client.request("DELETE", "/api/runs", params={"name": name}, headers=served.token).status_code == 200
    assert kept(served) == before and name not in served.client.get("/api/collection").json()["runs"]


@pytest.mark.parametrize(("name", "content", "sentence"), [
    ("", b"x", "needs a name"), ("..", b"x", "needs a name"), ("a/", b"x", "needs a name"),
    ("bad", b"this is no run\n", "bad"), ("empty", b"", ""), ("team01-1", None, "already"),
    ("zip", b"\x1f\x8bnot really", "this gz file is damaged"),
])  # fmt: skip
def test_unusable_uploads_get_a_sentence(
    served: Served, folder: Path, name: str, content: bytes | None, sentence: str
) -> None:
    before = kept(served)
    answer = upload(served, name, run_text(folder) if content is None else content)
    assert answer.status_code == 400 and sentence in answer.text and "Traceback" not in answer.text
    assert str(served.app.uploads.folder) not in answer.text
    assert kept(served) == before and served.client.get("/api/collection").json()["added"] == []


def test_a_gigabyte_is_refused_at_once(served: Served) -> None:
    head = (
        f"POST /api/runs?name=big HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n{TOKEN}: {served.app.token}\r\n"
        "Content-Length: 1000000000\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", served.port), timeout=WAIT) as line:
        line.sendall(head.encode())
        assert b" 413 " in line.recv(4096)  # told before the rest was sent
    assert kept(served) == [] and served.client.get("/api/collection").status_code == 200


def test_a_stream_without_a_length_and_a_bomb_are_cut_off(served: Served) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(1000):
            yield b"1 Q0 document 1 1 x\n" * 1000

    answer = served.client.post("/api/runs", params={"name": "big"}, content=endless(), headers=served.token)
    assert answer.status_code == 413
    bomb = gzip.compress(b"1 Q0 d 1 1 x\n" * 1_000_000)
    assert len(bomb) < LIMIT
    assert upload(served, "bomb", bomb).status_code == 413
    for said in ("-5", "x", "1e9"):
        head = f"POST /api/runs?name=b HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n{TOKEN}: {served.app.token}\r\n"
        answer_ = raw(served, f"{head}Content-Length: {said}\r\nConnection: close\r\n\r\n".encode())
        assert status(answer_) in (400, 413)
    assert kept(served) == [] and served.client.get("/api/collection").status_code == 200


def test_a_full_disk_is_a_sentence(served: Served, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = run_text(folder)

    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "open", lambda *given: Full())
    answer = upload(served, "new", text)
    assert (answer.status_code, answer.text) == (400, "the run cannot be kept here (No space left on device)")


def test_gz_is_read_and_the_folder_goes_with_the_page(collection: uj.Collection, folder: Path) -> None:
    with Served(collection) as running:
        assert upload(running, "new.gz", gzip.compress(run_text(folder))).json()["run"] == "new"
        place = running.app.uploads.folder
        assert place.is_dir()
    assert not place.exists()


def two_members(text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    half = len(lines) // 2
    return gzip.compress(b"".join(lines[:half])) + gzip.compress(b"".join(lines[half:]))


SENT: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "plain": (lambda t: t, ""),
    "one.gz": (gzip.compress, ""),
    "plain-inside.gz": (lambda t: t, ""),
    "two.gz": (two_members, ""),
    "an-empty-one-first.gz": (lambda t: gzip.compress(b"") + gzip.compress(t), ""),
    "empty-before-lines.jsonl.gz": (lambda t: gzip.compress(b"") + gzip.compress(as_jsonl(t)), ""),
    "zeros-behind.gz": (lambda t: gzip.compress(t) + bytes(512), ""),
    "gz-in-all-but-name": (gzip.compress, ""),
    "lines.jsonl": (lambda t: as_jsonl(t), ""),
    "cut.gz": (lambda t: gzip.compress(t)[:-200], "is cut off: its end is missing"),
    "cut-in-the-checksum.gz": (lambda t: gzip.compress(t)[:-5], "is cut off: its end is missing"),
    "second-cut.gz": (lambda t: two_members(t)[:-200], "is cut off: its end is missing"),
    "junk-behind.gz": (lambda t: gzip.compress(t) + b"junk", "is followed by bytes that are not gz"),
    "text-behind.gz": (lambda t: gzip.compress(t) + t, "is followed by bytes that are not gz"),
    "a-bit-turned.gz": (lambda t: turned(gzip.compress(t)), "is damaged"),
    "nothing.gz": (lambda t: gzip.compress(b""), "this file is empty"),
    "twice.gz": (lambda t: gzip.compress(gzip.compress(t)), "binary file"),
    "list.json": (lambda t: b"[1]", "JSON"),
}
"""A file's name -> its bytes, given a run's text, and what is said where it is refused."""


def as_jsonl(text: bytes) -> bytes:
    rows = (line.split() for line in text.decode().splitlines())
    made = ({"topic": t, "doc": d, "score": float(s)} for t, _, d, _, s, _ in rows)
    return "".join(json.dumps(row) + "\n" for row in made).encode()


def turned(data: bytes) -> bytes:
    return data[:-6] + bytes([data[-6] ^ 1]) + data[-5:]


@pytest.mark.parametrize("name", SENT)
def test_the_page_reads_what_the_command_line_reads(
    name: str, served: Served, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, refused = SENT[name]
    path = tmp_path / name
    path.write_bytes(make(run_text(folder)))
    code = main(["score", str(folder / "qrels.txt"), str(path), "-m", "AP", "--format", "tsv"])
    by_line = capsys.readouterr()
    answer = upload(served, name, path.read_bytes())
    assert (code, answer.status_code) == ((2, 400) if refused else (0, 200)), (by_line.err, answer.text)
    if refused:
        sentence = answer.text.partition(": ")[2]
        assert refused in sentence and sentence in by_line.err
        return
    run = answer.json()["run"]
    means = uj.score(served.app.uploads.collection, "AP").means()["AP"]
    served.client.request("DELETE", "/api/runs", params={"name": run}, headers=served.token)
    assert float(by_line.out.splitlines()[1].split("\t")[3]) == means[run] == means["team01-1"]


# -- load


@pytest.fixture
def fresh(collection: uj.Collection) -> Iterator[Served]:
    """A page on which nothing was asked before."""
    with Served(collection) as running:
        yield running


def test_sixty_uploads_at_once(fresh: Served, folder: Path) -> None:
    """As many as may be are taken, the others are told why, and what was taken is there."""
    text = run_text(folder)
    with ThreadPoolExecutor(20) as crowd:
        answers = list(crowd.map(lambda i: upload(fresh, f"new-{i}", text), range(60)))
    taken = {answer.json()["run"] for answer in answers if answer.status_code == 200}
    assert len(taken) == MOST_RUNS and {answer.status_code for answer in answers} == {200, 400}
    assert all("remove one" in a.text or "wait for them" in a.text for a in answers if a.status_code == 400)
    about = fresh.client.get("/api/collection").json()
    assert set(about["added"]) == taken <= set(about["runs"]) and len(kept(fresh)) == MOST_RUNS
    with ThreadPoolExecutor(20) as crowd:  # the same name twice at once: one of them
        gone = list(
            crowd.map(
                lambda run: (
                    fresh.client.request("DELETE", "/api/runs", params={"name": run}, headers=fresh.token).status_code
                ),
                taken,
            )
        )
        twins = sorted(crowd.map(lambda _: upload(fresh, "twin", text).status_code, range(4)))
    assert set(gone) == {200} and twins == [200, 400, 400, 400] and len(kept(fresh)) == 1


def test_what_is_told_of_added_runs_is_of_one_moment(
    fresh: Served, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that comes while the answer is made is in all of it or in none."""
    path = fresh.app.uploads.folder / "upload"
    path.write_bytes(run_text(folder))

    def meanwhile(collection: uj.Collection) -> str:
        fresh.app.uploads.add("new", path)
        return "x"

    monkeypatch.setattr("unjudged.web.app.name_of", meanwhile)
    about = fresh.app._about()
    assert about["added"] == [] and "new" not in about["runs"] and "new" in fresh.app.uploads.collection.runs


def test_half_sent_requests_are_not_waited_for(collection: uj.Collection) -> None:
    class Hasty(Connection):
        patience, grace = 0.2, 0.05

    with Served(collection, connection=Hasty) as running:
        running.app.guard.patience = 0.2
        own = f"Host: 127.0.0.1:{running.port}\r\n{TOKEN}: {running.app.token}\r\n".encode()
        halves = {
            b"": 0,
            b"GET / HTTP/1.1\r\nHo": 0,
            b"GET /api/collection HTTP/1.1\r\n" + own + b"\r\nGET /": 200,
            b"POST /api/runs?name=x HTTP/1.1\r\n" + own + b"Content-Length: 50\r\n\r\n1 Q0": 408,
            b"POST /api/jobs HTTP/1.1\r\n" + own + b"Content-Length: 50\r\n\r\n{": 408,
            b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{": 403,
        }
        for sent, code in halves.items():
            with socket.create_connection(("127.0.0.1", running.port), timeout=20) as line:
                line.sendall(sent)
                answer = b""
                while part := line.recv(65536):  # until the server hangs up
                    answer += part
            assert (status(answer) if answer else 0) == code
        assert kept(running) == []


def test_a_stranger_who_sends_byte_after_byte_is_not_waited_for(collection: uj.Collection) -> None:
    with Served(collection) as running:
        running.app.guard.patience = 0.5
        with socket.create_connection(("127.0.0.1", running.port), timeout=20) as line:
            line.sendall(b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n")
            line.settimeout(0.1)
            began, answer = time.monotonic(), b""
            while not answer and time.monotonic() - began < 20:
                line.sendall(b"x")
                with contextlib.suppress(TimeoutError):
                    answer = line.recv(65536)
    assert status(answer) == 403


@pytest.mark.parametrize("timer", ["keep alive", "patience"])
def test_a_request_that_came_while_the_page_was_busy_is_answered(collection: uj.Collection, timer: str) -> None:
    """A computation keeps the page from reading for longer than a connection may lie idle: no reset connection."""
    ours: list[tuple[str, int]] = []

    class Late(Connection):
        patience, grace = 0.2 if timer == "patience" else 60.0, 5.0

        def on_response_complete(self) -> None:
            if timer == "keep alive":
                self.timeout_keep_alive = 0.2  # type: ignore[assignment]
            super().on_response_complete()
            if ours and self.client == ours[0]:
                ours.clear()
                selector = self.loop._selector  # type: ignore[attr-defined]
                usual = selector.select

                def late(timeout: float | None = None) -> Any:
                    selector.select = usual
                    found = usual(0)  # nothing has come yet ...
                    time.sleep(1.0)  # ... and now the computation has the interpreter for itself
                    return found

                selector.select = late

    with Served(collection, connection=Late) as running:
        head = f"GET /api/collection HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n{TOKEN}: {running.app.token}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", running.port), timeout=20) as line:
            ours.append(line.getsockname())
            codes = []
            for _ in range(2):
                line.sendall(head.encode())
                answer = http.client.HTTPResponse(line)
                answer.begin()
                answer.read()
                codes.append(answer.status)
                time.sleep(0.3)
    assert codes == [200, 200] and not ours


@pytest.mark.slow
def test_two_hundred_at_once(fresh: Served) -> None:
    """Reads are all answered; computations beyond what may wait are refused; the server lives."""
    served = fresh
    served.hold.clear()
    try:
        with ThreadPoolExecutor(50) as crowd:
            reads = list(crowd.map(lambda _: served.client.get("/api/collection").status_code, range(200)))
            starts = list(
                crowd.map(
                    lambda seed: served.client.post("/api/jobs", json={"seed": seed}, headers=served.token),
                    range(100, 300),
                )
            )
        assert reads == [200] * 200
        good = [answer.json()["job"] for answer in starts if answer.status_code == 200]
        assert {answer.status_code for answer in starts} == {200, 400} and len(good) == 8
        for number in good:
            assert served.client.request("DELETE", f"/api/jobs/{number}", headers=served.token).status_code == 200
    finally:
        served.hold.set()
    assert {served.finished(number)["state"] for number in good} == {"cancelled"}


# -- what it answers


def test_a_job_gives_the_sections_and_the_report(served: Served, collection: uj.Collection) -> None:
    number = served.start()
    found = served.finished(number)
    assert found["state"] == "done" and found["share"] == 1
    assert [s["key"] for s in found["sections"]] == [*QUESTIONS, "how-made"] and found["head"]["key"] == "in-short"
    whole = uj.report(collection, jobs=1)
    for section in found["sections"][:-1]:
        own = whole[section["key"]]
        columns = {
            name: values if isinstance(values, list) else [values["names"][code] for code in values["codes"]]
            for name, values in section["columns"].items()
        }
        given = {name: [None if v != v else v for v in values] for name, values in own.columns().items()}
        assert columns == json.loads(json.dumps(given)) and own.question in section["html"]
    assert served.client.get(f"/api/jobs/{number}", params={"after": 9}).json()["sections"] == found["sections"][9:]
    saved = served.client.get(f"/api/jobs/{number}/report.html")
    assert "attachment" in saved.headers["content-disposition"] and saved.text.startswith("<!doctype html>")
    assert saved.text.count("<section") == len(QUESTIONS) + 2
    assert served.start() == number  # the same state is not computed again


def test_cancelling_stops_between_sections(fresh: Served) -> None:
    served = fresh
    served.hold.clear()
    served.held.clear()
    try:
        number = served.start(seed=77)
        assert served.held.wait(WAIT)
        early = served.client.get(f"/api/jobs/{number}").json()
        assert early["state"] == "running" and early["now"] == "What is in it?"
        assert served.client.get(f"/api/jobs/{number}/report.html").status_code == 409
        served.client.request("DELETE", f"/api/jobs/{number}", headers=served.token)
    finally:
        served.hold.set()
    found = served.finished(number)
    assert found["state"] == "cancelled" and found["sections"] == []
    assert served.start(seed=77) != number  # asked again, it is computed


def test_states_change_what_is_computed(served: Served, collection: uj.Collection) -> None:
    team = collection.teams[collection.runs[0]]
    found = served.finished(served.start(measures=["P@5"], unjudged="condensed", drop=team, depth=3, rel=2))
    assert found["state"] == "done", found["message"]
    assert found["sections"][0]["key"] == "changes"
    cut = uj.shallow(uj.leave_out(collection, team=team, pooled="infer"), depth=3)
    value = uj.score(cut, ["P@5"], rel=2, unjudged="condensed").mean_values()[:, 0]
    before = uj.score(collection, ["P@5"], rel=2, unjudged="condensed").mean_values()[:, 0]
    columns = found["sections"][0]["columns"]
    for run, old, new in zip(columns["run"], columns["before"], columns["after"], strict=True):
        r = collection.runs.index(run)
        assert (old, new) == pytest.approx((before[r], value[r]))
    some = list(collection.runs[:3])
    winners = served.finished(served.start(run=some))["sections"][1]
    assert winners["key"] == "winners" and sorted(winners["columns"]["run"]) == sorted(some)
    two = served.finished(served.start(team=["team01", "team02"]))["sections"][1]["columns"]["run"]
    assert {collection.teams[run] for run in two} == {"team01", "team02"}


def test_an_added_run_is_corrected(served: Served, collection: uj.Collection, folder: Path) -> None:
    lines = [line.split() for line in run_text(folder, "team02-1").decode().splitlines()]
    new = "".join(f"{t} Q0 {d if i % 3 else f'new{i}'} {r} {s} x\n" for i, (t, _, d, r, s, _) in enumerate(lines))
    assert upload(served, "mine.run", new.encode()).status_code == 200
    try:
        found = served.finished(served.start())
        first = found["sections"][0]
        assert first["key"] == "changes" and first["columns"]["run"] == ["mine.run"]
        corrected = uj.correct(served.app.uploads.collection, ["mine.run"], "P@10").frame
        assert first["columns"]["corrected"] == pytest.approx([corrected["corrected"][0]])
        assert first["columns"]["score"] == pytest.approx([corrected["score"][0]])
        teams = served.app.uploads.collection.teams
        assert teams["mine.run"] == "mine.run (added)" and teams["team02-1"] == "team02"
        fair = next(section["html"] for section in found["sections"] if section["key"] == "fair-to-outsiders")
        assert "team file" not in fair and "mine.run" in found["sections"][1]["html"] + fair
    finally:
        served.client.request("DELETE", "/api/runs", params={"name": "mine.run"}, headers=served.token)


def test_commands_name_added_runs_by_the_files_of_their_owner(served: Served, folder: Path) -> None:
    names = ["my best.run", "b<i>c.run"]
    try:
        for name in names:
            assert upload(served, f"C:\\runs\\{name}", run_text(folder, "team02-1")).status_code == 200
        number = served.start()
        found = served.finished(number)
        parts = [section["html"] for section in found["sections"]] + [found["head"]["html"]]
        saved = served.client.get(f"/api/jobs/{number}/report.html").text
        for page in (*parts, saved):
            assert str(served.app.uploads.folder) not in page
            for command in map(html.unescape, re.findall(r"<code[^>]*>(unjudged [^<]*)</code>", page)):
                words = shlex.split(command)
                assert words == ["unjudged", "serve"] or set(names) <= set(words)
        assert any("&lt;i&gt;" in part for part in parts)
    finally:
        for name in names:
            served.client.request("DELETE", "/api/runs", params={"name": name}, headers=served.token)


def test_my_run_among_the_others(served: Served, collection: uj.Collection, folder: Path) -> None:
    order = uj.score(collection, ["P@5"]).means()["P@5"].sort_values(ascending=False)
    mine = order.index[-1]
    found = served.client.get("/api/run", params={"name": mine, "measures": "P@5"}).json()
    assert (found["score"], found["runs"]) == (pytest.approx(order[mine]), len(collection.runs))
    ranked = uj.study("winners", collection, measures="P@5").frame
    assert found["rank"] == ranked["rank"][list(ranked["run"]).index(mine)] and found["judge"] == "P@5"
    best = next(run for run in ranked["run"] if run != mine)
    (pair,) = found["pairs"]
    told = uj.compare(collection.with_runs([mine, best]), "P@5", baseline=mine).frame.iloc[0]
    turned = {"better": "worse", "worse": "better"} if told["run_a"] == best else {}
    assert pair["other"] == best and pair["word"] == turned.get(told["outcome"], told["outcome"])
    top = served.client.get("/api/run", params={"name": ranked["run"][0], "measures": "P@5"}).json()
    assert top["rank"] == 1 and top["pairs"][0]["as"] == "the next best"
    assert served.client.get("/api/run", params={"name": "nobody"}).status_code == 400
    alone = served.client.get("/api/score", params={"name": mine, "measures": "P@5"}).json()
    assert alone == {"run": mine, "measure": "P@5", "score": found["score"]}
    assert served.client.get("/api/score", params={"name": "nobody"}).status_code == 400


@pytest.mark.slow
def test_a_page_that_stays_open_does_not_grow(fresh: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views of ever other seeds and depths, with requests between them: what is kept reaches an end.

    What Python and NumPy hold is counted, so that a busy machine changes nothing; megabytes of the process are measured
    by benchmarks/bench_page.py (50 applies, 2,000 requests).
    """
    monkeypatch.setattr(jobs, "KEPT", 2)
    monkeypatch.setattr(membership, "MOST_KEPT", 2)
    collection, runs = fresh.app.uploads.collection, list(fresh.app.uploads.collection.runs[:3])

    def held(first: int) -> int:
        for seed in range(first, first + 5):
            state = {"seed": seed, "depth": 1 + seed, "run": runs, "measures": ["P@5"]}
            assert fresh.finished(fresh.start(**state))["state"] == "done"
            for _ in range(20):
                assert fresh.client.get("/api/collection").status_code == 200
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        held(0)
        before, after = held(5), held(10)
    finally:
        tracemalloc.stop()
    assert after - before < 200_000  # one view holds more
    assert sum(key[0] == "membership" for key in collection._kept if isinstance(key, tuple)) <= 2


@pytest.mark.slow
def test_reports_are_let_go(fresh: Served) -> None:
    """Every view is a report of its own; only the last few are kept (benchmarks/bench_page.py has the megabytes)."""
    runs, made = list(fresh.app.uploads.collection.runs[:2]), []
    for seed in range(KEPT + 4):
        number = fresh.start(seed=seed, run=runs, measures=["P@5"])
        assert fresh.finished(number)["state"] == "done"
        job = fresh.app.jobs.get(number)
        assert job is not None and job.report is not None
        made.append(weakref.ref(job.report))
        del job
    gc.collect()
    assert sum(report() is not None for report in made) <= KEPT + 1


@pytest.mark.parametrize("state", [
    {"measures": ["nonsense"]}, {"measures": 3}, {"unjudged": "maybe"}, {"seed": -1}, {"seed": "x"}, {"rel": 1.5},
    {"other": 1}, {"run": [1]}, {"measures": []} | {"depth": "-3"}, {"seed": 10**12}, {"seed": True},
    {"seed": "9" * 5000}, {"depth": 10**400},
])  # fmt: skip
def test_odd_states_get_a_sentence(served: Served, state: dict[str, Any]) -> None:
    answer = served.client.post("/api/jobs", json=state, headers=served.token)
    assert answer.status_code == 400 and len(answer.text) > 10 and "\n" not in answer.text


@pytest.mark.parametrize(
    "state", [{"run": ["team01-1"]}, {"run": ["nobody", "x"]}, {"team": ["nobody"]}, {"drop": "nobody"}]
)
def test_states_that_fail_later_say_why(served: Served, state: dict[str, Any]) -> None:
    found = served.finished(served.start(**state))
    assert found["state"] == "failed" and found["message"]


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b"3", b"\xff", b"[" * 100_000, b'{"seed": NaN}', b" " * 1_100_000, b'{"seed": ' + b"9" * 5000 + b"}",
     b'{"measures": ' + b"[" * 90 + b'"x"' + b"]" * 90 + b"}", b'{"measures": ["' + b"x" * 5000 + b'", 1]}',
     b'{"measures": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", b'{"seed": 1e999}', b'{"run": ["\\ud800"]}'],
)  # fmt: skip
def test_odd_bodies(served: Served, body: bytes) -> None:
    for path in ("/api/jobs", "/api/judging"):
        answer = served.client.post(path, content=body, headers=served.token)
        assert answer.status_code in (200, 400, 413) and len(answer.text) < 500
        if answer.status_code == 200:
            assert served.finished(answer.json()["job"])["state"] == "failed"


@pytest.mark.parametrize("number", ["9" * 20, "9" * 5000, "-1", "0", "x", "1.5", "%00", "\u0661"])
def test_odd_numbers_of_computations(served: Served, number: str) -> None:
    for path in (f"/api/jobs/{number}", f"/api/jobs/{number}/report.html", f"/api/jobs/{number}?after={'9' * 5000}"):
        answer = served.client.get(path)
        assert answer.status_code == 400 and "no such computation" in answer.text
    assert served.client.request("DELETE", f"/api/jobs/{number}", headers=served.token).status_code == 400
    known = served.start()
    assert served.client.get(f"/api/jobs/{known}", params={"after": number}).status_code == 200


@pytest.mark.parametrize(
    ("name", "content"),
    [("deep.json", b"[" * 100_000), ("long.json", b'{"1": {"d": ' + b"9" * 5000 + b"}}"),
     ("long.jsonl", b'{"topic": "1", "doc": "d", "score": ' + b"9" * 5000 + b"}\n"),
     ("rank", b"1 Q0 d 1 " + b"9" * 5000 + b" x\n")],
)  # fmt: skip
def test_uploads_with_huge_numbers_and_deep_nesting(served: Served, name: str, content: bytes) -> None:
    answer = upload(served, name, content)
    assert answer.status_code == 400 and name.partition(".")[0] in answer.text and len(answer.text) < 500


def test_topics_sorted_by_difference(served: Served, collection: uj.Collection) -> None:
    a, b = collection.runs[0], collection.runs[5]
    x = uj.score(collection, ["AP"]).matrix("AP")
    found = served.client.get("/api/topics", params={"a": a, "b": b}).json()
    differences = {t: x[i, 0] - x[i, 5] for i, t in enumerate(collection.topics)}
    assert found["measure"] == "AP" and {row["topic"]: row["difference"] for row in found["topics"]} == pytest.approx(
        differences
    )
    sizes = [abs(row["difference"]) for row in found["topics"]]
    assert sizes == sorted(sizes, reverse=True)
    for odd in ({"a": a}, {"a": a, "b": "nobody"}, {"a": a, "b": b, "by": "AP,P@5"}, {"a": a, "b": b, "by": "x"}):
        assert served.client.get("/api/topics", params=odd).status_code == 400


def test_two_lists_side_by_side(served: Served, collection: uj.Collection, folder: Path) -> None:
    topic, (a, b) = collection.topics[2], (collection.runs[1], collection.runs[4])
    found = served.client.get("/api/topic", params={"a": a, "b": b, "topic": topic, "rel": 2}).json()
    judged = {
        line.split()[2]: int(line.split()[3])
        for line in (folder / "qrels.txt").read_text().splitlines()
        if line.split()[0] == topic
    }
    for run, shown in zip((a, b), found["lists"], strict=True):
        lines = [line.split() for line in run_text(folder, run).decode().splitlines()]
        docs = [line[2] for line in lines if line[0] == topic]
        assert shown["run"] == run and shown["length"] == len(docs)
        assert [d["doc"] for d in shown["documents"]] == docs[:50]
        for document in shown["documents"]:
            grade = judged.get(document["doc"])
            assert document["grade"] == grade
            assert document["state"] == ("unjudged" if grade is None else "relevant" if grade >= 2 else "nonrelevant")
    for odd in ({"a": a, "b": b, "topic": "none"}, {"a": a, "b": b}, {"a": "none", "b": b, "topic": topic}):
        assert served.client.get("/api/topic", params=odd).status_code == 400
