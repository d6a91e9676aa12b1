"""What a repository holds: its card for the API, its tree, its branches."""

from typing import Any
from urllib.parse import unquote

from surefit.hub.fake.access import Handler, readable_repo, visible_repo
from surefit.hub.fake.answers import Answer, Request, error, json_answer
from surefit.hub.fake.store import FakeRepo, StoredFile

_REPO = r"/api/(?P<kind>models|datasets|spaces)/(?P<name>[^/]+/[^/]+)"


def revision_not_found(revision: str) -> Answer:
    """There is no such branch, tag or commit."""
    return error(404, "RevisionNotFound", f"Invalid rev id: {revision}")


def info(request: Request, kind: str, name: str, revision: str = "main") -> Answer:
    """`GET /api/models/{id}[/revision/{rev}]`: everybody may see it of a gated model too."""
    repo = visible_repo(request, kind, name)
    if isinstance(repo, Answer):
        return repo
    revision = unquote(revision)
    sha = repo.resolve(revision)
    if sha is None:
        return revision_not_found(revision)
    sized = request.values.get("blobs", "").lower() in ("true", "1")
    return json_answer(
        {
            "_id": sha[:24],
            "id": name,
            "modelId": name,
            "author": repo.owner,
            "sha": sha,
            "private": repo.private,
            "gated": repo.gated,
            "disabled": repo.disabled,
            "tags": [],
            "downloads": 0,
            "siblings": [
                _sibling(repo, path, file, sized) for path, file in repo.commits[sha].items()
            ],
        }
    )


def _sibling(repo: FakeRepo, path: str, file: StoredFile, sized: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"rfilename": path}
    if sized:
        found |= {"size": file.size, "blobId": file.git_sha1}
        if repo.is_lfs(path, file):
            found["lfs"] = {"sha256": file.sha256, "size": file.size, "pointerSize": 134}
    return found


def tree(request: Request, kind: str, name: str, revision: str, folder: str = "") -> Answer:
    """`GET /api/models/{id}/tree/{rev}[/folder]?recursive=`."""
    repo = readable_repo(request, kind, name)
    if isinstance(repo, Answer):
        return repo
    sha = repo.resolve(unquote(revision))
    if sha is None:
        return revision_not_found(unquote(revision))
    prefix = unquote(folder).strip("/")
    inside = {
        path: file
        for path, file in repo.commits[sha].items()
        if not prefix or path.startswith(f"{prefix}/")
    }
    if prefix and not inside:
        return error(404, "EntryNotFound", f"{prefix} does not exist on {revision!r}")
    recursive = request.values.get("recursive", "").lower() in ("true", "1")
    return json_answer(_entries(repo, inside, prefix, recursive), headers={"X-Repo-Commit": sha})


def _entries(
    repo: FakeRepo, files: dict[str, StoredFile], prefix: str, recursive: bool
) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path, file in files.items():
        rest = path[len(prefix) + 1 :] if prefix else path
        parts = rest.split("/")
        for depth in range(1, len(parts) if recursive else min(2, len(parts))):
            folder = "/".join(filter(None, [prefix, *parts[:depth]]))
            found.setdefault(
                folder, {"type": "directory", "oid": "0" * 40, "size": 0, "path": folder}
            )
        if recursive or len(parts) == 1:
            entry = {"type": "file", "oid": file.git_sha1, "size": file.size, "path": path}
            if repo.is_lfs(path, file):
                entry["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": 134}
            found[path] = entry
    return list(found.values())


def refs(request: Request, kind: str, name: str) -> Answer:
    """`GET /api/models/{id}/refs`."""
    repo = visible_repo(request, kind, name)
    if isinstance(repo, Answer):
        return repo
    branches = [
        {"name": branch, "ref": f"refs/heads/{branch}", "targetCommit": sha}
        for branch, sha in repo.refs.items()
    ]
    return json_answer({"branches": branches, "tags": [], "converts": []})


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", _REPO, info),
    ("GET", _REPO + r"/revision/(?P<revision>.+)", info),
    ("GET", _REPO + r"/tree/(?P<revision>[^/]+)(?:/(?P<folder>.*))?", tree),
    ("GET", _REPO + r"/refs", refs),
)
