"""Who may see what: accounts, whoami, private and gated repositories."""

from collections.abc import Callable
from typing import Any

from surefit.hub.fake.answers import (
    Answer,
    Request,
    bad_credentials,
    error,
    json_answer,
    repo_not_found,
)
from surefit.hub.fake.store import KINDS, Account, FakeRepo

Handler = Callable[..., Answer]


def account_of(request: Request) -> Account | Answer | None:
    """Whose token was sent; None without one; an answer where it is not valid."""
    if request.token is None:
        return None
    account = request.hub.accounts.get(request.token)
    return bad_credentials() if account is None or account.expired else account


def visible_repo(request: Request, kind: str, name: str) -> FakeRepo | Answer:
    """The repository, where the caller may know of it."""
    account = account_of(request)
    if isinstance(account, Answer):
        return account
    repo = request.hub.repos.get((KINDS[kind], name))
    if repo is None or (repo.private and not _is_let_in(repo, account)):
        return repo_not_found(request)
    if repo.disabled:
        return error(403, None, "Access to this resource is disabled.")
    return repo


def readable_repo(request: Request, kind: str, name: str) -> FakeRepo | Answer:
    """The repository, where the caller may also read its files."""
    repo = visible_repo(request, kind, name)
    if isinstance(repo, Answer) or not repo.gated:
        return repo
    account = account_of(request)
    restricted = f"Access to {repo.kind} {name} is restricted"
    if account is None:
        text = "You must have access to it and be authenticated to access it. Please log in."
        return error(401, "GatedRepo", f"{restricted}. {text}")
    if isinstance(account, Account) and account.role == "fineGrained" and not account.reads_gated:
        text = (
            "Please enable access to public gated repositories in your fine-grained token settings"
        )
        return error(403, "GatedRepo", f"{text} to view this repository.")
    if not _is_let_in(repo, account):
        text = (
            f"you are not in the authorized list. Visit {request.hub.url}/{name} to ask for access."
        )
        return error(403, "GatedRepo", f"{restricted} and {text}")
    return repo


def _is_let_in(repo: FakeRepo, account: Account | Answer | None) -> bool:
    if not isinstance(account, Account):
        return False
    return account.user in {repo.owner, *repo.readers} or repo.owner in account.orgs


def whoami(request: Request) -> Answer:
    """`GET /api/whoami-v2`."""
    account = account_of(request)
    if account is None:
        return error(401, None, "Invalid username or password.")
    if isinstance(account, Answer):
        return account
    token: dict[str, Any] = {"displayName": "token", "role": account.role}
    if account.role == "fineGrained":
        entity = {"type": "user", "name": account.user, "_id": "0"}
        token["fineGrained"] = {
            "canReadGatedRepos": account.reads_gated,
            "global": [],
            "scoped": [{"entity": entity, "permissions": list(account.scopes)}],
        }
    return json_answer(
        {
            "type": "user",
            "name": account.user,
            "isPro": False,
            "canPay": False,
            "orgs": [{"type": "org", "name": name, "roleInOrg": "write"} for name in account.orgs],
            "auth": {"type": "access_token", "accessToken": token},
        }
    )


def auth_check(request: Request, kind: str, name: str, write: str | None = None) -> Answer:
    """`GET /api/models/{id}/auth-check[/write]`."""
    repo = readable_repo(request, kind, name)
    if isinstance(repo, Answer):
        return repo
    account = account_of(request)
    if write and not (isinstance(account, Account) and account.may_write(repo.owner)):
        return error(403, None, "You don't have the rights to write to this repository")
    return Answer(200, {"Content-Type": "text/plain"}, b"OK")


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", r"/api/whoami-v2", whoami),
    (
        "GET",
        r"/api/(?P<kind>models|datasets|spaces)/(?P<name>[^/]+/[^/]+)/auth-check(?:/(?P<write>write))?",
        auth_check,
    ),
)
