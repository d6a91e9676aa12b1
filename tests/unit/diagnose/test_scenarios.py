"""Whole deaths: several ranks, signals, schedulers, silent failures, and successes that look bad."""

import time

import pytest
from unit.diagnose.logs import NOISE, evidence, steps, torchrun_end, trace

from surefit.diagnose import Diagnosis, diagnose
from surefit.diagnose.evidence import Beat

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of "
    "23.53 GiB of which 849.92 MiB is free. Including non-PyTorch memory, this process has "
    "22.70 GiB memory in "
    "use. Of the allocated memory 21.90 GiB is allocated by PyTorch, and 307.20 MiB is reserved "
    "by PyTorch but "
    "unallocated."
)
STEP = ("transformers/trainer.py:_inner_training_loop", "transformers/trainer.py:training_step")
PEER = (
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:589] Connection "
    "closed by peer [10.0.0.7]:331"
)
NCCL_ABORT = "torch.distributed.DistBackendError: NCCL communicator was aborted on rank 0."
WEIGHTS = {"out/adapter_model.safetensors": 83_945_312, "out/adapter_config.json": 812}
SAVED = (
    "{'train_runtime': '60.1', 'train_loss': '1.21', 'epoch': '1'}\n2026-05-05 INFO sft: "
    "saving to /out\ndone\n"
)


def watchdog(*ranks: int, number: int = 77) -> str:
    """What NCCL's watchdog prints on the ranks that wait."""
    return (
        "".join(
            f"[rank{r}]:[E703 03:14:07.2 ProcessGroupNCCL.cpp:616] [Rank {r}] Watchdog caught "
            f"collective operation "
            f"timeout: WorkNCCL(SeqNum={number}, OpType=ALLGATHER, NumelIn=1, NumelOut=1, "
            f"Timeout(ms)=1800000) ran for "
            f"1800011 milliseconds before timing out.\n"
            for r in ranks
        )
        + "terminate called after throwing an instance of 'c10::DistBackendError'\n"
    )


def classes(diagnosis: Diagnosis) -> tuple[str, int | None]:
    """The class and the rank."""
    return diagnosis.failure_class, diagnosis.root_rank


@pytest.mark.parametrize(("code", "signal"), [(137, None), (-9, None), (None, 9)])
def test_signal_9_is_killed_in_every_notation(code: int | None, signal: int | None) -> None:
    assert classes(diagnose(evidence(steps(12), code, signal))) == ("KILLED", None)


@pytest.mark.parametrize(
    ("code", "signal", "expected"),
    [(139, None, "SEGV"), (-11, None, "SEGV"), (None, 11, "SEGV"), (135, None, "SHM"), (None, 7, "SHM"),
     (143, None, "TERMINATED"), (-15, None, "TERMINATED"), (130, None, "TERMINATED"), (None, 2, "TERMINATED"),
     (134, None, "UNKNOWN"), (None, 8, "UNKNOWN"), (132, None, "UNKNOWN"), (1, None, "UNKNOWN"), (3, None, "UNKNOWN"),
     (124, None, "TIME_LIMIT"), (127, None, "IMPORT"), (126, None, "IMPORT")],
)  # fmt: skip
def test_a_silent_death_is_told_by_its_status(
    code: int | None, signal: int | None, expected: str
) -> None:
    assert diagnose(evidence(steps(12), code, signal)).failure_class == expected


@pytest.mark.parametrize(
    "proof",
    ["slurmstepd: error: Detected 2 oom_kill events in StepId=77.batch. Some of the step tasks "
     "have been OOM Killed.",
     "[ 4411.1] Memory cgroup out of memory: Killed process 30821 (python) total-vm:71303168kB",
     "[ 4411.1] Out of memory: Killed process 991 (python3) total-vm:71303168kB, anon-rss:6000kB",
     "State: Terminated Reason: OOMKilled Exit Code: 137",
     "slurmstepd: error: Exceeded job memory limit at some point."],
)  # fmt: skip
@pytest.mark.parametrize("code", [137, 1])
def test_the_systems_own_word_proves_a_memory_kill(proof: str, code: int) -> None:
    assert diagnose(evidence(steps(12) + proof + "\n", code)).failure_class == "HOST_OOM"


