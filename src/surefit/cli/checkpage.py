"""A look at data as one page: it needs no other file, no other host and no script."""

from pathlib import Path
from typing import Any

import jinja2

from surefit import __version__
from surefit.cli.checkview import VERDICT_WORDS, by_weight, length_lines, rows_words
from surefit.data.report import DatasetReport, Sample, TokenCounts
from surefit.home import write_atomically
from surefit.units import bytes_text, count_text, plural

_TEMPLATE = Path(__file__).parent / "check_page.html.jinja"
_SAMPLE_CHARACTERS = 12_000


def write_check_page(report: DatasetReport, name: str, file: Path) -> None:
    """Write the page of a report.

    Raises:
        OutsideError: the file cannot be written.
    """
    write_atomically(file, check_page(report, name).encode("utf-8", "replace"))


def check_page(report: DatasetReport, name: str) -> str:
    """The page as HTML. Everything that comes from the data is escaped.

    Args:
        report: what was found.
        name: what was looked at, as the user named it.
    """
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters |= {"size": bytes_text, "number": count_text, "counted": plural}
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        report=report,
        name=name,
        words=VERDICT_WORDS[report.verdict],
        rows=rows_words(report),
        findings=by_weight(report.findings),
        lengths=length_lines(report),
        histogram=_bars(report.tokens, report.max_length) if report.tokens else [],
        samples=[_shown(sample) for sample in report.samples],
        version=__version__,
    )


def _bars(tokens: TokenCounts, limit: int | None) -> list[dict[str, Any]]:
    """The histogram with the width of each bar, and where the cut lies."""
    most = max((one.rows for one in tokens.histogram), default=0)
    bars, marked = [], limit is None
    for one in tokens.histogram:
        cut_before = not marked and limit is not None and one.shortest > limit
        marked = marked or cut_before
        percent = round(100 * one.rows / most, 1)
        bars.append(one.model_dump() | {"percent": percent, "cut_before": cut_before})
    return bars


def _shown(sample: Sample) -> dict[str, Any]:
    """A sample, or the beginning of a very long one."""
    pieces, room = [], _SAMPLE_CHARACTERS
    for text, learned in sample.pieces:
        if room <= 0:
            break
        pieces.append((text[:room], learned))
        room -= len(text)
    return {"place": sample.place, "pieces": pieces, "shortened": room < 0}
