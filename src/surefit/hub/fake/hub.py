"""FakeHub: two servers on loopback, the Hub and its storage, started and stopped together."""

import contextlib
import re
import socket
import struct
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Literal
from urllib.parse import urlsplit

from surefit.hub.fake.answers import Answer, Request, error
from surefit.hub.fake.faults import Fault, Faults
from surefit.hub.fake.routes import answer_to
from surefit.hub.fake.store import Account, FakeRepo, Kind, StoredFile, files_of

Content = Path | Mapping[str, bytes | str]


@dataclass(frozen=True)
class Seen:
    """A request that was made."""

    method: str
    path: str
    query: str
    token: str | None
    range: str | None
    storage: bool

    @property
    def line(self) -> str:
        """`METHOD /path`."""
        return f"{self.method} {self.path}"


class FakeHub:
    """A Hub on loopback; use it as a context. `url` is what `HF_ENDPOINT` is set to."""

    def __init__(self) -> None:
        self.repos: dict[tuple[Kind, str], FakeRepo] = {}
        self.accounts: dict[str, Account] = {}
        self.uploaded: dict[str, StoredFile] = {}
        self.requests: list[Seen] = []
        self.faults = Faults()
        self._servers = [_Server(self, storage=False), _Server(self, storage=True)]

    @property
    def url(self) -> str:
        """Where the Hub is."""
        return self._servers[0].url

    @property
    def storage_url(self) -> str:
        """Where its large files are."""
        return self._servers[1].url

    def __enter__(self) -> "FakeHub":
        for server in self._servers:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def add_model(self, name: str, content: Content, **settings: Any) -> FakeRepo:
        """A model with the files of a folder, or as given; `settings` are `FakeRepo`'s."""
        return self._add("model", name, content, settings)

    def add_dataset(self, name: str, content: Content, **settings: Any) -> FakeRepo:
        """A data set, alike."""
        return self._add("dataset", name, content, settings)

    def add_token(
        self,
        token: str,
        user: str,
        role: Literal["read", "write", "fineGrained"] = "read",
        **settings: Any,
    ) -> Account:
        """A token of an account; `settings` are `Account`'s."""
        account = Account(token, user, role, **settings)
        self.accounts[token] = account
        return account

    def fail(self, match: str, **damage: Any) -> Fault:
        """Let requests fail from now on; `damage` is `Fault`'s."""
        fault = Fault(match, **damage)
        self.faults.known.append(fault)
        return fault

    def heal(self) -> None:
        """No request fails any more."""
        self.faults.known.clear()

    def asked(self, match: str) -> list[Seen]:
        """The requests whose `METHOD /path` matches."""
        return [one for one in self.requests if re.search(match, one.line)]

    def _add(self, kind: Kind, name: str, content: Content, settings: dict[str, Any]) -> FakeRepo:
        repo = FakeRepo(kind, name, **settings)
        repo.commit(stored_files(content))
        self.repos[kind, name] = repo
        return repo


def stored_files(content: Content) -> dict[str, StoredFile]:
    """The files of a folder, or texts and bytes by their path."""
    if isinstance(content, Path):
        return files_of(content)
    return {
        path: StoredFile(one.encode() if isinstance(one, str) else one)
        for path, one in content.items()
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, hub: FakeHub, *, storage: bool) -> None:
        self.hub, self.storage = hub, storage
        super().__init__(("127.0.0.1", 0), _Conversation)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


class _Conversation(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as it is called
        """Nothing to stderr: `hub.requests` has it."""

    def _answer(self) -> None:
        hub, parts = self.server.hub, urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(length) if length else b""
        request = Request(hub, self.command, parts.path, parts.query, headers, body)
        hub.requests.append(
            Seen(
                self.command,
                parts.path,
                parts.query,
                request.token,
                headers.get("range"),
                self.server.storage,
            )
        )
        fault = hub.faults.take(f"{self.command} {self.path}")
        if fault is not None:
            time.sleep(fault.delay_seconds)
        if fault is not None and fault.status is not None:
            answer = error(fault.status, None, fault.message or "made to fail", fault.headers)
        else:
            answer = answer_to(request, storage=self.server.storage)
        self._send(answer, fault)

    def _send(self, answer: Answer, fault: Fault | None) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(answer.length))
        self.end_headers()
        if self.command == "HEAD":
            return
        sent = 0
        for piece in answer.pieces():
            for part in _damaged(piece, sent, fault):
                self.wfile.write(part)
                sent += len(part)
                if fault is not None and fault.bytes_per_second:
                    time.sleep(len(part) / fault.bytes_per_second)
            if fault is not None and self._broken_off(sent, fault):
                return

    def _broken_off(self, sent: int, fault: Fault) -> bool:
        if fault.cut_after is not None and sent >= fault.cut_after:
            self.wfile.flush()
            if fault.reset:  # closing with linger 0 sends RST instead of FIN
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            else:
                with contextlib.suppress(OSError):
                    self.connection.shutdown(socket.SHUT_RDWR)
            self.connection.close()
            self.close_connection = True
            return True
        if fault.stall_after is not None and sent >= fault.stall_after:
            self.wfile.flush()
            with contextlib.suppress(OSError):
                self.connection.recv(1)  # until the client gives up
            self.close_connection = True
            return True
        return False


def _damaged(piece: bytes, sent: int, fault: Fault | None) -> list[bytes]:
    """A piece of the body as the fault lets it through, in small parts where it is slow."""
    if fault is None:
        return [piece]
    if fault.corrupt and sent == 0 and piece:
        piece = bytes([piece[0] ^ 0xFF]) + piece[1:]
    limit = fault.cut_after if fault.cut_after is not None else fault.stall_after
    if limit is not None:
        piece = piece[: max(0, limit - sent)]
    if not fault.bytes_per_second:
        return [piece]
    size = max(1, round(fault.bytes_per_second / 20))
    return [piece[start : start + size] for start in range(0, len(piece), size)]
