"""The key under which a prepared set is kept, and its report read back."""

import hashlib
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from surefit.data.checks.check import Terms
from surefit.data.prepared import FORMAT
from surefit.data.report import DatasetReport, DataSource

REPORT_FILE = "dataset.json"
RULES = 7
"""Raised when a check or the mask changes what the same data would give."""


def cache_key(
    terms: Terms, tokenizer_sha256: str, seed: int, sources: tuple[DataSource, ...]
) -> str:
    """Equal for equal data, tokenizer, template and options, whatever run they are for."""
    parts = {
        "format": FORMAT,
        "rules": RULES,
        "data": [source.sha256 for source in sources],
        "spec": terms.spec.model_dump(),
        "packing": terms.packing,
        "tokenizer": tokenizer_sha256,
        "max_length": terms.max_length,
        "batch": terms.batch,
        "model_limit": terms.model_limit,
        "seed": seed,
    }
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def cached_report(folder: Path) -> DatasetReport | None:
    """The report beside a prepared set, or None where there is none that can be read."""
    try:
        return DatasetReport.model_validate_json((folder / REPORT_FILE).read_bytes())
    except (OSError, ValidationError):
        return None


def prepared_files(
    tokenizer_sha256: str, report: DatasetReport
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What ``prepared.json`` says beside the counts, and the report as a further file."""
    about = {"tokenizer_sha256": tokenizer_sha256, "max_length": report.max_length}
    return about, {REPORT_FILE: report.model_dump_json(indent=2).encode()}
