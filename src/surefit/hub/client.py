"""Requests to the Hub: the token only to the Hub itself, transient failures tried again and said.

Uses huggingface_hub's session, so that proxies and certificates are those of every Hub client.
"""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from surefit.errors import SurefitError
from surefit.hub.failures import Subject, hub_down, not_the_hub, rate_limited, refusal
from surefit.hub.finding import Say, silent
from surefit.units import seconds_text, shortened

if TYPE_CHECKING:
    import httpx2

_TRANSIENT = frozenset({408, 500, 502, 503, 504})
_RESET = re.compile(r"\bt\s*=\s*(\d+)")


@dataclass(frozen=True)
class Patience:
    """How long to go on when the Hub does not answer as it should.

    Args:
        waits: seconds before each further try.
        longest_wait: of what the Hub itself asks for (429); beyond it, it is an error at once.
        connect_seconds, read_seconds: how long to wait for a connection, and for its next bytes.
        whole_seconds: after which no further try begins.
    """

    waits: tuple[float, ...]
    longest_wait: float
    connect_seconds: float
    read_seconds: float
    whole_seconds: float


AT_THE_TERMINAL = Patience((0.4, 1.0), 3.0, 2.0, 4.0, 4.0)
"""Somebody waits: an answer in about five seconds, good or bad."""
IN_A_RUN = Patience((1.0, 2.0, 4.0, 8.0), 90.0, 10.0, 20.0, 300.0)
"""Nobody waits. Beyond this, the supervisor starts the worker again later."""


class Client:
    """Asks about one subject.

    Args:
        subject: what is asked for; errors speak of it.
        patience: how long to go on.
        say: told what is tried again, and why.
    """

    def __init__(
        self, subject: Subject, patience: Patience = AT_THE_TERMINAL, say: Say = silent
    ) -> None:
        self.subject, self.patience, self.say = subject, patience, say

    def api(self, path: str, **values: str) -> Any:
        """The JSON at `/api/...` of the endpoint.

        Raises:
            SurefitError: in the words of `surefit.hub.failures`.
        """
        query = "&".join(f"{name}={quote(value)}" for name, value in values.items())
        url = f"{self.subject.settings.endpoint}/api/{path}" + (f"?{query}" if query else "")
        with self.get(url) as response:
            try:
                return response.json()
            except ValueError as error:
                kind = response.headers.get("content-type", "no type")
                raise not_the_hub(self.subject, f"{url} answered with {kind}, not JSON") from error

    def file_url(self, commit: str, path: str) -> str:
        """The address of a file at a commit."""
        name = self.subject.name
        prefix = "datasets/" if name.kind == "dataset" else ""
        return (
            f"{self.subject.settings.endpoint}/{prefix}{name.repo}/resolve/{commit}/{quote(path)}"
        )

    @contextmanager
    def get(
        self, url: str, headers: Mapping[str, str] | None = None, *, stream: bool = False
    ) -> "Iterator[httpx2.Response]":
        """An answer that is no error. With `stream` its body is still to be read.

        What goes wrong while the body is read is the caller's: it knows what it has already.

        Raises:
            SurefitError: refused, or still no answer after all tries.
        """
        began = time.monotonic()
        for number, wait in enumerate((*self.patience.waits, None)):
            response, trouble, asked_wait = self._try(url, headers or {}, stream)
            if response is not None:
                try:
                    yield response
                finally:
                    response.close()
                return
            assert trouble is not None  # noqa: S101 - _try gives one of the two
            pause = max(wait or 0.0, asked_wait or 0.0)
            spent = time.monotonic() - began + pause
            if (
                wait is None
                or pause > self.patience.longest_wait
                or spent > self.patience.whole_seconds
            ):
                raise trouble
            self.say(
                f"{trouble.why}: trying again in {seconds_text(pause)} "
                f"(try {number + 2} of {len(self.patience.waits) + 1})"
            )
            time.sleep(pause)

    def _try(
        self, url: str, headers: Mapping[str, str], stream: bool
    ) -> "tuple[httpx2.Response | None, SurefitError | None, float | None]":
        """One try: an answer; or what may pass, with how long the Hub asks to wait.

        Raises:
            SurefitError: what will not pass by waiting.
        """
        import httpx2
        from huggingface_hub import get_session
        from huggingface_hub.errors import OfflineModeIsEnabled

        limits = httpx2.Timeout(self.patience.read_seconds, connect=self.patience.connect_seconds)
        session = get_session()
        request = session.build_request(
            "GET", url, headers={**self._own_headers(), **headers}, timeout=limits
        )
        try:
            response = session.send(request, stream=True, follow_redirects=True)
            if response.status_code >= 400 or not stream:
                response.read()
        except OfflineModeIsEnabled as error:
            raise hub_down(self.subject, str(error)) from error
        except httpx2.TransportError as error:
            return None, self._unreachable(url, error), None
        except (httpx2.InvalidURL, httpx2.TooManyRedirects) as error:
            raise not_the_hub(self.subject, f"{url}: {error}") from error
        if response.status_code < 400:
            return response, None, None
        trouble = refusal(self.subject, response)
        wait = _asked_wait(response.headers)
        response.close()
        if response.status_code == 429:
            limited = rate_limited(self.subject, trouble.why.partition(";")[0], wait)
            return None, limited, wait
        if response.status_code in _TRANSIENT:
            return None, trouble, wait
        raise trouble

    def _own_headers(self) -> dict[str, str]:
        token = self.subject.token
        library = f"surefit/{version('surefit')}; huggingface_hub/{version('huggingface_hub')}"
        # Uncompressed: sizes and ranges are those of the file.
        plain = {"user-agent": library, "accept-encoding": "identity"}
        return {**plain, "authorization": f"Bearer {token.value}"} if token else plain

    def _unreachable(self, url: str, error: Exception) -> SurefitError:
        text = shortened(str(error) or type(error).__name__, 200)
        if "CERTIFICATE" in text.upper():
            raise not_the_hub(self.subject, f"its certificate is not accepted: {text}") from error
        if isinstance(error, UnicodeError):
            raise not_the_hub(self.subject, text) from error
        return hub_down(self.subject, f"{url.partition('?')[0]}: {text}")


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """How long the Hub asks to wait: `Retry-After` in seconds, else `RateLimit`'s reset."""
    after = headers.get("retry-after", "").strip()
    if after.isdigit():
        return float(after)
    limit = headers.get("ratelimit", "")
    match = _RESET.search(limit)
    return float(match.group(1)) if match and re.search(r"\br\s*=\s*0\b", limit) else None
