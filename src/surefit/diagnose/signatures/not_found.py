"""SF802 NOT_FOUND_OR_PRIVATE."""

from surefit.diagnose.signatures.hub_access import HubSignature
from surefit.diagnose.signatures.signature import Found


class NotFoundOrPrivate(HubSignature):
    """There is no such repository, or this token cannot see it.

    ## What happened
    The Hub answered that it has no repository of that name. It gives the same answer for a private
    one.

    ## Why
    A typing mistake, a renamed model, or a private repository without a token of a member.

    ## Example
        Repository Not Found for url:
        https://huggingface.co/orbis/Tern-7B-Instrcut/resolve/main/config.json

    ## What to do
    Check the spelling on the Hub. If it is private, log in with a token that can see it.
    """

    code = "SF802"
    failure_class = "NOT_FOUND_OR_PRIVATE"
    title = "No such repository, or not visible"
    patterns = (
        r"Repository Not Found for url|RepositoryNotFoundError",
        r"is not a (?:local folder|valid model identifier)",
        r"Revision Not Found for url|RevisionNotFoundError",
        r"[Dd]ataset ['\"](?P<name>[^'\"]+)['\"] doesn't exist on the Hub or cannot be accessed",
        r"DatasetNotFoundError|(?:Bucket|Space) ['\"].*doesn't exist",
        r"Can't load (?:the )?(?:tokenizer|model|config\w*).{0,20}for "
        r"'(?P<name>[\w-][\w.-]*/[\w.-]+)'",
        r"404 Client Error[\s\S]{0,200}huggingface|\b404\b.{0,40}Not "
        r"Found[\s\S]{0,120}huggingface\.co",
        r"HFValidationError: Repo id must",
    )
    what = "there is no repository {repo} that this token can see"
    why = "the id is misspelt, or the repository is private: {said}"
    next_step = (
        "check the spelling of {repo} on the Hub; if it is private, log in with a token "
        "that can see it"
    )

    def accepts(self, found: Found) -> bool:
        """A local folder without its files is a missing file."""
        last = found.failure.last.text if found.failure else ""
        return "adapter_config.json" not in last and "FileNotFoundError" not in last

    def words(self, found: Found) -> dict[str, str]:
        """The Hub's sentence."""
        words = super().words(found)
        marks = ("Not Found", "not a valid", "not a local", "doesn't exist")
        said = next((t.strip() for t in found.text.splitlines() if any(m in t for m in marks)), "")
        return {**words, "repo": words.get("name") or words["repo"], "said": said or words["text"]}
