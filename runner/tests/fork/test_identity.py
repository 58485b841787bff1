"""Whatever decides a cell decides its identity, and nothing else does."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.config.cell_loads import cell_loads
from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.catalogue import server_kinds
from jdkmatrix.domain.cell_key import NO_SERVER, CellKey
from jdkmatrix.drivers.handover import Wrk2Driver
from jdkmatrix.drivers.loadgen import LoadgenDriver
from jdkmatrix.drivers.wrk2 import Wrk2
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.jdks.catalogue import load_catalogue
from jdkmatrix.jdks.resolve import Available
from jdkmatrix.method.gates import Thresholds
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.records.forks import ConfinementMethod
from jdkmatrix.records.run import Calibration, DriverFacts, HostFacts
from jdkmatrix.run import opening
from jdkmatrix.run.identity import changes, host_inputs, identity_of
from jdkmatrix.run.opening import identity
from jdkmatrix.servers.base import InstalledServer
from jdkmatrix.store.cells import Identity
from jdkmatrix.subjects import parts as assembling
from jdkmatrix.subjects.kinds import assemble
from jdkmatrix.subjects.parts import Flags, Parts
from jdkmatrix.subjects.served.measurement import ServedCell
from jdkmatrix.validation import validated
from tests.support.builders import key
from tests.support.project import ROOT
from tests.support.run_facts import host_facts
from tests.support.shipped import MATRIX

CATALOGUE = load_catalogue(ROOT / "jdks.json")
BUILT = Path("/built")
CONFIG = Path("/source/workloads/servers")
NAMES = ("mp-ping.war", "banking.war", "pinning.war", "request-executor.jar", "request-executor.mf", "burn.jar",
         "loadgen.jar", "remote.jar", "standalone.jar", "h2.jar", "hikari-7.1.0.jar")  # fmt: skip
CONFIGURED = tuple(
    str(path.relative_to(ROOT / "workloads" / "servers"))
    for path in (ROOT / "workloads" / "servers" / "open-liberty").rglob("*")
    if path.is_file()
)
CPUS = CpuSets(sut=(1,), driver=(0,), remote=(0,), overlapped=False)
CALIBRATION = Calibration(jdk="temurin-25", rounds_per_us=40.0, repeats=5, spread=0.01, cpu=0)


class MadeLoadgen(LoadgenDriver):
    @property
    def facts(self) -> DriverFacts:
        return DriverFacts(name="loadgen", version="1", sha256="l", jdk="temurin-25", java_version="25")


LOADGEN = MadeLoadgen(BUILT / "loadgen.jar", Path("/jdk/bin/java"), "temurin-25")
WRK2 = Wrk2Driver(Wrk2(binary=Path("/bin/wrk2"), version="4", sha256="w"), LOADGEN)
SERVED = {"open-liberty/server.xml", "open-liberty/bootstrap.properties"}
PLUGGED = {"open-liberty/executors/plugged.xml", "request-executor.jar", "request-executor.mf"}
REST = "open-liberty/features/restfulWS-3.1.xml"
FULL = "open-liberty/features/restfulWS-3.1-jsonb-3.0-servlet-6.0.xml"
LIBERTY = InstalledServer(
    server_kinds()["open-liberty"], "25.0.0.12", "0" * 64, ("-Xshare:off",), Path("/wlp"), "1" * 64
)


# Each cell, and everything that it runs.
RUNS: dict[CellKey, set[str]] = {
    key("liberty"): {*SERVED, REST, "open-liberty/executors/liberty.xml", "mp-ping.war", "loadgen.jar"},
    key("virtual"): {*SERVED, REST, *PLUGGED, "mp-ping.war", "loadgen.jar"},
    key("liberty-virtual"): {
        *(SERVED | PLUGGED) - {"open-liberty/executors/plugged.xml"}, "open-liberty/executors/threads.xml", REST,
        "mp-ping.war", "loadgen.jar",
    },
    key(load="rate-2000"): {*SERVED, REST, *PLUGGED, "mp-ping.war", "loadgen.jar"},
    key(burn_us=100): {*SERVED, REST, *PLUGGED, "mp-ping.war", "loadgen.jar"},
    key(workload="banking"): {*SERVED, FULL, *PLUGGED, "banking.war", "loadgen.jar", "remote.jar"},
    key(workload="banking-socket"): {*SERVED, FULL, *PLUGGED, "banking.war", "loadgen.jar", "remote.jar"},
    key(workload="pinning-http-lock"): {*SERVED, FULL, *PLUGGED, "pinning.war", "loadgen.jar"},
    key(workload="spawn-sleep", server=NO_SERVER, load="count-1000"): {"standalone.jar"},
    key(workload="fanout", server=NO_SERVER, load="count-1000"): {"standalone.jar", "remote.jar"},
    key(workload="puts-4k", server=NO_SERVER, load="count-3000"): {"standalone.jar", "h2.jar", "hikari-7.1.0.jar"},
}  # fmt: skip


def workloads(sha256: dict[str, str]) -> Workloads:
    return Workloads({name: BUILT / name for name in NAMES}, CONFIG, sha256)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Parts:
    monkeypatch.setattr(assembling.Flags, "of", lambda *_: {})
    jdk = Available(
        CATALOGUE.entry("temurin-25"), Path("/jdk"), "cache", "25.0.4.1+1", {"IMPLEMENTOR": "x"}, "openjdk", "0" * 64
    )
    return Parts(
        workloads=workloads({name: f"{name} of old" for name in (*NAMES, *CONFIGURED)}),
        servers={"open-liberty": LIBERTY},
        jdks={"temurin-25": jdk},
        loads=cell_loads(MATRIX, RUNS, {}),
        drivers={cell: WRK2 if cell.load == "rate-2000" else LOADGEN for cell in RUNS if cell.server != NO_SERVER},
    )


def ready(
    parts: Parts,
    host: HostFacts | None = None,
    confinement: ConfinementMethod = "cgroup cpuset",
    matrix: Matrix = MATRIX,
) -> dict[CellKey, CellSetup]:
    cpus, confiner = dict.fromkeys(RUNS, CPUS), cast(Confiner, SimpleNamespace(method=confinement))
    quick = matrix.profiles["quick"]
    return dict(assemble(matrix, quick, parts, cpus, CALIBRATION, host or host_facts(), confiner, Flags(confiner)))


def identities(parts: Parts, **how: Any) -> dict[CellKey, Identity]:
    return {one: identity(one, made) for one, made in ready(parts, **how).items()}


def digests(parts: Parts, **how: Any) -> dict[CellKey, str]:
    return {one: found.digest for one, found in identities(parts, **how).items()}


def test_the_files_of_a_jdk_that_others_may_change_are_watched(shared: Parts) -> None:
    assert {tuple(made.unpinned_jdks) for made in ready(shared).values()} == {()}
    (jdk,) = shared.jdks.values()
    for source in ("host", "own"):
        parts = replace(shared, jdks={"temurin-25": replace(cast(Available, jdk), source=source)})
        assert all(made.unpinned_jdks == {Path("/jdk"): "0" * 64} for made in ready(parts).values())


def test_what_calls_the_remote_system_is_told_and_is_part_of_the_identity(shared: Parts) -> None:
    found = ready(shared)
    usual, by_socket = (found[key(workload=name)] for name in ("banking", "banking-socket"))
    assert isinstance(usual, ServedCell) and isinstance(by_socket, ServedCell)
    told = usual.instance.properties
    assert by_socket.instance.properties == {**told, "jdkmatrix.remote.client": "socket"}
    assert by_socket.inputs["workload"]["client"] == "socket"


@pytest.mark.parametrize("changed", [*NAMES, *CONFIGURED])
def test_an_artefact_decides_the_cells_that_run_it_and_no_other(shared: Parts, changed: str) -> None:
    before = digests(shared)
    new = replace(shared, workloads=workloads({**shared.workloads.sha256, changed: "new"}))
    after = digests(new)
    assert {one for one in RUNS if before[one] != after[one]} == {one for one in RUNS if changed in RUNS[one]}


def test_of_a_servers_table_what_it_runs_with_decides_and_no_words(shared: Parts) -> None:
    """Of its executors the cell's own decides, by whose thread names the proof goes."""
    kind, served = LIBERTY.kind, {one for one in RUNS if one.server != NO_SERVER}
    pool, lent = kind.executors["liberty"], kind.executors["liberty-virtual"]
    assert kind.plugged is not None

    def differing(**table: Any) -> set[CellKey]:
        changed = replace(LIBERTY, kind=kind.model_copy(update=table))
        after = digests(replace(shared, servers={"open-liberty": changed}))
        return {one for one in RUNS if before[one] != after[one]}

    def rows(**row: Any) -> dict[str, Any]:
        return {**kind.executors, "liberty": pool.model_copy(update=row)}

    before = digests(shared)
    worded = {"title": "x", "differs": "x", "limits": (), "executors": rows(words="x", switch="x")}
    assert not differing(**worded, plugged=kind.plugged.model_copy(update={"switch": "x"}))
    assert differing(env={**kind.env, "A": "b"}) == differing(command=("{java}",)) == served
    assert differing(plugged=kind.plugged.model_copy(update={"properties": {}})) == served - {
        key("liberty"), key("liberty-virtual"),
    }  # fmt: skip
    assert differing(executors=rows(properties={"a": "b"})) == {key("liberty")}
    assert differing(executors=rows(threads="worker-")) == served, "the probe is told all of them"
    assert lent.virtual and differing(executors={**kind.executors, "another": lent}) == served


