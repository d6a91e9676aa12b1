"""Saving the result and proving it: what a user will load gives the logits that were trained."""

import gc
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import peft
import torch
import transformers

from surefit.plan.plan import Plan
from surefit.recipe.schema import AdapterMethod
from surefit.runs.checkpoints import describe_file
from surefit.runs.result import FileHash, Verification
from surefit.train import ranks
from surefit.train.batches import collate_flat
from surefit.train.checkpoint import flush, save_weights
from surefit.train.failures import ConfigurationDiffers, NumericFailure
from surefit.train.loss import model_inputs
from surefit.train.model import load_base, load_trained
from surefit.train.rows import PreparedRows, Row
from surefit.train.sharding import shard

# What a tokenizer and a chat template consist of, beside weights and config.
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "chat_template.jinja",
    "generation_config.json",
)
_PROBE_TOKENS = 512


def save_model(model: Any, base_folder: Path, folder: Path) -> None:
    """Write adapter or model with the base's tokenizer files; the folder appears when whole.

    With several ranks the first one writes, and what is shared out is put together for it.
    """
    draft = folder.with_name(f".{folder.name}.partial")
    if ranks.is_first():
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
    save_weights(model, draft)
    if ranks.is_first():
        _publish(draft, base_folder, folder)
    ranks.barrier()


def _publish(draft: Path, base_folder: Path, folder: Path) -> None:
    for name in TOKENIZER_FILES:
        if (base_folder / name).is_file():
            shutil.copyfile(base_folder / name, draft / name)
    for file in draft.rglob("*"):
        flush(file)
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)
    flush(folder.parent)


def probe_rows(rows: PreparedRows, count: int) -> list[Row]:
    """The first rows, cut where they are long: enough to see any difference."""
    chosen = [rows[number] for number in range(min(count, len(rows)))]
    return [Row(row.number, row.ids[:_PROBE_TOKENS], row.mask[:_PROBE_TOKENS]) for row in chosen]


@torch.no_grad()
def probe_logits(model: Any, rows: Sequence[Row], device: torch.device) -> list[torch.Tensor]:
    """Logits [T, vocabulary] of each row alone, in eval mode; float32 on the CPU."""
    model.eval()
    found = []
    for row in rows:
        batch = {
            name: value.to(device) for name, value in model_inputs(collate_flat([row])).items()
        }
        found.append(model(**batch, use_cache=False)["logits"][0].float().cpu())
    return found


def largest_difference(one: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> float:
    """Largest absolute difference of a logit; infinite where one is not a number."""
    differences = [float((a - b).abs().max()) for a, b in zip(one, other, strict=True)]
    return max(value if value == value else float("inf") for value in differences)


def verify_saved(
    plan: Plan,
    folder: Path,
    rows: Sequence[Row],
    live: Sequence[torch.Tensor],
    device: torch.device,
) -> Verification:
    """Load base and result again by plain libraries and compare their logits with the live ones.

    Raises:
        ConfigurationDiffers: the saved result is not the model that was trained.
        NumericFailure: the saved result equals the base model.
    """
    training, tolerance = plan.training, plan.training.verify_tolerance
    before, reloaded = logits_of_saved(plan, folder, rows, device)
    difference = largest_difference(live, reloaded)
    change = largest_difference(before, reloaded)
    if difference > tolerance:
        raise ConfigurationDiffers(
            "the saved model is not the one that was trained",
            f"loaded again, a logit differs by {difference:.6g}; {tolerance:g} is allowed",
            f"do not use {folder}; the last checkpoint holds the trained weights. Report this",
            details={"max_difference": difference, "tolerance": tolerance},
        )
    if change == 0:
        raise NumericFailure(
            "the trained model is the base model: nothing was learned",
            f"on {len(rows)} probe rows every logit is the same as before",
            f"raise `goal.learning_rate` (now {training.learning_rate:g}) or `goal.epochs` "
            f"(now {training.epochs:g})",
        )
    return Verification(
        loaded_with=loaders(training.method),
        rows=len(rows),
        max_difference=difference,
        tolerance=tolerance,
        change_from_base=change,
    )


def logits_of_saved(
    plan: Plan, folder: Path, rows: Sequence[Row], device: torch.device
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Logits of the base and of the saved result, both loaded by plain libraries.

    Where the model was shared out, what is loaded is too: no rank has room for all of it.
    """
    training, base_folder = plan.training, Path(plan.model.folder)
    if training.strategy == "fsdp":
        base = load_shared_out(plan, None)
        before = probe_logits(base, rows, device)
        del base
        gc.collect()
        again = load_shared_out(plan, folder)
        return before, probe_logits(again, rows, device)
    base = load_base(base_folder, training, device)
    before = probe_logits(base, rows, device)
    again = load_trained(base, folder, training, device)
    return before, probe_logits(again, rows, device)


def load_shared_out(plan: Plan, folder: Path | None) -> Any:
    """The base, or what was saved in a folder, loaded by plain libraries and then shared out."""
    training, memory = plan.training, torch.device("cpu")

    def load() -> Any:
        base = load_base(Path(plan.model.folder), training, memory)
        model = base if folder is None else load_trained(base, folder, training, memory)
        return shard(model, training)

    return ranks.in_turn(load)


def loaders(method: object) -> str:
    """The libraries that loaded the result again."""
    plain = f"transformers {transformers.__version__}"
    return f"peft {peft.__version__} on {plain}" if isinstance(method, AdapterMethod) else plain


def hashed_files(folder: Path, root: Path) -> tuple[FileHash, ...]:
    """Every file of the result with its hash, paths relative to the run."""
    return tuple(describe_file(file, root) for file in sorted(folder.rglob("*")) if file.is_file())
