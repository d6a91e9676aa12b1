"""SF302 MODEL_UNKNOWN."""

from typing import ClassVar

from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import Found, TextSignature, find_in_failure


class ModelUnknown(TextSignature):
    """The installed library does not know this model's architecture.

    ## What happened
    `config.json` names a model type that the installed transformers has no code for.

    ## Why
    The model is newer than the library, or the name is misspelt in a configuration written by hand.

    ## Example
        ValueError: The checkpoint you are trying to load has model type `wren4_moe` but
        Transformers does not recognize this architecture.

    ## What to do
    Install a transformers release that knows the model, or take a model that this release knows.
    """

    code = "SF302"
    failure_class = "MODEL_UNKNOWN"
    title = "The library does not know this model"
    patterns = (
        r"has model type [`'\"]?(?P<type>[\w.-]+)[`'\"]? but Transformers does not recognize",
        r"model[ _]type [`'\"](?P<type>[\w.-]+)[`'\"].{0,60}(?:not recogni[sz]e|unknown|not "
        r"support)",
        r"Unrecognized model in (?P<type>\S+?)\.? Should have a `?model_type",
        r"Unrecognized configuration class <class '[\w.]*?\.?(?P<type>\w+)'>",
        r"[Mm]odel architectures? \[?'?(?P<type>\w+)'?\]? (?:is|are) not supported",
        r"(?:does not|doesn't) (?:support|recognize) (?:the |this )?architecture:? "
        r"?[`'\"]?(?P<type>[\w.-]+)",
        r"Architecture '?(?P<type>\w+)'? (?:is )?not supported",
    )
    in_config = r"^KeyError: '(?P<type>[\w.-]+)'"
    defaults: ClassVar[dict[str, str]] = {"type": "of this model"}
    what = "the installed library does not know the model type {type}"
    why = "{text}"
    next_step = (
        "install a transformers release that knows {type}, or take a model that this one knows"
    )

    def find(self, evidence: Evidence) -> Found | None:
        """Older releases only say which key their table of configurations lacks."""
        found = super().find(evidence)
        failure = evidence.root.failure
        if found is not None or failure is None or not failure.mentions("configuration_auto"):
            return found
        return find_in_failure(evidence, self.in_config, failure)
