"""Texts as other versions of the libraries and schedulers print them, found in public issues.

`ERRORS` are exceptions, `LINES` what stands in a log without one. Numbers, paths and hosts are changed.
"""

import pytest
from unit.diagnose.logs import evidence, steps, trace

from surefit.diagnose import diagnose

LOAD = "transformers/modeling_utils.py:from_pretrained"
TRAIN = "transformers/trainer.py:_inner_training_loop"
STEP = "transformers/trainer.py:training_step"
LOOP = "torch/utils/data/dataloader.py:_try_get_data"
SAVE = ("transformers/trainer.py:_save_checkpoint", "torch/serialization.py:save")
HUB = "huggingface_hub/utils/_http.py:hf_raise_for_status"
STORE = "torch/distributed/elastic/rendezvous/c10d_rendezvous_backend.py:_create_tcp_store"

ERRORS: list[tuple[str, str, tuple[str, ...]]] = [
    # torch 0.4, 1.0, 1.5, 1.12, 2.1 (with its spelling), 2.5: GPU memory
    ("GPU_OOM_STEP", "RuntimeError: cuda runtime error (2) : out of memory at "
     "/opt/conda/conda-bld/pytorch_1501969512886/work/torch/lib/THC/generic/THCStorage.cu:66", (TRAIN, STEP)),
    ("GPU_OOM_STEP", "RuntimeError: CUDA out of memory. Tried to allocate 16.00 GiB (GPU 0; 11.93 GiB total "
     "capacity; 4.00 GiB already allocated; 7.33 GiB free; 179.00 KiB cached)", (TRAIN, STEP)),
    ("GPU_OOM_STEP", "RuntimeError: CUDA out of memory. Tried to allocate 1.72 GiB (GPU 0; 10.76 GiB total "
     "capacity; 9.81 GiB already allocated; 356.00 MiB free; 9.94 GiB cached)", (TRAIN, STEP)),
    ("GPU_OOM_STEP", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 138.00 MiB. GPU 0 has a "
     "total capacty of 15.90 GiB of which 8.44 MiB is free. Process 1246069 has 577.00 MiB memory in use. "
     "Including non-PyTorch memory, this process has 15.32 GiB memory in use. Of the allocated memory 14.12 GiB "
     "is allocated by PyTorch, and 410.41 MiB is reserved by PyTorch but unallocated.", (TRAIN, STEP)),
    ("GPU_OOM_STEP", "torch.AcceleratorError: CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in "
     "https://docs.nvidia.com/cuda/ for more information.", (TRAIN, STEP)),
    ("GPU_OOM_STEP", "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)",
     (TRAIN, STEP)),
    ("GPU_OOM_LOAD", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB. GPU 0 has a total "
     "capacity of 23.64 GiB of which 41.06 MiB is free.", ("accelerate/utils/modeling.py:set_module_tensor_to_device", LOAD)),
    # data loaders and shared memory
    ("SHM", "RuntimeError: DataLoader worker (pid 46794) is killed by signal: Bus error. It is possible that "
     "dataloader's workers are out of shared memory. Please try to raise your shared memory limit.", (TRAIN, LOOP)),
    ("SHM", "RuntimeError: unable to write to file </torch_3421_1043875431_2>: No space left on device (28)", (TRAIN, LOOP)),
    ("SHM", "RuntimeError: unable to open shared memory object </torch_18692_1954506624> in read/write mode: No "
     "space left on device (28)", (TRAIN, LOOP)),
    ("WORKER_DIED", "RuntimeError: DataLoader worker (pid(s) 3216, 3217) exited unexpectedly", (TRAIN, LOOP)),
    ("FD_LIMIT", "RuntimeError: unable to open shared memory object </torch_18692_19545> in read-write mode: Too many "
     "open files (24)", (TRAIN, LOOP)),
    # disks
    ("DISK_FULL", "RuntimeError: [enforce fail at inline_container.cc:445] . PytorchStreamWriter failed writing file "
     "data/176: file write failed", SAVE),
    ("DISK_FULL", "RuntimeError: [enforce fail at inline_container.cc:778] . PytorchStreamWriter failed writing file "
     "data.pkl: file write failed", SAVE),
    ("DISK_FULL", "RuntimeError: [enforce fail at inline_container.cc:337] . unexpected pos 190007680 vs 190007572", SAVE),
    ("DISK_FULL", "OSError: [Errno 28] No space left on device: '/root/.cache/huggingface/hub/tmpx1'", (HUB,)),
    ("DISK_FULL", "safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 28, kind: "
     "StorageFull, message: \"No space left on device\" })", SAVE),
    ("DISK_FULL", "safetensors_rust.SafetensorError: Error while serializing: I/O error: No space left on device "
     "(os error 28)", SAVE),
    ("QUOTA_DISK", "OSError: [Errno 122] Disk quota exceeded: '/home/u/runs/checkpoint-40/optimizer.pt'", SAVE),
    # broken files
    ("FILE_CORRUPT", "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer", (LOAD,)),
    ("FILE_CORRUPT", "safetensors_rust.SafetensorError: Error while deserializing header: InvalidHeaderDeserialization", (LOAD,)),
    ("FILE_CORRUPT", "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge", (LOAD,)),
    ("FILE_CORRUPT", "safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata, file not "
     "fully covered", (LOAD,)),
    ("FILE_CORRUPT", "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory", (LOAD,)),
    ("FILE_CORRUPT", "RuntimeError: PytorchStreamReader failed reading zip archive: invalid header or archive is "
     "corrupted", (LOAD,)),
    # ids and tables
    ("INDEX_ASSERT", "RuntimeError: CUDA error: device-side assert triggered\nCUDA kernel errors might be "
     "asynchronously reported at some other API call, so the stacktrace below might be incorrect.", (TRAIN, STEP)),
    ("INDEX_ASSERT", "torch.AcceleratorError: CUDA error: device-side assert triggered\nSearch for "
     "`cudaErrorAssert' in https://docs.nvidia.com/cuda/", (TRAIN, STEP)),
    ("INDEX_ASSERT", "IndexError: index out of range in self", (TRAIN, STEP, "torch/nn/functional.py:embedding")),
    # ranks
    ("COLLECTIVE_TIMEOUT", "torch.distributed.DistBackendError: [Rank 1] Watchdog caught collective operation timeout: "
     "WorkNCCL(SeqNum=808, OpType=ALLREDUCE, NumelIn=9801523, NumelOut=9801523, Timeout(ms)=600000) ran for 600020 "
     "milliseconds before timing out.", (TRAIN, STEP)),
    ("COLLECTIVE_TIMEOUT", "RuntimeError: NCCL communicator was aborted on rank 1.  Original reason for failure was: [Rank "
     "1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=469508, OpType=ALLREDUCE, Timeout(ms)=1800000) "
     "ran for 1802212 milliseconds before timing out.", (TRAIN, STEP)),
    ("COLLECTIVE_TIMEOUT", "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out "
     "waiting 1800000ms for recv operation to complete", ("torch/distributed/distributed_c10d.py:barrier",)),
    ("PEER_LOST", "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer "
     "[172.16.2.4]:27981", (TRAIN, STEP)),
    ("PEER_LOST", "RuntimeError: [/opt/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Read error "
     "[10.0.0.3]:1523: Connection reset by peer", (TRAIN, STEP)),
    ("RENDEZVOUS", "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store "
     "has failed. See inner exception for details.", (STORE,)),
    ("RENDEZVOUS", "torch.distributed.DistNetworkError: The client socket has timed out after 10000ms while trying to "
     "connect to (localhost, 44557).", (STORE,)),
    ("RENDEZVOUS", "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network "
     "address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use", (STORE,)),
    ("RENDEZVOUS", "RuntimeError: The server socket has failed to listen on any local network address. The server "
     "socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).", (STORE,)),
    ("RENDEZVOUS", "RuntimeError: connect() timed out. Original timeout was 60000 ms.", (STORE,)),
    ("RENDEZVOUS", "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError", (STORE,)),
    # the Hub: requests (up to hub 0.x), httpx (1.x), both
    ("RATE_LIMIT", "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: "
     "https://huggingface.co/acme/heron/resolve/main/config.json", (HUB,)),
    ("RATE_LIMIT", "huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: "
     "https://hf-mirror.com/acme/heron/resolve/main/config.json (Request ID: Root=1-68d3;9a5f)", (HUB,)),
    ("RATE_LIMIT", "OSError: There was a specific connection error when trying to load acme/heron:\n429 Client Error: "
     "Too Many Requests for url: https://huggingface.co/acme/heron/resolve/main/config.json", (LOAD,)),
    ("RATE_LIMIT", "httpx.HTTPStatusError: Client error '429 Too Many Requests' for url "
     "'https://huggingface.co/api/models/acme/heron/revision/main'", (HUB,)),
    ("GATED", "huggingface_hub.utils._errors.GatedRepoError: 403 Client Error. (Request ID: Root=1-65;ab)\n\nCannot "
     "access gated repo for url https://huggingface.co/acme/heron/resolve/main/config.json.\nAccess to model "
     "acme/heron is restricted and you are not in the authorized list.", (HUB,)),
    ("GATED", "OSError: You are trying to access a gated repo.\nMake sure to have access to it at "
     "https://huggingface.co/acme/heron.\n401 Client Error.", (LOAD,)),
    ("HUB_DOWN", "requests.exceptions.HTTPError: 502 Server Error: Bad Gateway for url: "
     "https://huggingface.co/api/models/acme/heron", (HUB,)),
    ("HUB_DOWN", "httpx.ConnectError: [Errno -3] Temporary failure in name resolution", ("httpx/_transports/default.py:handle_request",)),
    ("HUB_DOWN", "requests.exceptions.ConnectionError: (MaxRetryError(\"HTTPSConnectionPool(host='huggingface.co', "
     "port=443): Max retries exceeded with url: /acme/heron\"))", ("requests/adapters.py:send",)),
    ("TOKEN_BAD", "huggingface_hub.errors.HfHubHTTPError: 401 Client Error: Unauthorized for url: "
     "https://huggingface.co/api/whoami-v2 (Request ID: Root=1-68)\n\nInvalid credentials in Authorization header", (HUB,)),
    # libraries
    ("KERNEL_LIB", "ImportError: /usr/lib/python3.10/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: "
     "undefined symbol: _ZN3c104cuda9SetDeviceEi", (LOAD, "flash_attn/flash_attn_interface.py:<module>")),
    ("KERNEL_LIB", "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
     ("flash_attn/flash_attn_interface.py:<module>",)),
    ("KERNEL_LIB", "RuntimeError: Failed to import transformers.models.bloom.modeling_bloom because of the following error "
     "(look up to see its traceback):\n/opt/lib/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: "
     "_ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEE", (LOAD,)),
    ("KERNEL_LIB", "ImportError: FlashAttention2 has been toggled on, but it cannot be used due to the following error: "
     "the package flash_attn seems to be not installed.", (LOAD,)),
    # machines
    ("HARDWARE", "RuntimeError: cuda runtime error (39) : uncorrectable ECC error encountered at "
     "/pytorch/aten/src/THC/THCCachingHostAllocator.cpp:265", (TRAIN, STEP)),
    ("HARDWARE", "RuntimeError: CUDA error: uncorrectable ECC error encountered\nCUDA kernel errors might be "
     "asynchronously reported at some other API call", (TRAIN, STEP)),
    ("HARDWARE", "torch.AcceleratorError: CUDA error: unspecified launch failure\nNVRM: Xid (PCI:0000:02:00): 79, GPU has "
     "fallen off the bus.", (TRAIN, STEP)),
    # host memory
    ("HOST_OOM", "RuntimeError: [enforce fail at alloc_cpu.cpp:83] err == 0. DefaultCPUAllocator: can't allocate memory: "
     "you tried to allocate 4697620480 bytes. Error code 12 (Cannot allocate memory)", (TRAIN, STEP)),
    ("HOST_OOM", "RuntimeError: [enforce fail at CPUAllocator.cpp:64] . DefaultCPUAllocator: can't allocate memory: you "
     "tried to allocate 67108864 bytes. Error code 12 (Cannot allocate memory)", (LOAD,)),
    ("HOST_OOM", "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 29.8 GiB for an array with shape "
     "(4000000000,) and data type float64", ("datasets/arrow_dataset.py:_map_single",)),
]  # fmt: skip

# expected class, text, exit code, scheduler's word
LINES: list[tuple[str, str, int, str | None]] = [
    ("HOST_OOM", "slurmstepd: error: Detected 1 oom_kill event in StepId=11300781.0. Some of the step tasks have been "
     "OOM Killed.\nsrun: error: n6156: task 0: Out Of Memory", 137, None),
    ("HOST_OOM", "slurmstepd: error: Detected 2 oom-kill event(s) in step 3756240.batch cgroup.", 137, None),
    ("HOST_OOM", "slurmstepd: error: Detected 1 oom-kill event(s) in step 3495064.0 cgroup. Some of your processes may "
     "have been killed by the cgroup out-of-memory handler.\nsrun: error: n01: task 4: Out Of Memory\nsrun: "
     "Terminating job step 3495064.0", 137, None),
    ("HOST_OOM", "srun: error: nid001277: tasks 1-3: Out Of Memory\nsrun: Terminating StepId=440575.0", 137, None),
    ("HOST_OOM", "Last State: Terminated\n  Reason: OOMKilled\n  Exit Code: 137", 137, None),
    ("TIME_LIMIT", "slurmstepd: error: *** JOB 494583 ON n1 CANCELLED AT 2026-04-20T09:09:37 DUE TO TIME LIMIT ***", 143, None),
    ("TIME_LIMIT", "srun: Force Terminated job 32233190\nslurmstepd: error: *** STEP 32233190.0 ON nid01934 CANCELLED AT "
     "2026-07-03T02:59:56 DUE TO TIME LIMIT ***\nsrun: error: nid01934: tasks 2,4-5,7: Terminated", 143, None),
    ("PREEMPTED", "slurmstepd: error: *** JOB 32391783 ON cn119 CANCELLED AT 2026-06-18T13:05:36 DUE TO PREEMPTION ***", 143, None),
    ("PREEMPTED", "slurmstepd: error: *** JOB 608 ON gpu1 CANCELLED AT 2026-08-12T02:06:12 DUE TO JOB REQUEUE ***", 143, None),
    ("PREEMPTED", "slurmstepd: error: *** JOB 71 ON gpu1 CANCELLED AT 2026-08-12T02:06:12 DUE TO NODE FAILURE, SEE "
     "SLURMCTLD LOG FOR DETAILS ***", 143, None),
    ("HARDWARE", "[74889.644138] NVRM: Xid (PCI:0000:02:00): 79, GPU has fallen off the bus.", 1, None),
    ("SHM", "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
     135, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "error", "calls"), ERRORS, ids=[f"{one[0]}-{n}" for n, one in enumerate(ERRORS)]
)
def test_an_exception_of_another_version_is_recognised(
    expected: str, error: str, calls: tuple[str, ...]
) -> None:
    before = steps(3) if TRAIN in calls else ""
    diagnosis = diagnose(evidence(before + trace(error, *calls)))
    assert diagnosis.failure_class == expected, diagnosis.what
    assert diagnosis.evidence


@pytest.mark.parametrize(
    ("expected", "lines", "code", "scheduler"),
    LINES,
    ids=[f"{one[0]}-{n}" for n, one in enumerate(LINES)],
)
def test_a_line_of_another_version_is_recognised(
    expected: str, lines: str, code: int, scheduler: str | None
) -> None:
    diagnosis = diagnose(evidence(steps(3) + lines + "\n", code, scheduler=scheduler))
    assert diagnosis.failure_class == expected, diagnosis.what


def test_there_are_enough_of_them() -> None:
    assert len(ERRORS) + len(LINES) >= 60
