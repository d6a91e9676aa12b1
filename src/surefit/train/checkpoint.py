"""Checkpoints: everything that going on needs, whole or not there at all.

    checkpoints/step-<N>/
        adapter_model.safetensors or model*.safetensors   weights
        optimizer.pt scheduler.pt rng_state.pth trainer_state.json   as the Trainer reads them again
        optimizer_<R>.pt rng_state_<R>.pth   instead, of each rank, where several train
        tally.json       counts so far
        manifest.json    written last: sizes and SHA-256 of all the others

A checkpoint is written under another name, read back, compared with the weights in memory, and only
then renamed. Old ones go after that, so there is always a whole one.
"""

import contextlib
import json
import os
import random
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from safetensors import safe_open

from surefit.errors import OutsideError, WorkerExit
from surefit.plan.plan import TrainingPlan
from surefit.runs.checkpoints import MANIFEST, checkpoint_folders, describe_file, is_whole
from surefit.runs.event import Checkpoint
from surefit.runs.fingerprint import fingerprint
from surefit.train import ranks
from surefit.train.journal import Journal
from surefit.train.model import trainable
from surefit.train.sharding import (
    gathered,
    is_shared_out,
    local,
    optimizer_share,
    rows_of_share,
    strategy_of,
)


def write_checkpoint(
    trainer: Any,
    journal: Journal,
    training: TrainingPlan,
    tally: Any,
    origin: dict[str, dict[str, str]],
) -> Path:
    """Write, verify and publish the checkpoint of the trainer's present step.

    Every rank writes what only it has, and compares its share of the weights with the file; the
    first writes the rest and publishes.

    Args:
        trainer: what is trained.
        journal: told when the checkpoint is whole.
        training: the plan.
        tally: the counts so far.
        origin: fingerprints of the base model and of the rows, see `origin_of`.

    Raises:
        OutsideError: the disk is full, or what was read back is not what was written.
    """
    step, root = trainer.state.global_step, journal.run.checkpoints
    folder, draft = root / f"step-{step}", root / f".step-{step}.partial"
    if ranks.is_first():
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
    ranks.barrier()
    save_weights(trainer.model, draft)
    if training.strategy == "fsdp" or ranks.is_first():
        torch.save(optimizer_share(trainer.optimizer), draft / optimizer_file(training.strategy))
    torch.save(rng_states(), draft / random_file())
    ranks.barrier()
    verify_weights(trainer.model, draft)
    ranks.barrier()
    if ranks.is_first():
        torch.save(trainer.lr_scheduler.state_dict(), draft / "scheduler.pt")
        trainer.state.save_to_json(str(draft / "trainer_state.json"))
        (draft / "tally.json").write_text(json.dumps(asdict(tally)))
        _publish(draft, folder, trainer, journal, training, origin)
        prune_checkpoints(root, training.keep_checkpoints, tally.best_step)
    ranks.barrier()
    return folder


def _publish(
    draft: Path,
    folder: Path,
    trainer: Any,
    journal: Journal,
    training: TrainingPlan,
    origin: dict[str, dict[str, str]],
) -> None:
    """Write the manifest, have the disk keep everything, and give the checkpoint its name."""
    step = trainer.state.global_step
    files = [describe_file(file, draft) for file in sorted(draft.rglob("*")) if file.is_file()]
    manifest = {
        "format": 1,
        "step": step,
        "steps": training.steps,
        "world_size": ranks.world_size(),
        "strategy": strategy_of(trainer.model_wrapped),
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "origin": origin,
        "files": [file.model_dump() for file in files],
    }
    (draft / MANIFEST).write_text(json.dumps(manifest, indent=1))
    for file in draft.rglob("*"):
        flush(file)
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)
    flush(folder.parent)
    size = sum(file.size_bytes for file in files)
    journal.add(Checkpoint(step=step, folder=f"checkpoints/step-{step}", size_bytes=size))


def optimizer_file(strategy: str) -> str:
    """Where the optimizer's state is kept: where it is shared out, a file for each rank."""
    return f"optimizer_{ranks.rank()}.pt" if strategy == "fsdp" else "optimizer.pt"


def random_file() -> str:
    """Where this rank's random numbers are kept; the names are those that the Trainer looks for."""
    return f"rng_state_{ranks.rank()}.pth" if ranks.world_size() > 1 else "rng_state.pth"


