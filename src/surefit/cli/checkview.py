"""A look at data on one screen: the verdict, what was found by weight, rows as they are trained, lengths."""

import os

from surefit.cli.drawing import bar, dim, heading, mark, paragraph
from surefit.cli.output import can_unicode, width_now
from surefit.data.report import DatasetReport, Finding, Sample, TokenCounts
from surefit.units import bytes_text, count_text, plural

_GOOD = {"ok": True, "warn": None, "refuse": False}
VERDICT_WORDS = {
    "ok": "nothing stands against training on it",
    "warn": "it can be trained; look at the warnings first",
    "refuse": "it cannot be trained as it stands",
}
_ORDER = ("refuse", "warn", "info")
_MOST_FINDINGS = 20
_MOST_PLACES = 12
_SAMPLE_CHARACTERS = 900
_BAR_COLUMNS = 32


def check_text(report: DatasetReport) -> str:
    """The whole screen as text with colour codes."""
    width = width_now()
    lines = [
        f"{mark(report.verdict.upper(), _GOOD[report.verdict])}  {VERDICT_WORDS[report.verdict]}",
        *_rows(report, width),
        *_findings(report.findings, width),
        *_lengths(report, width),
        *_samples(report.samples),
    ]
    return "\n".join(lines)


def _rows(report: DatasetReport, width: int) -> list[str]:
    sources = (
        ", ".join(
            f"{_near_path(one.path)} ({bytes_text(one.size_bytes)})" for one in report.sources
        )
        or "none"
    )
    return [
        "",
        paragraph(sources, 10, width, "  files"),
        paragraph(f"{report.format}: {report.format_reason}", 10, width, "  format"),
        f"  rows    {rows_words(report)}",
    ]


def rows_words(report: DatasetReport) -> str:
    """How many rows there are, and for what."""
    rows = f"{plural(report.rows, 'row')} read, {count_text(report.usable)} to train"
    if report.eval_rows:
        rows += f", {count_text(report.eval_rows)} to evaluate"
    return rows


def by_weight(findings: tuple[Finding, ...]) -> list[Finding]:
    """The heaviest first; of one weight those that concern most rows."""
    return sorted(findings, key=lambda one: (_ORDER.index(one.severity), -one.count))


def _findings(findings: tuple[Finding, ...], width: int) -> list[str]:
    if not findings:
        return []
    ordered = by_weight(findings)
    lines = ["", heading("Found")]
    for one in ordered[:_MOST_FINDINGS]:
        lines += _finding(one, width)
    left = len(ordered) - _MOST_FINDINGS
    if left > 0:
        lines.append(f"  and {left} more; `--json` has them all")
    return lines


def _finding(one: Finding, width: int) -> list[str]:
    good = {"refuse": False, "warn": None, "info": True}[one.severity]
    head = paragraph(one.message, 2, width, "  ").lstrip()
    count = dim(f"({plural(one.count, 'row')})")
    lines = [f"  {mark(one.severity, good)} {one.code} {count}", f"  {head}"]
    lines.append(paragraph(one.why, 10, width, "     why:"))
    lines.append(paragraph(one.next, 10, width, "    next:"))
    if len(one.rows) > 1:
        lines.append(paragraph(_places(one), 10, width, "      at:"))
    return lines


def _places(one: Finding) -> str:
    """The first places, each file named once: ``chats.jsonl lines 3, 7, 12``."""
    by_file: dict[str, list[str]] = {}
    for place in one.rows[:_MOST_PLACES]:
        file, _, line = place.rpartition(":")
        by_file.setdefault(_near_path(file), []).append(line)
    words = "; ".join(
        f"{file} {'line' if len(lines) == 1 else 'lines'} {', '.join(lines)}"
        for file, lines in by_file.items()
    )
    return f"{words}, ..." if one.count > _MOST_PLACES else words


def _near_path(path: str) -> str:
    """A path from here where that is shorter."""
    near = os.path.relpath(path)
    return near if len(near) < len(path) else path


def _lengths(report: DatasetReport, width: int) -> list[str]:
    if report.tokens is None:
        return (
            ["", dim("  Lengths and samples need the model: add --model DIR.")]
            if report.usable
            else []
        )
    lines = ["", heading("Length in tokens")]
    lines += [paragraph(words, 10, width, f"  {name}") for name, words in length_lines(report)]
    return [*lines, "", *_histogram(report.tokens, report.max_length)]


