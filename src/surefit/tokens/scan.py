"""The short way to the answers of a rendered conversation, once the long way has proven it.

Rendering prefixes costs a rendering or two for each answer. Most templates write the same header
before every answer and the same token behind it, so that a search for both finds the same spans. The
search is used for plain turns only, for kinds of conversations (sequences of roles) on which it has
agreed with the prefixes many times, and never where a content holds one of the marks.
"""

from collections.abc import Sequence

from surefit.tokens.template import Message, Span

PROOFS = 32  # agreements before a kind of conversation is trusted
_KINDS = 512  # kinds that are remembered
_PLAIN_KEYS = frozenset({"role", "content", "name"})


class AnswerScan:
    """Learns from the long way, and answers in its place where it may.

    Args:
        header: what the template writes before an answer, or nothing where it writes nothing.
        end: the token that ends an answer.
    """

    def __init__(self, header: str, end: str | None) -> None:
        self._header, self._end = header, end or ""
        self._agreed: dict[tuple[str, ...], int] = {}
        self._usable = bool(header and end)

    def kind_of(self, messages: Sequence[Message]) -> tuple[str, ...] | None:
        """The roles of a conversation of plain turns, or None where the scan must not be used."""
        if not self._usable:
            return None
        roles = []
        for message in messages:
            content = message.get("content")
            usual = len(message) == 2 and "role" in message
            if not (usual or message.keys() <= _PLAIN_KEYS) or not isinstance(content, str):
                return None
            if self._end in content or self._header in content or "</think>" in content:
                return None
            roles.append(message["role"])
        return tuple(roles)

    def trusts(self, kind: tuple[str, ...] | None) -> bool:
        """Whether the scan has agreed often enough on this kind."""
        return kind is not None and self._agreed.get(kind, 0) >= PROOFS

    def spans(self, text: str, kind: tuple[str, ...]) -> list[Span] | None:
        """The spans by search, or None where the marks do not match the turns."""
        spans: list[Span] = []
        at = text.find(self._header)
        while at >= 0:
            start = at + len(self._header)
            end = text.find(self._end, start)
            if end < 0:
                return None
            end += len(self._end)
            spans.append((start, end))
            at = text.find(self._header, end)
        return spans if len(spans) == kind.count("assistant") else None

    def learn(self, text: str, kind: tuple[str, ...] | None, spans: Sequence[Span]) -> None:
        """Compare with the long way; one disagreement ends the trust in a kind for good."""
        if kind is None or (len(self._agreed) >= _KINDS and kind not in self._agreed):
            return
        if self.spans(text, kind) == list(spans):
            self._agreed[kind] = self._agreed.get(kind, 0) + 1
        else:
            self._agreed[kind] = -(10**9)
