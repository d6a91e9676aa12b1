"""SF507 NO_SAMPLES."""

from surefit.diagnose.signatures.signature import Found, TextSignature


class NoSamples(TextSignature):
    """There is nothing to train on.

    ## What happened
    The data set has no rows, every row was filtered out, or all text together does not fill one
    block.

    ## Why
    An empty file, a wrong split, a filter that drops everything, or packing into blocks longer
    than the whole text.

    ## Example
        ValueError: num_samples should be a positive integer value, but got num_samples=0

    ## What to do
    Look at the file. With little text, use a smaller block or switch packing off.
    """

    code = "SF507"
    failure_class = "NO_SAMPLES"
    title = "Nothing to train on"
    patterns = (
        r"num_samples should be a positive integer.{0,40}num_samples=0|num_samples=0",
        r"^StopIteration\b",
        r"(?:train|eval)?_?[Dd]ataset (?:is|was|has become) empty|empty (?:training )?(?:data "
        r"?set|file)|EmptyData",
        r"[Cc]annot find valid samples|(?:no|0|zero) (?:valid |training |usable )?(?:samples?|"
        r"rows?|examples?)\b.{0,40}(?:found|left|remain|to train|in)",
        r"corresponds to no data|No columns to parse from file|Invalid key: \d+ is out of "
        r"bounds for size 0",
        r"(?:batch )?length of .?train_dataloader.? is 0|There seems not to be a single sample",
        r"must (?:contain|have) at least (?:one|1) (?:row|sample|example)|needs? at least one "
        r"array to concatenate",
        r"IndexError: list index out of range|ZeroDivisionError",
    )
    what = "there is nothing to train on: {data} gives no rows"
    why = "{text}{rows}"
    next_step = (
        "look at {data}: it may be empty; with little text use a smaller block or "
        "switch packing off"
    )
    context = (r"Generating \w+ split: \d+ examples", r"training rows|[\"']block")

    def accepts(self, found: Found) -> bool:
        """Short words such as StopIteration count only where a data set is read."""
        failure = found.failure
        if failure is None:
            return "num_samples" in found.text or "empty" in found.text or "sample" in found.text
        if not found.text.startswith(("StopIteration", "IndexError: list", "ZeroDivision")):
            return True
        inner = failure.last.frames[-2:]
        return any("/datasets/" in f.path or "dataset" in f.function for f in inner)

    def words(self, found: Found) -> dict[str, str]:
        """How many rows were read, where the log tells."""
        seen = [m[1] for _, m in found.evidence.find_all(r"Generating \w+ split: (\d+) examples")]
        rows = f"; {seen[-1]} rows were read" if seen and seen[-1] != "0" else ""
        return {**super().words(found), "rows": rows}
