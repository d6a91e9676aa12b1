"""Preparing a file of chats against TRL's own preparation, and against the tokenizers library alone.

    scripts/bench data_preparation [--rows 20000] [--rounds 3] [--model FOLDER] [--alone] [--name NAME]

Every run is a process of its own with one thread, and all have the same file. The variants of a round run
at the same time and share one core, which changes from round to round: what else the machine does, also
on the other half of that core, then hits all of them alike.

surefit  `check_data(..., prepare=True)`: read, all checks, template, tokens, mask, written to the disk
trl      `datasets.load_dataset` and what SFTTrainer does with it when it is made: template, tokens, cut,
         written to the disk by `datasets`; the answer mask only where the template has blocks for it
bare     `encode_batch_fast` of the tokenizers library over texts that were rendered before and are in
         memory, 256 at once; nothing is kept, written, or asked of a token but the number
places   the same with `encode_batch`, which also tells where in the text a token is (a mask needs that)

CPU seconds (user and system) of the work alone: imports, loading the tokenizer and, for TRL, the model are
left out; "process" counts everything. The ids of surefit and TRL are compared, over all rows.
Without --model the starter's tokenizer is used. With --alone no two rows share a system turn.
Writes bench/results/data_preparation_<name>.md; ends with 1 below 3.5 times the rows of TRL for each CPU
second, below 85 % of the tokens of the bare library, or above 150 MB of memory.
"""

import argparse
import array
import hashlib
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from _chats import write_chats

ROOT = Path(__file__).resolve().parents[1]
STARTER = ROOT / "src" / "surefit" / "models" / "starter"
MAX_LENGTH, ROWS_AT_ONCE = 2048, 256
WANTED_RATIO, WANTED_SHARE, WANTED_BYTES = 3.5, 0.85, 150e6
Figure = dict[str, Any]


def main() -> int:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", type=Path, default=STARTER)
    parser.add_argument("--name")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--one", choices=VARIANTS)
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.one, given.model.resolve(), given.work)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_chats(work / "chats.jsonl", given.rows, alone=given.alone)
        figures: dict[str, list[Figure]] = {name: [] for name in VARIANTS}
        cores = sorted(os.sched_getaffinity(0))
        for number in range(given.rounds):
            os.sched_setaffinity(0, {cores[number % len(cores)]})
            with ThreadPoolExecutor(len(VARIANTS)) as together:
                runs = [
                    together.submit(run_one, name, given.model.resolve(), work) for name in VARIANTS
                ]
            for name, run in zip(VARIANTS, runs, strict=True):
                figures[name].append(run.result())
                shown = rate(figures[name][-1], "tokens")
                print(f"round {number + 1}: {name:8} {shown:9,.0f} tokens/CPU s", flush=True)
        lengths = sorted(json.loads((work / "lengths.json").read_text()))
    name = given.name or f"{given.model.resolve().name}_{given.rows}{'_alone' * given.alone}"
    text = report(figures, given, lengths)
    print(text)
    results = ROOT / "bench" / "results"
    results.mkdir(exist_ok=True)
    (results / f"data_preparation_{name}.md").write_text(text)
    return 0 if reached(figures) else 1


