"""Combinations that no hardware can train: refused here, with the field's name."""

import difflib

from surefit.data.report import DatasetReport
from surefit.errors import RecipeError, Refused
from surefit.models.facts import ModelFacts
from surefit.recipe.batches import divisors
from surefit.recipe.schema import AdapterMethod, Recipe
from surefit.units import count_text, plural

USUAL_MAX_LENGTH = 2048


def refuse_impossible(recipe: Recipe, facts: ModelFacts, report: DatasetReport) -> None:
    """Check a recipe against the model and the data.

    Raises:
        RecipeError: a field contradicts another, the model or the data.
        Refused: there is no row to train.
    """
    _packing(recipe, facts)
    _batch(recipe)
    _eval_rows(recipe, report)
    if isinstance(recipe.method, AdapterMethod):
        names = resolve_targets(recipe.method, facts)
        _rank(recipe.method, names, facts)
    if report.usable < 1:
        raise Refused(
            "there is no row to train",
            f"{plural(report.rows, 'row')} read, none of them can be trained",
            f"run `surefit check` to see what is wrong with {recipe.data.train}",
            where="data.train",
        )


def resolve_targets(method: AdapterMethod, facts: ModelFacts) -> tuple[str, ...]:
    """The names of the linear layers that get an adapter, in the order of a block.

    Raises:
        RecipeError: a name matches no linear layer of the model.
    """
    names = tuple(dict.fromkeys(one.name for one in facts.block_linears))
    if method.targets == "all-linear":
        if not names:
            raise RecipeError(
                "`all-linear` matches nothing in this model",
                f"the architecture {facts.architecture!r} is unknown and its headers show no "
                "matrices in layers",
                "choose a model of a known architecture",
                where="method.targets",
            )
        return names
    for wanted in method.targets:
        if wanted not in names:
            near = difflib.get_close_matches(wanted, names, n=1, cutoff=0.5)
            raise RecipeError(
                f"the model has no linear layer {wanted!r}",
                f"its layers have {', '.join(names)}",
                f"set `method.targets: [{near[0]}]`"
                if near
                else "set `method.targets: all-linear`",
                where="method.targets",
            )
    if not method.targets:
        raise RecipeError(
            "`method.targets` is empty",
            "an adapter needs at least one linear layer to attach to",
            "set `method.targets: all-linear`",
            where="method.targets",
        )
    return tuple(name for name in names if name in method.targets)


def _rank(method: AdapterMethod, names: tuple[str, ...], facts: ModelFacts) -> None:
    adapted = [one for one in facts.block_linears if one.name in names]
    smallest = min(adapted, key=lambda one: min(one.inputs, one.outputs))
    limit = min(smallest.inputs, smallest.outputs)
    if method.rank > limit:
        raise RecipeError(
            f"rank {method.rank} is larger than the matrix that it should approximate",
            f"{smallest.name} is {smallest.outputs} x {smallest.inputs}: no update of it has a "
            f"rank over {limit}",
            f"set `method.rank: {max(1, min(16, limit // 2))}`, or `method: {{type: full}}` to "
            "train everything",
            where="method.rank",
        )


def _packing(recipe: Recipe, facts: ModelFacts) -> None:
    if not recipe.how.packing:
        return
    if recipe.how.layout == "padded":
        raise RecipeError(
            "packed sequences cannot be padded",
            "`how.packing: true` joins rows into one line, and `how.layout: padded` gives each its own",
            "leave out one of the two",
            where="how.layout",
        )
    if not facts.isolates_flat_rows:
        raise RecipeError(
            f"packing is not safe with {facts.architecture}",
            "it is not known whether this architecture keeps the rows of one line apart; if it does "
            "not, every row learns from the rows before it",
            "leave out `how.packing`: rows then pass side by side, filled up to the longest",
            where="how.packing",
        )


def _batch(recipe: Recipe) -> None:
    batch, micro = recipe.goal.batch, recipe.how.micro_batch
    if micro is not None and batch % micro:
        possible = divisors(batch)
        near = min(possible, key=lambda size: abs(size - micro))
        raise RecipeError(
            f"a batch of {batch} cannot be made of micro-batches of {micro}",
            f"`goal.batch` must be a multiple of `how.micro_batch`; {batch} is one of "
            f"{', '.join(map(str, possible[:12]))}",
            f"set `how.micro_batch: {near}`, or leave it out",
            where="how.micro_batch",
        )


def refuse_length(recipe: Recipe, facts: ModelFacts) -> None:
    """Check that the model can read rows as long as asked.

    Raises:
        RecipeError: it cannot.
    """
    wanted, limit = recipe.goal.max_length, facts.max_positions
    if wanted is not None and limit is not None and wanted > limit:
        raise RecipeError(
            f"rows of {count_text(wanted)} tokens are longer than the model can read",
            f"its config.json says max_position_embeddings {count_text(limit)}",
            f"set `goal.max_length: {limit}` or less; left out, it is {min(limit, USUAL_MAX_LENGTH)}",
            where="goal.max_length",
        )


def _eval_rows(recipe: Recipe, report: DatasetReport) -> None:
    spec = recipe.data.eval
    if spec is None or spec == "none" or report.eval_rows > 0:
        return
    share = recipe.data.eval_share
    why = (
        f"{spec} of {plural(report.usable, 'usable row')} is less than one row"
        if share is not None
        else f"{spec} holds no row that can be used"
    )
    raise RecipeError(
        "there are no rows to evaluate on",
        why,
        "set `data.eval: none`, a larger share such as `10%`, or another file",
        where="data.eval",
    )
