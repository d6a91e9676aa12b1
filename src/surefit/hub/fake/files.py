"""Files: `resolve` with ETag and ranges, large ones redirected to the storage behind another port."""

import re
from urllib.parse import quote, unquote

from surefit.hub.fake.access import Handler, readable_repo
from surefit.hub.fake.answers import Answer, Request, error
from surefit.hub.fake.repos import revision_not_found
from surefit.hub.fake.store import KINDS, FakeRepo, StoredFile

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


def resolve(
    request: Request, name: str, revision: str, path: str, prefix: str | None = None
) -> Answer:
    """`HEAD` and `GET /[datasets/]{id}/resolve/{rev}/{path}`."""
    kind = (prefix or "models/").rstrip("/")
    repo = readable_repo(request, kind, name)
    if isinstance(repo, Answer):
        return repo
    sha = repo.resolve(unquote(revision))
    if sha is None:
        return revision_not_found(unquote(revision))
    commit = {"X-Repo-Commit": sha}
    file = repo.commits[sha].get(unquote(path))
    if file is None:
        return error(404, "EntryNotFound", "Entry not found", commit)
    if repo.is_lfs(unquote(path), file):
        return _redirect(request, repo, sha, unquote(path), file)
    return content(request, file, {**commit, "ETag": f'"{file.git_sha1}"'})


def _redirect(request: Request, repo: FakeRepo, sha: str, path: str, file: StoredFile) -> Answer:
    place = f"{request.hub.storage_url}/{repo.kind}s/{repo.name}/{sha}/{quote(path)}?signature=1"
    headers = {
        "X-Repo-Commit": sha,
        "X-Linked-Size": str(file.size),
        "X-Linked-ETag": f'"{file.sha256}"',
        "Location": place,
        "Accept-Ranges": "bytes",
    }
    return Answer(302, headers)


def stored(request: Request, kind: str, name: str, sha: str, path: str) -> Answer:
    """The storage: needs no token, only the signed address."""
    repo = request.hub.repos.get((KINDS[f"{kind}s"], name))
    file = repo.commits.get(sha, {}).get(unquote(path)) if repo else None
    if file is None or "signature" not in request.values:
        return error(403, None, "AccessDenied")
    return content(request, file, {"ETag": f'"{file.sha256}"'})


def content(request: Request, file: StoredFile, headers: dict[str, str]) -> Answer:
    """A file, or the range of it that was asked for."""
    common = {"Accept-Ranges": "bytes", "Content-Type": "application/octet-stream", **headers}
    asked = _RANGE.fullmatch(request.headers.get("range", "").strip())
    if asked is None or asked.group(0) == "bytes=-":
        return Answer(200, common, file=file, start=0, end=file.size)
    first, last = asked.groups()
    start = int(first) if first else max(0, file.size - int(last))
    end = min(file.size, int(last) + 1) if last and first else file.size
    if start >= file.size:
        return Answer(416, {"Content-Range": f"bytes */{file.size}"})
    described = f"bytes {start}-{end - 1}/{file.size}"
    return Answer(206, {**common, "Content-Range": described}, file=file, start=start, end=end)


_FILE = (
    r"/(?P<prefix>datasets/|spaces/)?(?P<name>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)"
)
ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("HEAD", _FILE, resolve),
    ("GET", _FILE, resolve),
)
STORAGE_ROUTES: tuple[tuple[str, str, Handler], ...] = (
    (
        "GET",
        r"/(?P<kind>model|dataset|space)s/(?P<name>[^/]+/[^/]+)/(?P<sha>\w+)/(?P<path>.+)",
        stored,
    ),
)
