"""`surefit diagnose`: what ended a run, from anybody's log or folder."""

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from surefit.cli.output import json_option, print_json, width_now
from surefit.errors import ExitCode

if TYPE_CHECKING:
    from surefit.diagnose import Diagnosis, Evidence

_LABEL = 9  # the width of "  class: "


@click.command("diagnose")
@click.argument("path", metavar="PATH")
@json_option
def diagnose_command(path: str, as_json: bool) -> ExitCode:
    """Say what ended a run, and what to do next, from what it left behind.

    PATH is a log of any trainer, `-` for a log on standard input, a run folder of surefit, or a
    folder with some of log.txt, rank0.log, error_rank0.json, heartbeats.json, exit.json and
    files.json. Ends with 0 when it gave an answer, also when the answer is UNKNOWN.
    """
    from surefit.diagnose import diagnose

    diagnosis = diagnose(_evidence(path))
    if as_json:
        print_json(diagnosis.model_dump(mode="json", by_alias=True))
    else:
        click.echo("\n".join(diagnosis_lines(diagnosis, width_now())))
    return ExitCode.DONE


def _evidence(path: str) -> "Evidence":
    from surefit.diagnose import gather_evidence, gather_from_stream

    if path == "-":
        return gather_from_stream(sys.stdin.buffer)
    return gather_evidence(Path(path))


def diagnosis_lines(diagnosis: "Diagnosis", width: int) -> list[str]:
    """A diagnosis for a person: the cause, why, what to do, and the lines that show it."""
    where = f"phase {diagnosis.phase}"
    where += f", step {diagnosis.step}" if diagnosis.step else ""
    where += f", rank {diagnosis.root_rank}" if diagnosis.root_rank is not None else ""
    name = f"{diagnosis.failure_class}" + (f" ({diagnosis.code})" if diagnosis.code else "")
    lines = [
        *_labelled("what", diagnosis.what, width),
        *_labelled("why", diagnosis.why, width),
        *_labelled("next", diagnosis.next_step, width),
        *_labelled("class", f"{name}, {where}", width),
    ]
    for repair in diagnosis.repair:
        kind = "same result" if repair.same_result else "changes the result"
        lines += _labelled("repair", f"{repair.change}   ({kind})", width)
    return [*lines, *_shown(diagnosis, width)]


def _labelled(label: str, text: str, width: int) -> list[str]:
    first, *rest = textwrap.wrap(
        text, max(20, width - _LABEL), break_long_words=False, break_on_hyphens=False
    ) or [""]
    return [f"{label:>7}: {first}", *(" " * _LABEL + line for line in rest)]


def _shown(diagnosis: "Diagnosis", width: int) -> list[str]:
    if not diagnosis.evidence:
        return []
    lines = ["", "evidence:"]
    for one in diagnosis.evidence:
        place = f"{one.file}:{one.line}" if one.line else one.file
        text = " ".join(one.text.split())
        room = max(20, width - len(place) - 4)
        cut = text if len(text) <= room else text[: room - 1] + "…"
        lines.append(f"  {place}  {cut}")
    return lines
