"""What the Hub and the network answer, in words: each cause with its own next step."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefit.errors import OutsideError, RecipeError, SurefitError, WorkerExit
from surefit.hub.names import HubName
from surefit.hub.settings import Settings
from surefit.hub.token import Token, unused_token
from surefit.units import seconds_text, shortened

if TYPE_CHECKING:
    import httpx2

TOKENS_PAGE = "https://huggingface.co/settings/tokens"


@dataclass(frozen=True)
class Subject:
    """What was asked for, by whom."""

    name: HubName
    field: str
    settings: Settings
    token: Token | None

    @property
    def noun(self) -> str:
        """`the model org/name`."""
        return f"the {'data set' if self.name.kind == 'dataset' else 'model'} {self.name.repo}"

    @property
    def page(self) -> str:
        """Its page for people."""
        prefix = "datasets/" if self.name.kind == "dataset" else ""
        return f"{self.settings.endpoint}/{prefix}{self.name.repo}"

    @property
    def sent(self) -> str:
        """Which token was sent, in words."""
        if self.token is not None:
            return f"{self.token} was sent"
        unused = unused_token()
        return f"no token was sent; {unused}" if unused else "no token was sent"


def refusal(subject: Subject, response: "httpx2.Response") -> SurefitError:
    """The error that an answer of the Hub means."""
    status = response.status_code
    code = response.headers.get("x-error-code")
    said = shortened(_said(response), 300).rstrip(".")
    if code == "GatedRepo":
        return gated(subject, said)
    if code == "RevisionNotFound":
        return no_revision(subject)
    if code == "EntryNotFound":
        return no_file(subject, str(response.url))
    if code == "RepoNotFound":
        return not_found(subject)
    if status == 401:
        return bad_token(subject, said) if subject.token else not_found(subject)
    if status == 404:  # the Hub names what it did not find
        return not_the_hub(subject, f"{response.url} answered 404 without the Hub's headers")
    if "is disabled" in said:
        return _outside(
            subject,
            f"{subject.noun} is disabled",
            f"{subject.settings.host} answered: {said}",
            f"read why at {subject.page}, and choose another one",
            "PERMISSION",
            WorkerExit.NO_PERMISSION,
        )
    if status == 403:
        return _outside(
            subject,
            f"{subject.settings.host} refuses {subject.noun} (403)",
            f"{said or 'no reason was given'}; {subject.sent}",
            f"give the token the right to read {subject.name.repo} at {TOKENS_PAGE}",
            "PERMISSION",
            WorkerExit.NO_PERMISSION,
        )
    if status == 429:
        return rate_limited(subject, said, None)
    return hub_down(subject, f"{subject.settings.host} answered {status}: {said or 'nothing more'}")


def gated(subject: Subject, said: str) -> SurefitError:
    """The licence has to be accepted first."""
    unused = unused_token()
    if subject.token is None and unused:
        step = (
            f"make that file yours alone, and accept the licence at {subject.page} with its account"
        )
    elif subject.token is None:
        step = (
            f"accept its licence at {subject.page}, then set `HF_TOKEN` to a token of that account "
            f"({TOKENS_PAGE})"
        )
    elif "fine-grained" in said:
        step = f"let this token read gated repositories: edit it at {TOKENS_PAGE}"
    else:
        step = (
            f"ask for access at {subject.page} with the account of this token, and start again "
            "when it is granted"
        )
    return _outside(
        subject,
        f"{subject.noun} is gated, and this account has no access to it",
        f"{said or 'its licence has to be accepted first'}; {subject.sent}",
        step,
        "GATED",
        WorkerExit.NO_PERMISSION,
    )


def not_found(subject: Subject) -> SurefitError:
    """Missing, or private to others; the Hub gives one answer for both."""
    seen = "the name is misspelt, or it is private and only its members see it"
    step = f"check the spelling at {subject.settings.endpoint}/{_search(subject)}"
    step += (
        "; if it is private, set `HF_TOKEN` to a token that can read it"
        if subject.token is None
        else f"; if it is private, this token's account must be a member of {subject.name.repo.partition('/')[0]}"
    )
    return RecipeError(
        f"there is no {subject.noun.removeprefix('the ')} on {subject.settings.host} that can be seen from here",
        f"{seen}; {subject.sent}, and no such path exists here",
        step,
        where=subject.field,
        details={"class": "NOT_FOUND_OR_PRIVATE", "missing": "repository"},
        worker_exit=WorkerExit.INPUT_MISSING,
    )


def _search(subject: Subject) -> str:
    kind = "datasets" if subject.name.kind == "dataset" else "models"
    return f"{kind}?search={subject.name.repo.rpartition('/')[2]}"


def wrong_kind(subject: Subject) -> SurefitError:
    """The name is taken by a repository of the other kind."""
    is_data = subject.name.kind == "model"
    found, wanted = ("data set", "model") if is_data else ("model", "data set")
    return RecipeError(
        f"{subject.name.repo} is a {found}, not a {wanted}",
        f"{subject.settings.host} has a {found} of that name and no {wanted} that can be seen",
        f"set `data.train: {subject.name.repo}` to train on it, and name a model under `model:`"
        if is_data
        else f"set `model: {subject.name.repo}` to train it, and name a data set under `{subject.field}:`",
        where=subject.field,
        details={"class": "NOT_FOUND_OR_PRIVATE"},
        worker_exit=WorkerExit.INPUT_MISSING,
    )


def no_revision(subject: Subject) -> SurefitError:
    """The repository is there, the branch, tag or commit is not."""
    revision = subject.name.revision or "main"
    tree = f"{subject.page}/commits/main"
    return RecipeError(
        f"{subject.noun} has no revision {revision!r}",
        "there is no branch, tag or commit of that name",
        f"choose one at {tree}, or leave `@{revision}` away for the newest"
        if subject.name.revision
        else f"look which branches there are at {subject.page}/tree, and add `@BRANCH` to the name",
        where=subject.field,
        details={"class": "NOT_FOUND_OR_PRIVATE"},
        worker_exit=WorkerExit.INPUT_MISSING,
    )


def no_file(subject: Subject, url: str) -> SurefitError:
    """A file that the listing named is gone."""
    return _outside(
        subject,
        f"{subject.noun} has lost a file",
        f"{url} does not exist any more",
        "start again: the newest commit is read then",
        "FILE_MISSING",
        WorkerExit.INPUT_MISSING,
    )


def bad_token(subject: Subject, said: str) -> SurefitError:
    """The token itself is refused."""
    origin = subject.token.origin if subject.token else "nowhere"
    return _outside(
        subject,
        f"{subject.settings.host} does not accept the token from {origin}",
        f"it is wrong, expired, revoked or of another service: {said or 'no reason was given'}",
        f"make a new one at {TOKENS_PAGE} and set `HF_TOKEN`, or log in again (`hf auth login`); public "
        "models and data sets need none (`unset HF_TOKEN`)",
        "TOKEN_BAD",
        WorkerExit.NO_PERMISSION,
    )


def rate_limited(subject: Subject, said: str, wait: float | None) -> SurefitError:
    """429: asked too often."""
    again = f"in {seconds_text(wait)}" if wait else "in some minutes"
    more = "" if subject.token else "; requests with a token (`HF_TOKEN`) are limited less"
    return _outside(
        subject,
        f"too many requests: {subject.settings.host} answers no more for now (429)",
        f"{said or 'the allowance of this address or account is used up'}; {subject.sent}",
        f"start again {again}{more}",
        "RATE_LIMIT",
        WorkerExit.NETWORK,
        wait_seconds=wait,
    )


def hub_down(subject: Subject, why: str) -> SurefitError:
    """No answer, or an answer that means trouble over there."""
    return _outside(
        subject,
        f"{subject.settings.host} cannot be asked about {subject.noun}",
        why,
        "check the connection, or look at https://status.huggingface.co, and start again; what was "
        f"fetched is kept. Without a network, name a folder under `{subject.field}:`",
        "HUB_DOWN",
        WorkerExit.NETWORK,
    )


def not_the_hub(subject: Subject, why: str) -> SurefitError:
    """Something answered, and it was not a Hub: a proxy, a login page, a wrong address."""
    return _outside(
        subject,
        f"what answers at {subject.settings.endpoint} is not the Hugging Face Hub",
        why,
        "open that address in a browser: a proxy or a login page may stand before it; check HF_ENDPOINT",
        "HUB_DOWN",
        WorkerExit.NETWORK,
    )


def offline(subject: Subject, missing: str) -> SurefitError:
    """It may not be asked, and the cache does not have it."""
    return _outside(
        subject,
        f"{subject.noun} is not in the cache, and {subject.settings.offline} forbids to ask for it",
        f"{missing}; the cache is {subject.settings.cache}",
        f"unset {subject.settings.offline}, or fetch it where there is a network: "
        f"`hf download {subject.name.repo}{' --repo-type dataset' if subject.name.kind == 'dataset' else ''}`",
        "HUB_DOWN",
        WorkerExit.INPUT_MISSING,
    )


def _said(response: "httpx2.Response") -> str:
    """The Hub's own sentence: from the header, else from the body where that was read."""
    named = response.headers.get("x-error-message")
    if named:
        return str(named)
    try:
        value = response.json()
    except (ValueError, RuntimeError):
        return ""
    return str(value.get("error") or "") if isinstance(value, dict) else ""


def _outside(
    subject: Subject,
    what: str,
    why: str,
    next_step: str,
    class_: str,
    code: WorkerExit,
    **details: object,
) -> OutsideError:
    return OutsideError(
        what,
        why,
        next_step,
        where=subject.field,
        worker_exit=code,
        details={"class": class_, **details},
    )
