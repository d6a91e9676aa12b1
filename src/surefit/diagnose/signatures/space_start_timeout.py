"""SF814 SPACE_START_TIMEOUT."""

import re
from typing import ClassVar

from surefit.diagnose.signatures.signature import Found, TextSignature


class SpaceStartTimeout(TextSignature):
    """The app did not answer in time after its start.

    ## What happened
    The platform waits for an answer on the app's port. None came within its limit, and the app was
    ended.

    ## Why
    The app downloads a model before it answers, or it listens on another port than the platform
    asks.

    ## Example
        launch timed out, space was not healthy after 30 min

    ## What to do
    Answer first and load afterwards, raise `startup_duration_timeout`, or correct `app_port`.
    """

    code = "SF814"
    failure_class = "SPACE_START_TIMEOUT"
    title = "The app did not answer in time"
    plain_lines = True
    patterns = (
        r"(?:space|workload|app|container|replica).{0,20}(?:was|is) not healthy (?:after|"
        r"within) (?P<limit>\d+ ?\w+)",
        r"launch timed out|(?:startup|[Rr]eadiness|[Ll]iveness) (?:probe|check) (?:failed|timed "
        r"out)|startup timeout",
        r"did not (?:start|respond|become (?:healthy|ready)|answer).{0,30}(?:within|in|after) "
        r"(?P<limit>\d+ ?\w+)",
    )
    defaults: ClassVar[dict[str, str]] = {"limit": "the time that the platform allows"}
    what = "the app did not answer within {limit} of its start"
    why = "{text}{loading}"
    next_step = (
        "let the app answer on its port first and load the model afterwards, raise "
        "`startup_duration_timeout`, or correct `app_port`"
    )
    context = (r"preload|[Dd]ownloading|[Ll]oading",)

    def words(self, found: Found) -> dict[str, str]:
        """What it was doing instead of answering."""
        busy = [
            line
            for line in found.evidence.lines
            if re.search(r"preload|[Ff]etching|[Ll]oading", line.text)
        ]
        loading = f"; it was busy: {busy[-1].text.strip()}" if busy else ""
        return {**super().words(found), "loading": loading}