@pytest.mark.parametrize(
    "given", [{"oom_kill": 2}, {"scheduler": "OUT_OF_MEMORY"}, {"scheduler": "OOMKilled"}]
)
def test_a_counter_or_state_proves_a_memory_kill(given: dict[str, object]) -> None:
    assert diagnose(evidence(steps(12), 137, **given)).failure_class == "HOST_OOM"  # type: ignore[arg-type]


def test_a_counter_that_rose_does_not_explain_an_exception_of_its_own() -> None:
    log = trace(
        "KeyError: 'text'", "datasets/arrow_dataset.py:map", "datasets/formatting.py:__getitem__"
    )
    assert diagnose(evidence(log, 1, oom_kill=1)).failure_class == "NO_COLUMNS"


@pytest.mark.parametrize(
    ("code", "name", "expected"), [(-9, "SIGKILL", "KILLED"), (-11, "SIGSEGV", "SEGV")]
)
def test_the_rank_that_died_is_named_and_not_its_victim(
    code: int, name: str, expected: str
) -> None:
    log = trace(PEER, *STEP, rank=0) + trace(NCCL_ABORT, *STEP, rank=1)
    log += torchrun_end(2, code, {0: -15, 1: 1}, name)
    assert classes(diagnose(evidence(log, 1))) == (expected, 2)


def test_an_error_beats_the_victims_that_were_printed_before_it() -> None:
    log = trace(PEER, *STEP, rank=0) + trace(
        "KeyError: 'prompt'", "datasets/x.py:__getitem__", rank=3
    )
    log += torchrun_end(3, 1, {0: -15})
    assert classes(diagnose(evidence(log, 1))) == ("NO_COLUMNS", 3)


def test_an_error_beats_the_launchers_word_about_a_victim() -> None:
    log = trace(OOM, *STEP, rank=1) + trace(PEER, *STEP, rank=0) + torchrun_end(0, 1, {1: 1})
    assert classes(diagnose(evidence(steps(5) + log, 1))) == ("GPU_OOM_STEP", 1)


def test_an_error_beats_those_that_waited_for_it() -> None:
    log = (
        steps(9)
        + watchdog(0, 1, 2)
        + trace(OOM, *STEP, rank=3)
        + torchrun_end(0, -6, {1: -6, 2: -6, 3: 1})
    )
    assert classes(diagnose(evidence(log, 1))) == ("GPU_OOM_STEP", 3)


def test_the_silent_rank_is_named_when_the_others_waited() -> None:
    log = steps(9) + watchdog(0, 1, 3) + torchrun_end(0, -6, {1: -6, 2: -15, 3: -6}, "SIGABRT")
    diagnosis = diagnose(evidence(log, 1))
    assert classes(diagnosis) == ("COLLECTIVE_TIMEOUT", 2)
    assert "1800000" in diagnosis.why
    assert "ALLGATHER" in diagnosis.why


def test_the_rank_with_the_lower_collective_is_named_when_all_waited() -> None:
    log = steps(9) + watchdog(0, 2, number=88) + watchdog(1, number=87)
    assert classes(diagnose(evidence(log, 134))) == ("COLLECTIVE_TIMEOUT", 1)


def test_the_rank_with_the_older_heartbeat_is_named() -> None:
    beats = (Beat(0, "train", 40, 2.0), Beat(1, "train", 39, 602.0))
    log = trace("RuntimeError: Timed out waiting 600000ms for recv operation to complete", *STEP)
    assert classes(diagnose(evidence(log, 1, beats=beats))) == ("COLLECTIVE_TIMEOUT", 1)


