"""The registry of failures: one file a signature, in the order in which they are believed.

To add one: write its file, put its class into `SIGNATURES` at its stage, add a fixture.
"""

from surefit.diagnose.signatures.artifact_missing import ArtifactMissing
from surefit.diagnose.signatures.disk_full import DiskFull
from surefit.diagnose.signatures.gpu_oom_eval import GpuOutOfMemoryInEvaluation
from surefit.diagnose.signatures.gpu_oom_fragment import GpuMemoryInPieces
from surefit.diagnose.signatures.gpu_oom_load import GpuOutOfMemoryLoading
from surefit.diagnose.signatures.gpu_oom_save import GpuOutOfMemorySaving
from surefit.diagnose.signatures.gpu_oom_step import GpuOutOfMemoryInStep
from surefit.diagnose.signatures.host_oom import HostOutOfMemory
from surefit.diagnose.signatures.killed import Killed
from surefit.diagnose.signatures.nan import NotANumber
from surefit.diagnose.signatures.segv import NativeCrash
from surefit.diagnose.signatures.signature import Signature, TextSignature
from surefit.diagnose.signatures.succeeded import Succeeded
from surefit.diagnose.signatures.terminated import Terminated
from surefit.diagnose.signatures.unknown import Unknown
from surefit.diagnose.signatures.worker_report import WorkerReport

SIGNATURES: tuple[type[Signature], ...] = (
    # what surefit's own worker said
    WorkerReport,
    # memory counters and signals
    HostOutOfMemory,
    Killed,
    NativeCrash,
    # the exception of the process that failed first
    GpuOutOfMemoryLoading,
    GpuMemoryInPieces,
    GpuOutOfMemoryInEvaluation,
    GpuOutOfMemorySaving,
    GpuOutOfMemoryInStep,
    DiskFull,
    NotANumber,
    Terminated,
    # what was left on the disk
    ArtifactMissing,
    Succeeded,
    Unknown,
)

__all__ = ["SIGNATURES", "Signature", "TextSignature"]
