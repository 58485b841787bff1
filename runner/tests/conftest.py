"""Settings of all tests."""

import fcntl
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes depends on what else this host does.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture
def one_run_on_this_host() -> Iterator[None]:
    """`matrix run` is refused while another one measures: tests that start one take turns, in whatever process."""
    with (Path(tempfile.gettempdir()) / "jdk-matrix-tests.lock").open("a") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield
