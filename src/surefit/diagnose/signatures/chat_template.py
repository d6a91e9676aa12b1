"""SF501 CHAT_TEMPLATE."""

import re

from surefit.diagnose.signatures.signature import Found, TextSignature


class ChatTemplate(TextSignature):
    """There is no chat template, or it rejects the rows.

    ## What happened
    Conversations have to be turned into text by the tokenizer's chat template. It is missing, or it
    refused the order or the names of the roles.

    ## Why
    Base models have no template. Some templates want strictly alternating turns, or know no system
    role.

    ## Example
        ValueError: Cannot use chat template functions because tokenizer.chat_template is not set
        jinja2.exceptions.TemplateError: Conversation roles must alternate user/assistant/...

    ## What to do
    Supply a template (ChatML for a base model) or use the instruct model; merge or drop the rows
    whose turns the template refuses.
    """

    code = "SF501"
    failure_class = "CHAT_TEMPLATE"
    title = "No chat template, or one that rejects the rows"
    patterns = (
        r"[Cc]onversation roles must alternate.*",
        r"(?:roles?|turns?).{0,40}(?:must|should|have to) (?:alternate|start|begin|end).*",
        r"chat_?template.{0,80}(?:is not set|not (?:set|defined|found|available|provided)|"
        r"missing|None)",
        r"(?:no|without a?n?|not have a) (?:default )?chat[ _]template",
        r"[Ss]ystem role (?:is )?not supported.*|[Oo]nly (?:user|system|the).{0,60}roles? "
        r"(?:are|is) supported.*",
        r"[Uu]n(?:known|expected|supported|recognized) role.*|[Ii]nvalid role.*",
        r"jinja2\.exceptions\.Template\w*Error: (?P<said>.*)",
        r"No user query found in messages|raise_exception",
        r"TemplateSyntaxError|chat template.{0,60}(?:invalid|error|fail)",
    )
    what = "the conversations could not be turned into text: {problem}"
    why = "{text}"
    next_step = "{remedy}"

    def words(self, found: Found) -> dict[str, str]:
        """Missing, or rejecting."""
        words = super().words(found)
        missing = re.search(
            r"not set|no (?:default )?chat|without|not have|missing|not defined", words["text"]
        )
        if missing:
            return {
                **words,
                "problem": f"{words['model']} has no chat template (chat_template)",
                "remedy": "give a template (for example ChatML), or use the instruct version of "
                "the model",
            }
        return {
            **words,
            "problem": "the template rejects the roles of at least one row",
            "remedy": "repair or drop the conversations whose roles the template refuses: merge "
            "two turns "
            "of the same role in a row, put a system text into the first user turn",
        }
