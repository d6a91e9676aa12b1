"""Every route of the fake Hub, in the order in which they are tried."""

import re

from surefit.hub.fake import access, files, repos, uploads
from surefit.hub.fake.access import Handler
from surefit.hub.fake.answers import Answer, Request, error

_ROUTES = (*access.ROUTES, *repos.ROUTES, *uploads.ROUTES, *files.ROUTES)
_STORAGE_ROUTES = (*files.STORAGE_ROUTES, *uploads.STORAGE_ROUTES)


def _compiled(
    routes: tuple[tuple[str, str, Handler], ...],
) -> tuple[tuple[str, re.Pattern[str], Handler], ...]:
    return tuple((method, re.compile(pattern), handler) for method, pattern, handler in routes)


HUB = _compiled(_ROUTES)
STORAGE = _compiled(_STORAGE_ROUTES)


def answer_to(request: Request, *, storage: bool) -> Answer:
    """The answer of the first route that takes the request; 404 where there is none."""
    for method, pattern, handler in STORAGE if storage else HUB:
        match = pattern.fullmatch(request.path)
        if method == request.method and match:
            named = {name: value for name, value in match.groupdict().items() if value is not None}
            return handler(request, **named)
    return error(404, None, f"no such page: {request.method} {request.path}")
