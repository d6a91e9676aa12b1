"""The command line: reads options, calls one layer below, renders. No decision is made here."""

from surefit.cli.entry import main

__all__ = ["main"]