def test_a_launchers_traceback_alone_is_not_a_cause() -> None:
    error = (
        "subprocess.CalledProcessError: Command '['python', 'train.py']' returned non-zero "
        "exit status 1."
    )
    assert (
        diagnose(
            evidence(trace(error, "accelerate/commands/launch.py:simple_launcher"))
        ).failure_class
        == "UNKNOWN"
    )


@pytest.mark.parametrize(
    ("error", "expected"),
    [("died with <Signals.SIGKILL: 9>.", "KILLED"), ("died with <Signals.SIGSEGV: 11>.", "SEGV"),
     ("returned non-zero exit status 137.", "KILLED")],
)  # fmt: skip
def test_a_launcher_tells_the_signal_of_its_child(error: str, expected: str) -> None:
    log = trace(
        f"subprocess.CalledProcessError: Command '['python', 'train.py']' {error}",
        "accelerate/x.py:run",
    )
    assert diagnose(evidence(log)).failure_class == expected


@pytest.mark.parametrize(
    ("scheduler", "expected"),
    [("TIMEOUT", "TIME_LIMIT"), ("DEADLINE", "TIME_LIMIT"), ("DeadlineExceeded", "TIME_LIMIT"),
     ("PREEMPTED", "PREEMPTED"), ("NODE_FAIL", "PREEMPTED"), ("BOOT_FAIL", "PREEMPTED"), ("Evicted", "PREEMPTED"),
     ("CANCELLED", "TERMINATED"), ("CANCELLED by 1001", "TERMINATED"), ("PAUSED", "SPACE_PAUSED")],
)  # fmt: skip
def test_the_schedulers_word_is_believed(scheduler: str, expected: str) -> None:
    log = (
        steps(9)
        + "W0426 13:47:10.1 2190 torch/distributed/x.py:1] Sending process 2201 closing signal "
        "SIGTERM\n"
    )
    assert diagnose(evidence(log, None, 15, scheduler=scheduler)).failure_class == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [("slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-06-08T06:00:21 DUE TO TIME LIMIT "
      "***", "TIME_LIMIT"),
     ("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-06-08T06:00:21 DUE TO NODE FAILURE "
      "***", "PREEMPTED"),
     ("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-06-08T06:00:21 ***", "TERMINATED"),
     ("Job timeout", "TIME_LIMIT"),
     ("Pod was active on the node longer than the specified deadline: DeadlineExceeded", "TIME_LIMIT"),
     ("The node was low on resource: ephemeral-storage. Pod train-0 was evicted", "PREEMPTED"),
     ("Instance i-0ab was reclaimed by the provider", "PREEMPTED")],
)  # fmt: skip
def test_the_platforms_line_is_believed(line: str, expected: str) -> None:
    assert diagnose(evidence(steps(9) + line + "\n", 143)).failure_class == expected


def test_ctrl_c_is_no_bug() -> None:
    log = steps(9) + trace("KeyboardInterrupt", *STEP)
    assert diagnose(evidence(log, 130)).failure_class == "TERMINATED"
    assert diagnose(evidence(log, 1)).failure_class == "TERMINATED"


def test_torchruns_own_stop_is_no_bug() -> None:
    error = (
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 9 got signal: 15"
    )
    log = steps(9) + trace(
        error, "torch/distributed/elastic/multiprocessing/api.py:_terminate_process_handler"
    )
    assert diagnose(evidence(log, 1)).failure_class == "TERMINATED"


def test_an_error_that_the_run_got_past_is_not_its_cause() -> None:
    log = trace(OOM, *STEP) + "retrying with half the batch\n" + steps(30)
    assert diagnose(evidence(log, 137)).failure_class == "KILLED"
    assert diagnose(evidence(log + SAVED, 0, files=WEIGHTS)).failure_class == "NONE"


def test_an_error_in_a_finalizer_is_not_the_cause() -> None:
    log = (
        steps(9)
        + "Exception ignored in: <function Run.__del__ at 0x7f>\n"
        + trace("OSError: [Errno 28] x", "w/x.py:d")
    )
    assert diagnose(evidence(log + SAVED, 0, files=WEIGHTS)).failure_class == "NONE"
    assert diagnose(evidence(log, 137)).failure_class == "KILLED"


