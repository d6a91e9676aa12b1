"""SF118 INDEX_ASSERT."""

import re

from surefit.diagnose.signatures.signature import Found, TextSignature

_INDEX = (
    r"Assertion `(?:srcIndex < srcSelectDimSize|-?\w*\s*<=? ?\w*[Ii]nd(?:ex|ices)\b|t(?:arget)? "
    r">= 0|"
    r"idx_dim >= 0|ind >= 0|index >= -sizes|vectorized_gather_kernel: ind|0 <= |"
    r"-sizes\[i\] <= index|label)[^`]*`? ?(?:failed|&&)|index out of bounds|ScatterGatherKernel"
    r"|indexSelect\w*Index|embedding|[Nn][Ll][Ll]_?[Ll]oss|cross_entropy"
)
_NUMBERS = r"probability tensor contains|input_val >= (?:zero|0)|isnan|!= ?nan"


class IndexOutsideTable(TextSignature):
    """A token id, a position or a label lies outside its table.

    ## What happened
    A lookup used an index that the table does not have. On the CPU the message says so; on a GPU
    it is a "device-side assert", and everything after it fails as well.

    ## Why
    Tokens were added and the embeddings not resized, the tokenizer belongs to another model, a row
    is longer than the position table, or a label is not in the range of classes.

    ## Example
        Indexing.cu:1553: indexSelectLargeIndex: Assertion `srcIndex < srcSelectDimSize` failed.

    ## What to do
    Resize the embeddings after adding tokens, cut rows at the model's length, and check the
    highest id of the data against the vocabulary before a GPU is rented.
    """

    code = "SF118"
    failure_class = "INDEX_ASSERT"
    title = "An index outside its table"
    patterns = (
        r"device-side assert(?:ion)? (?:was )?triggered|cudaErrorAssert",
        r"index out of range in self",
        r"IndexError: Target -?\d+ is out of bounds|(?:index|Target) -?\d+ is out of bounds for",
        r"Assertion `srcIndex < srcSelectDimSize` failed",
        r"[Tt]oken (?:id|index) \d+.{0,40}(?:out of|outside|exceeds|>=).{0,30}(?:vocab|range|"
        r"embedding)",
        r"index -?\d+ is out of bounds for dimension",
    )
    what = "a token id or position lies outside its table{step}{place}"
    why = "{text}{assertion}{added}"
    next_step = (
        "resize the embeddings after adding tokens (or map the new tokens to existing ones), "
        "cut rows at "
        "the model's length, and check the ids on the CPU first"
    )
    context = (r"Assertion `", r"(?:added|adding|Added) \d+ (?:special |new )?tokens?")

    def accepts(self, found: Found) -> bool:
        """A device-side assert can also speak of numbers that are not finite."""
        if not re.search("device-side|cudaErrorAssert", found.text):
            own = found.failure.last.kind if found.failure else ""
            return own != "IndexError" or "range in self" in found.text or "bounds" in found.text
        return found.evidence.find(_NUMBERS) is None

    def words(self, found: Found) -> dict[str, str]:
        """The assertion, and the tokens that were added."""
        evidence = found.evidence
        assertion = evidence.find(r"Assertion `[^`]*` failed")
        match = re.search(r"Assertion `([^`]*)`", assertion.text) if assertion else None
        added = [m[0] for _, m in evidence.find_all(self.context[1])]
        return {
            **super().words(found),
            "assertion": f" (`{match[1]}` failed)" if match else "",
            "added": f"; the log says: {added[-1]}" if added else "",
        }