def checkpoint_bytes(trainer: Any) -> int:
    """About how large a checkpoint will be: the trained numbers, and the optimizer's two for each."""
    sizes = (weight.numel() * weight.element_size() for weight in trainable(trainer.model).values())
    return 3 * sum(sizes)


def prune_checkpoints(root: Path, keep: int, best: int | None = None) -> None:
    """Remove old checkpoints and what broken-off writing left behind.

    Kept are the newest `keep`, that of the step `best`, and, where none of the newest is whole, the
    newest that is.
    """
    folders = checkpoint_folders(root)
    newest, older = folders[: max(keep, 1)], folders[max(keep, 1) :]
    kept = {root / f"step-{best}"} if best is not None else set()
    if not any(is_whole(folder) for folder in newest):
        kept.add(next((folder for folder in older if is_whole(folder)), root))
    for folder in older:
        if folder not in kept:
            shutil.rmtree(folder, ignore_errors=True)
    for draft in root.glob(".step-*.partial"):
        shutil.rmtree(draft, ignore_errors=True)


def origin_of(base: Path, data: Path) -> dict[str, dict[str, str]]:
    """What a checkpoint belongs to: fingerprints of the base model's files and of the rows."""
    weights = [base / "config.json", *base.glob("*.safetensors")]
    return {"base": fingerprint(weights), "data": fingerprint(data.glob("train.*"))}


def verify_weights(model: Any, folder: Path) -> None:
    """Compare the saved weights with those in memory, bit for bit; each rank its share.

    Raises:
        OutsideError: a weight is missing or differs.
    """
    with SavedWeights(folder) as saved:
        for name, weight in trainable(model).items():
            kept = saved.part(name, weight) if name in saved else None
            if kept is None or not torch.equal(
                kept.to(local(weight).device), local(weight.detach())
            ):
                raise OutsideError(
                    f"the checkpoint in {folder} is not what was written",
                    f"the weight {name} "
                    + ("is missing" if kept is None else "differs when read back"),
                    "check the disk and its file system; the checkpoint before this one is whole",
                    worker_exit=WorkerExit.CONFIGURATION,
                    details={"class": "FILE_CORRUPT"},
                )


@torch.no_grad()
def load_weights(model: Any, folder: Path) -> None:
    """Put a checkpoint's weights into the model, bit for bit; each rank its share."""
    with SavedWeights(folder) as saved:
        for name, weight in trainable(model).items():
            local(weight).copy_(saved.part(name, weight))


def save_weights(model: Any, folder: Path) -> None:
    """Write adapter or model as plain peft or transformers do, without peft's empty model card.

    A sharded model is put together on the first rank: what is written is whole, and loads anywhere.
    """
    weights = trainable(model)
    shared_out = any(is_shared_out(weight) for weight in weights.values())
    content = {"state_dict": gathered(weights)} if shared_out else {}
    if ranks.is_first():
        model.save_pretrained(folder, **content)
        (folder / "README.md").unlink(missing_ok=True)


class SavedWeights(contextlib.AbstractContextManager["SavedWeights"]):
    """The tensors of a folder's safetensors files, read one at a time or in parts."""

    def __init__(self, folder: Path) -> None:
        self._open = contextlib.ExitStack()
        self._places: dict[str, Any] = {}
        for file in sorted(folder.glob("*.safetensors")):
            handle = self._open.enter_context(safe_open(file, framework="pt"))
            self._places.update(dict.fromkeys(handle.keys(), handle))

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def __contains__(self, name: str) -> bool:
        return _name_in_file(name) in self._places

    def part(self, name: str, weight: torch.Tensor) -> torch.Tensor:
        """What of a saved tensor this rank holds of `weight`."""
        name = _name_in_file(name)
        if not is_shared_out(weight):
            whole: torch.Tensor = self._places[name].get_tensor(name)
            return whole
        part: torch.Tensor = self._places[name].get_slice(name)[rows_of_share(weight.shape[0])]
        return part


def _name_in_file(name: str) -> str:
    """peft leaves the adapter's name out of its file, and a length's last word (DoRA)."""
    if "lora_magnitude_vector" in name:
        name = name.removesuffix(".weight").removesuffix(".default")
    return name.replace(".modules_to_save.default.", ".").replace(".default.", ".")


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


def flush(path: Path) -> None:
    """Make the disk keep a file's or a folder's content."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