FRIGHTENING = ["gpu-a1:2201:2201 [0] transport/net_ib.cc:198 NCCL WARN NET/IB : No device found.",
    "HTTP Error 503 thrown while requesting HEAD https://huggingface.co/a/b/resolve/main/config."
    "json",
    "429 Client Error: Too Many Requests, Retrying in 2s [Retry 2/5].",
    "UserWarning: CUDA initialization: CUDA unknown error - this may be due to an incorrectly "
    "set up environment",
    "UserWarning: None of the inputs have requires_grad=True. Gradients will be None",
    "UserWarning: resource_tracker: There appear to be 6 leaked semaphore objects to clean up "
    "at shutdown",
    "[rank0]:[W330 11:02:07.1 ProcessGroupNCCL.cpp:5138] Guessing device ID. This can cause a hang",
    "RuntimeWarning: invalid value encountered in divide; loss is nan in the dry run",
    "Token indices sequence length is longer than the specified maximum sequence length (9000 > "
    "4096). "
    "Running this sequence through the model will result in indexing errors",
    "Some weights of the model were not initialized from the checkpoint: size mismatch ignored",
    "bitsandbytes library load error: libcudart.so.11: cannot open shared object file",
    "No space left on device on /tmp, falling back to /var/tmp",
    "WARNING: previous run in this folder was Killed (exit code 137, OUT_OF_MEMORY)",
    "ERROR: ld.so: object 'libtcmalloc.so' from LD_PRELOAD cannot be preloaded: ignored."]  # fmt: skip


@pytest.mark.parametrize("line", FRIGHTENING)
def test_a_frightening_line_does_not_make_a_success_a_failure(line: str) -> None:
    for log in (
        line + "\n" + steps(9) + SAVED,
        steps(9) + SAVED + line + "\n",
        steps(9) + line + "\n" + SAVED,
    ):
        assert diagnose(evidence(log, 0, files=WEIGHTS)).failure_class == "NONE"


@pytest.mark.parametrize("line", [*FRIGHTENING, *NOISE.splitlines()])
@pytest.mark.parametrize(
    ("code", "expected"), [(3, "UNKNOWN"), (137, "KILLED"), (139, "SEGV"), (143, "TERMINATED")]
)
def test_a_frightening_line_does_not_explain_a_silent_death(
    line: str, code: int, expected: str
) -> None:
    for log in (line + "\n", steps(9) + line + "\n"):
        assert diagnose(evidence(log, code)).failure_class == expected


def test_a_single_overflow_is_normal_in_fp16() -> None:
    log = (
        steps(5)
        + "{'loss': '1.3', 'grad_norm': 'inf', 'learning_rate': '1e-4', 'epoch': '0.1'}\n"
        + steps(9)
    )
    assert diagnose(evidence(log + SAVED, 0, files=WEIGHTS)).failure_class == "NONE"


@pytest.mark.parametrize(
    "line",
    ["{'loss': nan, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.3}",
     "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.3}",
     "{'loss': '0', 'grad_norm': 'inf', 'learning_rate': '1e-05', 'epoch': '0.3'}",
     "step 130 | loss nan | lr 1e-05",
     "epoch 1 step 12 loss=nan grad_norm=nan",
     "[2026-05-05] train/loss: inf step: 12"],
)  # fmt: skip
@pytest.mark.parametrize("code", [0, 1])
def test_numbers_that_stopped_being_numbers(line: str, code: int) -> None:
    log = steps(9) + (line + "\n") * 4
    assert (
        diagnose(evidence(log + (SAVED if code == 0 else ""), code, files=WEIGHTS)).failure_class
        == "NAN"
    )


