"""Where each value of a recipe was written: a line of the file, or a `--set` option."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from surefit.errors import RecipeError
from surefit.recipe.document import Document, KeyPath
from surefit.recipe.overrides import Override
from surefit.recipe.problem import RecipeProblem


@dataclass(frozen=True)
class Places:
    """Where each value came from: a line of the file, or an override."""

    name: str | None
    document: Document
    changes: Sequence[Override]

    def error(self, problems: Sequence[RecipeProblem]) -> RecipeError:
        """All problems as one error: the first in full, the others in a line each."""
        ordered = sorted(problems, key=lambda problem: self._line(problem.path) or 0)
        first, others = ordered[0], ordered[1:]
        also = [
            f"{self._where(problem, short=True)}{problem.what}; {problem.next_step}"
            for problem in others
        ]
        return RecipeError(
            first.what,
            first.why,
            first.next_step,
            where=self._where(first) or None,
            details={"problems": [self._record(problem) for problem in ordered], "also": also},
        )

    def _line(self, path: KeyPath) -> int | None:
        return None if self._override(path) else self.document.line_of(path)

    def _override(self, path: KeyPath) -> Override | None:
        # The last one that touches the field is the one that counts.
        for change in reversed(self.changes):
            if path[: len(change.path)] == change.path:
                return change
        return self._maker(path)

    def _maker(self, path: KeyPath) -> Override | None:
        """The change that made the nearest part above the field, where the file has none: `a` of `a.b=3`."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.document.lines:
                return None
            for change in reversed(self.changes):
                if change.path[:length] == path[:length]:
                    return change
        return None

    def where(self, path: KeyPath) -> str:
        """The place of a field with its name."""
        return self._where(RecipeProblem(path, "", "", ""))

    def _where(self, problem: RecipeProblem, *, short: bool = False) -> str:
        change = self._override(problem.path)
        end = ": " if short else f": {problem.field}"
        if change:
            return f"--set {change.text}{end}"
        if self.name is None:
            return "" if short else problem.field
        line = self._line(problem.path)
        return f"{self.name}:{line}{end}" if line else f"{self.name}{end}"

    def _record(self, problem: RecipeProblem) -> dict[str, Any]:
        change = self._override(problem.path)
        return {
            "file": None if change else self.name,
            "line": self._line(problem.path),
            "set": change.text if change else None,
            "field": problem.field,
            "what": problem.what,
            "why": problem.why,
            "next": problem.next_step,
        }
