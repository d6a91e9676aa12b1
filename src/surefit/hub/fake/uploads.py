"""Writing: a new repository, files announced, large ones stored, and the commit that takes them."""

import base64
import hashlib
import json
from typing import Any
from urllib.parse import unquote

from surefit.hub.fake.access import Handler, account_of, visible_repo
from surefit.hub.fake.answers import Answer, Request, error, json_answer
from surefit.hub.fake.store import Account, FakeRepo, Kind, StoredFile

_REPO = r"/api/(?P<kind>models|datasets|spaces)/(?P<name>[^/]+/[^/]+)"


def create(request: Request) -> Answer:
    """`POST /api/repos/create`."""
    asked = request.json()
    account = account_of(request)
    if isinstance(account, Answer):
        return account
    if account is None:
        return error(401, None, "Invalid username or password.")
    namespace = asked.get("organization") or account.user
    kind: Kind = asked.get("type") or "model"
    name = f"{namespace}/{asked['name']}"
    if not account.may_write(namespace):
        text = f'You don\'t have the rights to create a {kind} under the namespace "{namespace}"'
        return error(403, None, text)
    url = f"{request.hub.url}/{'' if kind == 'model' else f'{kind}s/'}{name}"
    if (kind, name) in request.hub.repos:
        return json_answer({"error": "You already created this repo", "url": url}, 409)
    private = bool(asked.get("private")) or asked.get("visibility") == "private"
    repo = FakeRepo(kind, name, private=private)
    repo.commit({})
    request.hub.repos[kind, name] = repo
    return json_answer({"url": url, "name": name, "id": name})


def preupload(request: Request, kind: str, name: str, revision: str) -> Answer:
    """`POST .../preupload/{rev}`: which files go beside the commit, and which into it."""
    repo = _writable(request, kind, name)
    if isinstance(repo, Answer):
        return repo
    present = repo.commits[repo.resolve(unquote(revision)) or next(iter(repo.commits))]
    files = []
    for asked in request.json()["files"]:
        path = asked["path"]
        probe = StoredFile(b"\0" * min(asked["size"], 1))
        large = repo.is_lfs(path, probe) or asked["size"] > 10**7
        known = present.get(path)
        files.append(
            {
                "path": path,
                "uploadMode": "lfs" if large else "regular",
                "shouldIgnore": False,
                "oid": (known.sha256 if large else known.git_sha1) if known else None,
            }
        )
    return json_answer({"files": files})


def lfs_batch(request: Request, name: str, prefix: str | None = None) -> Answer:
    """`POST /{id}.git/info/lfs/objects/batch`: where large files go."""
    repo = _writable(request, (prefix or "models/").rstrip("/"), name)
    if isinstance(repo, Answer):
        return repo
    objects: list[dict[str, Any]] = []
    for asked in request.json()["objects"]:
        found = {"oid": asked["oid"], "size": asked["size"]}
        if asked["oid"] not in request.hub.uploaded:
            href = f"{request.hub.storage_url}/upload/{asked['oid']}"
            found["actions"] = {"upload": {"href": href, "header": {}}}
        objects.append(found)
    return json_answer({"transfer": "basic", "objects": objects})


def store(request: Request, oid: str) -> Answer:
    """`PUT` to the storage; content under another hash than announced is refused."""
    if hashlib.sha256(request.body).hexdigest() != oid:
        return error(400, None, "the content does not have the announced hash")
    request.hub.uploaded[oid] = StoredFile(request.body)
    return Answer(200)


def commit(request: Request, kind: str, name: str, revision: str) -> Answer:
    """`POST .../commit/{rev}`: a line of JSON for each change."""
    repo = _writable(request, kind, name)
    if isinstance(repo, Answer):
        return repo
    branch = unquote(revision)
    files = dict(repo.commits.get(repo.resolve(branch) or "", {}))
    for line in request.body.splitlines():
        entry = json.loads(line)
        value = entry["value"]
        if entry["key"] == "file":
            files[value["path"]] = StoredFile(base64.b64decode(value["content"]))
        elif entry["key"] == "lfsFile":
            stored = request.hub.uploaded.get(value["oid"])
            if stored is None:
                return error(400, None, f"the LFS object {value['oid']} was never uploaded")
            files[value["path"]] = stored
        elif entry["key"] == "deletedFile":
            files.pop(value["path"], None)
    sha = repo.commit(files, branch)
    url = f"{request.hub.url}/{name}/commit/{sha}"
    return json_answer({"success": True, "commitOid": sha, "commitUrl": url, "hookOutput": ""})


def validate_yaml(_request: Request) -> Answer:
    """`POST /api/validate-yaml`: a card's front matter is taken as it is."""
    return json_answer({"errors": [], "warnings": []})


def _writable(request: Request, kind: str, name: str) -> FakeRepo | Answer:
    repo = visible_repo(request, kind, name)
    if isinstance(repo, Answer):
        return repo
    account = account_of(request)
    if account is None:
        return error(401, None, "Invalid username or password.")
    if isinstance(account, Account) and not account.may_write(repo.owner):
        text = f"Forbidden: you must use a write token to upload to a repository of {repo.owner}."
        return error(403, None, text)
    return repo


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("POST", r"/api/repos/create", create),
    ("POST", r"/api/validate-yaml", validate_yaml),
    ("POST", _REPO + r"/preupload/(?P<revision>.+)", preupload),
    ("POST", _REPO + r"/commit/(?P<revision>.+)", commit),
    (
        "POST",
        r"/(?P<prefix>datasets/|spaces/)?(?P<name>[^/]+/[^/]+)\.git/info/lfs/objects/batch",
        lfs_batch,
    ),
)
STORAGE_ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("PUT", r"/upload/(?P<oid>[0-9a-f]{64})", store),
)
