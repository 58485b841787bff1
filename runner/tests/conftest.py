"""Settings for all tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from jdkmatrix.provision import hosttools
from jdkmatrix.provision.project import find_project
from jdkmatrix.provision.workloads import Workloads, build_workloads
from tests.nix.upkeep import tidy
from tests.support.waiting import one_run_on_this_host

# Examples per property: for `make test`, for the everyday loop, and for once a week. How long one takes depends on what
# else this host does.
for _name, _examples in (("enough", 25), ("few-examples", 10), ("many-examples", 200)):
    settings.register_profile(_name, deadline=None, max_examples=_examples)
settings.load_profile("enough")

# Only one run measures at a time: if two workers had such files, one would wait for the other.
RUNS = (
    "tests/real/test_runs.py",
    "tests/real/test_own_application.py",
)
# Builds for a minute before it measures for a few seconds, and waits for its turn only then.
BUILDS = "tests/real/test_server_folder.py"
_TOGETHER = (RUNS, ("tests/nix/test_flake", "tests/nix/test_stand_in"), ("tests/browser/",))
# The slowest start first, so that no worker is left alone with one of them at the end.
_FIRST = (
    *RUNS,
    BUILDS,
    "tests/nix/",
    "tests/real/test_embedded_forks.py",
    "tests/real/test_experiments.py",
    "tests/servers/",
    "tests/browser/",
    "tests/real/",
)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Tidy up before any worker builds."""
    if not hasattr(session.config, "workerinput") and session.config.option.markexpr.startswith("real"):
        tidy()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where only tests marked real or alone are asked for, skip files without one; they are not even imported."""
    mark = config.option.markexpr.partition(" ")[0]
    asked = mark in ("real", "alone") and collection_path.name.startswith("test_")
    return True if asked and f"mark.{mark}" not in collection_path.read_text() else None


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Group tests by file, and group files that take turns or share a checkout of the flake or a browser."""
    if config.option.dist != "loadfile":
        return None
    made = LoadFileScheduling(config, log)
    of_file = made._split_scope
    made._split_scope = lambda nodeid: group_of(nodeid) or of_file(nodeid)
    return made


def group_of(nodeid: str) -> str | None:
    """Return the group of a test; None if it is that of its file."""
    return next((one[0] for one in _TOGETHER if nodeid.startswith(one)), None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: [not item.nodeid.startswith(first) for first in _FIRST])


@pytest.fixture(name="one_run_on_this_host")
def whole_test_is_one_run() -> Iterator[None]:
    with one_run_on_this_host():
        yield


@pytest.fixture(scope="session")
def workloads() -> Workloads:
    return build_workloads(find_project().root, say=print)


@pytest.fixture(scope="session")
def java() -> Path:
    """Return the `java` of the host's JDK, which can compile."""
    jdk = hosttools.find_jdk()
    assert jdk is not None, "no JDK 21 or newer with javac: set JAVA_HOME"
    return jdk.home / "bin" / "java"
