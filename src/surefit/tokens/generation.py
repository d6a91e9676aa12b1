"""`{% generation %}` blocks: where a template itself says what the assistant writes.

A block's text is put between two marks while it is rendered, and the marks are taken out again. The
marks are characters that Unicode reserves for use inside a program (U+FDD0, U+FDD1), so a block
keeps its borders through macros, captured text and filters.
"""

from collections.abc import Callable

import jinja2.ext
import jinja2.nodes
import jinja2.parser

OPEN, CLOSE = "\ufdd0", "\ufdd1"


class GenerationBlocks(jinja2.ext.Extension):
    """Jinja extension for `{% generation %} ... {% endgeneration %}`."""

    tags = {"generation"}  # noqa: RUF012 - jinja's own attribute

    def parse(self, parser: jinja2.parser.Parser) -> jinja2.nodes.Node:
        """Turn a block into a call of `_mark` around its body."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        call = self.call_method("_mark", [])
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _mark(self, caller: Callable[[], str]) -> str:
        return f"{OPEN}{caller()}{CLOSE}"


def take_out_marks(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without marks and the span of each block in it."""
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    for block in marked.split(OPEN):
        inside, mark, after = block.partition(CLOSE)
        if mark:
            spans.append((length, length + len(inside)))
        pieces += [inside, after]
        length += len(inside) + len(after)
    return "".join(pieces), spans