@pytest.mark.parametrize(
    "line",
    ["{'loss': '0', 'grad_norm': '0', 'learning_rate': '1e-05', 'epoch': '0.3'}",
     "{'loss': 0.0, 'grad_norm': 0.0, 'learning_rate': 1e-05, 'epoch': 0.3}",
     "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.3}"],
)  # fmt: skip
def test_a_loss_of_zero_from_the_first_step_is_a_mask(line: str) -> None:
    assert (
        diagnose(evidence((line + "\n") * 8 + SAVED, 0, files=WEIGHTS)).failure_class
        == "ALL_MASKED"
    )


@pytest.mark.parametrize(
    "log",
    ["***** Running training *****\n  Num examples = 10\n  Total optimization steps = 0\n0it "
     "[00:00, ?it/s]\n",
     "{'loss': 1.93, 'grad_norm': 0.5, 'learning_rate': 0.0, 'epoch': 0.3}\n" * 6,
     "trainable params: 0 || all params: 8,030,261,248 || trainable%: 0.0\n" + steps(4),
     "{'loss': 1.93, 'grad_norm': 0.0, 'learning_rate': 1e-4, 'epoch': 0.3}\n" * 6],
)  # fmt: skip
def test_a_run_without_training_is_told(log: str) -> None:
    assert diagnose(evidence(log + SAVED, 0, files=WEIGHTS)).failure_class == "NOTHING_TRAINED"


def test_the_last_step_of_a_schedule_may_have_rate_zero() -> None:
    log = (
        steps(9)
        + "{'loss': '1.3', 'grad_norm': '0.4', 'learning_rate': '0', 'epoch': '1'}\n"
        + SAVED
    )
    assert diagnose(evidence(log, 0, files=WEIGHTS)).failure_class == "NONE"


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"out/adapter_model.safetensors": 0},
        {"out/training_args.bin": 5000},
        {"out/optimizer.pt": 99},
    ],
)
def test_success_without_weights_is_no_success(files: dict[str, int]) -> None:
    assert diagnose(evidence(steps(9) + SAVED, 0, files=files)).failure_class == "ARTIFACT_MISSING"


def test_an_unhandled_error_counts_also_with_code_0() -> None:
    log = steps(9) + trace(OOM, *STEP) + "+ echo finished\nfinished\n"
    assert (
        diagnose(evidence(log, 0, files={}, scheduler="COMPLETED")).failure_class == "GPU_OOM_STEP"
    )


def test_a_failed_upload_counts_also_when_the_weights_are_there() -> None:
    error = (
        "huggingface_hub.errors.HfHubHTTPError: 403 Client Error: Forbidden for url: "
        "https://huggingface.co/api/models/me/x/preupload/main"
    )
    log = steps(9) + SAVED + trace(error, "huggingface_hub/hf_api.py:upload_folder")
    assert diagnose(evidence(log, 1, files=WEIGHTS)).failure_class == "TOKEN_READONLY"


def test_a_process_that_lives_and_moves_is_no_failure() -> None:
    beats = (Beat(0, "train", 40, 2.0), Beat(1, "train", 40, 3.0))
    assert diagnose(evidence(steps(40), None, beats=beats)).failure_class == "UNKNOWN"


@pytest.mark.parametrize(
    ("phase", "silent", "expected"),
    [("train", 3600.0, "HANG"), ("load_model", 300.0, "UNKNOWN"), ("load_model", 4000.0, "HANG"),
     ("prepare_data", 900.0, "UNKNOWN"), ("eval", 7200.0, "HANG"), ("push", 7200.0, "HANG")],
)  # fmt: skip
def test_silence_is_a_hang_only_beyond_the_phases_limit(
    phase: str, silent: float, expected: str
) -> None:
    beats = (Beat(0, phase, 3, silent), Beat(1, phase, 3, silent + 5))
    assert diagnose(evidence(steps(3), None, beats=beats)).failure_class == expected


