"""SYNTHETIC host and JDKs of the made-up runs in `served_runs`; they say so in every name."""

from __future__ import annotations

from collections.abc import Sequence

from jdkmatrix.records.claims import ClaimCheck, ClaimRecord, ClaimSource, PublishedFigure
from jdkmatrix.records.run import CpuFacts, HostFacts, JdkRecord, KnownBug, ScenarioRecord


def jdk_records(ids: Sequence[str]) -> tuple[JdkRecord, ...]:
    """Return records of these JDKs, the second with a notice and a bug, and of another one that is not available."""
    bugs = (KnownBug(id="JDK-8369227", summary="a virtual thread can stay parked for ever"),)
    got = tuple(
        JdkRecord(
            id=jdk, vendor="Eclipse Adoptium (synthetic)", vm="hotspot", catalogue_version=jdk.split("-")[-1],
            selected=True, available=True, source="registry", reason=None,
            notice="the newest build was taken; the recorded one is gone" if index == 1 else None,
            version="25.0.4.1+1-LTS" if "25" in jdk else "21.0.8+9-LTS",
            version_output='openjdk version "0" SYNTHETIC\nOpenJDK 64-Bit Server VM (made up)',
            release={"IMPLEMENTOR": "SYNTHETIC", "JAVA_VERSION": "0"}, known_bugs=bugs if index == 1 else (),
        )
        for index, jdk in enumerate(ids)
    )  # fmt: skip
    missing = JdkRecord(
        id="semeru-25", vendor="IBM", vm="openj9", catalogue_version="25.0.1", selected=True, available=False,
        source=None, reason="the archive cannot be reached from here (synthetic)",
    )  # fmt: skip
    return (*got, missing)


def scenario_record() -> ScenarioRecord:
    """Return a scenario of two sources with one claim each: one with figures, link, note and inferences, one with a
    graph and no address."""
    article = ClaimSource(
        title="SYNTHETIC article", by="Nobody", date="2024-05", url="https://example.org/a",
        conditions="On one machine.", inference="A small one.",
    )  # fmt: skip
    leaflet = ClaimSource(title="SYNTHETIC note", no_url="A leaflet.")
    ratio = PublishedFigure(
        quantity="throughput", arm="virtual", versus="liberty", low=0.6, high=0.9, unit="ratio",
        as_printed="10-40 % lower", inference="Read off a graph.",
    )  # fmt: skip
    rate = PublishedFigure(quantity="rate", condition="at its end", value=1100, unit="requests/s", as_printed="1100")
    check = ClaimCheck(says="throughput", metric="throughput", arm="virtual", versus="liberty", figure=1)
    slower = ClaimRecord(
        id="synthetic-a", condition="2 CPUs (synthetic)", published="Slower at high load.", figures=(ratio, rate),
        note="Its unit is wrong.", inference="It was throttled.", checks=(check,), source=article,
    )  # fmt: skip
    even = ClaimRecord(
        id="synthetic-b", condition="4 CPUs (synthetic)", published="No difference.", only="graph",
        not_checked="A graph has no figures.", source=leaflet,
    )  # fmt: skip
    return ScenarioRecord(
        name="synthetic", scale="small", scale_words="a tenth (synthetic)", description="Short tasks (synthetic).",
        published=(slower.id, even.id), claims=(slower, even),
    )  # fmt: skip


def host_facts() -> HostFacts:
    cpu = CpuFacts(
        model="SYNTHETIC CPU (test data, not measured)", microcode="0x1", online=tuple(range(8)),
        allowed=tuple(range(8)), packages=1, cores=4, smt=True, governor="performance", driver="intel_pstate",
        boost="on", mitigations={"spectre_v2": "Mitigation: Enhanced IBRS", "meltdown": "Not affected"},
    )  # fmt: skip
    return HostFacts(
        hostname_hash="0" * 12, system="x86_64-linux", kernel="6.2.0-synthetic",
        os="SYNTHETIC Linux (test data, not measured)", libc="glibc 2.36", cpu=cpu, memory_bytes=33_000_000_000,
        swap_bytes=0, scheduler="CFS", virtualisation="virtual machine (KVM)", clocksource="tsc", load_1min=0.12,
        limits={"nofile": "1048576"},
    )  # fmt: skip
