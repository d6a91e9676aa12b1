"""What a repository holds when it is no model that can be trained, named for what it is."""

from surefit.errors import Refused, SurefitError, WorkerExit
from surefit.hub.failures import Subject
from surefit.hub.listing import Listing

_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


def refuse_other_contents(subject: Subject, listing: Listing) -> None:
    """Refuse adapters, GGUF, pickles, pipelines, and repositories without config or weights.

    Raises:
        Refused: says what is there, and what to name instead.
    """
    names = [path for path in listing.files if "/" not in path]
    if "config.json" in names and any(name.endswith(".safetensors") for name in names):
        return
    raise _refusal(subject, names, listing)


def _refusal(subject: Subject, names: list[str], listing: Listing) -> SurefitError:
    repo, held = subject.name.repo, _some(names)
    pickles = [one for one in names if one.endswith(_PICKLES) and one != "training_args.bin"]
    gguf = [one for one in names if one.endswith(".gguf")]
    if "adapter_config.json" in names:
        return _refused(
            f"{repo} is an adapter, not a model",
            "it holds adapter_config.json: it changes a base model, and this version trains new "
            "adapters on base models only",
            f"set `model:` to its base model, which its page names: {subject.page}",
        )
    if gguf and not any(name.endswith(".safetensors") for name in names):
        return _refused(
            f"{repo} has its weights in {gguf[0]}",
            "GGUF holds weights quantised for inference; they cannot be trained",
            f"name the original model, with *.safetensors files; {subject.page} says which it was made from",
        )
    if "model_index.json" in names:
        return _refused(
            f"{repo} is a pipeline of several models, not a language model",
            f"it holds model_index.json and {held}",
            "name a model whose config names a class that ends with ForCausalLM",
        )
    if pickles and "config.json" in names:
        return _refused(
            f"{repo} has its weights in {pickles[0]}, a format that can run code when it is opened",
            f"{_some(pickles)}: pickle files are programs, and surefit opens *.safetensors only",
            f"look for a safetensors version: {subject.page}/discussions often has one as a pull request, "
            f"then `model: {repo}@refs/pr/NUMBER`",
        )
    if "config.json" not in names:
        inner = sorted(
            path.rpartition("/")[0] for path in listing.files if path.endswith("/config.json")
        )
        return _refused(
            f"{repo} is no model: it has no config.json",
            f"its folder {inner[0]} has one" if inner else f"it holds {held or 'nothing'}",
            f"download that folder and name it: `hf download {repo} --include '{inner[0]}/*' "
            f"--local-dir {repo.rpartition('/')[2]}`"
            if inner
            else f"name a repository with config.json, tokenizer.json and *.safetensors; look at {subject.page}/tree",
        )
    return _refused(
        f"{repo} has no weights",
        f"it holds {held}, and no *.safetensors file",
        f"name a repository with *.safetensors files; look at {subject.page}/tree",
    )


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown


def _refused(what: str, why: str, next_step: str) -> Refused:
    return Refused(what, why, next_step, where="model", worker_exit=WorkerExit.INPUT_MISSING)
