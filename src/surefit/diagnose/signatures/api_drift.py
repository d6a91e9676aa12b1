"""SF303 API_DRIFT."""

from typing import ClassVar

from surefit.diagnose.signatures.signature import Found, TextSignature


class ApiDrift(TextSignature):
    """Library versions do not belong together.

    ## What happened
    One library called another, or your script called one, in a way that the installed version no
    longer knows or does not know yet.

    ## Why
    transformers, trl, peft, accelerate, tokenizers and torch rename things between releases. An
    environment without pinned versions changes over night.

    ## Example
        TypeError: SFTConfig.__init__() got an unexpected keyword argument 'max_seq_length'

    ## What to do
    Install a set of versions that belong together (surefit's own is in its constraints), or use
    the new name: `max_seq_length` is now `max_length`, `tokenizer` is `processing_class`,
    `evaluation_strategy` is `eval_strategy`.
    """

    code = "SF303"
    failure_class = "API_DRIFT"
    title = "Library versions that do not belong together"
    patterns = (
        r"(?<![\w.])(?P<who>[\w.]+)(?:\(\))? got an unexpected keyword argument '(?P<name>\w+)'",
        r"cannot import name '(?P<name>\w+)' from '?(?P<who>[\w.]+)",
        r"module '(?P<who>[\w.]+)' has no attribute '(?P<name>\w+)'",
        r"(?<![\w-])(?P<who>\w[\w-]{0,60})\S{0,80} is required for a normal functioning of this module, but "
        r"found (?P<name>\S+)",
        r"(?<![\w-])(?P<who>\w[\w-]{0,60}) ?[<>=]=?\S{1,40} .{0,30}(?:is )?required.{0,60}(?:but|found|have|got) "
        r".{0,30}(?P<name>\d+\.\d[\w.]*)",
        r"(?<![\w-])(?P<who>[\w-]+) (?P<name>\d+\.\d[\w.]*) (?:is|was) (?:installed|found) "
        r"but.{0,60}(?:requires?|is required)",
        r"requires (?:at least )?(?P<who>transformers|trl|peft|accelerate|tokenizers|torch|"
        r"datasets) ?"
        r"(?:version )?[<>=]=? ?(?P<name>\S+)",
        r"data did not match any variant of untagged enum (?P<name>\w+)",
        r"(?P<who>numpy)\.dtype size changed|A module that was compiled using NumPy 1\.x|"
        r"_ARRAY_API not found",
        r"operator (?P<who>torchvision::\w+) does not exist",
        r"'(?P<who>[A-Z]\w+)' object has no attribute '(?P<name>\w+)'",
        r"(?<!\w)(?P<who>\w+)\.__init__\(\) (?:missing|takes) .{0,20}positional argument",
        r"Tokenizer class (?P<name>\w+) does not exist or is not currently imported",
        r"(?:DistributionNotFound|VersionConflict|ContextualVersionConflict)",
        r"(?<!\w)(?P<name>\w+) (?:has been|was) (?:removed|renamed).{0,60}(?:version|use|in favou?r)",
    )
    defaults: ClassVar[dict[str, str]] = {"who": "a library", "name": "this call"}
    what = "the installed versions do not belong together: {problem}"
    why = "{text}"
    next_step = "install versions that belong together (a locked set), or {rename}"
    _NEW_NAMES: ClassVar[dict[str, str]] = {
        "max_seq_length": "write `max_length` instead of `max_seq_length`",
        "tokenizer": "write `processing_class` instead of `tokenizer`",
        "evaluation_strategy": "write `eval_strategy` instead of `evaluation_strategy`",
        "torch_dtype": "write `dtype` instead of `torch_dtype`",
        "use_auth_token": "write `token` instead of `use_auth_token`",
    }

    def accepts(self, found: Found) -> bool:
        """A missing attribute counts when the call is inside a library, not in the user's own code."""
        if "object has no attribute" not in found.text and "positional argument" not in found.text:
            return True
        frames = found.failure.last.frames if found.failure else ()
        return bool(frames) and "-packages" in frames[-1].path and "'NoneType'" not in found.text

    def words(self, found: Found) -> dict[str, str]:
        """The new name, where a setting was only renamed."""
        words = super().words(found)
        other = "change the call as its documentation says"
        name, who = words["name"].rstrip("."), words["who"]
        problem = f"{who} does not know {name}"
        if "required" in found.text or "requires" in found.text:
            problem = f"another version of {who} is required, {name} was found"
        return {**words, "problem": problem, "rename": self._NEW_NAMES.get(name, other)}
