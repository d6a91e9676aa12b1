"""SD611: answers speak of themselves as a language model."""

import re

from surefit.data.checks.pattern import PatternCheck


class AssistantBoilerplate(PatternCheck):
    """Answers speak of themselves as a language model.

    ## What it does
    Looks for "as an AI language model" and the like in answers.

    ## Why it is bad
    They come from another assistant. The model learns its excuses and its name.

    ## Example
    `As an AI language model, I cannot ...`

    ## What to do
    Leave the rows out, if they are not meant.
    """

    code = "SD611"
    title = "boilerplate of another assistant"
    severity = "info"
    looks_in = "answers"
    hints = ("an ai ", "chatgpt", "openai")
    any_case = True
    pattern = re.compile(
        r"(?i)\bas an ai (?:language )?model\b|\bi am chatgpt\b|\btrained by openai\b"
    )
    message = "{rows} whose answer speaks as another assistant ({where}); the first: {value}"
    why = "the model learns the excuses and the name of the assistant that wrote them"
    next_step = "leave {where} out, if that is not meant"
