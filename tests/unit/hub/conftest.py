"""A Hub for every test here."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_on_loopback import hub_on_loopback

from surefit.hub.fake import FakeHub


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with hub_on_loopback(tmp_path, monkeypatch) as server:
        yield server
