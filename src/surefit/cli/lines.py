"""The progress of a run where nobody watches a terminal: a few lines as text, or events as JSON."""

import time
from types import TracebackType
from typing import Any, Self

import click

from surefit.cli.output import print_json_line, say
from surefit.cli.progress import PHASE_WORDS, QUIET_TOPICS, Progress
from surefit.runs import AnyEvent, Checkpoint, Metric, Note, Phase, Problem, Status
from surefit.units import bytes_text, count_text, seconds_text

_EVERY_SECONDS = 10.0
_EVERY_SHARE = 0.1


class Lines:
    """A line a phase and a state; while training a line every 10 seconds, or 10 % where that is later."""

    def __init__(self, run_id: str) -> None:
        self._id = run_id
        self._progress = Progress()
        self._told_at = 0.0
        self._told_share = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        return None

    def see(self, event: AnyEvent) -> None:
        """Take in one event, and say it where it is worth a line."""
        self._progress.see(event)
        if isinstance(event, Status):
            say(f"{self._id}: {event.state}" + (f": {event.cause}" if event.cause else ""))
        elif isinstance(event, Phase) and event.status == "ended":
            say(f"{PHASE_WORDS[event.name]}: {seconds_text(event.seconds or 0)}")
        elif isinstance(event, Metric):
            self._metric(event)
        elif isinstance(event, Checkpoint):
            say(f"checkpoint of step {count_text(event.step)}: {bytes_text(event.size_bytes)}")
        elif isinstance(event, Note) and event.topic not in QUIET_TOPICS:
            say(f"note: {event.text}")
        elif isinstance(event, Problem):
            say(f"problem: {event.what}")

    def log(self, line: str) -> None:
        """A line of the log is data."""
        click.echo(line)

    def say(self, text: str) -> None:
        """A line of its own."""
        say(text)

    def hint(self, text: str) -> None:
        """What a terminal shows below the picture."""
        say(text)

    def draw(self) -> None:
        """Nothing is drawn between events."""

    def _metric(self, metric: Metric) -> None:
        loss = "not a number" if metric.loss is None else f"{metric.loss:.4f}"
        if metric.split == "eval":
            say(f"loss on the eval rows after step {count_text(metric.step)}: {loss}")
            return
        share = metric.step / max(1, metric.steps)
        is_edge = metric.step in (1, metric.steps)
        is_due = (
            time.monotonic() - self._told_at >= _EVERY_SECONDS and share - self._told_share >= 0.01
        )
        if not (is_edge or is_due or share - self._told_share >= _EVERY_SHARE):
            return
        self._told_at, self._told_share = time.monotonic(), share
        parts = [
            f"step {count_text(metric.step)} of {count_text(metric.steps)} ({share:.0%})",
            f"loss {loss}",
        ]
        if self._progress.trend:
            parts[-1] += f", {self._progress.trend}"
        if metric.tokens_per_second:
            parts.append(f"{count_text(round(metric.tokens_per_second))} tokens/s")
        if self._progress.seconds_left and metric.step < metric.steps:
            parts.append(f"about {seconds_text(self._progress.seconds_left)} left")
        say("; ".join(parts))


class JsonLines:
    """Every event as one JSON object a line on stdout."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        return None

    def see(self, event: AnyEvent) -> None:
        """Print one event."""
        record: dict[str, Any] = event.model_dump(mode="json", exclude_none=True)
        print_json_line(record)

    def log(self, line: str) -> None:
        """A line of the log among the events."""
        print_json_line({"kind": "log", "text": line})

    def say(self, text: str) -> None:
        """Words for people go to stderr."""
        say(text)

    def hint(self, text: str) -> None:
        """Words for people go to stderr."""
        say(text)

    def draw(self) -> None:
        """Nothing is drawn."""
