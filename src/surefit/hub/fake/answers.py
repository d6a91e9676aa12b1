"""Requests and answers of the fake Hub, with the headers by which the client tells errors apart."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from surefit.hub.fake.store import StoredFile

if TYPE_CHECKING:
    from surefit.hub.fake.hub import FakeHub

_PIECE = 1 << 16


@dataclass(frozen=True)
class Request:
    """What was asked."""

    hub: "FakeHub"
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def values(self) -> dict[str, str]:
        """The query's last value for each name."""
        return {name: values[-1] for name, values in parse_qs(self.query).items()}

    @property
    def token(self) -> str | None:
        """The token that was sent."""
        kind, _, token = self.headers.get("authorization", "").partition(" ")
        return token if kind.lower() == "bearer" and token else None

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body or b"{}")


@dataclass(frozen=True)
class Answer:
    """What is answered: a status, headers, and a body in memory or in a file."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    file: StoredFile | None = None
    start: int = 0
    end: int = 0

    @property
    def length(self) -> int:
        """Bytes of the body."""
        return self.end - self.start if self.file else len(self.body)

    def pieces(self) -> Iterator[bytes]:
        """The body, piece by piece."""
        if self.file is None:
            yield self.body
            return
        for start in range(self.start, self.end, _PIECE):
            yield self.file.read(start, min(start + _PIECE, self.end))


def json_answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """A JSON body."""
    body = json.dumps(value).encode()
    return Answer(status, {"Content-Type": "application/json", **(headers or {})}, body)


def error(
    status: int, code: str | None, message: str, headers: Mapping[str, str] | None = None
) -> Answer:
    """An error as the Hub words it: the code in a header, the message in a header and the body."""
    named = {"X-Error-Message": message, **({"X-Error-Code": code} if code else {})}
    return json_answer({"error": message}, status, {**named, **(headers or {})})


def repo_not_found(request: Request) -> Answer:
    """Missing, or private to others: the Hub does not tell which, and asks strangers to log in."""
    if request.token is None:
        return error(401, "RepoNotFound", "Invalid username or password.")
    return error(404, "RepoNotFound", "Repository not found")


def bad_credentials() -> Answer:
    """The token itself is refused."""
    return error(401, None, "Invalid credentials in Authorization header")
