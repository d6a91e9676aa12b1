"""Rows, formats, checks: what the data holds, what is wrong with it, and the tokens to train on."""

from surefit.data.check import check_data
from surefit.data.prepared import place_prepared
from surefit.data.report import (
    DatasetReport,
    DataSource,
    DataVerdict,
    Finding,
    Sample,
    Severity,
    TokenCounts,
)

__all__ = [
    "DataSource",
    "DataVerdict",
    "DatasetReport",
    "Finding",
    "Sample",
    "Severity",
    "TokenCounts",
    "check_data",
    "place_prepared",
]
