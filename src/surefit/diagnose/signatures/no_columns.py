"""SF505 NO_COLUMNS."""

import re
from typing import ClassVar

from surefit.diagnose.signatures.signature import Found, TextSignature

_KEY = r"^KeyError: ['\"](?P<column>[^'\"\n]+)['\"]"
_USUAL = (
    r"^(?:text|content|messages?|prompts?|completions?|instruction|inputs?|outputs?|"
    r"conversations?|role|from"
    r"|value|chosen|rejected|question|answer|response|labels?|target|context|system|user|"
    r"assistant|query"
    r"|dialog(?:ue)?|human|gpt|images?|tools?|label_ids|input_ids|attention_mask|document|title|"
    r"summary)$"
)
_DATA_CALLS = (
    r"/datasets/|formatting\.py|arrow_dataset|data_collat|:collate|dataloader|_prepare_dataset|"
    r":tokeni[sz]e"
    r"|:encode|:preprocess|:format|:batch$|:rows?$|:__getitem__|pandas|:apply_chat|:map|"
    r":_?fetch|data_utils"
)
_OTHER_CALLS = (
    r":on_\w+$|optim|:state_dict|callback|configuration_|:__init__$.*config|registry|environ"
)


class NoColumns(TextSignature):
    """The rows lack a column or a key that the trainer expects.

    ## What happened
    The trainer asked the rows for a name that they do not have, or found no column it can use.

    ## Why
    Every trainer expects its own names (`text`, `messages`, `prompt` and `completion`), and data
    sets come with others (`instruction`, `output`). Sometimes only one row lacks the key.

    ## Example
        KeyError: 'text'

    ## What to do
    Map the columns, or repair or drop the row. surefit finds the usual forms by itself and names
    the row that does not fit.
    """

    code = "SF505"
    failure_class = "NO_COLUMNS"
    title = "The expected column is not there"
    patterns = (
        r"No columns in the dataset match.{0,400}ignored: \[(?P<column>[^\]]*)\]",
        r"No columns in the dataset match",
        r"model did not return a (?P<column>loss) from the inputs",
        r"[Cc]olumn(?:\(s\)|s)? (?:names? )?\[?['\"]?(?P<column>[\w, '\"]+?)['\"]?\]? (?:(?:is|"
        r"are) )?(?:not in|do(?:es)?n't exist|not found|missing)",
        r"(?:[Dd]ataset|[Rr]ows?|data)(?! files must).{0,60}(?:must|should|has to|needs? to) "
        r"(?:contain|have|include).{0,30}(?:column|field|key)s?",
        r"(?:missing|expected|required) (?:the )?(?:column|field|key)s?:? "
        r"\[?['\"`]?(?P<column>\w+)",
        r"(?:[Cc]ould not|cannot|[Uu]nable to) (?:find|detect|infer) (?:a |the )?(?:text |data "
        r"?set )?(?:column|format|field)",
        r"dataset_text_field.{0,80}(?:not|missing)",
        r"UndefinedError: '[^']*' (?:object )?has no attribute '(?P<column>\w+)'",
        _KEY,
    )
    defaults: ClassVar[dict[str, str]] = {"column": "that is expected"}
    what = "the rows have no column or key '{column}'{place}"
    why = "{text}{there}"
    next_step = "map your columns to the expected ones, or repair the row that lacks '{column}'"

    def accepts(self, found: Found) -> bool:
        """A KeyError speaks of a row only where rows are read."""
        failure = found.failure
        if failure is None or not failure.last.kind.endswith("KeyError"):
            return True
        key = re.match(_KEY, failure.last.text)
        frames = failure.last.frames[-4:]
        inner = [f"{frame.path}:{frame.function}" for frame in frames]
        if key is None or any(re.search(_OTHER_CALLS, call) for call in inner[-2:]):
            return False
        reads_rows = any(re.search(_DATA_CALLS, call) for call in inner)
        usual = re.match(_USUAL, key["column"]) is not None
        return reads_rows or usual

    def words(self, found: Found) -> dict[str, str]:
        """The columns that are there, where the log names them."""
        words = super().words(found)
        there = [
            m[1]
            for _, m in found.evidence.find_all(r"columns: \[([^\]]+)\]|features: \[([^\]]+)\]")
        ]
        named = f"; the rows have {there[-1]}" if there and there[-1] else ""
        return {**words, "there": named, "column": words["column"].strip("' \"")}
