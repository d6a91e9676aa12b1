"""SD301: a turn of somebody whom the format does not know."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.near_miss import keys_instead, near_key, nearest, rename
from surefit.data.row import Row
from surefit.units import shortened

KNOWN_ROLES = ("system", "developer", "user", "assistant", "tool")
_USUAL_NAMES = {
    "human": "user",
    "gpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "ai": "assistant",
}


class RoleUnknown(Check):
    """A turn has an unknown role.

    ## What it does
    Checks `role` of every turn against system, developer, user, assistant and tool.

    ## Why it is bad
    Many templates print an unknown role without complaint, so that an answer under `asistant` is
    never trained and nobody notices.

    ## Example
    `{"role": "asistant", "content": "Hello!"}`

    ## What to do
    Correct the role.
    """

    code = "SD301"
    title = "unknown role"
    severity = "refuse"
    stages = frozenset({Stage.TURNS})
    only_unusual = True
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        for turn in row.messages:
            role = turn.get("role")
            if "role" not in turn:
                return Hit(f"a turn that {keys_instead(turn, 'role')}", near_key(turn, "role"))
            if role not in KNOWN_ROLES:
                near = _USUAL_NAMES.get(str(role).lower()) or nearest(str(role), KNOWN_ROLES)
                return Hit(f"the role {shortened(str(role), 30)!r}", near or "")
        return None

    def words(self, tally: Tally) -> Words:
        near = tally.first.fix
        return Words(
            f"{tally.rows_text()} with an unknown role ({tally.where_text()}); "
            f"the first has {tally.first.value}",
            f"a turn belongs to one of {', '.join(KNOWN_ROLES)}; answers under another name "
            "would silently carry no loss",
            f"did you mean {near!r}? Correct {tally.where_text()}"
            if near in KNOWN_ROLES
            else rename(near, "role")
            if near
            else f"correct {tally.where_text()}",
        )