def run_one(name: str, model: Path, work: Path) -> Figure:
    """One variant in a process of its own, with a cache of its own."""
    with tempfile.TemporaryDirectory(dir=work) as cache:
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": cache,
            "SUREFIT_HOME": cache,
        }
        command = [sys.executable, __file__, "--one", name]
        command += ["--model", str(model), "--work", str(work)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measured(name: str, model: Path, work: Path) -> Figure:
    """Run a variant in this process; its CPU seconds, tokens, rows, memory, and a hash of all ids."""
    figure = VARIANTS[name](model, work)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    figure["process_seconds"] = usage.ru_utime + usage.ru_stime
    return figure


def timed(action: Callable[[], Any]) -> tuple[Any, Figure]:
    """What an action gives, its CPU seconds, and the peak memory of the process until then."""
    began = time.process_time()
    given = action()
    seconds = time.process_time() - began
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return given, {"seconds": seconds, "peak_bytes": peak_bytes}


def with_surefit(model: Path, work: Path) -> Figure:
    """What `surefit train` does with the data before a run starts."""
    from surefit.data import check_data
    from surefit.recipe.data_spec import DataSpec
    from surefit.tokens import load_chat_tokenizer

    tokenizer = load_chat_tokenizer(model)
    spec = DataSpec(train="chats.jsonl")
    report, figure = timed(
        lambda: check_data(
            spec, work, tokenizer, max_length=MAX_LENGTH, batch=8, seed=1, prepare=True
        )
    )
    if report.verdict == "refuse" or report.tokens is None:
        raise SystemExit(f"surefit refuses the rows: {report.findings}")
    folder = Path(report.prepared)
    offsets = array.array("Q", (folder / "train.offsets.u64").read_bytes())
    lengths = [end - start for start, end in itertools.pairwise(offsets)]
    (work / "lengths.json").write_text(json.dumps(lengths))
    with (folder / "train.ids.u32").open("rb") as ids:
        digest = hashlib.file_digest(ids, "sha256").hexdigest()
    counts = {"rows": len(lengths), "tokens": report.tokens.total, "trained": report.tokens.trained}
    return {**figure, **counts, "ids": digest}


def with_trl(model: Path, work: Path) -> Figure:
    """What a 20-line script makes TRL do before its first step."""
    import datasets
    import transformers
    import trl

    datasets.disable_progress_bars()
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    blocks = "endgeneration" in tokenizer.chat_template
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=1,
    )
    nano = transformers.LlamaForCausalLM(config)
    arguments = trl.SFTConfig(
        output_dir=str(work / "trl"),
        max_length=MAX_LENGTH,
        assistant_only_loss=blocks,
        bf16=False,
        use_cpu=True,
        report_to="none",
        disable_tqdm=True,
    )

    def trainer_of(file: Path) -> Any:
        rows = datasets.load_dataset("json", data_files=str(file), split="train")
        return trl.SFTTrainer(
            model=nano, args=arguments, train_dataset=rows, processing_class=tokenizer
        )

    few = work / "few.jsonl"
    few.write_bytes(b"".join((work / "chats.jsonl").open("rb").readlines()[:8]))
    trainer_of(few)  # imports and the first look at everything
    trainer, figure = timed(lambda: trainer_of(work / "chats.jsonl"))
    digest, tokens, rows = hashlib.sha256(), 0, 0
    for batch in trainer.train_dataset.iter(1000):
        for ids in batch["input_ids"]:
            digest.update(array.array("I", ids).tobytes())
            tokens, rows = tokens + len(ids), rows + 1
    return {**figure, "rows": rows, "tokens": tokens, "ids": digest.hexdigest()}


def with_library(how: str) -> Callable[[Path, Path], Figure]:
    """The tokenizers library over rendered texts."""

    def run(model: Path, work: Path) -> Figure:
        import tokenizers

        from surefit.tokens import load_chat_tokenizer

        chat = load_chat_tokenizer(model)
        lines = (work / "chats.jsonl").read_text(encoding="utf-8").splitlines()
        texts = [chat.render(json.loads(line)["messages"]) for line in lines]
        del chat, lines
        encode = getattr(tokenizers.Tokenizer.from_file(str(model / "tokenizer.json")), how)

        def tokens() -> int:
            return sum(
                len(encoding)
                for at in range(0, len(texts), ROWS_AT_ONCE)
                for encoding in encode(texts[at : at + ROWS_AT_ONCE], add_special_tokens=False)
            )

        count, figure = timed(tokens)
        return {**figure, "rows": len(texts), "tokens": count}

    return run


VARIANTS: dict[str, Callable[[Path, Path], Figure]] = {
    "surefit": with_surefit,
    "trl": with_trl,
    "bare": with_library("encode_batch_fast"),
    "places": with_library("encode_batch"),
}


