"""The registry of failures: one file a signature, in the order in which they are believed.

To add one: write its file, put its class into `SIGNATURES` at its stage, add a fixture.
"""

from surefit.diagnose.signatures.all_masked import AllMasked
from surefit.diagnose.signatures.api_drift import ApiDrift
from surefit.diagnose.signatures.arch_kernel import NoKernelsForThisGpu
from surefit.diagnose.signatures.artifact_missing import ArtifactMissing
from surefit.diagnose.signatures.chat_template import ChatTemplate
from surefit.diagnose.signatures.collective_timeout import CollectiveTimeout
from surefit.diagnose.signatures.config_invalid import InvalidSetting
from surefit.diagnose.signatures.dataset_parse import DatasetParse
from surefit.diagnose.signatures.ddp_graph import DataParallelGraph
from surefit.diagnose.signatures.disk_full import DiskFull
from surefit.diagnose.signatures.fd_limit import TooManyOpenFiles
from surefit.diagnose.signatures.file_corrupt import FileCorrupt
from surefit.diagnose.signatures.file_missing import FileMissing
from surefit.diagnose.signatures.gated import Gated
from surefit.diagnose.signatures.gpu_oom_eval import GpuOutOfMemoryInEvaluation
from surefit.diagnose.signatures.gpu_oom_fragment import GpuMemoryInPieces
from surefit.diagnose.signatures.gpu_oom_load import GpuOutOfMemoryLoading
from surefit.diagnose.signatures.gpu_oom_save import GpuOutOfMemorySaving
from surefit.diagnose.signatures.gpu_oom_step import GpuOutOfMemoryInStep
from surefit.diagnose.signatures.hang import Hang
from surefit.diagnose.signatures.hardware import FaultyHardware
from surefit.diagnose.signatures.host_oom import HostOutOfMemory
from surefit.diagnose.signatures.hub_down import HubDown
from surefit.diagnose.signatures.illegal_access import IllegalAccess
from surefit.diagnose.signatures.import_error import ImportMissing
from surefit.diagnose.signatures.index_assert import IndexOutsideTable
from surefit.diagnose.signatures.kernel_library import KernelLibrary
from surefit.diagnose.signatures.killed import Killed
from surefit.diagnose.signatures.launcher_mismatch import LauncherMismatch
from surefit.diagnose.signatures.lora_targets import LoraTargets
from surefit.diagnose.signatures.loss_mask_kind import LossMaskKind
from surefit.diagnose.signatures.model_unknown import ModelUnknown
from surefit.diagnose.signatures.nan import NotANumber
from surefit.diagnose.signatures.nccl_system import TransportFailed
from surefit.diagnose.signatures.no_adapter import NoAdapter
from surefit.diagnose.signatures.no_columns import NoColumns
from surefit.diagnose.signatures.no_cuda import NoCuda
from surefit.diagnose.signatures.no_grad import NoGradient
from surefit.diagnose.signatures.no_samples import NoSamples
from surefit.diagnose.signatures.not_found import NotFoundOrPrivate
from surefit.diagnose.signatures.nothing_trained import NothingTrained
from surefit.diagnose.signatures.pad_token import PadToken
from surefit.diagnose.signatures.peer_lost import PeerLost
from surefit.diagnose.signatures.permission import NotPermitted
from surefit.diagnose.signatures.pickle_blocked import PickleBlocked
from surefit.diagnose.signatures.platform_refused import PlatformRefused
from surefit.diagnose.signatures.precision import PrecisionMismatch
from surefit.diagnose.signatures.preempted import Preempted
from surefit.diagnose.signatures.quant_placement import QuantizedOnTheWrongDevice
from surefit.diagnose.signatures.quota_disk import QuotaReached
from surefit.diagnose.signatures.rate_limit import RateLimited
from surefit.diagnose.signatures.remote_code import RemoteCode
from surefit.diagnose.signatures.rendezvous import RendezvousFailed
from surefit.diagnose.signatures.resume_bad import ResumeBad
from surefit.diagnose.signatures.segv import NativeCrash
from surefit.diagnose.signatures.shm import SharedMemoryFull
from surefit.diagnose.signatures.signature import Signature, TextSignature
from surefit.diagnose.signatures.size_mismatch import SizeMismatch
from surefit.diagnose.signatures.space_paused import SpacePaused
from surefit.diagnose.signatures.space_start_timeout import SpaceStartTimeout
from surefit.diagnose.signatures.succeeded import Succeeded
from surefit.diagnose.signatures.terminated import Terminated
from surefit.diagnose.signatures.time_limit import TimeLimit
from surefit.diagnose.signatures.token_bad import TokenBad
from surefit.diagnose.signatures.token_readonly import TokenReadOnly
from surefit.diagnose.signatures.unknown import Unknown
from surefit.diagnose.signatures.worker_died import LoaderDied
from surefit.diagnose.signatures.worker_report import WorkerReport

SIGNATURES: tuple[type[Signature], ...] = (
    # what surefit's own worker said
    WorkerReport,
    # the platform's word
    PlatformRefused,
    SpaceStartTimeout,
    TimeLimit,
    Preempted,
    # memory counters and signals
    HostOutOfMemory,
    Killed,
    NativeCrash,
    # the exception of the process that failed first: devices
    FaultyHardware,
    QuantizedOnTheWrongDevice,
    GpuMemoryInPieces,
    GpuOutOfMemoryLoading,
    GpuOutOfMemoryInEvaluation,
    GpuOutOfMemorySaving,
    GpuOutOfMemoryInStep,
    IndexOutsideTable,
    IllegalAccess,
    NoKernelsForThisGpu,
    LauncherMismatch,
    NoCuda,
    KernelLibrary,
    # disks and processes; shared memory and quotas speak of space as well
    SharedMemoryFull,
    QuotaReached,
    DiskFull,
    TooManyOpenFiles,
    NotPermitted,
    LoaderDied,
    # numbers and gradients
    NotANumber,
    PrecisionMismatch,
    NoGradient,
    DataParallelGraph,
    # the Hub: the most specific answer first
    Gated,
    TokenReadOnly,
    TokenBad,
    RateLimited,
    HubDown,
    NotFoundOrPrivate,
    # models and libraries
    NoAdapter,
    LoraTargets,
    RemoteCode,
    PickleBlocked,
    ModelUnknown,
    SizeMismatch,
    ResumeBad,
    FileCorrupt,
    ApiDrift,
    ImportMissing,
    # rows
    ChatTemplate,
    PadToken,
    LossMaskKind,
    AllMasked,
    NoSamples,
    NoColumns,
    FileMissing,
    DatasetParse,
    InvalidSetting,
    # meeting, waiting and losing each other: the victims' view last
    RendezvousFailed,
    TransportFailed,
    CollectiveTimeout,
    PeerLost,
    # asked to stop, silent, paused
    SpacePaused,
    Terminated,
    Hang,
    # what was left behind
    NothingTrained,
    ArtifactMissing,
    Succeeded,
    # nothing recognised
    Unknown,
)

__all__ = ["SIGNATURES", "Signature", "TextSignature"]
