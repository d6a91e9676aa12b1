"""Launchers: where a worker runs. A new one costs a folder, a fixture and a line in `LAUNCHERS`."""

from surefit.errors import UsageError
from surefit.launch.launcher import Features, Job, JobStatus, Launcher, LogSource, Order
from surefit.launch.local import LocalLauncher

LAUNCHERS: tuple[Launcher, ...] = (LocalLauncher(),)


def launcher_named(name: str) -> Launcher:
    """The launcher of a name.

    Raises:
        UsageError: there is none.
    """
    for launcher in LAUNCHERS:
        if launcher.name == name:
            return launcher
    known = ", ".join(launcher.name for launcher in LAUNCHERS)
    raise UsageError(
        f"there is no launcher {name!r}",
        f"this surefit knows: {known}",
        f"use `{LAUNCHERS[0].name}`, or the surefit version that started the run",
    )


__all__ = [
    "LAUNCHERS",
    "Features",
    "Job",
    "JobStatus",
    "Launcher",
    "LocalLauncher",
    "LogSource",
    "Order",
    "launcher_named",
]
