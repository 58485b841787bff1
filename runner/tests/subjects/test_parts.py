"""Parts that the cells of a run share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jdkmatrix.domain.tables import Limits
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.jdks.resolve import Available
from jdkmatrix.subjects import parts
from jdkmatrix.subjects.parts import Flags

JDK = cast(Available, SimpleNamespace(entry=SimpleNamespace(id="temurin-25", vm="hotspot"), home=Path("/jdk")))
CPUS = cast(CpuSets, SimpleNamespace(sut=(0,)))
BOX = Limits(memory_bytes_max=1 << 30, threads_max=20)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, Sequence[str]]]:
    """Record for each JVM that was asked whether it ran in a box, and with which options."""
    told: list[tuple[bool, Sequence[str]]] = []

    @contextmanager
    def limited(limits: Limits, cpu_group: Path | None) -> Iterator[Any]:
        assert limits.threads_max is None, "a JVM does not look at it, and might not start in it"
        yield SimpleNamespace(cgroups=[] if limits == Limits() else [Path("/box")])

    def read_flags(java: Path, vm: str, options: Sequence[str], *, cgroups: Sequence[Path], **_: Any) -> dict[str, str]:
        told.append((bool(cgroups), options))
        if "-XX:+NoSuchFlag" in options or ("-Xmx4g" in options and cgroups):
            raise MatrixError("it does not start")
        return {"MaxHeapSize": "1" if cgroups else "4"}

    monkeypatch.setattr(parts, "limited", limited)
    monkeypatch.setattr(parts, "read_flags", read_flags)
    return told


def test_flags_are_those_of_a_jvm_in_its_box(asked: list[tuple[bool, Sequence[str]]]) -> None:
    flags = Flags(cast(Confiner, SimpleNamespace(group=lambda *_: None)))
    for _ in range(2):
        assert flags.of(JDK, CPUS, ("-Xshare:off",)) == {"MaxHeapSize": "4"}
        assert flags.of(JDK, CPUS, ("-Xshare:off",), BOX) == {"MaxHeapSize": "1"}
    assert asked == [(False, ("-Xshare:off",)), (True, ("-Xshare:off",))], "each once"


def test_a_jvm_that_starts_only_without_its_box_is_left_to_its_forks_and_one_that_never_does_is_refused(
    asked: list[tuple[bool, Sequence[str]]],
) -> None:
    flags = Flags(cast(Confiner, SimpleNamespace(group=lambda *_: None)))
    assert flags.of(JDK, CPUS, ("-Xmx4g",), BOX) == {}
    for limits in (BOX, None):
        with pytest.raises(MatrixError, match="it does not start"):
            flags.of(JDK, CPUS, ("-XX:+NoSuchFlag",), limits)
