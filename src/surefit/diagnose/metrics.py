"""Find figures in a log: loss, gradient norm and learning rate, and where work last went on."""

import re
from collections.abc import Iterable

from surefit.diagnose.evidence import LogLine, MetricLine

_NUMBER = r"['\"]?(-?(?:nan|inf(?:inity)?|\d[\d_,]*\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?))['\"]?"
_LOSS = re.compile(rf"(?<![\w])['\"]?(?:train/|train_)?loss['\"]?\s*[:= ]\s*{_NUMBER}", re.I)
_NORM = re.compile(
    rf"['\"]?(?:train/)?(?:grad_norm|gradient_norm|grad norm|gnorm)['\"]?\s*[:= ]\s*{_NUMBER}", re.I
)
_RATE = re.compile(rf"['\"]?(?:train/)?(?:learning_rate|lr)['\"]?\s*[:= ]\s*{_NUMBER}", re.I)
_STEP_WORD = re.compile(r"\bstep\b|\bepoch\b|\biter\b|^\s*\{|(?<!\d)\d{1,9}/\d", re.I)
_SUMMARY = re.compile(r"train_runtime|eval_loss|eval_runtime")
_COUNTER = re.compile(r"(?<!\d)(?P<done>\d{1,9})/(?P<total>\d{1,9}) \[")
_WORK = re.compile(
    r"\b(starting training|loading model|[Ll]oading (?:checkpoint shards|weights)|attempt \d+|"
    r"\*{5} Running training)"
)


def find_metrics(lines: Iterable[LogLine]) -> list[MetricLine]:
    """The lines with a training loss, in order. Evaluations and the closing summary are left out."""
    found = []
    for line in lines:
        text = line.text
        if "loss" not in text and "Loss" not in text:
            continue
        if _SUMMARY.search(text) or not _STEP_WORD.search(text):
            continue
        loss = _value(_LOSS, text)
        if loss is not None:
            found.append(MetricLine(loss, _value(_NORM, text), _value(_RATE, text), line))
    return found


Stream = tuple[str, int | None]  # a file and a rank: what one process printed in one place


def last_work(lines: Iterable[LogLine], metrics: Iterable[MetricLine]) -> dict[Stream, int]:
    """By file and rank, the position of the last line that shows work going on.

    A step counter that is only painted again (as a bar is when it closes) shows none.
    """
    last: dict[Stream, int] = {}
    steps: dict[tuple[Stream, str], int] = {}
    for metric in metrics:
        last[metric.line.file, metric.line.rank] = metric.line.position
    for line in lines:
        stream = line.file, line.rank
        counter = _COUNTER.search(line.text) if "%|" in line.text else None
        if counter:
            bar = stream, line.text.split("%|")[0].rstrip("0123456789 ") + counter["total"]
            before, steps[bar] = steps.get(bar, 0), int(counter["done"])
            if steps[bar] <= before:
                continue
        elif not _WORK.search(line.text) or "Error" in line.text:
            continue
        last[stream] = max(last.get(stream, -1), line.position)
    return last


def last_counter(lines: Iterable[LogLine]) -> tuple[int, int, LogLine] | None:
    """The last step counter of the training bar: (done, total, line)."""
    found = None
    for line in lines:
        counter = re.match(r"\s*\d+%\|[^|]*\|\s*(?P<done>\d+)/(?P<total>\d+) \[", line.text)
        if counter:
            found = (int(counter["done"]), int(counter["total"]), line)
    return found


def _value(pattern: re.Pattern[str], text: str) -> float | None:
    match = pattern.search(text)
    if match is None:
        return None
    try:
        return float(match[1].replace(",", "").replace("_", ""))
    except ValueError:
        return None