def length_lines(report: DatasetReport) -> list[tuple[str, str]]:
    """Lengths and what follows from them, each with its name."""
    lines = []
    for name, tokens in (("train", report.tokens), ("eval", report.eval_tokens)):
        if tokens is None or (name == "eval" and not report.eval_rows):
            continue
        lines.append((name, _spread(tokens)))
        if tokens.cut_rows:
            lines.append(("cut", f"{cut_words(tokens)}{' of these' if name == 'eval' else ''}"))
    return lines + length_words(report)


def _spread(tokens: TokenCounts) -> str:
    share = tokens.trained / max(1, tokens.total)
    spread = ", ".join(f"{key} {count_text(value)}" for key, value in tokens.percentiles.items())
    return (
        f"{count_text(tokens.shortest)} to {count_text(tokens.longest)} a row, mean {tokens.mean:.0f}"
        f" ({spread}); {count_text(tokens.total)} in all, {count_text(tokens.trained)} of them "
        f"({share:.0%}) carry loss"
    )


def cut_words(tokens: TokenCounts) -> str:
    """What the cut takes, in numbers and shares."""
    return (
        f"{plural(tokens.cut_rows, 'row')} ({tokens.cut_row_share:.1%}) cut, "
        f"{plural(tokens.cut_trained, 'answer token')} ({tokens.cut_trained_share:.1%}) lost"
    )


def length_words(report: DatasetReport) -> list[tuple[str, str]]:
    """What follows from the lengths, each with its name."""
    tokens, limit = report.tokens, report.max_length
    if tokens is None:
        return []
    said = [("99 %", f"of the rows fit whole into goal.max_length: {tokens.keeps_99}")]
    if tokens.fully_masked:
        said.append(
            ("masked", f"{plural(tokens.fully_masked, 'row')} with no answer left, left out")
        )
    batch = (
        "the longest rows of one step have " + plural(tokens.longest_batch, "token") + " together"
    )
    said.append(("batch", batch))
    if report.packed is not None:
        packed = report.packed
        said.append(
            (
                "packed",
                f"{plural(packed.sequences, 'sequence')} of at most {count_text(limit or 0)} tokens, "
                f"{packed.filled:.1%} filled",
            )
        )
    return said


def _histogram(tokens: TokenCounts, limit: int | None) -> list[str]:
    """A line for each range of lengths, and a mark where rows are cut."""
    most = max((one.rows for one in tokens.histogram), default=0)
    lines, marked = [], limit is None
    for one in tokens.histogram:
        if not marked and limit is not None and one.shortest > limit:
            lines.append(dim(f"  {'':>15}  cut at {count_text(limit)}"))
            marked = True
        span = f"{count_text(one.shortest)} to {count_text(one.longest)}"
        drawn = bar(one.rows / most, _BAR_COLUMNS, unicode=can_unicode()) if one.rows else ""
        lines.append(
            f"  {span:>15}  {drawn.rstrip('·.'):<{_BAR_COLUMNS}}  {count_text(one.rows)}".rstrip()
        )
    return lines


def _samples(samples: tuple[Sample, ...]) -> list[str]:
    if not samples:
        return []
    left, right = ("⟦", "⟧") if can_unicode() else ("[[", "]]")
    lines = [
        "",
        f"{heading('As it is trained')} (between {left} and {right}: learned; the rest is only read)",
    ]
    for sample in samples:
        lines += [f"  {dim(_near_path(sample.place))}", _indented(_pieces(sample, left, right))]
    return lines


def _pieces(sample: Sample, left: str, right: str) -> str:
    shown, room = "", _SAMPLE_CHARACTERS
    for text, trained in sample.pieces:
        part = text if len(text) <= room else text[: max(0, room - 1)] + "…"
        room -= len(part)
        shown += (
            f"{left}{part}{right}"
            if trained
            else "\n".join(dim(line) if line else "" for line in part.split("\n"))
        )
        if room <= 0:
            break
    return shown


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.rstrip("\n").split("\n"))
