"""SF508 CONFIG."""

from typing import ClassVar

from surefit.diagnose.evidence import Evidence
from surefit.diagnose.signatures.signature import Found, TextSignature, find_in_failure

_READS_SETTINGS = (
    r"config|args|arguments|argparse|parser|__post_init__|:__init__$|/cli|settings|omegaconf|"
    r"hydra|yaml"
    r"|pydantic|schema|valid|options|recipe|:from_pretrained$"
)
_TRAINS = r":forward$|:training_step|:backward$|_call_impl"


class InvalidSetting(TextSignature):
    """A setting is invalid, unknown or contradicts another.

    ## What happened
    The program refused its settings before it trained.

    ## Why
    A value outside the allowed ones, an option that this program does not have, or two settings
    that exclude each other.

    ## Example
        ValueError: --load_best_model_at_end requires the save and eval strategy to match

    ## What to do
    Correct the setting that the message names.
    """

    code = "SF508"
    failure_class = "CONFIG"
    title = "A setting is wrong"
    patterns = (
        r"unrecognized arguments: (?P<setting>.+)",
        r"(?:the following arguments are required|invalid choice|expected one argument|"
        r"ambiguous option): ?(?P<setting>.*)",
        r"(?<!\S)(?P<setting>\S+) is not a valid (?P<kind>\w+)(?:, please select one of)?",
        r"(?P<setting>--\w+) (?:requires|(?:can only|cannot|must|should) be)",
        r"[Aa]t most one of (?P<setting>.+?) can be",
        r"Some (?:specified arguments|keys) are not used by the HfArgumentParser: (?P<setting>.*)",
        r"(?:ValidationError|validation errors?) for (?P<setting>\w+)",
        r"yaml\.\w+\.\w+Error|mapping values are not allowed|could not find expected ':'|"
        r"ScannerError|ParserError: while parsing",
        r"Undefined (?P<kind>\w+) (?P<setting>\S+)|(?P<setting2>(?:Template|Optimizer|Method|"
        r"Dataset|Trainer) does not exist.*)",
        r"(?P<setting>Cannot merge adapters to a quantized model)",
    )
    broad_patterns = (
        r"(?:[Uu]nknown|[Ii]nvalid|[Uu]nsupported|[Uu]nrecognized) (?P<kind>option|argument|key|"
        r"setting|value|optimizer|scheduler|config\w*|strategy|parameter|loss[_ "
        r"]type)s?\b:?(?P<setting>.*)",
        r"(?<![\w`'])(?P<setting>[\w`']+) (?:and|with) [\w`']+ (?:are|is) (?:mutually exclusive|"
        r"incompatible|not compatible)",
        r"mutually exclusive|cannot be used together|not compatible with|is incompatible with",
        r"(?<![\w`'])(?P<setting>[\w`']+) (?:must|should) be (?:a |an |one of |set|greater|positive|at "
        r"least|between|>|strictly|divisible|either|specified)",
        r"train_batch_size is not equal to|Please correct the following DeepSpeed config|must "
        r"be divisible by",
        r"requires (?:either )?(?:a )?non-?zero|not a multiple of|got warmup|(?:both|You) "
        r"(?:set|passed|specified|cannot)",
        r"(?<![\w.`'-])(?P<setting>[\w.`'-]+) (?:is|are) (?:deprecated and )?no longer supported",
        r"[Ii]nvalid value for '?(?P<setting>[^':]+)|[Nn]o such option:? ?(?P<setting2>\S+)|"
        r"[Mm]issing (?:required )?(?:option|argument|parameter|key) ?(?P<setting3>.*)",
        r"(?:Config|config)\w*(?:Attribute|Key)Error|MissingMandatoryValue|OmegaConf|hydra\.errors",
        r"You must (?:specify|set|provide|pass)|expected .{0,40} to be (?:set|specified|one of)",
        r"Expected .{0,30}(?:but got|got) .{0,80}",
    )
    defaults: ClassVar[dict[str, str]] = {"setting": ""}
    what = "a setting is wrong{named}"
    why = "{text}"
    next_step = "correct {that} as the message says, then {again}"

    def find(self, evidence: Evidence) -> Found | None:
        """The unmistakable texts, then those that speak of a setting only where settings are read."""
        found = super().find(evidence)
        failure = evidence.root.failure
        if found is not None or failure is None or not failure.mentions(_READS_SETTINGS):
            return found
        if failure.mentions(_TRAINS):
            return None
        looks = (find_in_failure(evidence, p, failure) for p in self.broad_patterns)
        return next((found for found in looks if found and self.accepts(found)), None)

    def accepts(self, found: Found) -> bool:
        """Settings are refused by a ValueError and its kin; anything else only resembles one."""
        if found.failure is None:
            return "error" in found.text.lower()
        kind = found.failure.last.kind.rsplit(".", 1)[-1]
        return kind in _KINDS or "Config" in kind or "Validation" in kind or "Usage" in kind

    def phase_of(self, found: Found) -> str | None:
        """A command line is read before anything else."""
        return "import" if found.failure is None else None

    def words(self, found: Found) -> dict[str, str]:
        """The setting, where the message names one."""
        words = super().words(found)
        setting = (words["setting"] or words.get("setting2") or words.get("setting3") or "").strip(
            " `':"
        )
        return {**words, "named": f": {setting}" if setting else "", "that": setting or "it"}


_KINDS = frozenset(
    {
        "ValueError",
        "TypeError",
        "AssertionError",
        "ScannerError",
        "ParserError",
        "ArgumentError",
        "NotImplementedError",
        "BadParameter",
        "InstantiationException",
        "RuntimeError",
        "SystemExit",
    }
)
