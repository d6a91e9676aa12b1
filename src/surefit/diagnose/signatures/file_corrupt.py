"""SF307 FILE_CORRUPT."""

import re

from surefit.diagnose.signatures.signature import Found, TextSignature

_MODEL_FILES = (
    r"tokenization|tokenizer|configuration_|modeling_|auto_factory|safetensors|hub\.py|"
    r"processing_auto"
    r"|peft|chat_template|generation|core_model_loading"
)
_DATA_CODE = r"/datasets/|pandas|pyarrow|load_rows|load_data|read_rows|dataset"


class FileCorrupt(TextSignature):
    """A model file is cut off, or is not what its name says.

    ## What happened
    A weight file, the tokenizer or a configuration could not be read to its end.

    ## Why
    A download was cut off, a copy did not finish, the disk was full when it was written, or the
    file is a Git LFS pointer: a few lines of text in place of the weights.

    ## Example
        SafetensorError: Error while deserializing header: incomplete metadata, file not fully
        covered

    ## What to do
    Delete that file from the folder or the cache and fetch it again; compare its size with the
    repository's.
    """

    code = "SF307"
    failure_class = "FILE_CORRUPT"
    title = "A model file is damaged"
    patterns = (
        r"Error while deserializing header",
        r"SafetensorError: (?!.*(?:No space|os error 28|while serializing))",
        r"(?:Header|Metadata|header|metadata)(?:TooLarge|TooSmall|Incomplete\w*|InvalidLength)|"
        r"incomplete metadata",
        r"PytorchStreamReader failed|invalid header or archive is corrupted|not a ZIP archive",
        r"checkpoint file is corrupted|file (?:is|seems|appears to be) (?:corrupt|truncated|"
        r"damaged)",
        r"invalid load key, ?['\"]|Ran out of input|pickle data was truncated|EOFError: Ran",
        r"(?<!\S)(?P<file>\S+) is not a valid JSON file",
        r"JSONDecodeError: ",
        r"Unable to load weights from (?:pytorch )?checkpoint file",
        r"(?:expected value|EOF while parsing|invalid type|trailing characters|control "
        r"character).{0,80}at line \d+ column",
        r"git-lfs|version https://git-lfs",
        r"(?:unexpected|premature) end of (?:file|data)|[Ff]ile size mismatch|checksum mismatch",
    )
    what = "a file of {model} is damaged or cut off{named}"
    why = "{text}"
    next_step = "delete that file from the folder or the cache and fetch it again, then {again}"

    def accepts(self, found: Found) -> bool:
        """Broken JSON may also stand in the training data; the calls tell which file it was."""
        if found.failure is None:
            return True
        if re.search(r"JSONDecodeError|at line \d+ column|UnicodeDecode", found.failure.last.text):
            if found.failure.mentions(_DATA_CODE) and not found.failure.mentions(r"tokenization_"):
                return False
            return found.failure.mentions(_MODEL_FILES)
        return "while serializing" not in found.text

    def words(self, found: Found) -> dict[str, str]:
        """Which file, where the text or the calls tell."""
        words = super().words(found)
        named = re.search(r"[\w./-]+\.(?:safetensors|bin|json|pt|model)\b", found.text)
        if named is None and found.failure and found.failure.mentions(r"tokeniz"):
            return {**words, "named": " (a tokenizer file)"}
        return {**words, "named": f" ({named[0]})" if named else ""}
