"""What all tests share: a home of their own and no way to the network by accident."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

# How long one example takes says how busy the machine is, not whether the code is right.
settings.register_profile("surefit", deadline=None)
settings.load_profile("surefit")


@pytest.fixture(scope="session", autouse=True)
def _home_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests away from the reader's own runs and from the Hub; a test may set its own home."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SUREFIT_HOME", str(tmp_path_factory.mktemp("home")))
        environment.setenv("HF_HUB_OFFLINE", "1")
        environment.setenv("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
        yield
