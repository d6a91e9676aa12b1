"""SF205 SHM."""

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import Found, TextSignature


class SharedMemoryFull(TextSignature):
    """Shared memory (/dev/shm) is too small.

    ## What happened
    Loader processes pass batches to the training through /dev/shm. It was full. The text may speak
    of "space" as if a disk were full, or only of a bus error.

    ## Why
    Containers get 64 MiB of shared memory unless told otherwise.

    ## Example
        RuntimeError: unable to allocate shared memory(shm) for file </torch_31171>: No space left
        on device (28)

    ## What to do
    Give the container more (`--shm-size=16g`, in Kubernetes an emptyDir of medium Memory), or load
    the data without worker processes.
    """

    code = "SF205"
    failure_class = "SHM"
    title = "Shared memory is too small"
    patterns = (
        r"insufficient shared memory|shared memory ?\(shm\)",
        r"(?:allocate|open|resize|truncate|map|create|mmap).{0,40}shared memory(?! file)",
        r"killed by signal: Bus error|Fatal Python error: Bus error|\bBus error\b",
        r"(?:/dev/shm|\bshm\b).{0,120}(?:No space left|os error 28|Errno 28|full|too small)",
        r"(?:No space left|Errno 28).{0,80}(?:/dev/shm|/torch_\d+|psm_\w+|nccl-\w+)",
        r"(?:/torch_\d+|/psm_\w+|/nccl-\w+).{0,80}(?:No space left|Errno 28)",
        r"Error while creating shared memory segment .{0,20}/dev/shm",
        r"shared memory.{0,60}(?:exhausted|too small|limit|not enough)",
    )
    what = "shared memory (/dev/shm) is too small{place}"
    why = "loader processes hand over batches through it, not through the disk: {text}"
    next_step = (
        "give the container more shared memory (`--shm-size=16g`) or set the number of data "
        "workers "
        "(num_workers) to 0"
    )

    def accepts(self, found: Found) -> bool:
        """A limit of open files speaks of shared memory objects as well; it is another failure."""
        return "Too many open files" not in found.text

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """The text, or signal 7 without any text."""
        diagnosis = super().match(evidence)
        died_by = evidence.root.signal or evidence.exit.signal
        if diagnosis is not None or died_by != 7 or evidence.root.failure is not None:
            return diagnosis
        return self.answer(
            evidence,
            what="the process died by signal 7 (SIGBUS), as it does when shared memory is full",
            why="a mapped page could not be filled: /dev/shm is too small, or a mapped file was "
            "cut off",
            next_step="give the container more shared memory (`--shm-size=16g`) or set the "
            "number of "
            "data workers (num_workers) to 0",
            lines=evidence.closing[-2:],
        )
