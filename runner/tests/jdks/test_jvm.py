"""JVM flags: parsed from a made-up listing, and read from a real JVM."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.jdks.jvm import parse_flags, read_flags
from jdkmatrix.jdks.resolve import fetch
from tests.support.programs import program
from tests.support.project import ROOT

LISTING = """[Global flags]
      int ActiveProcessorCount = -1     {product} {default}
   size_t MaxHeapSize = 1073741824     {product} {command line}
     uint ParallelGCThreads = 1     {product} {ergonomic}
    ccstr HeapDumpPath =     {manageable} {command line}
     bool UseG1GC := true     {product} {command line}
openjdk version "25.0.4.1"
"""


def test_only_what_is_not_at_its_default() -> None:
    assert parse_flags(LISTING) == {
        "MaxHeapSize": "1073741824",
        "ParallelGCThreads": "1",
        "HeapDumpPath": "",
        "UseG1GC": "true",
    }


@pytest.fixture(scope="module")
def java() -> Path:
    return fetch(load_catalogue(ROOT / "jdks.json").entry("temurin-25")).home / "bin" / "java"


@pytest.mark.real
def test_a_real_jvm_tells_what_it_takes(java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx17m")
    cpus = sorted(os.sched_getaffinity(0))[:1]
    joined = tmp_path / "cgroup.procs"
    joined.write_text("")
    flags = read_flags(java, "hotspot", ["-Xmx64m", "-XX:+UseG1GC"], cpus=cpus, cgroups=[tmp_path])
    assert joined.read_text().isdigit()
    assert flags["MaxHeapSize"] == str(64 << 20)
    assert flags["UseG1GC"] == "true"


@pytest.mark.real
def test_options_that_a_jvm_refuses_are_said(java: Path) -> None:
    with pytest.raises(MatrixError, match=r"does not start with -XX:\+NoSuchThing.*NoSuchThing"):
        read_flags(java, "hotspot", ["-XX:+NoSuchThing"], cpus=sorted(os.sched_getaffinity(0)))


# Behaves like OpenJ9, which does not know -XX:+UseParallelGC.
OPENJ9 = """#!/bin/sh
case "$*" in
*-XX:+UseParallelGC*-XX:-IgnoreUnrecognizedXXColonOptions*)
    echo 'JVMJ9VM007E Command-line option unrecognised: -XX:+UseParallelGC' >&2
    exit 1 ;;
esac
echo 'openjdk version "25.0.2" 2026-01-20' >&2
"""


def test_openj9_has_no_such_listing_and_tells_of_options_that_it_would_pass_over(tmp_path: Path) -> None:
    java, cpus = program(tmp_path / "java", OPENJ9), sorted(os.sched_getaffinity(0))
    assert read_flags(java, "openj9", ["-Xmx1g"], cpus=cpus) == {}
    with pytest.raises(MatrixError, match=r"does not start with -Xmx1g -XX:\+UseParallelGC: JVMJ9VM007E .*ParallelGC$"):
        read_flags(java, "openj9", ["-Xmx1g", "-XX:+UseParallelGC"], cpus=cpus)
