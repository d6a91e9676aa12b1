"""What the five signatures of GPU memory share: the numbers in the message, and the phase."""

import re
from dataclasses import dataclass

from surefit.diagnose.diagnosis import Diagnosis, Repair
from surefit.diagnose.evidence import Evidence, Failure
from surefit.diagnose.phases import find_phase
from surefit.diagnose.signatures.signature import Signature
from surefit.units import GIB

OUT_OF_MEMORY = re.compile(
    r"(?:CUDA|HIP|XPU|MPS backend|NPU|NPU:?\d*) out of memory|OutOfMemoryError\b(?!.*Task was "
    r"killed)"
    r"|CUDA error: out of memory|\[CUDA\]: out of memory|cudaErrorMemoryAllocation|"
    r"CUBLAS_STATUS_ALLOC_FAILED"
    r"|CUDNN_STATUS_ALLOC_FAILED|Failed to CUDA (?:malloc|calloc)|No executable batch size found"
    r"|RESOURCE_EXHAUSTED: Out of memory|cuda runtime error \(2\) ?: out of memory",
    re.IGNORECASE,
)
_SIZE = r"(?P<{0}>[\d.]{{1,12}} ?[KMGT]i?B)"
_WANTED = re.compile(r"[Tt]ried to allocate " + _SIZE.format("wanted"))
_GPU = re.compile(r"\bGPU (?P<gpu>\d+)|device (?P<device>\d+)\b")
_TOTAL = re.compile(
    rf"total capacity of {_SIZE.format('total')}|{_SIZE.format('old')} total capacity"
)
_FREE = re.compile(rf"of which {_SIZE.format('free')} is free|{_SIZE.format('old')} free")
_USED = re.compile(
    rf"this process has {_SIZE.format('used')} memory in use|{_SIZE.format('old')} already "
    rf"allocated"
)
_ALLOCATED = re.compile(
    rf"{_SIZE.format('allocated')} is allocated by PyTorch|{_SIZE.format('old')} already allocated"
)
_UNALLOCATED = re.compile(rf"{_SIZE.format('spare')} is reserved by PyTorch but unallocated")
_RESERVED = re.compile(rf"{_SIZE.format('reserved')} reserved in total")
_OTHERS = re.compile(rf"Process (?P<pid>\d+) has {_SIZE.format('held')} memory in use")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
FRAGMENT_SHARE = 0.2  # of what PyTorch holds; see the allocator's own hint in its message


@dataclass(frozen=True)
class GpuMemory:
    """The numbers of an out-of-memory message, as it wrote them; None where it gave none."""

    gpu: str | None
    wanted: str | None
    total: str | None
    free: str | None
    used: str | None
    allocated: str | None
    spare: str | None
    other_process: str | None
    other_held: str | None

    @property
    def name(self) -> str:
        """``GPU 0``, or ``the GPU`` where the message does not number it."""
        return f"GPU {self.gpu}" if self.gpu is not None else "the GPU"

    @property
    def account(self) -> str:
        """The numbers as a sentence."""
        parts = [f"{self.name} has {self.total}" if self.total else ""]
        parts += [f"{self.used} in use by this process" if self.used else ""]
        parts += [f"{self.free} free" if self.free else ""]
        parts += [f"{self.wanted} more wanted" if self.wanted else ""]
        if self.other_process:
            parts.append(f"process {self.other_process} holds {self.other_held} of it")
        return ", ".join(part for part in parts if part) or "the message gives no numbers"

    @property
    def is_fragmented(self) -> bool:
        """Whether enough memory is held in pieces: over a fifth of what PyTorch holds."""
        spare, held = as_bytes(self.spare), as_bytes(self.allocated)
        wanted = as_bytes(self.wanted)
        return spare > FRAGMENT_SHARE * (spare + held) and spare >= wanted > 0


def as_bytes(text: str | None) -> float:
    """``1.96 GiB`` in bytes, 0 for None."""
    match = re.match(r"([\d.]+) ?([KMGT])?", text or "")
    return float(match[1]) * _UNITS.get(match[2] or "", 1) if match else 0.0


def read_memory(text: str) -> GpuMemory:
    """The numbers of PyTorch's message, of 1.x and of 2.x."""
    spare = _first(_UNALLOCATED, text)
    reserved, allocated = _first(_RESERVED, text), _first(_ALLOCATED, text)
    if spare is None and reserved and allocated:  # the wording of PyTorch 1.x
        spare = f"{max(0.0, as_bytes(reserved) - as_bytes(allocated)) / GIB:.2f} GiB"
    others = max(_OTHERS.finditer(text), key=lambda m: as_bytes(m["held"]), default=None)
    return GpuMemory(
        _first(_GPU, text), _first(_WANTED, text), _first(_TOTAL, text), _first(_FREE, text),
        _first(_USED, text), allocated, spare,
        others["pid"] if others else None, others["held"] if others else None,
    )  # fmt: skip


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return next((value for value in match.groups() if value), None) if match else None


@dataclass(frozen=True)
class GpuCase:
    """One out-of-memory error with what is known about it."""

    evidence: Evidence
    failure: Failure
    memory: GpuMemory
    phase: str


class GpuOutOfMemory(Signature):
    """Shared by the five: the phase decides which of them it is."""

    phases: frozenset[str] = frozenset()

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """An exception that speaks of GPU memory, in one of this signature's phases."""
        failure = evidence.root.failure
        if failure is None or not OUT_OF_MEMORY.search(failure.text):
            return None
        case = GpuCase(evidence, failure, read_memory(failure.text), oom_phase(evidence, failure))
        if not self.accepts(case):
            return None
        what, why, next_step = self.words(case)
        return self.answer(
            evidence,
            what=what,
            why=why,
            next_step=next_step,
            phase=case.phase,
            lines=failure.last.lines[:3],
            repair=self.repairs(case),
        )

    def accepts(self, case: GpuCase) -> bool:
        """Whether it is this one of the five."""
        return case.phase in self.phases and not case.memory.is_fragmented

    def words(self, case: GpuCase) -> tuple[str, str, str]:
        """What, why and next."""
        raise NotImplementedError

    def repairs(self, case: GpuCase) -> tuple[Repair, ...]:
        """Changes of the recipe that get past it."""
        return ()


def oom_phase(evidence: Evidence, failure: Failure) -> str:
    """The phase of an out-of-memory error. Unknown counts as training: most of them are."""
    calls = " ".join(f"{frame.path}:{frame.function}" for frame in failure.frames)
    if "No executable batch size" in failure.text:
        return "first_step"
    if re.search(r"merge", calls):
        return "merge"
    phase = find_phase(evidence, failure, evidence.root.rank)
    if phase in ("unknown", "import", "load_tokenizer", "prepare_data") and re.search(
        r":(?:forward|backward|step|training_step|_call_impl)\b", calls
    ):
        return "train" if evidence.metrics else "first_step"
    return "load_model" if phase in ("import", "load_tokenizer") else phase
