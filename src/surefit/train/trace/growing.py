"""From four traced layers to as many as a model has: the stream of all of them, event by event.

In every phase the layers come one after the other, upwards or downwards. Layers 1 and 2 do the same
(compared, storage by storage), so what one of them does is repeated for each layer that was left
out, with storages of its own. Layers 0 and 3 stay the first and the last: they differ, because the
first needs no gradient of its input and the last has the head behind it.
"""

from surefit.train.trace.stream import Storage, Stream

TEMPLATE = 4  # traced layers
_FIRST, _SECOND = 1, 2


class NotAlike(Exception):
    """The middle layers do not do the same: the model has to be traced whole."""


def grow(stream: Stream, layers: int) -> Stream:
    """The stream of a model with `layers` layers.

    Args:
        stream: of the same model with 4 layers.
        layers: at least 4.

    Raises:
        NotAlike: layers 1 and 2 differ, or what dies was never born.
    """
    _compare(stream)
    return stream if layers == TEMPLATE else _Growth(stream, layers).grown()


def _compare(stream: Stream) -> None:
    kinds: dict[int, dict[tuple[int, int], int]] = {_FIRST: {}, _SECOND: {}}
    for one in stream.storages:
        if one.layer in kinds:
            kinds[one.layer][one.place] = one.size
    if kinds[_FIRST] != kinds[_SECOND]:
        raise NotAlike("layers 1 and 2 make different tensors")


class _Growth:
    def __init__(self, stream: Stream, layers: int) -> None:
        self.old, self.layers = stream, layers
        self.new = Stream()
        self.numbers: dict[tuple[int | None, tuple[int, int]], int] = {}

    def grown(self) -> Stream:
        for name, start, end in self.old.each_phase():
            self.new.phases.append((name, len(self.new.events)))
            runs = _runs(self.old, start, end)
            for position, (label, first, last) in enumerate(runs):
                before = runs[position - 1][0] if position else None
                if (before, label) == (_FIRST, _SECOND):
                    for real in range(2, self.layers - 2):
                        self._repeat(first, last, _SECOND, real)
                if (before, label) == (_SECOND, _FIRST):
                    for real in range(self.layers - 3, 1, -1):
                        self._repeat(first, last, _FIRST, real)
                self._repeat(first, last, label, self._real(label))
        return self.new

    def _real(self, label: int | None) -> int | None:
        if label is None or label <= _FIRST:
            return label
        return label + self.layers - TEMPLATE

    def _repeat(self, first: int, last: int, label: int | None, real: int | None) -> None:
        """The events from `first` to `last`, of traced layer `label`, as those of layer `real`."""
        old, new = self.old, self.new
        for event in old.events[first:last]:
            number = event if event >= 0 else ~event
            one = old.storages[number]
            layer = None if one.layer is None else self._shifted(one.layer, label, real)
            if layer is None and real != self._real(label):
                continue  # of the whole model: it happens once
            key = (layer, one.place if one.layer is not None else (0, number))
            if event >= 0:
                self.numbers[key] = len(new.storages)
                new.storages.append(Storage(one.size, one.item, one.what, layer, one.place))
                new.events.append(self.numbers[key])
            else:
                born = self.numbers.pop(key, None)
                if born is None:
                    raise NotAlike(f"{one.what} of layer {layer} ends without a beginning")
                new.events.append(~born)
            new.layers.append(real)

    def _shifted(self, layer: int, label: int | None, real: int | None) -> int:
        """The real layer of a storage of traced layer `layer`, seen from `label` as `real`."""
        if label is None or real is None:
            return int(self._real(layer) or 0)
        return real + layer - label


def _runs(stream: Stream, start: int, end: int) -> list[tuple[int | None, int, int]]:
    """(layer, first, last) of events in a row that belong to the same layer; others join them."""
    runs: list[tuple[int | None, int, int]] = []
    for position in range(start, end):
        label = stream.layers[position]
        if runs and (label is None or label == runs[-1][0]):
            runs[-1] = (runs[-1][0], runs[-1][1], position + 1)
        else:
            runs.append((label, position, position + 1))
    return runs
