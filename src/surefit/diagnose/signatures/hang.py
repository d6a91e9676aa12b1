"""SF207 HANG."""

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.collective_timeout import behind
from surefit.diagnose.signatures.signature import Signature, again
from surefit.units import seconds_text

# Silence that is no longer normal, in seconds: loading and preparing are silent for minutes.
LIMITS = {
    "download": 600,
    "import": 600,
    "load_tokenizer": 600,
    "load_model": 1200,
    "prepare_data": 1800,
    "save": 1800,
    "merge": 3600,
    "push": 1800,
    "eval": 1800,
    "verify": 1800,
}
TRAINING_LIMIT = 900


def silence_limit(phase: str) -> float:
    """Seconds without progress that are normal in a phase."""
    return LIMITS.get(phase, TRAINING_LIMIT)


_STALLED = r"\|\s*[\d.]+[kMGT]?B?/[\d.]+[kMGT]?B? \[[^\]]*B/s\]"


class Hang(Signature):
    """The process lives and makes no progress.

    ## What happened
    No rank has made a step, and no byte has moved, for longer than this phase can be silent.

    ## Why
    A download that stalled, one rank that waits for another that never comes, a driver call that
    does not return, or a program that waits for an answer on a terminal that nobody watches.

    ## Example
        heartbeats.json  [{"rank": 1, "phase": "train", "step": 148, "seconds_ago": 7212}]

    ## What to do
    Dump the stacks (`py-spy dump --pid`, or `kill -USR1` where faulthandler is registered), stop
    the run and start again from the last checkpoint. The rank with the lowest step is the one to
    look at.
    """

    code = "SF207"
    failure_class = "HANG"
    title = "Alive, but without progress"
    retryable = True

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """Alive, with heartbeats that are all older than their phase's limit."""
        beats = evidence.heartbeats
        if not evidence.exit.alive or not beats or evidence.problem is not None:
            return None
        youngest = min(beats, key=lambda beat: beat.seconds_ago)
        if youngest.seconds_ago < silence_limit(youngest.phase):
            return None
        rank = behind(beats) if len(beats) > 1 else None
        beat = evidence.beat(rank) or youngest
        who = f"rank {rank}" if rank is not None else "the process"
        silent = seconds_text(beat.seconds_ago)
        bar = evidence.find(_STALLED) if beat.phase in ("load_model", "load_tokenizer") else None
        if bar is not None:
            file = bar.text.split("|")[0].strip()
            what = f"the download stalled for {silent} at {file}"
            next_step = (
                "stop it and start again with `HF_HUB_DISABLE_XET=1`; what was fetched is kept"
            )
        else:
            at = f" since step {beat.step}" if beat.step else ""
            what = (
                f"{who} has made no progress for {silent}{at} (phase {beat.phase}), and the "
                f"process still lives"
            )
            next_step = (
                f"dump the stack of {who} (`py-spy dump --pid <pid>`), stop the run, then "
                f"{again(evidence)} "
                "from the last checkpoint"
            )
        return self.answer(
            evidence,
            what=what,
            why="nothing was printed and no step was made for longer than this phase can be silent",
            next_step=next_step,
            lines=[bar] if bar is not None else evidence.closing[-2:],
            rank=rank,
            phase=beat.phase,
        )
