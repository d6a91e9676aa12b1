"""A prepared data set on the disk: tokens and masks that the worker maps into memory as they are.

prepared.json      what it is: format, tokenizer, length, rows and tokens of each split
train.ids.u32      token ids, unsigned 32 bits little-endian, the rows one after another
train.mask.u8      a byte for each token; 1 carries loss
train.weights.f32  how much each token weighs in the loss, where a weight is neither 0 nor 1
train.offsets.u64  where each row begins, and where the last ends: rows + 1 values
eval.*             alike, where rows are held back
"""

import array
import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

import orjson

from surefit.data.row import Side
from surefit.home import disk_error, make_folder

FORMAT = 1
PARTS = ("ids.u32", "mask.u8", "offsets.u64")
WEIGHTS = "weights.f32"


class PreparedWriter:
    """Writes a prepared set under a temporary name; `finish` gives it its own.

    Args:
        target: the folder that shall hold the set.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        make_folder(target.parent)
        try:
            self._folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        except OSError as error:
            raise disk_error(f"cannot prepare data in {target}", error, target) from error
        self._splits: dict[Side, _SplitWriter] = {}

    def add(
        self,
        side: Side,
        ids: list[int],
        mask: bytes,
        weights: "array.array[float] | None" = None,
    ) -> None:
        """Append a row to a split; without weights each token weighs what its mask says."""
        try:
            if side not in self._splits:
                self._splits[side] = _SplitWriter(self._folder, side)
            self._splits[side].add(ids, mask, weights)
        except OSError as error:
            raise disk_error(f"cannot prepare data in {self.target}", error, self.target) from error

    def finish(self, about: dict[str, Any], further: dict[str, bytes]) -> Path:
        """Flush everything and put the folder under its name. Returns that folder.

        Args:
            about: goes into ``prepared.json`` beside the counts.
            further: other files of the folder, name to content.
        """
        try:
            splits = {side: split.finish() for side, split in self._splits.items()}
            description = {"format": FORMAT, **about, "splits": splits}
            files = {"prepared.json": orjson.dumps(description, option=orjson.OPT_INDENT_2)}
            for name, content in {**files, **further}.items():
                with (self._folder / name).open("wb") as handle:
                    handle.write(content)
                    _flush(handle)
            _put_in_place(self._folder, self.target)
        except OSError as error:
            raise disk_error(f"cannot prepare data in {self.target}", error, self.target) from error
        return self.target

    def discard(self) -> None:
        """Remove what was written."""
        for split in self._splits.values():
            split.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def place_prepared(source: Path, target: Path) -> None:
    """Put a prepared set into a run folder: hard links where the disk allows, else copies.

    Raises:
        OutsideError: the disk is full or the folder cannot be written.
    """
    make_folder(target)
    parts = [f"{side}.{part}" for side in ("train", "eval") for part in (*PARTS, WEIGHTS)]
    names = ["prepared.json", *parts]
    try:
        # prepared.json goes last: a folder that has it has the rest.
        for name in [name for name in names[::-1] if (source / name).is_file()]:
            (target / name).unlink(missing_ok=True)
            try:
                os.link(source / name, target / name)
            except OSError:
                shutil.copyfile(source / name, target / name)
    except OSError as error:
        raise disk_error(f"cannot put the prepared data into {target}", error, target) from error


class _SplitWriter:
    def __init__(self, folder: Path, side: Side) -> None:
        self._files: dict[str, IO[bytes]] = {
            part: (folder / f"{side}.{part}").open("wb", buffering=1 << 18) for part in PARTS
        }
        self._offsets = array.array("Q", [0])
        self.trained = 0

    def add(self, ids: list[int], mask: bytes, weights: "array.array[float] | None" = None) -> None:
        if weights is not None and WEIGHTS not in self._files:
            self._begin_weights()
        if WEIGHTS in self._files:
            found = array.array("f", list(mask)) if weights is None else weights
            self._files[WEIGHTS].write(_little_endian(found))
        self._files["ids.u32"].write(_little_endian(array.array("I", ids)))
        self._files["mask.u8"].write(mask)
        self._offsets.append(self._offsets[-1] + len(ids))
        self.trained += mask.count(1)

    def _begin_weights(self) -> None:
        """Write what the rows before weighed: the first weighted row may come late."""
        masks = self._files["mask.u8"]
        masks.flush()
        before = Path(masks.name)
        handle = before.with_name(before.name.replace("mask.u8", WEIGHTS)).open("wb", 1 << 18)
        with before.open("rb") as read:
            while piece := read.read(1 << 16):
                handle.write(_little_endian(array.array("f", list(piece))))
        self._files[WEIGHTS] = handle

    def finish(self) -> dict[str, int]:
        self._files["offsets.u64"].write(_little_endian(self._offsets))
        for handle in self._files.values():
            _flush(handle)
            handle.close()
        rows = len(self._offsets) - 1
        return {"rows": rows, "tokens": self._offsets[-1], "trained": self.trained}

    def close(self) -> None:
        for handle in self._files.values():
            with contextlib.suppress(OSError):
                handle.close()


def _little_endian(values: "array.array[int] | array.array[float]") -> bytes:
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def _flush(handle: IO[bytes]) -> None:
    handle.flush()
    os.fsync(handle.fileno())


def _put_in_place(folder: Path, target: Path) -> None:
    """Rename; when another process put the same set there meanwhile, theirs is as good."""
    try:
        folder.rename(target)
    except OSError:
        if not (target / "prepared.json").is_file():
            raise
        shutil.rmtree(folder, ignore_errors=True)
