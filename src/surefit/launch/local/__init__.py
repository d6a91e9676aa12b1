"""The local launcher: a worker on this machine, in a session and process group of its own."""

from surefit.launch.local.local import LocalLauncher

__all__ = ["LocalLauncher"]
