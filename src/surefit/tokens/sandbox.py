"""Jinja's sandbox with transformers' globals, filters and block settings. Loaded on first use."""

import datetime
import json
from collections.abc import Callable
from typing import Any

import jinja2
import jinja2.ext
import jinja2.meta
import jinja2.runtime
import jinja2.sandbox

from surefit.errors import Refused
from surefit.tokens.generation import GenerationBlocks
from surefit.tokens.refusal import TemplateRefusalError


def compile_template(source: str) -> Callable[..., str]:
    """A function from the variables of a chat template to its text.

    The function raises TemplateRefusalError: the template refuses the conversation, or fails on it.

    Raises:
        Refused: the text is not a Jinja template.
    """
    environment = _environment()
    try:
        template = environment.from_string(source)
    except jinja2.TemplateSyntaxError as error:
        raise _not_a_template(error) from error

    shared = dict(template.globals)
    blocks, name, root, join = (
        template.blocks,
        template.name,
        template.root_render_func,
        environment.concat,
    )

    def rendered(**variables: Any) -> str:
        try:
            # What Template.render does, without copying the globals twice for each of a million rows.
            context = jinja2.runtime.new_context(
                environment, name, blocks, {**shared, **variables}, shared=True
            )
            return join(root(context))
        except jinja2.TemplateError as error:
            raise TemplateRefusalError(error.message or str(error)) from error
        except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            raise TemplateRefusalError(
                f"the template fails on this conversation: {error}"
            ) from error
        except (RecursionError, OverflowError, MemoryError) as error:
            raise TemplateRefusalError(
                f"the template does not end: {type(error).__name__}"
            ) from error

    return rendered


_LOOP_FACTS = frozenset(
    {"index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0"}
    | {"previtem", "nextitem"}
)


def variables_read(source: str) -> frozenset[str]:
    """The variables that a template reads and does not set itself; globals are not among them.

    Raises:
        Refused: the text is not a Jinja template.
    """
    environment = _environment()
    try:
        parsed = environment.parse(source)
    except jinja2.TemplateSyntaxError as error:
        raise _not_a_template(error) from error
    return frozenset(jinja2.meta.find_undeclared_variables(parsed) - environment.globals.keys())


def _not_a_template(error: jinja2.TemplateSyntaxError) -> Refused:
    return Refused(
        "the chat template of the model cannot be read",
        f"line {error.lineno} of the template: {error.message}",
        "take the template from the model's original folder again, or correct that line",
    )


class _Namespace(jinja2.utils.Namespace):
    """Jinja's namespace without names that begin with an underscore (a way out of the sandbox)."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"the template may not set {name!r}")
        super().__setitem__(name, value)


class _Sandbox(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """Jinja's sandbox with its answer about `loop.first` and the like at hand: it is always yes."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """An attribute that a template names, or an item of that name."""
        if type(obj) is jinja2.runtime.LoopContext and attribute in _LOOP_FACTS:
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)


def _environment() -> _Sandbox:
    environment = _Sandbox(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[GenerationBlocks, jinja2.ext.loopcontrols],
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    environment.globals["namespace"] = _Namespace
    return environment


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as models saw it in training: no HTML escapes, which Jinja's own filter adds."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _raise_exception(message: str) -> None:
    raise jinja2.exceptions.TemplateError(message)


def _strftime_now(pattern: str) -> str:
    return datetime.datetime.now().strftime(pattern)
