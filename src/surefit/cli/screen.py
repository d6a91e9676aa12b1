"""The progress of a run on a terminal: a few lines that are drawn again in place."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from surefit.cli.drawing import bar, sparkline
from surefit.cli.output import can_unicode
from surefit.cli.progress import PHASE_WORDS, QUIET_TOPICS, PhaseLine, Progress
from surefit.runs import AnyEvent, Note, Problem, RunState
from surefit.units import bytes_text, count_text, seconds_text, shortened

_LABEL = 20
_BAR = 24
_STATE_STYLE = {
    RunState.DONE: "green",
    RunState.FAILED: "red",
    RunState.STOPPED: "yellow",
    RunState.LOST: "red",
}


class Screen:
    """Draws a run on stderr four times a second. Leaves the last picture standing."""

    def __init__(self, run_id: str, planned_bytes: int | None, hint: str) -> None:
        self._id, self._planned, self._hint = run_id, planned_bytes, hint
        self._progress = Progress()
        self._unicode = can_unicode(sys.stderr)
        console = Console(stderr=True, highlight=False, legacy_windows=False)
        self._live = Live(
            console=console, auto_refresh=False, transient=False, vertical_overflow="crop"
        )
        self._width = min(console.width, 100)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._hint = ""
        self.draw()
        self._live.stop()

    def see(self, event: AnyEvent) -> None:
        """Take in one event; notes stay on the screen above."""
        self._progress.see(event)
        if isinstance(event, Note) and event.topic not in QUIET_TOPICS:
            self.say(f"note: {event.text}")
        elif isinstance(event, Problem):
            self.say(f"problem: {event.what}")

    def log(self, line: str) -> None:
        """A line of the log, above the picture."""
        self._live.console.print(Text(line, style="dim"))

    def say(self, text: str) -> None:
        """A line above the picture that stays."""
        self._live.console.print(Text(text))

    def hint(self, text: str) -> None:
        """Change the last line."""
        self._hint = text
        self.draw()

    def draw(self) -> None:
        """Draw the picture of now."""
        self._live.update(Text("\n").join(self._lines()), refresh=True)

    def _lines(self) -> list[Text]:
        lines = [self._head(), *(self._phase_line(one) for one in self._shown_phases())]
        lines += self._figures()
        if self._hint and not self._progress.state.is_final:
            lines.append(Text(f"  {shortened(self._hint, self._width - 3)}", style="dim"))
        for line in lines:
            line.truncate(self._width - 1, overflow="crop")
        return lines

    def _head(self) -> Text:
        state = self._progress.state
        style = f"bold {_STATE_STYLE.get(state, 'cyan')}"
        return Text.assemble((self._id, "bold"), "  ", (str(state), style))

    def _shown_phases(self) -> list[PhaseLine]:
        """The phases; those inside another only while that one runs."""
        phases = self._progress.phases
        inside_now = {id(one) for one in phases[self._last_outer() :]}
        return [one for one in phases if one.depth == 0 or id(one) in inside_now][-14:]

    def _last_outer(self) -> int:
        """Where the phases begin that are inside the one that runs now."""
        phases = self._progress.phases
        outer = [number for number, one in enumerate(phases) if one.depth == 0]
        return outer[-1] if outer and not phases[outer[-1]].ended else len(phases)

    def _phase_line(self, one: PhaseLine) -> Text:
        name = ("  " * one.depth + PHASE_WORDS[one.name]).ljust(_LABEL)
        if one.ended:
            done = "✓" if self._unicode else "+"
            return Text.assemble(
                (f"  {done} ", "green"), name, (seconds_text(one.seconds or 0), "dim")
            )
        running = "▸" if self._unicode else ">"
        if self._progress.state.is_final:  # it was broken off
            return Text.assemble(("  - ", "yellow"), name, ("broken off", "dim"))
        share, amount = one.share, ""
        if one.name in ("train", "first_step") and self._progress.last:
            last = self._progress.last
            share, amount = (
                last.step / max(1, last.steps),
                f"step {count_text(last.step)} of {count_text(last.steps)}",
            )
        elif one.done is not None and one.total:
            amount = f"{one.done:,.0f} of {one.total:,.0f} {one.unit or ''}".rstrip()
        if share is None:
            since = seconds_text(max(0.0, time.time() - one.began))
            return Text.assemble((f"  {running} ", "cyan"), (name, "bold"), since)
        drawn = bar(share, _BAR, unicode=self._unicode)
        return Text.assemble(
            (f"  {running} ", "cyan"), (name, "bold"), (drawn, "cyan"), f" {share:4.0%}  {amount}"
        )

    def _figures(self) -> list[Text]:
        last = self._progress.last
        if last is None:
            return []
        rows = [("loss", self._loss())]
        if self._progress.eval_loss is not None:
            rows.append(("loss on eval rows", f"{self._progress.eval_loss:.4f}"))
        if last.tokens_per_second and self._progress.state is RunState.TRAINING:
            rows.append(("speed", f"{count_text(round(last.tokens_per_second))} tokens/s"))
        if last.memory_bytes:
            planned = f" of {bytes_text(self._planned)} planned" if self._planned else ""
            rows.append(("memory", f"{bytes_text(last.memory_bytes)}{planned}"))
        left = self._progress.seconds_left
        if (
            left is not None
            and self._progress.state is RunState.TRAINING
            and last.step < last.steps
        ):
            rows.append(("time left", f"about {seconds_text(left)}"))
        return [Text.assemble("    ", (name.ljust(_LABEL), "dim"), value) for name, value in rows]

    def _loss(self) -> str:
        losses = self._progress.losses
        if not losses:
            return "not a number"
        trend = self._progress.trend
        words = f"{losses[-1]:.4f}" + (f", {trend}" if trend else "")
        room = self._width - 4 - _LABEL - 22
        return f"{words:<18} {sparkline(losses, max(8, min(32, room)), unicode=self._unicode)}"
