"""A value that a field does not take, in words: what is wanted, what was given, what to write instead."""

from pydantic_core import ErrorDetails

from surefit.recipe.document import KeyPath
from surefit.recipe.fields import METHODS, NAMES, RecipeField, field_named, parts
from surefit.recipe.problem import RecipeProblem, dotted, shown
from surefit.units import shortened

_BOUNDS = {
    "greater_than": ("must be greater than", "gt", "set `{name}` to more than {bound}"),
    "greater_than_equal": ("must be at least", "ge", "set `{name}: {bound}` or more"),
    "less_than": ("must be less than", "lt", "set `{name}` to less than {bound}"),
    "less_than_equal": ("must be at most", "le", "set `{name}: {bound}` or less"),
}
_NO_TABLE = ("model_type", "model_attributes_type", "dict_type")
_EXAMPLES = {"model": "model: starter", "data.train": "data: {train: my-chats.jsonl}"}
_KINDS = {
    "string": "text",
    "float": "a number",
    "finite": "a number",
    "no": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "tuple": "a list of names",
    "dict": NAMES,
}


def wrong_value(path: KeyPath, error: ErrorDetails) -> RecipeProblem:
    """A value of the wrong type, or outside of its bounds."""
    name, value, kind = dotted(path), error["input"], error["type"]
    field = _nearest_field(path)
    wanted = _wanted(name, field, kind)
    why = f"{_about(name, field)}".rstrip(".")
    if kind in _BOUNDS:
        words, key, _ = _BOUNDS[kind]
        what = f"{name} {words} {_plain_number(error['ctx'][key])}; it is {shown(value)}"
    elif kind == "string_too_short":
        what = f"{name} is empty"
    elif kind in _NO_TABLE and parts().get(name):
        what = f"{name} must be a table of fields; it is {shown(value)}"
        why = f"{name} has the fields {', '.join(sorted(parts()[name]))}"
    elif kind == "value_error":
        what = f"{name} must be a number; it is {shown(value)}"
    else:
        what = f"{name} must be {wanted}; it is {shown(value)}"
    return RecipeProblem(path, what, why, _correction(name, field, error))


def ambiguous_number(path: KeyPath, text: str) -> RecipeProblem:
    """`010` is eight for a reader of YAML 1.1 and ten for one of YAML 1.2."""
    name, digits = dotted(path), text.strip()
    decimal = int(digits)
    is_octal = "8" not in digits and "9" not in digits
    values = [f"`{name}: {decimal}`", *([f"`{name}: {int(digits, 8)}`"] if is_octal else [])]
    return RecipeProblem(
        path,
        f"{name} can be read in two ways; it is {shown(digits)}",
        "YAML 1.1 takes a number that begins with 0 as octal, YAML 1.2 as decimal",
        f"write {' or '.join(dict.fromkeys(values))}",
    )


def _nearest_field(path: KeyPath) -> RecipeField | None:
    """The field itself, or the one whose value holds the place: `data.columns` of `data.columns.prompt`."""
    words = tuple(step for step in path if isinstance(step, str))
    for length in range(len(words), 0, -1):
        found = field_named(dotted(words[:length]))
        if found is not None:
            return found
    return None


def _wanted(name: str, field: RecipeField | None, kind: str) -> str:
    """What belongs there, by the field, or by what could not be read inside of one."""
    if field is not None and field.path == name:
        return field.type_words
    return _KINDS.get(kind.partition("_")[0], "another value")


def _about(name: str, field: RecipeField | None) -> str:
    if field is None:
        return f"surefit cannot use this value for {name}"
    return f"{field.path} is {field.type_words}. {field.description}"


def _correction(name: str, field: RecipeField | None, error: ErrorDetails) -> str:
    value, kind = error["input"], error["type"]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if name == "data.eval" and is_number and 0 < value <= 100:
        share = value * 100 if value < 1 else value
        return f"for a share of the rows write it with a percent sign: `data.eval: {share:g}%`"
    if name == "method" and isinstance(value, str):
        return f"write `method: {{type: {value if value in METHODS else 'lora'}}}`"
    if name == "data" and isinstance(value, str):
        return f"write `data: {{train: {shortened(value)}}}`"
    if name == "hardware":
        return "write `hardware: this`, or a GPU with a count such as `hardware: l40s:1`"
    if kind in _NO_TABLE:
        first = min(parts().get(name, {"name"}))
        return f"write the fields under it, such as `{name}: {{{first}: ...}}`, or leave {name} out"
    correct = "correct the value"
    if kind in _BOUNDS:
        bound = f"{error['ctx'][_BOUNDS[kind][1]]:.12g}"
        correct = _BOUNDS[kind][2].format(name=name, bound=bound)
    if field is None or field.required:
        return f"write a value such as `{_EXAMPLES.get(name, name)}`"
    if field.path != name:
        return f"{correct}, or leave it out"
    default = f" (the default is {field.default_text})" if field.default_text else ""
    return f"{correct}, or leave {name} out{default}"


def _plain_number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.12g}"
