"""What a run's events mean for a person who watches."""

from surefit.cli.drawing import bar, sparkline
from surefit.cli.following import printable
from surefit.cli.lines import Lines
from surefit.cli.progress import Progress
from surefit.runs import Metric, Phase, RunState, Status


def metric(
    step: int,
    loss: float | None = 1.0,
    *,
    time: float = 0.0,
    steps: int = 100,
    split: str = "train",
) -> Metric:
    return Metric(step=step, steps=steps, epoch=step / steps, loss=loss, time=time, split=split)


def seen(*events) -> Progress:
    progress = Progress()
    for event in events:
        progress.see(event)
    return progress


def test_the_time_left_follows_the_pace_of_the_last_steps():
    slow_start = [metric(step, time=step * 100.0) for step in range(1, 11)]
    then_fast = [metric(10 + step, time=1000.0 + step) for step in range(1, 41)]
    assert seen(*slow_start, *then_fast).seconds_left == 50.0


def test_there_is_no_time_left_before_there_is_a_pace():
    assert seen(metric(1)).seconds_left is None
    assert seen().seconds_left is None


def test_the_trend_of_the_loss_has_a_word():
    assert seen(*(metric(step, 3 - step / 10) for step in range(12))).trend == "falling"
    assert seen(*(metric(step, 3 + step / 10) for step in range(12))).trend == "rising"
    assert seen(*(metric(step, 3 + step % 2 / 1000) for step in range(12))).trend == "flat"
    assert seen(metric(1), metric(2)).trend is None


def test_a_loss_that_is_not_finite_is_kept_out_of_the_figures():
    progress = seen(metric(1, 2.0), metric(2, None), metric(3, 1.0))
    assert progress.losses == [2.0, 1.0]
    assert progress.last is not None
    assert progress.last.step == 3


def test_the_loss_on_eval_rows_is_no_training_loss():
    progress = seen(metric(1, 2.0), metric(1, 0.5, split="eval"))
    assert (progress.losses, progress.eval_loss) == ([2.0], 0.5)


def test_phases_inside_another_are_deeper():
    progress = seen(
        Phase(name="rehearsal", status="started"),
        Phase(name="save", status="started"),
        Phase(name="save", status="ended", seconds=1.0),
    )
    assert [(one.name, one.depth, one.ended) for one in progress.phases] == [
        ("rehearsal", 0, False),
        ("save", 1, True),
    ]
    assert progress.current is not None
    assert progress.current.name == "rehearsal"


def test_the_state_and_its_cause_are_the_last_ones():
    progress = seen(
        Status(state=RunState.TRAINING), Status(state=RunState.FAILED, cause="the disk is full")
    )
    assert (progress.state, progress.cause) == (RunState.FAILED, "the disk is full")


def test_a_pipe_gets_a_line_a_tenth_and_not_one_a_step(capsys):
    lines = Lines("r")
    for step in range(1, 1001):
        lines.see(metric(step, steps=1000))
    told = capsys.readouterr().err.splitlines()
    assert 10 <= len(told) <= 13
    assert told[0].startswith("step 1 of 1,000")
    assert told[-1].startswith("step 1,000 of 1,000 (100%)")


def test_a_bar_shows_little_over_full_and_too_much():
    assert bar(0.001, 8, unicode=True) == "▏·······"
    assert bar(0.5, 8, unicode=False) == "####...."
    assert bar(1.0, 8, unicode=False) == "########"
    assert bar(1.7, 8, unicode=False) == "#######>"
    assert len(bar(0.999, 8, unicode=True)) == 8


def test_a_sparkline_fits_its_columns_and_falls_with_the_values():
    drawn = sparkline([float(value) for value in range(100, 0, -1)], 8, unicode=True)
    assert drawn == "█▇▆▅▄▃▂▁"
    assert sparkline([1.0, 1.0], 8, unicode=False) == "__"
    assert sparkline([], 8, unicode=True) == ""


def test_a_line_of_a_log_cannot_move_the_terminal():
    assert printable("\x1b[2J\x1b[31mred\x1b[0m \x07bell") == "red ?bell"
    assert printable("10%\r50%\r100%") == "100%"
    assert printable("\x1b]0;title\x07text\x9b") == "text?"
