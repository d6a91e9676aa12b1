"""Runs every check over files, rows and the whole set, and counts what they hit."""

from collections.abc import Iterable

from surefit.data.checks import CHECKS
from surefit.data.checks.check import Check, Hit, Stage, Tally, Terms, Totals
from surefit.data.report import DataVerdict, Finding
from surefit.data.row import DataFile, Row

DROPPED_LISTED = 10_000


class Examination:
    """The checks of one run over one data set.

    Args:
        terms: what the data is wanted for.
        totals: counted by the reader; whole when the set is looked at.
        checks: the kinds of checks; all registered ones by default.
    """

    def __init__(
        self, terms: Terms, totals: Totals, checks: Iterable[type[Check]] = CHECKS
    ) -> None:
        self._totals, self._terms = totals, terms
        self._checks = [kind(terms) for kind in checks]
        self._tallies: dict[str, Tally] = {}
        self.dropped: list[str] = []
        """Places of rows that are not trained."""
        self._of_stage = {
            stage: [check for check in self._checks if check.looks_at(stage)] for stage in Stage
        }
        # Bound once: millions of rows pass some forty checks each.
        self._row_checks = {
            stage: [(check, check.of_row) for check in checks]
            for stage, checks in self._of_stage.items()
        }
        self._plain_row_checks = {
            stage: [(check, look) for check, look in checks if not check.only_unusual]
            for stage, checks in self._row_checks.items()
        }

    def look_at_file(self, file: DataFile) -> None:
        """Run the checks of whole files."""
        for check in self._of_stage[Stage.FILE]:
            hit = check.of_file(file)
            if hit is not None:
                self._count(check, hit, file.name)

    def look_at_row(self, stage: Stage, row: Row) -> bool:
        """Run the checks of one stage over a row. Returns whether the row is still usable."""
        usable = True
        checks = self._plain_row_checks if row.plain else self._row_checks
        for check, look in checks[stage]:
            hit = look(row)
            if hit is not None:
                self._count(check, hit, row.place)
                usable = usable and not check.drops_row
        if not usable:
            self._totals.unusable += 1
            self.list_dropped(row)
        return usable

    def count_of(self, code: str) -> int:
        """Rows that a check has hit."""
        return self._tallies[code].count if code in self._tallies else 0

    def list_dropped(self, row: Row) -> None:
        """Remember the place of a row that is not trained."""
        if len(self.dropped) < DROPPED_LISTED:
            self.dropped.append(row.place)

    def look_at_set(self) -> None:
        """Run the checks of the whole set."""
        for check in self._of_stage[Stage.SET]:
            hit = check.of_set(self._totals)
            if hit is not None:
                self._count(check, hit, hit.place or None)

    def findings(self) -> tuple[Finding, ...]:
        """What was found, the heaviest first, then by code."""
        weight = {"refuse": 0, "warn": 1, "info": 2}
        found = [
            self._finding(check, self._tallies[check.code])
            for check in self._checks
            if check.code in self._tallies
        ]
        return tuple(sorted(found, key=lambda finding: (weight[finding.severity], finding.code)))

    def _finding(self, check: Check, tally: Tally) -> Finding:
        words = check.words(tally)
        allowed = self._terms.spec.max_unusable
        left_out = check.drops_row and 0 < self._totals.unusable <= allowed
        return Finding(
            code=check.code,
            severity="warn" if left_out else check.severity,
            message=words.message,
            why=words.why,
            next=f"left out, as data.max_unusable: {allowed} allows; else {words.next}"
            if left_out
            else words.next,
            count=tally.count,
            rows=tuple(tally.places),
        )

    def _count(self, check: Check, hit: Hit, place: str | None) -> None:
        tally = self._tallies.setdefault(
            check.code, Tally(hit, place or hit.place, self._totals, self._terms)
        )
        tally.count += hit.count
        if place is not None:
            for one in (hit.place or place).split("\n"):
                tally.add_place(one)


def verdict_of(findings: Iterable[Finding]) -> DataVerdict:
    """The heaviest severity: what the findings together say."""
    severities = {finding.severity for finding in findings}
    if "refuse" in severities:
        return "refuse"
    return "warn" if "warn" in severities else "ok"
