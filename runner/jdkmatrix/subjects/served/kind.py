"""Applications on a server, as a run sees them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jdkmatrix.config.cell_loads import basis_of
from jdkmatrix.config.model import Matrix, Profile, Workload
from jdkmatrix.config.request_mix import RequestMix
from jdkmatrix.domain.applications import (
    BANKING_ACCOUNTS,
    DATABASE_CONNECTIONS,
    DATABASE_POOL,
    DATABASE_WAIT_MS_MAX,
    REMOTE_CLIENT,
)
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import GivenLoad, RateLoad
from jdkmatrix.domain.quantities import plural, rate_words, wait_words, work_words
from jdkmatrix.domain.tables import Database, RemoteAnswers
from jdkmatrix.drivers.wrk2_figures import CALIBRATE_DELAY_MS
from jdkmatrix.drivers.wrk2_schedule import WINDOW_S_MIN
from jdkmatrix.host.ports import local_ports
from jdkmatrix.jdks.identify import Vm
from jdkmatrix.jdks.jvm import options_of
from jdkmatrix.loads.base import answer_s, lead_s
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.loads.kinds.ramps import RampedLoad
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.provision.own import placed, with_agents
from jdkmatrix.servers.base import OwnParts, Serving
from jdkmatrix.servers.instance import Instance
from jdkmatrix.subjects.parts import Parts
from jdkmatrix.subjects.served.measurement import ServedCell
from jdkmatrix.subjects.served.outside import COUNT_S, LOOK_S
from jdkmatrix.subjects.served.warming import gate_of, lengths_of

_NATIVE_MEMORY_TRACKING = "-XX:NativeMemoryTracking=summary"
START_AND_STOP_S = 10.0
# Readings, the answers that are still due, a line to the driver: 0.040 to 0.046 s over eight blocks of three servers.
BETWEEN_ROUNDS_S = 0.045


class ServedApplications:
    def remote(self, matrix: Matrix, cell: CellKey) -> RemoteAnswers | None:
        return matrix.workloads[cell.workload].remote

    def database(self, matrix: Matrix, cell: CellKey) -> Database | None:
        return matrix.workloads[cell.workload].database

    def driver_cpus(self, matrix: Matrix) -> int | None:
        return matrix.driver.cpus

    def expected_s(self, matrix: Matrix, profile: Profile, cell: CellKey) -> float:
        """Return how long a fork takes. Its way to the steady state is taken as a third of the warm-up's cap, in an
        open loop as the half that may pass at a moderate rate, after which the gate looks at half of its longest tail.
        That is 48 and 63 s from the first answer on; means over the cells of runs on two CPUs were 38 to 93 s in closed
        loops, 38 to 68 of those in turns, and 46 to 106 s in open ones. In a closed loop of slow answers it is taken as
        two thirds of the cap, in whole stretches of the load: 116 s if they take 200 ms (120 and 145 s in two forks),
        864 s if they take 3 s (591 and 866 s)."""
        rules, kind = matrix.warmup, kind_of(_load_of(matrix, cell))
        gate = gate_of(rules, profile, kind, _answer_s(matrix, cell))
        share = 2 / 3 if gate.lead_s else 1 / 3 if kind.load.in_windows.is_closed_loop else 1 / 2
        tail_s = max(rules.tail_s_max / 2, gate.rest_windows(rules.tail_s_min) * gate.window_s)
        warm_s = gate.cap_s * share + tail_s
        stretches_s = math.ceil(warm_s / gate.stretch_s) * gate.stretch_s if gate.lead_s else warm_s
        warmup_s = stretches_s + gate.lead_s + gate.settle_s
        proof_s = LOOK_S + COUNT_S if matrix.workloads[cell.workload].own else 0.0
        return START_AND_STOP_S + proof_s + warmup_s + self._measured_s(matrix, profile, cell)

    def _measured_s(self, matrix: Matrix, profile: Profile, cell: CellKey) -> float:
        load, turns = kind_of(_load_of(matrix, cell)), matrix.turns
        if not profile.in_turns or self.why_no_turns(matrix, cell):
            return load.expected_s(lengths_of(profile)) + _ahead_of_windows_s(matrix, profile, cell)
        return turns.rewarm_s + profile.rounds * (turns.lead_s + turns.round_s + BETWEEN_ROUNDS_S)

    def length_words(self, matrix: Matrix, profile: Profile, cell: CellKey) -> str:
        if not profile.in_turns or self.why_no_turns(matrix, cell):
            return kind_of(_load_of(matrix, cell)).length_words(lengths_of(profile))
        more = f" to {profile.max_rounds}" if profile.max_rounds else ""
        return f"{profile.rounds}{more} rounds of {matrix.turns.round_s:g} s in turns"

    def why_no_turns(self, matrix: Matrix, cell: CellKey) -> str | None:
        workload = matrix.workloads[cell.workload]
        if reason := kind_of(matrix.loads[cell.load]).why_no_turns(_answer_s(matrix, cell), matrix.turns):
            return reason
        if workload.served.limit_path:
            return "its requests block for as long as they are told to, which may be longer than a turn"
        if workload.limits is not None:
            return "its server runs in a box, which others would share"
        if workload.database is not None:
            return "its server has a database of its own, which would run beside those of the others"
        return "its memory is read while it runs" if workload.memory_every_s is not None else None

    def why_never(self, matrix: Matrix, profile: Profile, cell: CellKey) -> str | None:
        workload, has = matrix.workloads[cell.workload], matrix.servers[cell.server].feature_sets
        if has and workload.features not in has:
            return f"{cell.server} has no {workload.features}, which {cell.workload} needs"
        return _why_too_late(matrix, cell) or _why_too_few(matrix, cell) or _why_too_short(matrix, profile, cell)

    def why_not(self, matrix: Matrix, parts: Parts, cell: CellKey) -> str | None:
        if self.database(matrix, cell) and isinstance(parts.postgres, str):
            return f"{cell.workload} needs a database: {parts.postgres}"
        if matrix.workloads[cell.workload].own and parts.jdk(cell.jdk).entry.vm != "hotspot":
            return f"only HotSpot can say on which threads {cell.workload} serves; {cell.jdk} is OpenJ9"
        driver = parts.drivers.get(cell)
        if driver is None:
            basis = basis_of(matrix, cell) or cell
            return f"{cell.load} is a share of what {basis.cell_id} can do, and that cell has no usable fork"
        connections, ports = parts.loads[cell].connections, local_ports()
        if connections > ports:
            return f"{connections:,} connections to one port: this host has {ports:,} (net.ipv4.ip_local_port_range)"
        return driver if isinstance(driver, str) else None

    def jvm_options(self, matrix: Matrix, cell: CellKey, vm: Vm) -> tuple[str, ...]:
        workload = matrix.workloads[cell.workload]
        options = options_of(workload.jvm or matrix.jvm, vm)
        watched = workload.memory_every_s is not None and vm == "hotspot"
        return (*options, _NATIVE_MEMORY_TRACKING) if watched else options

    def setup(self, parts: Parts, cell: CellKey, options: tuple[str, ...], shared: Mapping[str, Any]) -> ServedCell:
        workload, calibration = shared["workload"], shared["calibration"]
        return ServedCell(
            **shared,
            driver=parts.driver(cell),
            instance=Instance(
                server=parts.servers[cell.server],
                workloads=parts.workloads,
                application=workload.served.name,
                java=parts.java(cell.jdk),
                vm=parts.jdk(cell.jdk).entry.vm,
                feature_set=workload.features or "",
                executor=base_of(cell.executor),
                jvm_options=options,
                rounds_per_us=calibration.rounds_per_us if calibration else 0.0,
                properties=_properties(workload),
                own=_own_parts(parts, cell, workload),
            ),
            mix=_mix(shared["matrix"], workload, cell),
        )

    def artefacts(self, matrix: Matrix, parts: Parts, cell: CellKey) -> Iterator[Path]:
        workload = matrix.workloads[cell.workload]
        own = _own_parts(parts, cell, workload)
        war = own.war if own else None
        serving = Serving(workload.served, workload.features or "", base_of(cell.executor), war)
        yield from parts.servers[cell.server].sources(parts.workloads, serving)
        yield parts.workloads.file("loadgen.jar")

    def inputs(self, matrix: Matrix, parts: Parts, cell: CellKey) -> dict[str, Any]:
        workload, server = matrix.workloads[cell.workload], parts.servers[cell.server]
        return {
            "warmup": matrix.warmup.model_dump(),
            # How often a fork may be repeated decides no result.
            "measure": matrix.measure.model_dump(exclude={"repeats_max"}),
            "drivers": [program.model_dump() for program in parts.driver(cell).programs],
            "application": workload.served.model_dump(),
            **({"own_files": dict(parts.own[cell.workload].sha256)} if workload.own else {}),
            "workload": workload.model_dump(),
            "mix": matrix.mixes[workload.mix].model_dump() if workload.mix else None,
            "server": {
                "version": server.version,
                "sha256": server.sha256,
                "java_options": list(server.java_options),
                "table": server.kind.decides(base_of(cell.executor)),
            },
        }


def _load_of(matrix: Matrix, cell: CellKey) -> GivenLoad:
    """Return the load as it is written, without the steps that are left out."""
    return matrix.loads[cell.load].carried(cell.wait_us)


def _answer_s(matrix: Matrix, cell: CellKey) -> float:
    """Return the least seconds that an answer takes; a load to be worked out for each condition counts as written."""
    load = kind_of(matrix.loads[cell.load]).load.in_windows
    cpus = matrix.workloads[cell.workload].cpus_of(cell.cpus)
    return answer_s(load, wait_us=cell.wait_us, burn_us=cell.burn_us, cpus=cpus)


def _why_too_late(matrix: Matrix, cell: CellKey) -> str | None:
    """Return why the driver would give up every request, or every one of the closed loop in which the cell or its basis
    is measured; None if it would not. Their work takes its turn on the CPUs, whatever the executor."""
    load = kind_of(matrix.loads[(basis_of(matrix, cell) or cell).load]).load.in_windows
    workload = matrix.workloads[cell.workload]
    timeout_s, cpus = matrix.timeout_s_of(workload), workload.cpus_of(cell.cpus)
    if cell.wait_us / 1e6 >= timeout_s:
        return (
            f"its remote system answers after {wait_words(cell.wait_us)}, and the driver gives up after {timeout_s:g} s"
        )
    worked_s = answer_s(load, wait_us=0, burn_us=cell.burn_us, cpus=cpus)
    if worked_s <= timeout_s:
        return None
    on = plural(cell.cpus, "CPU") if cpus == cell.cpus else f"a quota of {cpus:g} CPUs"
    return (
        f"{plural(load.connections, 'request')} at once of {work_words(cell.burn_us)} of work each are answered after "
        f"{worked_s:g} s on {on}, and the driver gives up after {timeout_s:g} s"
    )


def _why_too_few(matrix: Matrix, cell: CellKey) -> str | None:
    """Return why the connections of a written rate, with one request in flight on each, cannot carry it with that
    delay, whatever the server does; None if they can. Of steps, two are needed, and the others are left out."""
    match load := matrix.loads[cell.load]:
        case RateLoad():
            rate_rps = load.rate_rps
        case StepsLoad():
            rate_rps = max(load.warmup_rps, load.rates_rps[1])
        case RampedLoad():
            rate_rps = max(load.warmup_rps, *(rate_rps for _, rate_rps in load.points))
        case _:
            return None
    needed = math.ceil(rate_rps * cell.wait_us / 1e6)
    if needed <= load.connections:
        return None
    return (
        f"{rate_words(rate_rps)} requests/s that wait {wait_words(cell.wait_us)} each need "
        f"{plural(needed, 'connection')}, and {cell.load} has {load.connections:,}"
    )


def _why_too_short(matrix: Matrix, profile: Profile, cell: CellKey) -> str | None:
    """Return why no request of a rate can be answered in the window in which it is due, whatever the server does; None
    if some can. wrk2 has the load on for longer, and a closed loop has a lead."""
    loads = kind_of(_load_of(matrix, cell)).driver_loads(profile.window_s)
    lasts_s = min((lasts_s for load, lasts_s in loads if isinstance(load, RateLoad)), default=math.inf)
    if matrix.driver.choice == "wrk2" or cell.wait_us / 1e6 < lasts_s:
        return None
    return (
        f"its remote system answers after {wait_words(cell.wait_us)}, and {cell.load} has windows of {lasts_s:g} s, in "
        "which no request would be answered"
    )


def _ahead_of_windows_s(matrix: Matrix, profile: Profile, cell: CellKey) -> float:
    """Return for how long a load is on before windows of one level: a lead, or what wrk2, if possible, discards."""
    kind = kind_of(matrix.loads[cell.load])
    may_be_wrk2 = matrix.driver.choice != "loadgen" and profile.window_s >= WINDOW_S_MIN
    if isinstance(kind.load, RateLoad):
        return profile.windows * CALIBRATE_DELAY_MS / 1000 if may_be_wrk2 else 0.0
    return 0.0 if kind.grows_pool else profile.windows * lead_s(kind.load.in_windows, _answer_s(matrix, cell))


def _own_parts(parts: Parts, cell: CellKey, workload: Workload) -> OwnParts | None:
    own = workload.own
    if own is None:
        return None
    files = parts.own[cell.workload]
    if own.war:
        return OwnParts(own.application, war=files.places[own.war])
    command = placed(own.words(base_of(cell.executor)), files.folder)
    settings = {name: with_agents(value, files.folder) for name, value in own.settings().items()}
    return OwnParts(own.application, command=command, settings=settings)


def _properties(workload: Workload) -> dict[str, str]:
    """Return the application's system properties, except the address of the remote system or the database."""
    found = {BANKING_ACCOUNTS: str(workload.accounts)} if workload.accounts else {}
    if workload.client:
        found[REMOTE_CLIENT] = workload.client
    if asked := workload.database:
        found |= {
            DATABASE_POOL: asked.pool,
            DATABASE_CONNECTIONS: str(asked.connections),
            DATABASE_WAIT_MS_MAX: str(asked.wait_ms_max),
        }
    return found


def _mix(matrix: Matrix, workload: Workload, cell: CellKey) -> RequestMix | None:
    root = workload.served.root_of(workload.front)
    if workload.mix is None:
        return workload.own.requests.below(root, "") if workload.own else None
    return matrix.mixes[workload.mix].below(root, f"burn_us={cell.burn_us}" if cell.burn_us else "")
