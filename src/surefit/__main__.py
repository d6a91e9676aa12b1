"""`python -m surefit` is the `surefit` command."""

from surefit.cli import main

main()
