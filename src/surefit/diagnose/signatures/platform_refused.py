"""SF813 PLATFORM_REFUSED."""

import re

from surefit.diagnose.signatures.signature import Found, TextSignature


class PlatformRefused(TextSignature):
    """The platform did not take the job: no credits, or no capacity.

    ## What happened
    The job was refused or cancelled before it trained.

    ## Why
    The account has no credits left or lacks a subscription, or no machine of that kind is free.

    ## Example
        Client error '402 Payment Required' for url 'https://huggingface.co/api/jobs/...'

    ## What to do
    Add credits, then submit again; without capacity try later, or take another flavour or region.
    """

    code = "SF813"
    failure_class = "PLATFORM_REFUSED"
    title = "No credits or no capacity"
    plain_lines = True
    patterns = (
        r"402 (?:Payment Required|Client Error)|\b402\b.{0,40}[Pp]ayment",
        r"(?:credit|balance)s?.{0,40}(?:insufficient|not enough|exhausted|depleted|required|"
        r"exceeded)|[Ii]nsufficient (?:credit|fund|balance)s?",
        r"NO_CREDITS|NO_SUBSCRIPTION|RESOURCE_GROUP_LIMIT|requires? a (?:PRO|paid|Team|"
        r"Enterprise) (?:subscription|account|plan)",
        r"not enough hardware capacity|[Ii]nsufficient(?:Instance)?Capacity|(?:no|out of) "
        r"capacity|[Cc]apacity .{0,20}(?:not available|unavailable|exceeded)",
        r"[Ss]cheduling failure|FailedScheduling|ZONE_RESOURCE_POOL_EXHAUSTED|"
        r"ResourcesUnavailableError|Unschedulable",
        r"(?:GPU|instance|vCPU) (?:quota|limit) (?:exceeded|reached)|\bQuotaExceeded|"
        r"MaxSpotInstanceCountExceeded|QOSMax\w+|AssocGrp\w+|AssocMax\w+",
    )
    what = "the platform did not take the job: {kind}"
    why = "{text}{detail}"
    next_step = "{remedy}"
    context = (r"[Cc]redit|[Cc]apacity",)

    def words(self, found: Found) -> dict[str, str]:
        """Money or machines."""
        words = super().words(found)
        near = " ".join(line.text for line in found.evidence.closing[-12:])
        money = re.search(r"402|credit|[Pp]ayment|balance|SUBSCRIPTION|subscription", found.text)
        detail = re.search(r"[^.]*(?:credit|balance)[^.]*", near)
        told = (
            f"; {detail[0].strip()}"
            if money and detail and detail[0].strip() not in words["text"]
            else ""
        )
        if money:
            return {
                **words,
                "kind": "no credits",
                "detail": told,
                "remedy": "add credits to the account (or the subscription it asks for), then "
                "submit again",
            }
        return {
            **words,
            "kind": "no capacity",
            "detail": "",
            "remedy": "try again later, or take another flavour, region or a smaller machine",
        }

    def phase_of(self, found: Found) -> str | None:
        """Nothing had started."""
        return "unknown" if not found.evidence.metrics else None
