"""A worker that does what a test asks: `fake_worker.py RUN_FOLDER MODE [WORD ...]`. Needs no torch."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from surefit.runs import (
    Checkpoint,
    FileHash,
    Heartbeat,
    Metric,
    Phase,
    Problem,
    Result,
    RunFolder,
    Verification,
)
from surefit.train.environment import prepare_process

FOREVER = 600


def phases(run: RunFolder, *names: str) -> None:
    for name in names:
        run.append(Phase(name=name, status="started"))
        run.append(Phase(name=name, status="ended", seconds=0.0))


def begin(run: RunFolder) -> None:
    phases(run, "import", "load_tokenizer", "load_model", "prepare_data", "rehearsal", "first_step")
    run.append(Phase(name="train", status="started"))
    run.append(Metric(step=3, steps=9, epoch=0.3, loss=2.5, tokens_per_second=10, memory_bytes=99))
    run.write(run.heartbeat(0), Heartbeat(rank=0, phase="train", step=3, time=time.time()))
    checkpoint = run.checkpoints / "step-3"
    checkpoint.mkdir(parents=True, exist_ok=True)
    (checkpoint / "manifest.json").write_text("{}")
    run.append(Checkpoint(step=3, folder="checkpoints/step-3", size_bytes=2))
    print("training", flush=True)


def succeed(run: RunFolder) -> None:
    run.append(Phase(name="train", status="ended", seconds=0.0))
    phases(run, "save", "verify")
    run.model.mkdir()
    weights = run.model / "adapter.safetensors"
    weights.write_bytes(b"weights")
    digest = hashlib.sha256(b"weights").hexdigest()
    run.write(
        run.result,
        Result(
            kind="adapter",
            folder="model",
            base_model="none",
            files=(FileHash(path="model/adapter.safetensors", size_bytes=7, sha256=digest),),
            verification=Verification(
                loaded_with="nothing", rows=1, max_difference=0, tolerance=1, change_from_base=1
            ),
            steps=9,
            epochs=1,
            first_loss=3,
            final_loss=1,
            eval_loss=None,
            tokens=10,
            trained_tokens=5,
            seconds=1,
            peak_memory_bytes=None,
        ),
    )


def family() -> None:
    """A child in the group, a grandchild in a session of its own; none of them heeds SIGTERM."""
    deaf = f"import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep({FOREVER})"
    nest = (
        f"import signal, subprocess, sys, time; signal.signal(15, signal.SIG_IGN); "
        f"subprocess.Popen([sys.executable, '-c', {deaf!r}], start_new_session=True); time.sleep({FOREVER})"
    )
    subprocess.Popen([sys.executable, "-c", nest])


def wait_for_somebody() -> None:
    time.sleep(FOREVER)


def main(run: RunFolder, mode: str, words: list[str]) -> int:
    began = time.time()
    begin(run)
    if mode == "done":
        time.sleep(float(words[0]) if words else 0)
        succeed(run)
    elif mode == "code":
        return int(words[0])
    elif mode == "damaged":
        succeed(run)
        (run.model / "adapter.safetensors").write_bytes(b"weighty")
    elif mode == "tries":  # one word a worker: an exit code, or done
        word = words[len(list(run.attempts.glob("*")))]
        if word == "done":
            succeed(run)
        else:
            run.append(
                Problem(what=f"failed with {word}", why="asked to", next="-", exit_code=int(word))
            )
            return int(word)
    elif mode == "hang":  # moves no more, and says where it stands when asked
        prepare_process(run.log)
        wait_for_somebody()
    elif mode == "reading":  # silent, but bytes move
        run.append(Phase(name="train", status="ended", seconds=0.0))
        run.append(Phase(name="load_model", status="started"))
        end = time.time() + float(words[0])
        while time.time() < end:
            beat = Heartbeat(rank=0, phase="load_model", step=0, time=time.time(), moved=began)
            run.write(run.heartbeat(0), beat)
            with Path("/dev/zero").open("rb") as zeros:
                zeros.read(2**22)
            time.sleep(0.1)
        succeed(run)
    elif mode == "sleep":
        time.sleep(FOREVER)
    elif mode == "checkpoint":  # ends gently, as the real worker does
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(75))
        time.sleep(FOREVER)
    elif mode == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        family()
        time.sleep(FOREVER)
    elif mode == "orphan":  # ends and leaves its family behind
        family()
        time.sleep(1)
        return 1
    elif mode == "flood":
        block = b"".join(b"line %09d of a flood that nobody asked for\n" % n for n in range(20_000))
        for _ in range(int(words[0]) * 2**20 // len(block)):
            os.write(1, block)
        print("the last line", flush=True)
        succeed(run)
    elif mode == "say":  # each word by a write of its own; `~` waits
        for word in words:
            if word == "~":
                time.sleep(0.4)
            else:
                os.write(1, word.encode())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(RunFolder(Path(sys.argv[1])), sys.argv[2], sys.argv[3:]))
