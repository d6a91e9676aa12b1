"""Which phase was under way, and which step: from heartbeats, calls and what was printed."""

import re

from surefit.diagnose.evidence import Evidence, Failure, compiled
from surefit.diagnose.metrics import last_counter

# The innermost telling call decides: the first match over the frames, last call first.
_CALLS: tuple[tuple[str, str], ...] = (
    (r"merge_and_unload|/merge\w*\.py|:merge|merge_adapter|merge_lora", "merge"),
    (r":push_to_hub|:upload_folder|:create_commit", "push"),
    (r":evaluation_loop|:prediction_step|:evaluate$|:predict$|:_evaluate", "eval"),
    (
        r":_?save_(?:checkpoint|model|pretrained|optimizer\w*|state)|:_save|:save_file|"
        r":serialize|:save$",
        "save",
    ),
    (r":_?load_from_checkpoint|:_load_optimizer|:_?load_(?:rng|callback|adapter)\w*", "first_step"),
    (r":training_step|:_run_epoch|:backward|:compute_loss|:optimizer_step|:unscale_", "train"),
    (r":_inner_training_loop|:inner_training_loop|trainer\.py:train$", "first_step"),
    (r":_prepare_dataset|datasets/|:load_dataset|arrow_dataset|:_prepare_split", "prepare_data"),
    (r"data_collator|/dataloader\.py|:collate|:batch$", "train"),
    (r":forward$", "train"),
    (r"tokenization_|:load_tokenizer|tokenizer_fast|auto/tokenization_auto", "load_tokenizer"),
    (r"tuners/|peft_model|mapping_func", "load_model"),
    (
        r":_load_pretrained_model|modeling_utils\.py:from_pretrained|auto_factory|quantizer|"
        r"core_model_loading",
        "load_model",
    ),
    (
        r":init_process_group|rendezvous|TCPStore|:_create_c10d_store|:set_device|cpp_extension"
        r"|:parse_args",
        "import",
    ),
    (r"transformers/trainer\.py:__init__", "first_step"),
    (r"trainer\.py:__init__|/trainer/", "prepare_data"),
)
_PRINTED: tuple[tuple[str, str], ...] = (
    (r"INFO merge:|^\s*merging\b|^Merging (?:adapter|layers|LoRA)", "merge"),
    (r"[Pp]ushing to|[Uu]ploading (?:model|checkpoint|adapter)|push_to_hub", "push"),
    (r"\*{5} Running Evaluation|[Ee]valuating", "eval"),
    (
        r"[Ss]aving (?:to|model|checkpoint|adapter)|Writing model shards|uploading checkpoint",
        "save",
    ),
    (r"starting training|\*{5} Running training|^\s+\d+%\|[^|]*\| *\d+/\d+", "train"),
    (
        r"(?:Tokenizing|Adding EOS|Truncating|Packing|Map|Filter|Generating \w+ split|Applying "
        r"chat)[^|]*(?:%\||:)|training rows",
        "prepare_data",
    ),
    (
        r"[Ll]oading (?:the )?model|Loading checkpoint shards|Loading weights|Downloading|"
        r"\.safetensors:|\bfetching \S+/",
        "load_model",
    ),
    (r"[Ll]oading (?:the )?tokenizer|tokenizer\.json", "load_tokenizer"),
)


def find_phase(evidence: Evidence, failure: Failure | None, rank: int | None) -> str:
    """The phase that was under way, `unknown` where nothing tells."""
    beat = evidence.beat(rank)
    if beat is not None and beat.phase:
        return beat.phase
    if evidence.problem is None and failure is not None:
        if _imports(failure):
            return "import"
        called = _from_calls(failure)
        if called == "train" and not evidence.metrics and find_step(evidence, rank) in (None, 0):
            return "first_step"
        if called:
            return called
        if failure.last.kind in ("ModuleNotFoundError", "ImportError"):
            return "import"
    return _from_print(evidence)


def find_step(evidence: Evidence, rank: int | None) -> int | None:
    """The last step that is known to have been reached."""
    beat = evidence.beat(rank)
    if beat is not None:
        return beat.step
    counter = last_counter(evidence.lines)
    if counter is not None:
        return counter[0]
    for line in reversed(evidence.lines):
        spoken = re.search(r"\bstep[: =]+(\d+)\b", line.text)
        if spoken:
            return int(spoken[1])
    return None


def _imports(failure: Failure) -> bool:
    """Whether the user's own innermost call is an import."""
    own = [frame for frame in failure.last.frames if "-packages" not in frame.path]
    return bool(own) and own[-1].source.startswith(("import ", "from "))


def _from_calls(failure: Failure) -> str | None:
    for raised in reversed(failure.chain):
        calls = [f"{frame.path}:{frame.function}" for frame in reversed(raised.frames)]
        for pattern, phase in _CALLS:
            if any(compiled(pattern).search(call) for call in calls):
                return phase
    return None


def _from_print(evidence: Evidence) -> str:
    if evidence.metrics:
        after = [
            line for line in evidence.lines if line.position > evidence.metrics[-1].line.position
        ]
        for line in reversed(after):
            for pattern, phase in _PRINTED[:4]:
                if compiled(pattern).search(line.text):
                    return phase
        return "train"
    for line in reversed(evidence.lines):
        for pattern, phase in _PRINTED:
            if compiled(pattern).search(line.text):
                return phase
    return "unknown"
