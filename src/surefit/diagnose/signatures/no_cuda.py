"""SF114 NO_CUDA."""

from surefit.diagnose.signatures.signature import Found, TextSignature


class NoCuda(TextSignature):
    """The program cannot use a GPU here at all.

    ## What happened
    There is no driver, the driver is too old for this torch, no GPU was passed into the container,
    or torch itself is a build without CUDA.

    ## Why
    A torch wheel carries its CUDA version and needs a driver at least as new. `pip install torch`
    may pick a wheel for CPU; a container sees GPUs only when they are handed in (`--gpus all`).

    ## Example
        RuntimeError: The NVIDIA driver on your system is too old (found version 12040).

    ## What to do
    Check with `nvidia-smi` what the machine has, then install the torch build for that CUDA
    version, update the driver, or choose an image and flavour with a GPU.
    """

    code = "SF114"
    failure_class = "NO_CUDA"
    title = "No usable GPU"
    patterns = (
        r"Torch not compiled with CUDA enabled|PyTorch was compiled without CUDA",
        r"NVIDIA driver on your system is too old \(found version (?P<version>\d+)\)",
        r"Found no NVIDIA driver",
        r"CUDA driver version is insufficient for CUDA runtime",
        r"No CUDA GPUs are available|no CUDA-capable device is detected|cudaErrorNoDevice",
        r"CUDA (?:is|was) (?:not available|unavailable)|cuda\.is_available\(\) (?:is|returned) "
        r"False",
        r"(?:No|no) GPUs? (?:was |were )?(?:found|detected|available)|requires? (?:a|at least one) "
        r"(?:CUDA )?GPU\b",
        r"needs? (?:a|an) (?:NVIDIA|CUDA) GPU|Unsloth cannot find any torch accelerator",
        r"Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available",
        r"libcuda\.so\.1: cannot open shared object|could not select device driver.*gpu",
        r"nvidia-container-cli: initialization error|CUDA unknown error|CUDA initialization error",
        r"NVML: Driver/library version mismatch",
        r"system not yet initialized|CUDA error: initialization error|forward compatibility was "
        r"attempted",
    )
    what = "no GPU can be used here{found_driver}"
    why = "{text}"
    next_step = (
        "see what the machine has with `nvidia-smi`; then install the torch build for that CUDA "
        "version, "
        "update the driver, or take an image or flavour with a GPU"
    )

    def words(self, found: Found) -> dict[str, str]:
        """The driver's CUDA version in words: 12040 is CUDA 12.4."""
        words = super().words(found)
        version = found.groups.get("version")
        if not version:
            return {**words, "found_driver": ""}
        major, minor = int(version) // 1000, int(version) % 1000 // 10
        told = f": the driver supports CUDA up to {major}.{minor} ({version})"
        return {**words, "found_driver": told}
