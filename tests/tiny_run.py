"""A run folder with a tiny random model, made for the worker alone."""

import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers

from surefit.hardware.machine import Hardware
from surefit.models.facts import LinearShape, ModelFacts, ParameterCounts
from surefit.plan.plan import Plan, TrainingPlan
from surefit.recipe.schema import FullMethod, LoraMethod
from surefit.runs.event import Metric, Note, Problem
from surefit.runs.folder import RunFolder
from surefit.tokens import load_chat_tokenizer

HIDDEN, MIDDLE, LAYERS, HEADS, KV_HEADS = 32, 64, 2, 4, 2
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SHAPES = tuple(
    LinearShape(name=name, inputs=inputs, outputs=outputs)
    for name, inputs, outputs in (
        ("q_proj", HIDDEN, HIDDEN),
        ("k_proj", HIDDEN, HIDDEN // HEADS * KV_HEADS),
        ("v_proj", HIDDEN, HIDDEN // HEADS * KV_HEADS),
        ("o_proj", HIDDEN, HIDDEN),
        ("gate_proj", HIDDEN, MIDDLE),
        ("up_proj", HIDDEN, MIDDLE),
        ("down_proj", MIDDLE, HIDDEN),
    )
)
LORA = LoraMethod(type="lora", rank=4)
FULL = FullMethod(type="full")


def write_model(folder: Path, seed: int = 0) -> Path:
    """A random Llama of about 40,000 parameters with a tokenizer of single letters."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    import transformers

    letters = [chr(code) for code in range(32, 127)] + ["\n"]
    special = ["<unk>", "<|im_start|>", "<|im_end|>"]
    words = {word: number for number, word in enumerate(special + letters)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(
        tokenizers.Regex("[\\s\\S]"), "isolated"
    )
    tokenizer.decoder = tokenizers.decoders.Fuse()
    tokenizer.add_special_tokens(special)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "eos_token": "<|im_end|>",
                "unk_token": "<unk>",
                "pad_token": "<|im_end|>",
                "chat_template": TEMPLATE,
            }
        )
    )
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(words),
        hidden_size=HIDDEN,
        intermediate_size=MIDDLE,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        max_position_embeddings=256,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=words["<|im_end|>"],
        pad_token_id=words["<|im_end|>"],
    )
    model = transformers.LlamaForCausalLM(config)
    # Real models are surer of themselves than torch's small random start.
    for weight in model.parameters():
        if weight.dim() == 2:
            weight.data.mul_(5)
    model.save_pretrained(folder)
    return folder


def facts_of(folder: Path) -> ModelFacts:
    """The model facts, counted by hand from the shapes above."""
    vocabulary = json.loads((folder / "config.json").read_text())["vocab_size"]
    linear = sum(shape.inputs * shape.outputs for shape in SHAPES) * LAYERS
    counts = ParameterCounts(
        embedding=vocabulary * HIDDEN, head=0, linear=linear, norm=HIDDEN * (2 * LAYERS + 1)
    )
    return ModelFacts(
        source=str(folder),
        folder=str(folder),
        model_type="llama",
        architecture="LlamaForCausalLM",
        known_family=True,
        hidden_size=HIDDEN,
        layers=LAYERS,
        heads=HEADS,
        kv_heads=KV_HEADS,
        head_dim=HIDDEN // HEADS,
        intermediate_size=MIDDLE,
        vocabulary=vocabulary,
        max_positions=256,
        tied_embeddings=True,
        stored_dtype="float32",
        parameters=counts,
        block_linears=SHAPES,
        weight_files=("model.safetensors",),
        weight_bytes=(folder / "model.safetensors").stat().st_size,
    )


def conversations(count: int, seed: int = 0) -> list[list[dict[str, str]]]:
    """Conversations of very uneven length with a learnable answer: the question, backwards."""
    chance = random.Random(seed)
    rows = []
    for _ in range(count):
        word = "".join(chance.choice("abcdef") for _ in range(chance.choice([2, 3, 5, 9, 20])))
        rows.append(
            [{"role": "user", "content": word}, {"role": "assistant", "content": word[::-1]}]
        )
    return rows


def write_prepared(
    folder: Path, model: Path, splits: dict[str, Sequence[list[dict[str, str]]]]
) -> None:
    """The prepared folder as `surefit.data` lays it out."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = load_chat_tokenizer(model)
    facts: dict[str, Any] = {"format": 1, "tokenizer_sha256": tokenizer.sha256, "max_length": 256}
    facts["splits"] = {}
    for split, rows in splits.items():
        encoded = [tokenizer.encode(row) for row in rows]
        ids = np.concatenate([np.asarray(row.ids, dtype="<u4") for row in encoded])
        mask = np.concatenate([np.frombuffer(row.mask, dtype="u1") for row in encoded])
        ends = np.cumsum([0] + [len(row.ids) for row in encoded]).astype("<u8")
        ids.tofile(folder / f"{split}.ids.u32")
        mask.tofile(folder / f"{split}.mask.u8")
        ends.tofile(folder / f"{split}.offsets.u64")
        facts["splits"][split] = {
            "rows": len(encoded),
            "tokens": len(ids),
            "trained": int(mask.sum()),
        }
    (folder / "prepared.json").write_text(json.dumps(facts))


def plan_for(model: Path, rows: int, **changes: Any) -> Plan:
    """A plan; every field of `training` may be given."""
    method = changes.pop("method", LORA)
    settings: dict[str, Any] = {
        "method": method,
        "targets": tuple(shape.name for shape in SHAPES) if method.type == "lora" else (),
        "device": "cpu",
        "precision": "float32",
        "attention": "sdpa",
        "layout": "flat",
        "gradient_checkpointing": False,
        "threads": 1,
        "batch": 8,
        "micro_batch": 4,
        "accumulation": 2,
        "max_length": 256,
        "rows": rows,
        "epochs": 2,
        "learning_rate": 5e-3,
        "schedule": "cosine",
        "warmup_steps": 1,
        "weight_decay": 0.0,
        "seed": 17,
        "checkpoint_every_steps": 100,
        "keep_checkpoints": 2,
        "heartbeat_seconds": 0.2,
        "rehearse": False,
        **changes,
    }
    per_epoch = -(-rows // settings["batch"])
    settings.setdefault("steps", math.ceil(round(per_epoch * settings["epochs"], 6)))
    return Plan(
        verdict="fits",
        verdict_reason="tiny",
        devices=("cpu",),
        peak_bytes=2**30,
        low_bytes=2**29,
        high_bytes=2**31,
        budget_bytes=2**33,
        account=(),
        peak_moment="train",
        decisions=(),
        disk_free_bytes=2**33,
        training=TrainingPlan(**settings),
        model=facts_of(model),
        hardware=Hardware(
            name="test",
            devices=(),
            cpu_cores=1,
            load=0,
            ram_total_bytes=2**34,
            ram_free_bytes=2**33,
            disk_free_bytes=2**33,
            disk_folder="",
        ),
        surefit_version="0",
    )


def write_run(
    folder: Path, model: Path, rows: int = 20, eval_rows: int = 0, **changes: Any
) -> RunFolder:
    """A run folder that a worker can start on."""
    splits = {"train": conversations(rows)}
    if eval_rows:
        splits["eval"] = conversations(eval_rows, seed=1)
    write_prepared(folder / "data", model, splits)
    (folder / "plan.json").write_text(plan_for(model, rows, **changes).model_dump_json())
    (folder / "log").mkdir(exist_ok=True)
    return RunFolder(folder)


def worker_command(run: RunFolder) -> list[str]:
    """The worker's argv."""
    return [sys.executable, "-m", "surefit.train", str(run.path)]


def run_worker(run: RunFolder, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    """Run a worker to its end."""
    return subprocess.run(
        worker_command(run), capture_output=True, text=True, timeout=seconds, check=False
    )


def metrics(run: RunFolder, split: str = "train") -> list[Metric]:
    """The metrics of a run."""
    found = (event for _, event in run.read_events())
    return [event for event in found if isinstance(event, Metric) and event.split == split]


def losses(run: RunFolder) -> list[float | None]:
    """The training loss of every step."""
    return [metric.loss for metric in metrics(run)]


def problems(run: RunFolder) -> list[Problem]:
    """The problems of a run."""
    return [event for _, event in run.read_events() if isinstance(event, Problem)]


def notes(run: RunFolder, topic: str) -> list[Note]:
    """The notes of a run on a topic."""
    found = (event for _, event in run.read_events())
    return [event for event in found if isinstance(event, Note) and event.topic == topic]
