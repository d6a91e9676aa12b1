"""SF115 KERNEL_LIB."""

import re
from typing import ClassVar

from surefit.diagnose.signatures.signature import Found, TextSignature


class KernelLibrary(TextSignature):
    """A compiled extension is absent or was built for something else.

    ## What happened
    flash-attn, bitsandbytes, a fused kernel or a kernel that is compiled at start could not be
    used.

    ## Why
    Such packages hold machine code for one torch, one CUDA and some GPUs. pip installs them next
    to any torch. Compiling at start needs a CUDA toolkit (`nvcc`), which most run-time images lack.

    ## Example
        ImportError: FlashAttention2 has been toggled on, but it cannot be used due to the
        following error

    ## What to do
    Do without it (`attn_implementation="sdpa"`, no 4 bit, no fused kernels), or install the wheel
    that matches this torch and CUDA.
    """

    code = "SF115"
    failure_class = "KERNEL_LIB"
    title = "A compiled extension is missing or does not match"
    patterns = (
        r"(?P<package>bitsandbytes) native library functionality but it's not available",
        r"(?P<package>CUDA) VERSION MISMATCH",
        r"CUDA [Ss]etup failed despite (?:GPU|CUDA) being available|Configured CUDA binary not "
        r"found",
        r"(?P<package>libbitsandbytes\w*)\.so",
        r"(?P<package>FlashAttention ?-?\d?).{0,80}(?:toggled on|cannot be used|not installed|"
        r"not available"
        r"|requires?|only supports?)",
        r"(?P<package>FlashAttention) only supports",
        r"(?P<package>flash[_-]attn\w*).{0,120}(?:undefined symbol|cannot open shared|not "
        r"installed)",
        r"^(?:ImportError|OSError): (?P<package>lib(?:cudart|cublas|cudnn|cusparse|nvrtc|cufft)\S*"
        r"\.so\S*): cannot open shared",
        r"undefined symbol: (?P<symbol>\S+)",
        r"No module named '(?P<package>flash_attn\w*|bitsandbytes|xformers|triton|causal_conv1d|"
        r"mamba_ssm"
        r"|deepspeed\.ops\S*|apex|liger_kernel|\w*_cuda|\w+_cuda_ext\w*)'",
        r"(?P<package>CUDA_HOME) (?:environment variable is not set|does not exist)",
        r"Could not find (?P<package>nvcc)|(?P<package2>nvcc): (?:command )?not found",
        r"Unable to (?:JIT )?load the (?P<package>\S+) op",
        r"Error building extension '(?P<package>[^']+)'|Ninja is required to load C\+\+ extensions",
        r"detected CUDA version.{0,60}mismatches the version that was used to compile",
        r"(?P<package>bitsandbytes)\W.{0,80}(?:requires?|install|not (?:found|installed|"
        r"available))",
        r"requires the latest version of (?P<package>bitsandbytes)",
        r"(?P<package>xformers).{0,60}(?:can't load|not available|was built for)",
        r"(?P<package>[Tt]riton).{0,80}(?:cannot find|Failed to (?:compile|find)|no "
        r".{0,10}compiler)",
        r"working (?P<package>triton) installation|(?P<package2>[Tt]riton) is not (?:available|"
        r"installed)",
        r"Failed to find C compiler",
        r"(?P<package>sageattention|torchao|[Ll]iger).{0,60}(?:not (?:installed|available)|"
        r"version)",
    )
    defaults: ClassVar[dict[str, str]] = {"package": "a compiled extension"}
    what = "{package} cannot be used in this environment"
    why = "{text}{asked}"
    next_step = (
        "do without it ({without}), or install the build that matches this torch and CUDA version"
    )
    context = (r"Requested CUDA version|Original error", r"\bflash_attn", r"torch[ -]\d+\.\d+\S*")

    def words(self, found: Found) -> dict[str, str]:
        """What to use instead, by the package."""
        words = super().words(found)
        text = found.text.lower()
        frames = found.failure.frames if found.failure else ()
        if words["package"] in self.defaults.values() or words["package"] == "CUDA":
            known = ("bitsandbytes", "flash_attn", "flash-attn", "xformers", "deepspeed", "triton")
            calls = " ".join(frame.path for frame in frames)
            named = [name for name in known if name in text or name in calls]
            words["package"] = named[0] if named else words.get("package2") or words["package"]
        if "flash" in words["package"].lower():
            words["package"] = "flash_attn"
        elif words["package"] in ("CUDA_HOME", "nvcc"):
            words["package"] = "the CUDA toolkit (nvcc, CUDA_HOME)"
        asked = re.search(r"Requested CUDA version: *(\S+)", found.text)
        told = f" (CUDA {asked[1]} was requested)" if asked else ""
        return {**words, "without": _without(words["package"]), "asked": told}


def _without(package: str) -> str:
    lower = package.lower()
    if "flash" in lower or "xformers" in lower or "sage" in lower:
        return '`attn_implementation="sdpa"`'
    if "bitsandbytes" in lower:
        return "16 bit instead of 4 bit, and a plain AdamW"
    if "cuda_home" in lower or "nvcc" in lower:
        return "switch off the kernel that is compiled at start, or use a devel image with nvcc"
    return "switch the fused kernels off"
