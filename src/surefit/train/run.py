"""A run, from the plan to the proof: reads top to bottom; each part is a module beside this one."""

import gc
import json
import logging
import time
import warnings
from pathlib import Path
from typing import Any

import torch
import transformers

from surefit.errors import Refused
from surefit.home import write_atomically
from surefit.plan.plan import Plan
from surefit.recipe.schema import AdapterMethod
from surefit.runs.checkpoints import newest_whole, read_manifest
from surefit.runs.fingerprint import changed_files
from surefit.runs.result import Result
from surefit.tokens import load_chat_tokenizer
from surefit.train import ranks
from surefit.train.checkpoint import origin_of
from surefit.train.failures import ConfigurationDiffers
from surefit.train.journal import Journal
from surefit.train.loop import Loop, Tally
from surefit.train.model import build_for_training, choose_device, set_seeds
from surefit.train.proof import hashed_files, probe_logits, probe_rows, save_model, verify_saved
from surefit.train.rehearsal import prove_packing, rehearse
from surefit.train.rows import PreparedRows, prepared_facts
from surefit.train.stop import StopSignal
from surefit.train.trainer import TokenTrainer


def train(plan: Plan, journal: Journal, stop: StopSignal) -> None:
    """Do everything the plan says. Returns when the result is proven, or the rehearsal is done."""
    training, run = plan.training, journal.run
    base_folder = Path(plan.model.folder)
    logging.captureWarnings(True)
    # peft asks transformers under the old name; nobody who reads the log can do anything about it.
    warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.* is deprecated")
    transformers.utils.logging.disable_progress_bar()
    device = choose_device(training)
    ranks.join(training)
    torch.set_num_threads(training.threads)
    if device.type == "cuda":
        journal.memory.use_cuda()
    set_seeds(training.seed)

    with journal.phase("load_tokenizer"):
        facts = prepared_facts(run.data)
        refuse_other_tokenizer(facts, base_folder)

    with journal.phase("prepare_data"):
        rows = PreparedRows(run.data, "train")
        eval_rows = PreparedRows(run.data, "eval") if facts["splits"].get("eval") else None
        for split in filter(None, (rows, eval_rows)):
            refuse_unfit_rows(split, plan)

    with journal.phase("load_model"):
        model = build_for_training(plan, device)
        trainer = TokenTrainer(model, training, rows, run.checkpoints)

    origin = origin_of(base_folder, run.data)
    loop = Loop(plan, journal, stop, trainer, eval_rows, origin)
    trainer.add_callback(loop)
    resumed = newest_checkpoint(run.checkpoints, journal, loop)
    if training.rehearse and resumed is None:
        with journal.phase("rehearsal"):
            rehearse(trainer, plan, journal, device)
        if training.only_rehearse:
            ranks.leave()
            return
    elif training.packing:
        prove_packing(trainer, plan, journal, device)

    # A stop waits for the end of a step from here, and comes at once again afterwards.
    stop.waits_for_step = True
    loop.train(resumed)
    stop.waits_for_step = False
    eval_loss = loop.evaluate(training.epochs)

    with journal.phase("save"):
        probes = probe_rows(rows, training.verify_rows)
        live = probe_logits(model, probes, device)
        save_model(model, base_folder, run.model)

    is_first, peaks = ranks.is_first(), ranks.gather(journal.peaks)
    if training.strategy != "fsdp":
        ranks.leave()  # the first rank has all that is left to do
        if not is_first:
            return

    trainer_steps = trainer.state.global_step
    with journal.phase("verify"):
        # The trainer, its optimizer and the trained model make room for what a user would load.
        del loop.trainer, model, trainer
        gc.collect()
        if device.type == "cuda":
            torch.cuda.empty_cache()
        verification = verify_saved(plan, run.model, probes, live, device)
        ranks.leave()
        if not is_first:
            return
        files = hashed_files(run.model, run.path)

    tally = loop.tally
    result = Result(
        kind="adapter" if isinstance(training.method, AdapterMethod) else "model",
        folder=run.model.name,
        base_model=plan.model.source,
        files=files,
        verification=verification,
        steps=trainer_steps,
        epochs=training.epochs,
        first_loss=tally.first_loss,
        final_loss=tally.last_loss,
        eval_loss=eval_loss,
        tokens=tally.tokens,
        trained_tokens=tally.trained_tokens,
        seconds=round(time.time() - journal.started, 3),
        peak_memory_bytes=max(max(one.values()) for one in [*peaks, journal.peaks]),
    )
    if training.ranks > 1:
        journal.note(
            "memory", "peak memory of each rank", ranks=[max(one.values()) for one in peaks]
        )
    journal.note("memory", "peak memory by phase", planned_bytes=plan.peak_bytes, **journal.peaks)
    write_atomically(run.result, result.model_dump_json(indent=1))


def refuse_other_tokenizer(facts: dict[str, Any], folder: Path) -> None:
    """Fail where the rows were prepared with another tokenizer than the model's.

    Raises:
        ConfigurationDiffers: the tokenizer or the chat template changed since.
    """
    now = load_chat_tokenizer(folder).sha256
    if facts["tokenizer_sha256"] != now:
        raise ConfigurationDiffers(
            f"the tokenizer in {folder} is not the one the rows were prepared with",
            f"its hash is {now[:12]}, that of the prepared rows {facts['tokenizer_sha256'][:12]}",
            "start the run again with `surefit train`; the rows are then prepared anew",
        )


def refuse_unfit_rows(rows: PreparedRows, plan: Plan) -> None:
    """Fail where the rows are not those the plan was made for, or the model has no place for them.

    Raises:
        ConfigurationDiffers: another number of rows, or a row that is too long.
        Refused: a token id that the model does not have.
    """
    training = plan.training
    if rows.split == "train" and len(rows) != training.rows:
        raise ConfigurationDiffers(
            f"there are {len(rows):,} prepared rows, and the plan is for {training.rows:,}",
            "the data changed after the plan was made",
            "start the run again with `surefit train`",
        )
    longest = int(rows.lengths.max())
    if longest > training.max_length:
        raise ConfigurationDiffers(
            f"a prepared row has {longest:,} tokens, and the plan is for {training.max_length:,}",
            f"it is row {int(rows.lengths.argmax())} of the {rows.split} rows",
            "start the run again with `surefit train`",
        )
    if rows.largest_id >= plan.model.vocabulary:
        raise Refused(
            f"the {rows.split} rows hold the token id {rows.largest_id:,}, and the model has "
            f"{plan.model.vocabulary:,} (0 to {plan.model.vocabulary - 1:,})",
            "the tokenizer knows more tokens than the model has embeddings",
            "use the tokenizer files that came with the model",
        )


def newest_checkpoint(root: Path, journal: Journal, loop: Loop) -> Path | None:
    """Where an earlier start of this run stopped, with its counts; None for a fresh run.

    Raises:
        ConfigurationDiffers: the checkpoint belongs to another base model or to other rows.
    """
    folder, broken = newest_whole(root)
    for one in broken:
        journal.note("checkpoint", f"{one.name} is passed over: {one.why}", folder=one.name)
    if folder is None:
        return None
    refuse_other_origin(folder, loop.origin)
    refuse_other_ranks(folder, loop.plan)
    loop.tally = Tally(**json.loads((folder / "tally.json").read_bytes()))
    journal.started -= loop.tally.seconds
    journal.note("resumed", f"going on from the checkpoint {folder.name}", folder=folder.name)
    return folder


def refuse_other_ranks(folder: Path, plan: Plan) -> None:
    """Fail where a checkpoint was written by another number of ranks, or another strategy.

    Raises:
        ConfigurationDiffers: each rank finds only its own state there.
    """
    training, manifest = plan.training, read_manifest(folder) or {}
    then = (manifest.get("strategy", "single"), manifest.get("world_size", 1))
    if then != (training.strategy, training.ranks):
        raise ConfigurationDiffers(
            f"the checkpoint {folder.name} is of {then[1]} ranks ({then[0]}), and the plan is for "
            f"{training.ranks} ({training.strategy})",
            "random numbers and the optimizer's parts belong to each rank",
            f"set `how.strategy: {then[0]}` and `how.ranks: {then[1]}`, or start a new run from "
            f"{folder.parents[1] / 'recipe.json'}",
            details={"class": "RESUME_BAD"},
        )


def refuse_other_origin(folder: Path, now: dict[str, dict[str, str]]) -> None:
    """Fail where a checkpoint was trained from another base model or on other rows.

    Raises:
        ConfigurationDiffers: with the files that differ.
    """
    before = (read_manifest(folder) or {}).get("origin", {})
    for part, words in (("base", "base model"), ("data", "prepared rows")):
        changed = changed_files(before[part], now[part]) if part in before else []
        if changed:
            raise ConfigurationDiffers(
                f"the {words} changed since the checkpoint {folder.name} was written",
                f"other content in {', '.join(changed)}",
                f"put back what was there, or start a new run from {folder.parents[1] / 'recipe.json'} "
                "with `surefit train`",
                details={"class": "RESUME_BAD", "changed": changed},
            )