def test_the_remote_systems_jdk_decides_the_cells_that_call_it(shared: Parts) -> None:
    old = Available(CATALOGUE.entry("temurin-21.0.8"), Path("/jdk21"), "cache", "21.0.8+9", {}, "openjdk", "0" * 64)
    driver = MATRIX.driver.model_copy(update={"jdk": "temurin-21.0.8"})
    matrix = MATRIX.model_copy(update={"driver": driver})

    def inputs(version: str) -> dict[CellKey, Any]:
        parts = replace(shared, jdks={**shared.jdks, "temurin-21.0.8": replace(old, version=version)})
        return {one: part.inputs for one, part in ready(parts, matrix=matrix).items()}

    before, after = inputs("21.0.8+9"), inputs("21.0.9+1")
    assert {one for one in RUNS if before[one] != after[one]} == {one for one in RUNS if "remote.jar" in RUNS[one]}


def test_any_file_of_its_jdks_or_its_server_decides_a_cell(shared: Parts) -> None:
    jdk = shared.jdk("temurin-25")
    matrix = MATRIX.model_copy(update={"driver": MATRIX.driver.model_copy(update={"jdk": "temurin-21.0.8"})})

    def inputs(changed: str) -> dict[CellKey, Any]:
        found = {
            name: replace(jdk, files_sha256=f"{name} {name == changed}") for name in ("temurin-25", "temurin-21.0.8")
        }
        liberty = replace(LIBERTY, files_sha256=f"liberty {changed == 'liberty'}")
        parts = replace(shared, jdks=found, servers={"open-liberty": liberty})
        return {one: part.inputs for one, part in ready(parts, matrix=matrix).items()}

    before = inputs("nothing")
    differing = {
        name: {one for one, now in inputs(name).items() if before[one] != now}
        for name in ("temurin-25", "temurin-21.0.8", "liberty")
    }
    assert differing == {
        "temurin-25": set(RUNS),
        "temurin-21.0.8": {one for one in RUNS if RUNS[one] & {"loadgen.jar", "remote.jar"}},
        "liberty": {one for one in RUNS if one.server != NO_SERVER},
    }


