"""Checkpoints: everything that going on needs, whole or not there at all.

    checkpoints/step-<N>/
        adapter_model.safetensors or model*.safetensors   weights
        optimizer.pt scheduler.pt rng_state.pth trainer_state.json   as the Trainer reads them again
        tally.json       counts so far
        manifest.json    written last: sizes and SHA-256 of all the others

A checkpoint is written under another name, read back, compared with the weights in memory, and only
then renamed. Old ones go after that, so there is always a whole one.
"""

import hashlib
import json
import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from safetensors import safe_open

from surefit.errors import OutsideError, WorkerExit
from surefit.plan.plan import TrainingPlan
from surefit.runs.event import Checkpoint
from surefit.runs.result import FileHash
from surefit.train.journal import Journal
from surefit.train.model import trainable

MANIFEST = "manifest.json"


def write_checkpoint(trainer: Any, journal: Journal, training: TrainingPlan, tally: Any) -> Path:
    """Write, verify and publish the checkpoint of the trainer's present step.

    Raises:
        OutsideError: the disk is full, or what was read back is not what was written.
    """
    step, root = trainer.state.global_step, journal.run.checkpoints
    folder, draft = root / f"step-{step}", root / f".step-{step}.partial"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    save_weights(trainer.model, draft)
    torch.save(trainer.optimizer.state_dict(), draft / "optimizer.pt")
    torch.save(trainer.lr_scheduler.state_dict(), draft / "scheduler.pt")
    torch.save(rng_states(), draft / "rng_state.pth")
    trainer.state.save_to_json(str(draft / "trainer_state.json"))
    (draft / "tally.json").write_text(json.dumps(asdict(tally)))
    files = [describe_file(file, draft) for file in sorted(draft.rglob("*")) if file.is_file()]
    manifest = {
        "format": 1,
        "step": step,
        "steps": training.steps,
        "world_size": 1,
        "strategy": "single",
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "files": [file.model_dump() for file in files],
    }
    (draft / MANIFEST).write_text(json.dumps(manifest, indent=1))
    verify_weights(trainer.model, draft)
    for file in draft.rglob("*"):
        flush(file)
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)
    flush(root)
    size = sum(file.size_bytes for file in files)
    journal.add(Checkpoint(step=step, folder=f"checkpoints/step-{step}", size_bytes=size))
    prune_checkpoints(root, training.keep_checkpoints)
    return folder


def whole_checkpoints(root: Path) -> list[Path]:
    """The checkpoints whose files are what their manifests say, newest first."""
    return [folder for folder in _by_step(root) if is_whole(folder)]


def is_whole(folder: Path) -> bool:
    """Whether every file of the manifest is there with its hash."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        return all(
            describe_file(folder / entry["path"], folder).model_dump() == entry
            for entry in manifest["files"]
        )
    except (OSError, ValueError, KeyError):
        return False


def prune_checkpoints(root: Path, keep: int) -> None:
    """Remove all but the newest `keep`, and what broken-off writing left behind."""
    for folder in _by_step(root)[max(keep, 1) :]:
        shutil.rmtree(folder, ignore_errors=True)
    for draft in root.glob(".step-*.partial"):
        shutil.rmtree(draft, ignore_errors=True)


def verify_weights(model: Any, folder: Path) -> None:
    """Compare the saved weights with those in memory, bit for bit.

    Raises:
        OutsideError: a weight is missing or differs.
    """
    saved = dict(read_weights(folder))
    for name, weight in trainable(model).items():
        kept = saved.get(_name_in_file(name))
        if kept is None or not torch.equal(kept.to(weight.device), weight.detach()):
            raise OutsideError(
                f"the checkpoint in {folder} is not what was written",
                f"the weight {name} "
                + ("is missing" if kept is None else "differs when read back"),
                "check the disk and its file system; the checkpoint before this one is whole",
                worker_exit=WorkerExit.DISK,
            )


@torch.no_grad()
def load_weights(model: Any, folder: Path) -> None:
    """Put a checkpoint's weights into the model, bit for bit."""
    saved = dict(read_weights(folder))
    for name, weight in trainable(model).items():
        weight.copy_(saved[_name_in_file(name)])


def save_weights(model: Any, folder: Path) -> None:
    """Write adapter or model as plain peft or transformers do, without peft's empty model card."""
    model.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)


def _name_in_file(name: str) -> str:
    """peft leaves the adapter's name out of its file."""
    return name.replace(".default.", ".")


def read_weights(folder: Path) -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor of a folder's safetensors files."""
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as handle:
            for name in handle.keys():  # noqa: SIM118 - no dict
                yield name, handle.get_tensor(name)


def rng_states() -> dict[str, Any]:
    """The state of every random number generator, in the form in which the Trainer reads it."""
    states: dict[str, Any] = {
        "python": random.getstate(),
        "numpy": np.random.get_state(),
        "cpu": torch.random.get_rng_state(),
    }
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.random.get_rng_state()
    return states


def restore_rng(states: dict[str, Any]) -> None:
    """Put every generator back."""
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])
    torch.random.set_rng_state(states["cpu"])
    if "cuda" in states:
        torch.cuda.random.set_rng_state(states["cuda"])


def describe_file(file: Path, root: Path) -> FileHash:
    """A file's place, size and SHA-256, read from the disk."""
    with file.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return FileHash(
        path=file.relative_to(root).as_posix(), size_bytes=file.stat().st_size, sha256=digest
    )


def flush(path: Path) -> None:
    """Make the disk keep a file's or a folder's content."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _by_step(root: Path) -> list[Path]:
    found = [folder for folder in root.glob("step-*") if folder.name[5:].isdigit()]
    return sorted(found, key=lambda folder: int(folder.name[5:]), reverse=True)
