"""SF113 ARCH_KERNEL."""

from surefit.diagnose.signatures.signature import Found, TextSignature


class NoKernelsForThisGpu(TextSignature):
    """This build of torch or of an extension has no kernels for this GPU.

    ## What happened
    The first real computation on the GPU failed, although the GPU was found.

    ## Why
    A build contains kernels for a list of GPU generations. A new card needs a newer build, an old
    card an older one.

    ## Example
        NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current
        PyTorch installation.
        RuntimeError: CUDA error: no kernel image is available for execution on the device

    ## What to do
    Install a torch build whose list contains this GPU's capability, or use another GPU.
    """

    code = "SF113"
    failure_class = "ARCH_KERNEL"
    title = "The build has no kernels for this GPU"
    patterns = (
        r"no kernel image is available",
        r"CUDA capability (?P<capability>sm_\d+\w?) is not compatible",
        r"cudaErrorNoKernelImageForDevice|CUDA_ERROR_NO_BINARY_FOR_GPU",
        r"provided PTX was compiled with an unsupported toolchain|device kernel image is invalid",
        r"Value '(?P<capability>sm_\d+\w?)' is not defined for option 'gpu-name'",
        r"is for sm\d+.{0,30}but was built for|requires \.target sm_\d+|GPU is too old",
        r"PTX .{0,30}(?:does not support|unsupported).{0,30}target",
    )
    what = "this build has no kernels for the GPU{card}"
    why = "{text}"
    next_step = "install a torch build made for this GPU's generation{target}, or use another GPU"
    context = (
        r"with CUDA capability sm_\d+ is not compatible",
        r"install supports CUDA capabilities",
        r"\btorch[ -]\d+\.\d+\S*",
    )

    def words(self, found: Found) -> dict[str, str]:
        """The card and its capability from the warning that torch prints at its start."""
        words = super().words(found)
        for _, match in found.evidence.find_all(
            r"^(?:.*?: )?(.{3,60}?) with CUDA capability (sm_\d+)"
        ):
            return {
                **words,
                "card": f" ({match[1].strip()}, {match[2]})",
                "target": f" ({match[2]})",
            }
        capability = found.groups.get("capability")
        return {**words, "card": f" ({capability})" if capability else "", "target": ""}
