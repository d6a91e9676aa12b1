"""SD416: an argument that the chat template never reads."""

import difflib

from surefit.data.checks.check import Check, Hit, Stage, Tally, Totals, Words


class TemplateArgumentUnread(Check):
    """The model's chat template never reads an argument of `data.template_arguments`.

    ## What it does
    Compares the names with the variables that the template reads.

    ## Why it is bad
    The argument changes nothing: rows are trained, and questions asked, as if it were not there.

    ## Example
    `template_arguments: {enable_thinkin: false}`, or `enable_thinking` for a template without it.

    ## What to do
    Correct the name, or take it out.
    """

    code = "SD416"
    title = "template argument unread"
    severity = "refuse"
    stages = frozenset({Stage.SET})

    def of_set(self, totals: Totals) -> Hit | None:
        """The names that are not read."""
        given = self.terms.spec.template_arguments
        if not given or self.terms.tokenizer is None:
            return None
        unread = sorted(given.keys() - self.terms.tokenizer.template.reads())
        return Hit(", ".join(unread), count=len(unread)) if unread else None

    def words(self, tally: Tally) -> Words:
        """The finding in words, with what the template reads."""
        tokenizer, first = self.terms.tokenizer, tally.first.value.split(", ")[0]
        known = sorted(tokenizer.template.reads_of_its_own()) if tokenizer is not None else []
        near = difflib.get_close_matches(first, known, n=1, cutoff=0.6)
        return Words(
            f"the model's chat template never reads {tally.first.value} of data.template_arguments",
            f"the arguments that it reads are {', '.join(known)}"
            if known
            else "it reads no argument of its own",
            f"did you mean {near[0]}?" if near else f"take {first} out of data.template_arguments",
        )