def test_device_asserts_about_numbers_are_not_about_indices() -> None:
    log = (
        steps(9)
        + "TensorCompare.cu:112: Assertion `probability tensor contains either `inf`, `nan`` "
        "failed.\n"
    )
    log += trace("RuntimeError: CUDA error: device-side assert triggered", *STEP)
    assert diagnose(evidence(log)).failure_class != "INDEX_ASSERT"


def test_a_connection_to_a_server_is_not_a_lost_rank() -> None:
    error = "httpx.ReadError: [Errno 104] Connection reset by peer"
    assert (
        diagnose(
            evidence(trace(error, "huggingface_hub/x.py:get", "httpx/_client.py:send"))
        ).failure_class
        == "HUB_DOWN"
    )


def test_the_head_of_the_log_may_be_cut_off() -> None:
    log = "    return self._call_impl(*args, **kwargs)\n" + OOM + "\n"
    assert diagnose(evidence(log, noise=False)).failure_class == "GPU_OOM_STEP"


def test_a_boxed_traceback_is_read() -> None:
    log = (
        steps(3) + "╭───── Traceback (most recent call last) ─────╮\n│ /srv/train.py:12 in "
        "main            │\n"
        "│   9 │   x = 1                         │\n╰────────────────────╯\nKeyError: "
        "'conversations'\n"
    )
    assert diagnose(evidence(log)).failure_class == "NO_COLUMNS"


def test_a_collectors_prefix_before_every_line_is_no_obstacle() -> None:
    lines = (
        (steps(3) + trace("ModuleNotFoundError: No module named 'peft'"))
        .replace("\r", "\n")
        .split("\n")
    )
    log = "\n".join(
        f"2026-05-05T08:11:{n % 60:02d}.123456789Z {line}" for n, line in enumerate(lines)
    )
    assert diagnose(evidence(log, noise=False)).failure_class == "IMPORT"


def test_the_shells_words_are_read() -> None:
    assert (
        diagnose(evidence("train.sh: line 4: accelerate: command not found\n", 127)).failure_class
        == "IMPORT"
    )
    assert (
        diagnose(evidence("train.sh: line 4:  4411 Killed    python t.py\n", 137)).failure_class
        == "KILLED"
    )
    log = "python: can't open file '/srv/trian.py': [Errno 2] No such file or directory\n"
    assert diagnose(evidence(log, 2)).failure_class == "FILE_MISSING"
    log = "usage: train.py [-h]\ntrain.py: error: the following arguments are required: --model\n"
    assert diagnose(evidence(log, 2)).failure_class == "CONFIG"


def test_an_empty_log_is_unknown_and_says_so() -> None:
    diagnosis = diagnose(evidence("", 1, noise=False))
    assert diagnosis.failure_class == "UNKNOWN"
    assert "exit code 1" in diagnosis.what


def test_numbers_are_carried_into_the_words() -> None:
    diagnosis = diagnose(evidence(steps(6) + trace(OOM, *STEP)))
    for number in ("GPU 0", "23.53 GiB", "22.70 GiB", "2.00 GiB", "step 6"):
        assert number in diagnosis.what + diagnosis.why
    assert not diagnosis.repair, "a log of another trainer has no recipe to repair"


def test_a_memory_event_of_a_helper_does_not_undo_a_success() -> None:
    log = steps(9) + SAVED
    assert diagnose(evidence(log, 0, oom_kill=1, files=WEIGHTS)).failure_class == "NONE"
    assert diagnose(evidence(steps(9), 0, oom_kill=1, files={})).failure_class == "HOST_OOM"


@pytest.mark.parametrize("word", ["a", "/a", "a.", "1", "checkpoint-1/", "'a", "a b: ", "error "])
def test_odd_text_takes_no_time(word: str) -> None:
    lines = (word * 1500 + "\n") * 10
    started = time.perf_counter()
    for text in (trace("ValueError: " + word * 1500, *STEP) + lines, lines):
        assert diagnose(evidence(text)).what
    assert time.perf_counter() - started < 10  # a pattern that runs away takes minutes
