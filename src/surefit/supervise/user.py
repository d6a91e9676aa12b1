"""Who runs this process."""

import getpass
import os


def user_name() -> str:
    """The user's name, for the record."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"
