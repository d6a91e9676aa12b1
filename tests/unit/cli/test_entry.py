"""The command line as a whole: help, errors, exit codes. No command's own work."""

import json

import click
import pytest

from surefit.cli.entry import run
from surefit.cli.group import ENTRIES, surefit
from surefit.errors import ExitCode, OutsideError, Refused, SurefitError, UsageError


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch):
    """Make `surefit runs` raise."""

    def _failing(error: BaseException) -> None:
        @click.command("runs")
        @click.option("--json", is_flag=True)
        def command(json: bool) -> None:
            raise error

        monkeypatch.setattr(type(ENTRIES["runs"]), "load", lambda entry: command)

    return _failing


@pytest.mark.parametrize("name", ENTRIES)
def test_every_command_loads_takes_json_and_explains_itself(name):
    command = ENTRIES[name].load()
    assert command.name == name
    assert command.help
    assert any("--json" in option.opts for option in command.params)
    assert all(option.help for option in command.params if isinstance(option, click.Option))


def test_the_help_lists_every_command_without_loading_one(capsys, monkeypatch):
    monkeypatch.setattr(type(ENTRIES["runs"]), "load", lambda entry: pytest.fail("it was loaded"))
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in ENTRIES)
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SurefitError("a", "b", "c"), 1),
        (Refused("a", "b", "c"), 1),
        (UsageError("a", "b", "c"), 2),
        (OutsideError("a", "b", "c"), 3),
        (RuntimeError("oh"), 70),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
    ],
)
def test_every_kind_of_end_has_its_exit_code(failing, error, code, monkeypatch):
    monkeypatch.setattr("surefit.cli.entry._pipe_closed", lambda: 141)
    failing(error)
    assert run(["runs"]) == code


def test_an_error_is_text_on_stderr(failing, capsys):
    failing(
        UsageError("it is wrong", "because of this", "do that", where="recipe.yaml:3: goal.epochs")
    )
    run(["runs"])
    out, err = capsys.readouterr()
    assert out == ""
    assert (
        err
        == "error: recipe.yaml:3: goal.epochs: it is wrong\n  why: because of this\n next: do that\n"
    )


def test_an_error_is_json_on_stdout_where_a_program_asks(failing, capsys):
    failing(UsageError("it is wrong", "because of this", "do that", details={"line": 3}))
    run(["runs", "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out)["error"] == {
        "what": "it is wrong",
        "why": "because of this",
        "next": "do that",
        "where": None,
        "line": 3,
    }


def test_a_bug_shows_its_traceback_and_says_that_it_is_one(failing, capsys):
    failing(RuntimeError("oh"))
    assert run(["runs"]) == ExitCode.BUG
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "error: a bug in surefit: RuntimeError: oh" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plna"], "did you mean `surefit plan`?"),
        (["xyz"], "list them with `surefit --help`"),
        (["recipe", "--exmple"], "did you mean --example?"),
        (["plan"], "surefit plan needs RECIPE"),
        (["show"], "surefit show needs RUN"),
        (["logs", "x", "--lines", "many"], "--lines is wrong"),
        (["check", "x", "--max-length", "3"], "3 is less than 8"),
        (["runs", "extra"], "unexpected extra argument"),
        (["--wat"], "surefit has no option --wat"),
        (["train", "a.yaml", "--name"], "--name"),
    ],
)
def test_a_wrong_command_line_is_answered_in_our_words(capsys, arguments, words):
    assert run(arguments) == ExitCode.USAGE
    err = capsys.readouterr().err
    assert words in err
    assert err.startswith("error: ")
    assert err.count("\n") == 3


def test_no_command_line_shows_the_help(capsys):
    assert run([]) in (ExitCode.DONE, ExitCode.USAGE)
    shown = capsys.readouterr()
    assert "Before a run" in shown.out + shown.err


def test_the_version_is_the_packages(capsys):
    import surefit as package

    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"surefit {package.__version__}\n"


def test_an_error_has_no_colour_codes_when_it_is_not_on_a_terminal(failing, capsys):
    failing(UsageError("it is wrong", "why", "next"))
    run(["runs"])
    assert "\x1b" not in capsys.readouterr().err


def test_the_group_is_named_like_the_program():
    assert surefit.name == "surefit"
