"""Every signature against dead runs with the right answer (tests/fixtures/failures)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from surefit.diagnose import SIGNATURES, Diagnosis, diagnose, gather_evidence

CASES = Path(__file__).parents[1] / "fixtures" / "failures"
PHASES = (
    "import", "load_tokenizer", "load_model", "prepare_data", "first_step", "train", "eval", "save", "push", "merge"
)  # fmt: skip
# The fixture that a signature was written for; more of its class stand beside it.
FIXTURES = {
    "SF000": "hub-retries-then-fine",
    "SF101": "ddp-70b-4bit-load-oom",
    "SF102": "long-row-oom-rank2-step412",
    "SF103": "reserved-unallocated-11gib",
    "SF104": "eval-batch-oom-after-500-steps",
    "SF105": "merge-on-gpu-oom",
    "SF110": "4bit-spilled-to-cpu",
    "SF112": "eight-ranks-four-gpus",
    "SF113": "blackwell-old-wheel",
    "SF114": "cpu-only-torch-build",
    "SF115": "bitsandbytes-no-binary-for-cuda",
    "SF116": "illegal-access-fused-kernel",
    "SF117": "ecc-error-mid-run",
    "SF118": "device-assert-token-id-too-large",
    "SF201": "rank1-killed-no-counter",
    "SF202": "rank1-host-memory-limit",
    "SF203": "sigterm-from-outside",
    "SF204": "rank1-native-crash-victim-blames-network",
    "SF205": "small-shm-says-no-space",
    "SF206": "loader-worker-killed",
    "SF207": "no-output-since-two-hours",
    "SF208": "too-many-open-files",
    "SF301": "lora-targets-of-other-architecture",
    "SF302": "model-newer-than-library",
    "SF303": "config-keyword-removed",
    "SF304": "peft-not-installed",
    "SF305": "custom-code-model",
    "SF306": "bin-file-blocked",
    "SF307": "truncated-shard",
    "SF308": "training-file-typo",
    "SF309": "resume-with-other-lora-rank",
    "SF310": "checkpoint-without-trainer-state",
    "SF311": "4bit-without-adapter",
    "SF401": "safetensors-storage-full",
    "SF402": "home-quota-exceeded",
    "SF403": "read-only-output",
    "SF501": "base-model-without-chat-template",
    "SF502": "no-pad-token",
    "SF503": "assistant-only-loss-on-plain-text",
    "SF504": "completion-cut-off-every-row",
    "SF505": "instruction-columns-without-text",
    "SF506": "broken-json-line",
    "SF507": "empty-training-file",
    "SF508": "save-and-eval-strategy-differ",
    "SF601": "nan-hidden-by-filter",
    "SF602": "fp16-weights-with-scaler",
    "SF603": "checkpointing-without-input-grads",
    "SF604": "zero-optimizer-steps",
    "SF701": "rank3-still-saving-nccl-timeout",
    "SF702": "only-the-victims-log",
    "SF703": "nccl-interface-unreachable",
    "SF704": "master-port-in-use",
    "SF705": "unused-head-under-ddp",
    "SF801": "gated-no-token-401",
    "SF802": "typo-in-model-id",
    "SF803": "expired-token-401",
    "SF804": "push-to-foreign-namespace-403",
    "SF805": "rate-limited-anonymous",
    "SF806": "hub-503-after-retries",
    "SF811": "slurm-time-limit",
    "SF812": "spot-instance-reclaimed",
    "SF813": "jobs-payment-required",
    "SF814": "space-not-healthy-30min",
    "SF815": "space-paused-no-log",
    "SF900": "surefit-worker-told",
    "SF901": "exit0-no-adapter-written",
    "SF999": "own-callback-keyerror",
}


def answer(name: str) -> dict[str, Any]:
    """The right answer of a case."""
    case: dict[str, Any] = json.loads((CASES / name / "case.json").read_text())
    return case


def diagnosis_of(name: str, tmp_path: Path) -> Diagnosis:
    """What surefit says about a case, with the exit status as the run's parent saw it."""
    folder = tmp_path / "run"
    folder.mkdir()
    for file in (CASES / name).rglob("*"):
        if file.is_file() and file.name != "case.json":
            copy = folder / file.relative_to(CASES / name)
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(file.read_bytes())
    (folder / "exit.json").write_text(json.dumps(answer(name)["exit"]))
    return diagnose(gather_evidence(folder))


def plain(value: object) -> str:
    """A text without case, spaces and signs: `rank 1` may stand as `[rank1]`."""
    return re.sub(r"[\W_]", "", str(value).lower())


ALL = sorted(path.parent.name for path in CASES.glob("*/case.json"))


@pytest.mark.parametrize("name", ALL)
def test_a_dead_run_gets_the_right_diagnosis(name: str, tmp_path: Path) -> None:
    case, diagnosis = answer(name), diagnosis_of(name, tmp_path)
    assert diagnosis.failure_class == case["class"].upper()
    assert diagnosis.failure_class not in [one.upper() for one in case["not_class"]]
    if case["root_rank"] is not None:
        assert diagnosis.root_rank == case["root_rank"]
    said = plain(diagnosis.model_dump_json(by_alias=True))
    assert [word for word in case["must_mention"] if plain(json.dumps(word)) not in said] == []
    assert diagnosis.retryable == case["retryable"]


@pytest.mark.parametrize("name", ALL)
def test_the_phase_is_right_or_nearly_so(name: str, tmp_path: Path) -> None:
    expected, found = answer(name)["phase"], diagnosis_of(name, tmp_path).phase
    if "unknown" not in (expected, found):
        assert abs(PHASES.index(expected) - PHASES.index(found)) <= 2


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda one: one.code)
def test_a_signature_answers_for_its_fixture(signature: Any, tmp_path: Path) -> None:
    diagnosis = diagnosis_of(FIXTURES[signature.code], tmp_path)
    assert diagnosis.code == signature.code
    if signature.code != "SF900":  # the worker's report names the class itself
        assert diagnosis.failure_class == signature.failure_class


@pytest.mark.parametrize("name", ALL)
def test_a_diagnosis_reads_well_aloud(name: str, tmp_path: Path) -> None:
    diagnosis = diagnosis_of(name, tmp_path)
    for text in (diagnosis.what, diagnosis.why, diagnosis.next_step):
        assert text.strip()
        assert not re.search(r"  |\n|: ?$|[:,;] ?;|,,", text)
    if diagnosis.failure_class != "UNKNOWN":  # that one quotes what it does not know
        assert not re.search(r"\bNone\b|\(\)[^`]|\{\w", diagnosis.what + " " + diagnosis.next_step)


def test_classes_are_those_of_the_table() -> None:
    assert {answer(name)["class"].upper() for name in ALL} == {
        one.failure_class for one in SIGNATURES
    }
