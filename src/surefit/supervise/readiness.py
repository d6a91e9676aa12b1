"""Preflight: everything that can be known before a run exists. Nothing is started."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from surefit.data import DatasetReport, Finding, check_data
from surefit.errors import Refused
from surefit.hardware import Hardware, detect_machine, named_hardware
from surefit.home import home_folder, make_folder
from surefit.hub import find_data, find_model, refuse_unfetchable
from surefit.models import ModelFacts
from surefit.plan import Plan, make_plan, planned_max_length, why_not_fitting
from surefit.recipe import DataSpec, LoadedRecipe
from surefit.tokens import load_chat_tokenizer
from surefit.units import plural

_NAMED_FINDINGS = 3
_NOTHING_LEFT = "SD502"
_OF_EVAL = frozenset({"SD503"})


@dataclass(frozen=True)
class Preflight:
    """A recipe with everything that was found out about it."""

    loaded: LoadedRecipe
    facts: ModelFacts
    hardware: Hardware
    report: DatasetReport
    plan: Plan

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What the check of the data warns of; what it refuses never comes so far."""
        return tuple(one for one in self.report.findings if one.severity == "warn")


def preflight(
    loaded: LoadedRecipe,
    *,
    only_rehearse: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> Preflight:
    """Read the model, the machine and the data, and plan. Writes only caches; fetches no weights.

    A plan that does not fit is returned, so that it can be shown; `start` refuses it.

    Args:
        loaded: the recipe.
        only_rehearse: plan the rehearsal alone.
        progress: told the rows read and the rows expected, now and then.
        say: told in words when the Hub is asked, what is fetched and what is tried again.

    Raises:
        Refused: the data cannot be trained.
        RecipeError: a field contradicts another, the model or the data.
        OutsideError: a file may not be read, the disk is full, or the Hub refuses or does not answer.
    """
    recipe, base = loaded.recipe, loaded.base_folder
    found = find_model(recipe.model, base, say=say)
    facts = found.facts
    hardware = _hardware(recipe.hardware)
    report = check_data(
        recipe.data,
        base,
        load_chat_tokenizer(found.folder, lazily=True),
        max_length=planned_max_length(recipe, facts),
        batch=recipe.goal.batch,
        seed=recipe.goal.seed,
        progress=progress,
        prepare=True,
        packing=recipe.how.packing,
        fetched=find_data(recipe.data, base, say=say),
        model_limit=facts.max_positions,
    )
    refuse_data(report, loaded)
    plan = make_plan(recipe, facts, hardware, report)
    if only_rehearse:
        training = plan.training.model_copy(update={"rehearse": True, "only_rehearse": True})
        plan = plan.model_copy(update={"training": training})
    return Preflight(loaded, facts, hardware, report, plan)


def _hardware(name: str) -> Hardware:
    """This machine as it is now, or one of the catalogue."""
    return detect_machine(make_folder(home_folder())) if name == "this" else named_hardware(name)


def refuse_data(report: DatasetReport, loaded: LoadedRecipe) -> None:
    """Refuse data that cannot be trained, with its worst findings and what to do about each.

    Raises:
        Refused: the report's verdict is `refuse`.
    """
    if report.verdict != "refuse":
        return
    worst = _causes([one for one in report.findings if one.severity == "refuse"])
    named = worst[:_NAMED_FINDINGS]
    field, files = _blamed(worst, loaded.recipe.data)
    more = len(worst) - len(named)
    why = "; ".join(f"{one.message} ({one.code})" for one in named)
    raise Refused(
        f"the data cannot be {'evaluated on' if field == 'data.eval' else 'trained'}: "
        f"{plural(len(worst), 'check')} of {files} failed",
        (why or "no row can be used") + (f"; and {plural(more, 'more check')}" if more > 0 else ""),
        _next_steps(named) or f"run `surefit check {files}` to see every finding",
        where=field,
        details={"findings": [one.model_dump(mode="json") for one in report.findings]},
    )


def _causes(findings: list[Finding]) -> list[Finding]:
    """Without the finding that no row is left, where another says why."""
    return [one for one in findings if one.code != _NOTHING_LEFT] or findings


def _blamed(findings: list[Finding], data: DataSpec) -> tuple[str, str]:
    """The field that the findings are about, and what it names."""
    held_back = data.eval
    if held_back in (None, "none", data.train) or data.eval_share is not None:
        return "data.train", data.train
    name = PurePath(held_back).as_posix()
    of_eval = all(
        one.code in _OF_EVAL or (one.rows and all(place.startswith(name) for place in one.rows))
        for one in findings
    )
    return ("data.eval", held_back) if findings and of_eval else ("data.train", data.train)


def _next_steps(findings: list[Finding]) -> str:
    return "; ".join(dict.fromkeys(one.next for one in findings))


def refuse_plan(plan: Plan) -> None:
    """Refuse a plan that cannot work here.

    Raises:
        Refused: it does not fit, the disk has no room for what the run writes, or this version's worker
            does not train so.
        OutsideError: its model has to be fetched, and that is not possible.
    """
    if plan.hardware.disk_folder.startswith("the disk of "):
        raise Refused(
            f"the plan is for {plan.hardware.name}, and this is another machine",
            "a plan for hardware of the catalogue is only a plan: nothing is rented or reached",
            "run the command on that machine with `--set hardware=this`",
            where="hardware",
        )
    if plan.training.method.type == "int8":
        raise Refused(
            "`method.type: int8` is planned and not trained by this version",
            "LLM.int8 looks for outliers over all rows of a pass: that rows stay apart is not proved yet",
            "set `method: {type: qlora}` for 4 bits, or `method: {type: lora}` for 16",
            where="method.type",
        )
    refuse_unfetchable(plan.model)
    words = why_not_fitting(plan)
    if words is not None:
        raise Refused(*words, details={"plan": plan.model_dump(mode="json")})
