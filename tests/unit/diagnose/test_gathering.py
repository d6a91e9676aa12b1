"""Evidence: what is read from folders, files, pipes and run folders, and how much memory it takes."""

import io
import json
import tracemalloc
from pathlib import Path

import pytest
from unit.diagnose.logs import steps, trace

from surefit.diagnose import Evidence, diagnose, gather_evidence, gather_from_stream
from surefit.diagnose.evidence import normal_exit
from surefit.diagnose.large_log import BLOCK_BYTES, read_pieces
from surefit.diagnose.logs import clean_lines
from surefit.errors import UsageError

IMPORT_ERROR = trace("ModuleNotFoundError: No module named 'peft'")


def write(folder: Path, files: dict[str, object]) -> Path:
    """A folder with these files; what is no text is written as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


@pytest.mark.parametrize(
    ("code", "signal", "expected"),
    [
        (137, None, (137, 9)),
        (-9, None, (None, 9)),
        ("0:9", None, (0, 9)),
        ("137", None, (137, 9)),
        (0, None, (0, None)),
        (1, 0, (1, None)),
        (None, 15, (None, 15)),
        (255, None, (255, None)),
        (None, None, (None, None)),
        ("odd", "odd", (None, None)),
    ],
)
def test_an_exit_status_has_one_form(
    code: object, signal: object, expected: tuple[int | None, int | None]
) -> None:
    assert normal_exit(code, signal) == expected


def test_a_missing_path_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing at"):
        gather_evidence(tmp_path / "none")


def test_a_single_file_is_enough(tmp_path: Path) -> None:
    log = tmp_path / "train.out"
    log.write_text(steps(3) + IMPORT_ERROR)
    assert diagnose(gather_evidence(log)).failure_class == "IMPORT"


def test_a_pipe_is_enough() -> None:
    stream = io.BytesIO((steps(3) + IMPORT_ERROR).encode())
    diagnosis = diagnose(gather_from_stream(stream))
    assert diagnosis.failure_class == "IMPORT"
    assert diagnosis.evidence[0].file == "-"


def test_an_empty_folder_is_unknown_and_no_crash(tmp_path: Path) -> None:
    assert diagnose(gather_evidence(tmp_path)).failure_class == "UNKNOWN"


def test_ranks_come_from_the_names_of_files(tmp_path: Path) -> None:
    folder = write(
        tmp_path, {"rank0.log": steps(4), "rank7.log": IMPORT_ERROR, "exit.json": {"code": 1}}
    )
    diagnosis = diagnose(gather_evidence(folder))
    assert (diagnosis.failure_class, diagnosis.root_rank) == ("IMPORT", 7)


def test_the_earlier_error_file_is_the_cause(tmp_path: Path) -> None:
    def record(message: str, stamp: str) -> dict[str, object]:
        return {"message": {"message": message, "extraInfo": {"timestamp": stamp}}}

    folder = write(
        tmp_path,
        {
            "error_rank0.json": record("KeyError: 'text'", "1779481820"),
            "error_rank1.json": record("OSError: [Errno 28] No space left on device", "1779481818"),
            "exit.json": {"code": 1},
        },
    )
    diagnosis = diagnose(gather_evidence(folder))
    assert (diagnosis.failure_class, diagnosis.root_rank) == ("DISK_FULL", 1)


@pytest.mark.parametrize(
    "broken", ["", "{", "[]", "null", '"text"', '{"code": "x"}', '[{"rank": null}]', "[1, 2]"]
)
def test_broken_json_beside_a_log_is_passed_over(tmp_path: Path, broken: str) -> None:
    names = ("exit.json", "heartbeats.json", "files.json", "error_rank0.json")
    folder = write(tmp_path, {"log.txt": IMPORT_ERROR, **dict.fromkeys(names, broken)})
    assert diagnose(gather_evidence(folder)).failure_class == "IMPORT"


def test_bytes_that_are_no_text_are_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"\x00\xff\xfe\x80 garbage \x1b[31m\n" * 50 + IMPORT_ERROR.encode())
    assert diagnose(gather_evidence(log)).failure_class == "IMPORT"


def test_progress_bars_are_one_line_and_do_not_swallow_what_follows() -> None:
    text = "\r 10%|#    | 1/10 [00:01<00:09]\r 20%|##   | 2/10 [00:02<00:08]Traceback: x\n"
    lines = clean_lines([(1, text.encode())], "log.txt")
    assert [line.text.strip() for line in lines] == [
        "20%|##   | 2/10 [00:02<00:08]",
        "Traceback: x",
    ]


def test_colours_and_rank_prefixes_are_taken_off() -> None:
    text = "[default3]:[rank3]:   \x1b[1mFile\x1b[0m\n[rank 2] 20:30:04 step 4\nplain\n"
    lines = clean_lines([(1, text.encode())], "log.txt")
    assert [(line.rank, line.text) for line in lines] == [
        (3, "  File"),
        (2, "[rank 2] 20:30:04 step 4"),
        (None, "plain"),
    ]


def test_a_large_log_is_read_in_little_memory_with_true_line_numbers() -> None:
    filler = b"ordinary words, one line after the other\n" * (BLOCK_BYTES // 40)
    head = b"first line\n"
    stream = io.BytesIO(head + filler * 30 + IMPORT_ERROR.encode() + filler * 30 + b"last line\n")
    total = stream.getvalue().count(b"\n")
    tracemalloc.start()
    pieces = read_pieces(stream)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * BLOCK_BYTES
    lines = clean_lines(pieces, "log.txt")
    assert (lines[0].text, lines[0].number) == ("first line", 1)
    assert (lines[-1].text, lines[-1].number) == ("last line", total)
    error = next(line for line in lines if "No module" in line.text)
    assert error.number == 1 + 30 * filler.count(b"\n") + IMPORT_ERROR.count("\n")


def test_a_line_without_end_does_not_fill_the_memory() -> None:
    pieces = read_pieces(io.BytesIO(b"x" * (40 * BLOCK_BYTES)))
    assert sum(len(piece) for _, piece in pieces) <= 40 * BLOCK_BYTES
    assert len(clean_lines(pieces, "log.txt")) < 50


def run_folder(path: Path, **files: object) -> Evidence:
    """The evidence of a run of surefit."""
    recipe = {"model": "starter", "data": {"train": "chats.jsonl"}}
    plan = {"training": {"micro_batch": 8, "accumulation": 2, "max_length": 1024}}
    status = {"time": 100.0, "kind": "status", "state": "training"}
    standard = {"recipe.json": recipe, "plan.json": plan, "events.jsonl": json.dumps(status) + "\n"}
    return gather_evidence(write(path / "run-7", {**standard, **files}))


def problem(**words: object) -> str:
    """A problem event as a line."""
    event = {"time": 101.0, "kind": "problem", "what": "w", "why": "y", "next": "n", **words}
    return json.dumps(event) + "\n"


def test_the_workers_words_are_carried_through(tmp_path: Path) -> None:
    told = problem(what="the disk is full", why="0 bytes left", next="free space", exit_code=73)
    found = run_folder(tmp_path, **{"events.jsonl": told, "exit.json": {"code": 73, "time": 1.0}})
    diagnosis = diagnose(found)
    assert diagnosis.failure_class == "DISK_FULL"
    said = (diagnosis.what, diagnosis.why, diagnosis.next_step)
    assert said == ("the disk is full", "0 bytes left", "free space")


def test_a_bug_of_the_worker_is_looked_at_in_its_log(tmp_path: Path) -> None:
    log = trace(
        "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
        "transformers/modeling_utils.py:from_pretrained",
    )
    told = problem(what="surefit failed", exit_code=70)
    status = {"code": 70, "time": 1.0}
    files = {"events.jsonl": told, "exit.json": status, "log/worker.log": log}
    assert diagnose(run_folder(tmp_path, **files)).failure_class == "FILE_CORRUPT"
    files["log/worker.log"] = trace("KeyError: 'odd'", "/srv/x.py:f")
    diagnosis = diagnose(run_folder(tmp_path, **files))
    assert (diagnosis.failure_class, diagnosis.what) == ("UNKNOWN", "surefit failed")


def test_a_killed_worker_is_told_with_the_runs_own_command(tmp_path: Path) -> None:
    status = {"signal": 9, "oom_kill": 0, "time": 500.0}
    beat = {"rank": 0, "phase": "train", "step": 12, "time": 498.0}
    found = run_folder(tmp_path, **{"exit.json": status, "heartbeats/rank0.json": beat})
    diagnosis = diagnose(found)
    assert (diagnosis.failure_class, diagnosis.step) == ("KILLED", 12)
    assert "run-7" in diagnosis.next_step
    assert "surefit train" in diagnosis.next_step


def test_a_stop_that_was_asked_for_is_no_failure_of_the_machine(tmp_path: Path) -> None:
    status = {"signal": 15, "time": 500.0}
    diagnosis = diagnose(run_folder(tmp_path, **{"exit.json": status, "stop.json": {"who": "me"}}))
    assert diagnosis.failure_class == "TERMINATED"
    assert "surefit stop" in diagnosis.why


def test_code_0_without_a_result_is_no_success(tmp_path: Path) -> None:
    diagnosis = diagnose(run_folder(tmp_path, **{"exit.json": {"code": 0, "time": 1.0}}))
    assert diagnosis.failure_class == "ARTIFACT_MISSING"
    assert "result.json" in diagnosis.what


def test_a_run_that_nobody_saw_end_is_not_called_a_hang(tmp_path: Path) -> None:
    beat = {"rank": 0, "phase": "train", "step": 12, "time": 1.0}
    files = {"exit.json": {"time": 99_999.0}, "heartbeats/rank0.json": beat}
    assert diagnose(run_folder(tmp_path, **files)).failure_class == "UNKNOWN"


def test_the_repair_names_the_plans_own_numbers(tmp_path: Path) -> None:
    log = steps(5) + trace(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
        "capacity of 23.53 GiB of which 849.92 MiB is free.",
        "transformers/trainer.py:training_step",
    )
    found = run_folder(tmp_path, **{"exit.json": {"code": 71, "time": 1.0}, "log/worker.log": log})
    repairs = {repair.change: repair.same_result for repair in diagnose(found).repair}
    assert repairs["how.micro_batch: 4"] is True
    assert repairs["goal.max_length: 512"] is False


def test_output_and_errors_in_two_files_do_not_hide_each_other(tmp_path: Path) -> None:
    files = {"slurm-7.err": IMPORT_ERROR, "slurm-7.out": steps(9), "exit.json": {"code": 1}}
    assert diagnose(gather_evidence(write(tmp_path, files))).failure_class == "IMPORT"


def test_the_folders_of_torchrun_are_read(tmp_path: Path) -> None:
    told = {"message": {"message": "KeyError: 'text'", "extraInfo": {"timestamp": "17"}}}
    lost = "RuntimeError: Connection closed by peer [10.0.0.7]:331"
    files = {
        "logs/none_x/attempt_0/0/stderr.log": trace(lost, "torch/x.py:all_reduce"),
        "logs/none_x/attempt_0/3/stdout.log": steps(2),
        "logs/none_x/attempt_0/3/error.json": told,
    }
    diagnosis = diagnose(gather_evidence(write(tmp_path, files)))
    assert (diagnosis.failure_class, diagnosis.root_rank) == ("NO_COLUMNS", 3)