# ---------------------------------------------------------------- the host


def with_host(**facts: Any) -> HostFacts:
    return host_facts().model_copy(update=facts)


def with_cpu(**facts: Any) -> HostFacts:
    return with_host(cpu=host_facts().cpu.model_copy(update=facts))


@pytest.mark.parametrize(
    "other",
    [
        with_cpu(model="another"), with_cpu(microcode="0x2"), with_cpu(mitigations={}), with_cpu(smt=False),
        with_cpu(governor="powersave"), with_cpu(boost="off"), with_host(kernel="6.2.0"),
        with_host(kernel_command_line_sha256="b"), with_host(memory_bytes=1), with_host(clocksource="hpet"),
        with_host(transparent_huge_pages="always"), with_host(hostname_hash="1" * 12),
    ],
)  # fmt: skip
def test_what_the_host_is_decides_every_cell(shared: Parts, other: HostFacts) -> None:
    before, after = digests(shared), digests(shared, host=other)
    assert all(before[one] != after[one] for one in RUNS)


def test_the_way_of_pinning_and_the_code_decide_every_cell(shared: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digests(shared)
    assert all(before[one] != digest for one, digest in digests(shared, confinement="sched_setaffinity").items())
    monkeypatch.setattr(opening, "measuring_code", lambda: "another")
    assert all(before[one] != digest for one, digest in digests(shared).items())


@given(st.floats(0, 100), st.integers(0, 2**40), st.sampled_from(["a", "b"]))
def test_how_busy_the_host_is_decides_nothing(load: float, swap: int, word: str) -> None:
    """Free memory is in no fact, and the swap that there is decides nothing."""
    other = with_host(load_1min=load, swap_bytes=swap, limits={"open files": word}, scheduler=word)
    assert host_inputs(other, "cgroup cpuset") == host_inputs(host_facts(), "cgroup cpuset")


def test_pages_of_memory_that_a_hypervisor_takes_decide_nothing_and_a_gib_does() -> None:
    bytes_of = host_facts().memory_bytes
    told = [host_inputs(with_host(memory_bytes=bytes_of - less), "cgroup cpuset") for less in (0, 4096, 1 << 30)]
    assert told[0] == told[1] != told[2]


def test_how_often_a_fork_may_be_repeated_decides_nothing(shared: Parts) -> None:
    rules = MATRIX.measure.model_copy(update={"repeats_max": 9})
    assert identities(shared) == identities(shared, matrix=MATRIX.model_copy(update={"measure": rules}))


def test_the_rules_that_a_run_keeps_decide_as_they_did_when_it_began() -> None:
    """A run goes on with the rules in its record, whatever this tool's rules are by then."""
    kept = validated(Matrix, json.loads(MATRIX.model_dump_json(by_alias=True)), "run.json")
    assert kept.model_dump_json() == MATRIX.model_dump_json(), "1 is not 1.0 in a digest"
    assert {*kept.model_dump()["thresholds"]} == {*Thresholds.model_fields}


# ---------------------------------------------------------------- what changed, in words


def test_what_changed_is_said_in_plain_words(shared: Parts) -> None:
    one = key()
    other = with_cpu(governor="powersave").model_copy(update={"kernel_command_line_sha256": "c"})
    new = replace(shared, workloads=workloads({**shared.workloads.sha256, "mp-ping.war": "new"}))
    before = identities(shared)[one].inputs
    after = identities(new, host=other, confinement="sched_setaffinity")[one].inputs
    assert changes(before, after) == (
        "mp-ping.war, the CPU confinement (was cgroup cpuset, is sched_setaffinity), "
        "the CPU governor (was performance, is powersave), the kernel's command line"
    )
    assert changes(before, before) == ""


def test_what_an_older_version_did_not_record_is_said_and_the_list_stays_short() -> None:
    old = {"host": {"cpu": "c"}, "artefacts": {"banking.war": "x"}, "jdk": {}}
    assert changes(old, {"host": {"cpu": "c", "smt": True}, "artefacts": {}, "jdk": {}}) == (
        "banking.war (no longer part of it), SMT (not recorded before)"
    )
    many = changes({}, {f"key-{number}": number for number in range(20)})
    assert many.count("not recorded before") == 6
    assert many.endswith(" and 14 more")


def test_every_input_has_a_name_in_plain_words(shared: Parts) -> None:
    for inputs in (found.inputs for found in identities(shared).values()):
        told = {name: changes({}, {name: inputs[name]}) for name in inputs if name not in ("host", "artefacts")}
        told |= {f"host.{name}": changes({}, {"host": {name: value}}) for name, value in inputs["host"].items()}
        unnamed = {name for name, text in told.items() if text.startswith(name)}
        assert unnamed == set()


def test_the_digest_is_that_of_canonical_json() -> None:
    expected = hashlib.sha256(b'{"a":1,"b":[2,"\\u00b5"]}').hexdigest()
    assert identity_of({"b": [2, "µ"], "a": 1}).digest == expected
