"""How a run ended, in words a person can act on, and as an exit code."""

from typing import TYPE_CHECKING, Any

from surefit.cli.diagnose import diagnosis_lines
from surefit.cli.drawing import heading, mark, paragraph
from surefit.cli.output import width_now
from surefit.errors import ExitCode, WorkerExit
from surefit.runs import ExitStatus, Result, RunFolder, RunState
from surefit.units import bytes_text, count_text, plural, seconds_text

if TYPE_CHECKING:
    from surefit.supervise import RunView

GOOD: dict[RunState, bool | None] = {
    RunState.DONE: True,
    RunState.FAILED: False,
    RunState.LOST: False,
}
LABEL = 15  # columns of "  checkpoints  "
_OUTSIDE = frozenset(
    {
        WorkerExit.INPUT_MISSING,
        WorkerExit.NO_RESOURCE,
        WorkerExit.HOST_MEMORY,
        WorkerExit.DISK,
        WorkerExit.NETWORK,
        WorkerExit.NO_PERMISSION,
    }
)


def exit_code_of(view: "RunView") -> ExitCode:
    """What a command that stayed to the end tells its caller."""
    if view.state is RunState.DONE:
        return ExitCode.DONE
    if view.state is RunState.LOST:
        return ExitCode.OUTSIDE
    status = view.run.read(view.run.exit, ExitStatus)
    killed = status is not None and status.signal is not None
    outside = status is not None and status.code in _OUTSIDE
    return (
        ExitCode.OUTSIDE if view.state is RunState.FAILED and (killed or outside) else ExitCode.NO
    )


def ending_text(view: "RunView") -> str:
    """The end of a run: the evidence and what to type next, or the cause and what to do."""
    run, width = view.run, width_now()
    if view.state is RunState.DONE:
        result = run.read(run.result, Result)
        return _success(run, result, width) if result else _rehearsed(run, width)
    head = f"{mark(str(view.state), GOOD.get(view.state))} {heading(run.id)}"
    if view.diagnosis is not None and view.state is not RunState.STOPPED:
        return "\n".join([head, *diagnosis_lines(view.diagnosis, width)])
    lines = [head, paragraph(view.cause or "no cause is on record", 2, width, "  ")]
    lines += _kept(run)
    if view.state is not RunState.STOPPED:
        lines.append(f"  more: surefit why {run.id}")
    return "\n".join(lines)


def _success(run: RunFolder, result: Result, width: int) -> str:
    proof = result.verification
    where = run.path / result.folder
    what = "adapter" if result.kind == "adapter" else "model"
    size = bytes_text(sum(file.size_bytes for file in result.files))
    loss = f"{result.first_loss:.4f} at the first step, {result.final_loss:.4f} at the last"
    if result.eval_loss is not None:
        loss += f", {result.eval_loss:.4f} on the eval rows"
    speed = (
        f"{count_text(round(result.tokens / result.seconds))} tokens/s" if result.seconds else ""
    )
    evidence = (
        f"saved, loaded again by {proof.loaded_with} and compared on {plural(proof.rows, 'row')}: largest difference "
        f"of a logit {proof.max_difference:.1e} ({proof.tolerance:.0e} allowed); to the base model it is "
        f"{proof.change_from_base:.3g}"
    )
    rows = [
        (what, f"{where} ({size})"),
        ("proof", evidence),
        ("loss", loss),
        (
            "work",
            f"{plural(result.steps, 'step')}, {plural(result.tokens, 'token')} in {seconds_text(result.seconds)}",
        ),
    ]
    if speed:
        rows[-1] = ("work", f"{rows[-1][1]}, {speed} over all")
    lines = [f"{mark('done', True)} {heading(run.id)}"]
    lines += [paragraph(text, LABEL, width, f"  {name}") for name, text in rows]
    return "\n".join([*lines, "", *_next_steps(run, result)])


def _next_steps(run: RunFolder, result: Result) -> list[str]:
    questions = "starter" if result.base_model == "starter" else "QUESTIONS.jsonl"
    return [
        heading("Next"),
        f"  surefit chat {run.id}",
        f"  surefit compare {run.id} --questions {questions}",
    ]


def _rehearsed(run: RunFolder, width: int) -> str:
    lines = [f"{mark('done', True)} {heading(run.id)} rehearsed"]
    lines += [paragraph(text, 4, width, "  - ") for text in rehearsal_words(run)]
    return "\n".join([*lines, "", heading("Next"), f"  surefit train {run.recipe}"])


def rehearsal_words(run: RunFolder) -> list[str]:
    """What a rehearsal proved, a sentence each."""
    from surefit.runs.result import Rehearsal

    found = run.read(run.path / "rehearsal.json", Rehearsal)
    if found is None:
        return []
    words = [check.text for check in found.checks]
    return [
        *words,
        f"memory {bytes_text(found.peak_bytes)} at its peak, {bytes_text(found.planned_bytes)} planned",
    ]


def _kept(run: RunFolder) -> list[str]:
    manifests = run.checkpoints.glob("step-*/manifest.json")
    newest = max(
        (path.parent for path in manifests), key=lambda path: int(path.name[5:]), default=None
    )
    return [f"  kept: {newest}"] if newest else []


def view_record(view: "RunView") -> dict[str, Any]:
    """A run as one JSON object, in the same words as the text."""
    run = view.run
    result = run.read(run.result, Result) if view.state is RunState.DONE else None
    return {
        "kind": "result",
        "run": run.id,
        "folder": str(run.path),
        "state": str(view.state),
        "cause": view.cause,
        "watched": view.watched,
        "evidence": list(view.evidence),
        "exit_code": int(exit_code_of(view)) if view.state.is_final else None,
        "result": result.model_dump(mode="json") if result else None,
        "diagnosis": view.diagnosis.model_dump(mode="json", by_alias=True)
        if view.diagnosis
        else None,
    }
