"""Every storage from its birth to its death, read from torch's dispatch.

The same recorder watches tensors without contents (a trace) and real ones (a test that compares).
What it cannot see are allocations inside a kernel: those are told to it (kernels.py).
"""

import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from surefit.train.trace.stream import Storage, Stream

Inner = Callable[..., int]
BY_PHASE = "in the "  # begins the item of a storage that nobody has named yet


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Writes a Stream while it is entered.

    Args:
        inner: bytes that an operation takes inside its kernel, by operation; freed when it ends.
    """

    def __init__(self, inner: Mapping[Any, Inner] | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.stream = Stream()
        self.layer: int | None = None
        self.used_inner: set[str] = set()
        self._inner = dict(inner or {})
        self._live: dict[int, tuple[int, weakref.ref[Any]]] = {}
        self._ordinals: Counter[tuple[int, int | None]] = Counter()
        self._phase = ""
        self._inherits = False

    @contextmanager
    def phase(self, name: str, inherits: bool = False) -> Iterator[None]:
        """A part of the run under its name.

        Args:
            name: what is done.
            inherits: a new storage belongs to the layer of the tensor it is made from; else to
                the layer at work.
        """
        self.stream.phases.append((name, len(self.stream.events)))
        self._phase, self._inherits, self.layer = name, inherits, None
        yield
        self.layer = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        if isinstance(made, Tensor):
            self._see(made, func, args, 0)
        elif isinstance(made, tuple | list):
            for position, one in enumerate(made):
                if isinstance(one, Tensor):
                    self._see(one, func, args, position)
        inner = self._inner.get(func)
        if inner is not None:  # beside its result, which is there first
            self.pass_through(str(func), inner(*args, **kwargs))
        return made

    def keep(self, tensor: Tensor, item: str, what: str, layer: int | None = None) -> int:
        """Note a tensor that was made outside of the recorder; its number."""
        storage = tensor.untyped_storage()
        known = self._live.get(storage._cdata)
        if known is not None:
            return known[0]
        return self._born(storage, item, what, layer)

    def pass_through(self, what: str, size: int, layer: int | None = None) -> None:
        """A block that is taken and freed at once, beside what lives now."""
        if size <= 0:
            return
        self.used_inner.add(what)
        number = self._new(size, "kernel workspace", what, self.layer if layer is None else layer)
        self._died(number)

    def stays(self, what: str, size: int, item: str) -> None:
        """A block that is taken and never freed, made by no operation."""
        self._new(size, item, what, None)

    def rename(self, tensor: Tensor, item: str) -> None:
        """Put a tensor's storage under another item of the account, for its whole life."""
        known = self._live.get(tensor.untyped_storage()._cdata)
        if known is not None:
            self.stream.storages[known[0]].item = item

    def _see(self, tensor: Tensor, func: Any, args: Any, position: int) -> None:
        storage = tensor.untyped_storage()
        if storage._cdata in self._live:
            return
        what = f"{_name(func)} {list(tensor.shape)} {str(tensor.dtype)[6:]}"
        layer = self._layer_of(args, position) if self._inherits else self.layer
        self._born(storage, f"{BY_PHASE}{self._phase}", what, layer)

    def _layer_of(self, args: Any, position: int) -> int | None:
        """The layer of what an operation is made from; of lists, of the part in its position."""
        for one in args:
            part = one[position] if isinstance(one, list | tuple) and position < len(one) else one
            if isinstance(part, Tensor):
                known = self._live.get(part.untyped_storage()._cdata)
                if known is not None and self.stream.storages[known[0]].layer is not None:
                    return self.stream.storages[known[0]].layer
        return None

    def _born(self, storage: Any, item: str, what: str, layer: int | None) -> int:
        key = storage._cdata
        number = self._new(storage.nbytes(), item, what, layer)
        live = self._live

        def end(_: Any) -> None:
            if live.pop(key, None) is not None:
                self._died(number)

        live[key] = (number, weakref.ref(storage, end))
        return number

    def _new(self, size: int, item: str, what: str, layer: int | None) -> int:
        stream = self.stream
        place = (len(stream.phases), layer)
        self._ordinals[place] += 1
        number = len(stream.storages)
        stream.storages.append(
            Storage(size, item, what, layer, (len(stream.phases), self._ordinals[place]))
        )
        stream.events.append(number)
        stream.layers.append(layer if self.layer is None else self.layer)
        return number

    def _died(self, number: int) -> None:
        stream = self.stream
        stream.events.append(~number)
        stream.layers.append(stream.storages[number].layer if self.layer is None else self.layer)


def _name(func: Any) -> str:
    return str(func).removeprefix("aten.").partition(".")[0]
