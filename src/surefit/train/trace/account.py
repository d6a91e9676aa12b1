"""A stream's peaks: by phase, by item, and the tensors alive at the largest moment."""

from collections import Counter
from collections.abc import Iterator

from surefit.plan.tracing import Alive, PhasePeak
from surefit.train.trace.allocator import CachingAllocator
from surefit.train.trace.recording import BY_PHASE
from surefit.train.trace.stream import Storage, Stream, rounded

_SHOWN = 12
_PHASES = {
    "forward": "activations",
    "evaluation": "activations",
    "backward": "backward pass",
    "optimizer": "step",
}


def item_of(storage: Storage) -> str:
    """The account's item: as it was named, else by the phase and the place in which it was made."""
    if not storage.item.startswith(BY_PHASE):
        return storage.item
    phase = storage.item.removeprefix(BY_PHASE).split(" ", 1)[0]
    if phase == "forward" and storage.layer is None:
        return "loss and head"
    return _PHASES.get(phase, phase)


def allocated_peak(stream: Stream) -> tuple[int, int]:
    """(bytes, event) of the largest moment."""
    now = peak = moment = 0
    sizes = [rounded(one.size) if one.size else 0 for one in stream.storages]
    for position, event in enumerate(stream.events):
        now += sizes[event] if event >= 0 else -sizes[~event]
        if now > peak:
            peak, moment = now, position
    return peak, moment


def alive_at(stream: Stream, moment: int) -> Iterator[Storage]:
    """Storages that are alive after event `moment`."""
    numbers: set[int] = set()
    for event in stream.events[: moment + 1]:
        if event >= 0:
            numbers.add(event)
        else:
            numbers.discard(~event)
    return (stream.storages[number] for number in sorted(numbers))


def account(stream: Stream, moment: int) -> tuple[dict[str, int], tuple[Alive, ...]]:
    """The peak by item, and the largest groups of tensors alike."""
    items: Counter[str] = Counter()
    sizes: Counter[tuple[str, str]] = Counter()
    counts: Counter[tuple[str, str]] = Counter()
    for one in alive_at(stream, moment):
        size = rounded(one.size) if one.size else 0
        items[item_of(one)] += size
        sizes[item_of(one), one.what] += size
        counts[item_of(one), one.what] += 1
    largest = tuple(
        Alive(what=what, item=item, bytes=size, count=counts[item, what])
        for (item, what), size in sizes.most_common(_SHOWN)
    )
    return dict(items.most_common()), largest


def phase_peaks(stream: Stream, expandable: bool) -> tuple[PhasePeak, ...]:
    """Allocated and reserved peaks of every phase, from a replay through the allocator."""
    allocator = CachingAllocator(expandable)
    blocks = {}
    found: dict[str, PhasePeak] = {}
    for name, start, end in stream.each_phase():
        allocator.start_phase()
        for event in stream.events[start:end]:
            if event >= 0:
                size = stream.storages[event].size
                blocks[event] = allocator.take(size) if size else None
            else:
                block = blocks.pop(~event)
                if block is not None:
                    allocator.give_back(block)
        peak = PhasePeak(
            phase=name, allocated=allocator.peak_allocated, reserved=allocator.peak_reserved
        )
        known = found.get(name)
        if known is None or known.allocated < peak.allocated:
            found[name] = peak
    return tuple(found.values())