def rate(figure: Figure, what: str) -> float:
    """Rows or tokens for each CPU second."""
    return float(figure[what] / figure["seconds"])


def ratios(figures: dict[str, list[Figure]], name: str, to: str, what: str) -> tuple[float, ...]:
    """Median, smallest and largest of the rounds' ratios of rates."""
    rounds = [
        rate(one, what) / rate(other, what)
        for one, other in zip(figures[name], figures[to], strict=True)
    ]
    return statistics.median(rounds), min(rounds), max(rounds)


def reached(figures: dict[str, list[Figure]]) -> bool:
    """Whether what was promised was measured."""
    return (
        ratios(figures, "surefit", "trl", "rows")[0] >= WANTED_RATIO
        and ratios(figures, "surefit", "bare", "tokens")[0] >= WANTED_SHARE
        and max(figure["peak_bytes"] for figure in figures["surefit"]) <= WANTED_BYTES
        and same_ids(figures)
    )


def same_ids(figures: dict[str, list[Figure]]) -> bool:
    """Whether surefit and TRL gave the same ids for all rows, in every round."""
    return len({figure["ids"] for name in ("surefit", "trl") for figure in figures[name]}) == 1


def report(figures: dict[str, list[Figure]], given: argparse.Namespace, lengths: list[int]) -> str:
    """The table, with the ranges."""
    import datasets
    import tokenizers
    import transformers
    import trl

    rows, tokens = len(lengths), sum(lengths)
    spread = (lengths[0], lengths[rows // 2], round(tokens / rows), lengths[rows * 9 // 10])
    spread_text = " / ".join(map(str, (*spread, lengths[-1])))
    shared = "no two share a system turn" if given.alone else "half have one of six system turns"
    lines = [
        f"# Data preparation, tokenizer `{given.model.resolve().name}`",
        "",
        f"{rows:,} chats by seed ({shared}), "
        f"{tokens:,} tokens, lengths {spread_text} (min, median, mean, p90, max), cut at {MAX_LENGTH}. "
        f"{given.rounds} rounds; the variants of a round run at the same time on one core, with one thread "
        f"each; CPU seconds of the work alone. `bench/data_preparation.py` says what each variant does. "
        f"tokenizers {tokenizers.__version__}, transformers {transformers.__version__}, "
        f"datasets {datasets.__version__}, trl {trl.__version__}.",
        "",
        "| variant | CPU s (range) | rows per CPU s | tokens per CPU s | rows against TRL: median (range) "
        "| tokens against bare: median (range) | peak memory | CPU s of the process |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, runs in figures.items():
        seconds = [run["seconds"] for run in runs]
        rates = [statistics.median(rate(run, what) for run in runs) for what in ("rows", "tokens")]
        times, times_low, times_high = ratios(figures, name, "trl", "rows")
        share, share_low, share_high = ratios(figures, name, "bare", "tokens")
        lines.append(
            f"| {name} | {statistics.median(seconds):.1f} ({min(seconds):.1f} to {max(seconds):.1f}) "
            f"| {rates[0]:,.0f} | {rates[1]:,.0f} | {times:.2f} ({times_low:.2f} to {times_high:.2f}) "
            f"| {100 * share:.0f} % ({100 * share_low:.0f} to {100 * share_high:.0f}) "
            f"| {max(run['peak_bytes'] for run in runs) / 1e6:,.0f} MB "
            f"| {statistics.median(run['process_seconds'] for run in runs):.1f} |"
        )
    same = "the same" if same_ids(figures) else "NOT the same"
    trained = figures["surefit"][0]["trained"]
    told = (
        f"surefit and TRL gave {same} ids for all rows (SHA-256 over all ids, in every round). surefit also "
        f"wrote the answer mask: {trained:,} tokens carry loss. `bare` and `places` hold all texts in memory, "
        "which is their memory, not the library's."
    )
    return "\n".join([*lines, "", told, ""])


if __name__ == "__main__":
    sys.exit(main())
