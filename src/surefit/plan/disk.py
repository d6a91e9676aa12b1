"""What a run writes: checkpoints, the result, and the prepared rows."""

from surefit.plan.plan import AccountItem
from surefit.plan.setup import Setup
from surefit.units import MIB, parameters_text, plural

_ROW_BYTES, _TOKEN_BYTES = 8, 5  # offset of a row; id and mask of a token
_LOG_BYTES = 16 * MIB


def _download(setup: Setup) -> tuple[AccountItem, ...]:
    """What is fetched of a model of the Hub, where its cache lies on the same disk."""
    hub = setup.facts.hub
    if hub is None or not hub.same_disk or not hub.download_bytes:
        return ()
    why = f"what the Hub's cache does not have of {hub.repo} yet"
    return (AccountItem(item="download", bytes=hub.download_bytes, why=why),)


def checkpoint_size(setup: Setup) -> int:
    """Bytes of one checkpoint: trained numbers and AdamW's two for each."""
    return 3 * setup.trained_parameters * setup.trained_number_bytes


def disk_account(setup: Setup, keep: int, epochs_tokens: float) -> tuple[AccountItem, ...]:
    """What will be on the disk at most. A new checkpoint is whole before the oldest is deleted."""
    trained = setup.trained_parameters
    result = trained * setup.trained_number_bytes
    prepared = round(2 * (epochs_tokens * _TOKEN_BYTES + setup.lengths.rows * _ROW_BYTES))
    each = "the trained numbers and AdamW's two for each"
    return (
        AccountItem(
            item="checkpoints",
            bytes=(keep + 1) * checkpoint_size(setup),
            why=f"{plural(keep, 'kept checkpoint')} and the one being written, {each}",
        ),
        AccountItem(
            item="model" if setup.is_full else "adapter",
            bytes=result,
            why=f"{parameters_text(trained)} parameters x {setup.trained_number_bytes} bytes",
        ),
        AccountItem(
            item="prepared rows",
            bytes=prepared,
            why="tokens and masks, once in the cache, once in the run",
        ),
        *_download(setup),
        AccountItem(item="log and events", bytes=_LOG_BYTES, why="an allowance"),
    )
