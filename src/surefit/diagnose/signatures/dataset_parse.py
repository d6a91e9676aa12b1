"""SF506 DATASET_PARSE."""

import re

from surefit.diagnose.signatures.signature import Found, TextSignature

_DATA_CALLS = r"/datasets/|pandas|pyarrow|load_rows|load_data|read|dataset|rows|jsonl|csv|data"


class DatasetParse(TextSignature):
    """A row of the data set cannot be read.

    ## What happened
    A line is not valid JSON or CSV, or a row has another shape than the rows before it.

    ## Why
    A file that was cut off, a comma in unquoted text, a value that is sometimes a text and
    sometimes a list, or several data sets put together.

    ## Example
        pandas.errors.ParserError: Error tokenizing data. C error: Expected 2 fields in line 90,
        saw 4

    ## What to do
    Repair or drop the line that is named. `surefit check` reads the whole file and names every
    such line.
    """

    code = "SF506"
    failure_class = "DATASET_PARSE"
    title = "A row cannot be read"
    patterns = (
        r"(?:JSON|json) parse error: .*?(?:in row (?P<row>\d+))?$",
        r"Error tokenizing data.*?(?:in|at) (?:line|row) (?P<line>\d+).*",
        r"Error tokenizing data|EOF inside string|unexpected end of data",
        r"[Cc]ouldn't cast.*|CastError.*|[Aa]ll the data files must have the same columns.*",
        r"(?:Schema|Type) (?:at index|mismatch|error).*|ArrowTypeError.*|cannot mix (?:list|"
        r"struct).*",
        r"ArrowInvalid: .*|ArrowNotImplementedError.*|Parquet magic bytes not found.*",
        r"(?:Expected|changed from) .{0,40}(?:string|number|array|object|struct|"
        r"list).{0,60}(?:row|line) (?P<row>\d+)",
        r"JSONDecodeError: .*",
        r"UnicodeDecodeError: .*",
        r"(?:line|row) (?P<line>\d+).{0,60}(?:not valid|invalid|malformed|cannot be (?:read|"
        r"parsed)).*",
        r"(?:invalid|malformed|bad) (?:JSON|CSV|row|line).{0,40}(?:line|row)? ?(?P<line>\d+)?",
        r"[Ee]rror occurred while generating the dataset|DatasetGeneration(?:Cast)?Error",
    )
    what = "a row of {file} cannot be read{where}"
    why = "{said}"
    next_step = "repair or drop {which} of {file}; `surefit check` names every such line"
    context = (r"Failed to (?:load JSON from|read) file",)

    def accepts(self, found: Found) -> bool:
        """Broken JSON outside the data belongs to another file."""
        if found.failure is None or not re.search(
            r"JSONDecodeError|UnicodeDecode", found.failure.last.text
        ):
            return True
        return found.failure.mentions(_DATA_CALLS)

    def words(self, found: Found) -> dict[str, str]:
        """File and line, from the error or from what the reader logged."""
        words = super().words(found)
        logged = found.evidence.find(self.context[0])
        near = f"{logged.text if logged else ''} {found.text}"
        file = re.search(r"'([^']+\.\w+)'|(/\S+\.(?:jsonl?|csv|tsv|parquet|txt))\b", near)
        line = int(found.groups["line"]) if "line" in found.groups else None
        if line is None and "row" in found.groups:
            line = int(found.groups["row"]) + 1  # pyarrow counts rows from 0
        return {
            **words,
            "file": (file[1] or file[2]) if file else words["data"],
            "where": f" (line {line})" if line else "",
            "which": f"line {line}" if line else "that line",
            "said": found.lines[0].text.strip(),
        }

    def phase_of(self, found: Found) -> str | None:
        """Rows are read while preparing."""
        return "prepare_data" if not found.evidence.metrics else None
