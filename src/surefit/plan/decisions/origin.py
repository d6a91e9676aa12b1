"""Why a model of the Hub is this commit and no other, and what has to be fetched of it."""

from surefit.models.facts import ModelFacts
from surefit.plan.plan import Decision
from surefit.units import bytes_text


def explain_origin(facts: ModelFacts) -> tuple[Decision, ...]:
    """The commit that the run is pinned to; nothing for a model in a folder."""
    hub = facts.hub
    if hub is None:
        return ()
    whole = sum(file.size_bytes for file in hub.files)
    rest = (
        f"{bytes_text(hub.download_bytes)} of {bytes_text(whole)} will be fetched by the run, into {facts.folder}"
        if hub.download_bytes
        else f"all {bytes_text(whole)} are in the cache, {facts.folder}"
    )
    pinned = (
        "you named this commit"
        if hub.revision == hub.commit
        else f"what {hub.revision} was when the plan was made; the run stays with it"
    )
    return (
        Decision(
            field="model.commit",
            value=hub.commit,
            reason=f"{pinned} ({hub.repo}, {hub.access}); {rest}",
            fixed_by_user=hub.revision == hub.commit,
        ),
    )
