"""Settings of all tests."""

import fcntl
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.nix.upkeep import tidy

# How long an example takes depends on what else this host does.
settings.register_profile("unhurried", deadline=None)
# For places that are tried for what they lack, after the properties were explored elsewhere.
settings.register_profile("few-examples", deadline=None, max_examples=10)
settings.load_profile("unhurried")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before any worker builds."""
    if not hasattr(session.config, "workerinput") and session.config.option.markexpr.startswith("real"):
        tidy()


@pytest.fixture
def one_run_on_this_host() -> Iterator[None]:
    """`matrix run` is refused while another one measures: tests that start one take turns, in whatever process."""
    with (Path(tempfile.gettempdir()) / "jdk-matrix-tests.lock").open("a") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield
