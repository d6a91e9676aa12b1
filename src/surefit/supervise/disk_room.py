"""Room on the disk while a run goes on: told before the next checkpoint finds none."""

import shutil

from surefit.plan.plan import Plan
from surefit.runs import RunFolder
from surefit.supervise.course import Course
from surefit.units import bytes_text

_LOOKS_BETWEEN = 10  # the disk is looked at in every tenth look


class DiskRoom:
    """Tells once when the next checkpoint would not fit, and once when there is room again."""

    def __init__(self, run: RunFolder, plan: Plan, course: Course) -> None:
        kept = plan.training.keep_checkpoints + 1
        wanted = sum(item.bytes for item in plan.disk if item.item == "checkpoints")
        self._needed = wanted // kept
        self._run, self._course = run, course
        self._short = False
        self._looks = 0

    def look(self) -> None:
        """Compare what is free with what the next checkpoint needs."""
        self._looks += 1
        if not self._needed or self._looks % _LOOKS_BETWEEN != 1:
            return
        free = shutil.disk_usage(self._run.path).free
        if (free < self._needed) is self._short:
            return
        self._short = not self._short
        figures = (
            f"{bytes_text(free)} are free, the next checkpoint needs {bytes_text(self._needed)}"
        )
        self._course.note(
            "disk",
            f"{figures}: free some space on the disk of {self._run.path}, or the run waits there"
            if self._short
            else f"there is room again on the disk: {figures}",
            free_bytes=free,
            needed_bytes=self._needed,
        )
