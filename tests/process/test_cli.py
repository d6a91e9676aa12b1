"""The command line as people and scripts meet it: exit codes, pipes, Ctrl-C, a killed terminal. Real runs."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.process
RECIPE = "model: starter\ndata: {train: starter, eval: none}\ngoal: {epochs: 1, batch: 32}\n"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Desk"]:
    """A folder with a recipe and a home of its own; what still runs at the end is stopped."""
    desk = Desk(tmp_path_factory.mktemp("desk"))
    yield desk
    for view in json.loads(desk.run("runs", "--json").stdout):
        desk.run("stop", view["id"])


class Desk:
    """Runs `surefit` the way a shell does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "SUREFIT_HOME": str(folder / "home"), "COLUMNS": "80"}
        self.write("recipe.yaml", RECIPE)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def start(self, *arguments: str, **more: Any) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "surefit", *arguments],
            cwd=self.folder,
            env={**self.environment, **more.pop("env", {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Under `nohup` the tests inherit an ignored hang-up; a person's terminal does not give one.
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )

    def run(
        self, *arguments: str, env: dict[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        process = self.start(*arguments, env=env or {})
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def state(self, run: str) -> str:
        return str(json.loads(self.run("show", run, "--json").stdout)["state"])

    def events(self, run: str) -> str:
        path = self.folder / "home" / "runs" / run / "events.jsonl"
        return path.read_text() if path.exists() else ""


def until(true: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def trained(desk: Desk) -> "subprocess.CompletedProcess[str]":
    """A run named `done`, trained through a pipe with --json."""
    return desk.run("train", "recipe.yaml", "--name", "done", "--json")


EXITS = [
    (0, ["recipe", "--schema"]),
    (0, ["hardware"]),
    (0, ["check", "good.jsonl"]),
    (0, ["plan", "recipe.yaml"]),
    (1, ["check", "empty.jsonl"]),
    (1, ["plan", "recipe.yaml", "--set", "limits.hours=1e-6"]),
    (1, ["train", "recipe.yaml", "--set", "limits.hours=1e-6"]),
    (1, ["train", "recipe.yaml", "--set", "data.train=empty.jsonl"]),
    (2, ["train", "missing.yaml"]),
    (2, ["train", "recipe.yaml", "--set", "goal.epohcs=3"]),
    (2, ["train", "recipe.yaml", "--name", "no/name"]),
    (2, ["show", "nobody"]),
    (2, ["logs", "nobody", "-f"]),
    (2, ["stop", "nobody"]),
    (2, ["chat", "nobody", "--ask", "hello"]),
    (2, ["compare", "nobody", "--questions", "starter"]),
    (2, ["fly"]),
]


@pytest.mark.parametrize(
    ("code", "arguments"),
    EXITS,
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_exit_codes_and_the_same_answer_for_programs(desk, code, arguments):
    desk.write(
        "good.jsonl",
        '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n'
        * 3,
    )
    desk.write("empty.jsonl", "")
    text, as_json = desk.run(*arguments), desk.run(*arguments, "--json")
    assert (text.returncode, as_json.returncode) == (code, code), text.stderr + as_json.stderr
    assert "Traceback" not in text.stderr + as_json.stderr
    answer = json.loads(as_json.stdout)
    if code == 2:
        assert answer["error"]["what"] in " ".join(text.stderr.split())
        assert text.stdout == ""


def test_a_home_that_cannot_be_written_is_the_outside_world(desk):
    answer = desk.run("train", "recipe.yaml", env={"SUREFIT_HOME": "/proc/nobody"})
    assert answer.returncode == 3
    assert "SUREFIT_HOME" in answer.stderr


def test_a_reader_that_goes_away_is_no_error(desk):
    process = desk.start("recipe", "--schema")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr is not None
    assert process.stderr.read() == ""


def test_a_plan_imports_no_training_library(desk):
    code = "import sys; from surefit.cli.entry import run; run(['plan', 'recipe.yaml']); print(sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=desk.folder,
        env=desk.environment,
        capture_output=True,
        text=True,
    )
    loaded = set(done.stdout.splitlines()[-1].strip("[]").replace("'", "").split(", "))
    assert done.stdout.startswith("FITS")
    assert not loaded & {"torch", "transformers", "peft", "numpy", "rich"}


def test_json_gives_every_event_a_line_and_the_result_last(trained):
    lines = [json.loads(line) for line in trained.stdout.splitlines()]
    assert trained.returncode == 0, trained.stderr
    assert {"status", "phase", "metric", "result"} <= {line["kind"] for line in lines}
    assert lines[-1]["kind"] == "result"
    assert (lines[-1]["state"], lines[-1]["exit_code"]) == ("done", 0)
    proof = lines[-1]["result"]["verification"]
    assert proof["max_difference"] <= proof["tolerance"]


def test_a_taken_name_is_refused(desk, trained):
    answer = desk.run("train", "recipe.yaml", "--name", "done")
    assert answer.returncode == 2
    assert "exists already" in answer.stderr


def test_the_trained_model_answers(desk, trained):
    answer = desk.run("chat", "done", "--ask", "How much is 2 plus 3?", "--json")
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    assert record["model"] == "trained"
    assert record["text"].strip()


def test_the_comparison_counts_exact_answers(desk, trained):
    answer = desk.run("compare", "done", "--questions", "starter", "--limit", "2", "--json")
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    assert record["questions"] == len(record["rows"]) == 2
    for side in ("before", "after"):
        assert record[side]["exact"] == sum(row[f"{side}_exact"] for row in record["rows"])
    assert all(
        row["before_exact"] == (row["before"].strip() == row["expected"].strip())
        for row in record["rows"]
    )


def test_ctrl_c_stops_the_run_and_says_so(desk):
    process = desk.start(
        "train", "recipe.yaml", "--name", "interrupted", "--set", "goal.epochs=500"
    )
    until(lambda: '"import"' in desk.events("interrupted"))
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopping" in err
    assert out.startswith("stopped interrupted")
    assert desk.state("interrupted") == "stopped"


@pytest.mark.parametrize("end", [signal.SIGHUP, signal.SIGKILL], ids=["hung-up", "killed"])
def test_a_killed_or_hung_up_command_leaves_the_run_going_and_logs_pick_it_up(desk, end):
    name = f"orphan-{end.name.lower()}"
    process = desk.start("train", "recipe.yaml", "--name", name, "--set", "goal.epochs=500")
    until(lambda: '"metric"' in desk.events(name))
    process.send_signal(end)
    assert process.wait(timeout=30) == -end
    before = desk.events(name).count('"metric"')
    until(lambda: desk.events(name).count('"metric"') > before)
    follower = desk.start("logs", "-f", name)
    time.sleep(2)
    os.kill(follower.pid, signal.SIGINT)
    _, err = follower.communicate(timeout=60)
    assert follower.returncode == 130
    assert "step " in err
    assert "goes on" in err
    assert desk.state(name) == "training"
    begun = time.monotonic()
    stopped = desk.run("stop", name)
    assert stopped.returncode == 0
    assert time.monotonic() - begun < 15
    assert stopped.stdout.startswith(f"stopped {name}")
    assert desk.state(name) == "stopped"
