"""Get and build everything that a run needs: from a selection of cells to what each is measured with."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jdkmatrix.config.cell_loads import cell_loads
from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import CellLoad, RateLoad
from jdkmatrix.domain.servers import title_of
from jdkmatrix.drivers.base import Phase
from jdkmatrix.drivers.choice import MadeAlike, choose_all
from jdkmatrix.drivers.handover import Wrk2Driver
from jdkmatrix.drivers.loadgen import LoadgenDriver
from jdkmatrix.drivers.wrk2 import ENVIRONMENT_VARIABLE as WRK2_VARIABLE
from jdkmatrix.drivers.wrk2 import Wrk2, find_wrk2
from jdkmatrix.errors import MatrixError, why_refused
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.database import everyone_reaches, room_bytes, why_no_room
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.host.facts import read_facts
from jdkmatrix.host.irq_time import irq_time_accounting
from jdkmatrix.host.limits import LimitHost, read_limit_host, why_no_quota
from jdkmatrix.host.topology import Topology, read_topology
from jdkmatrix.jdks.availability import outlook
from jdkmatrix.jdks.catalogue import Catalogue, JdkEntry, load_catalogue, this_system
from jdkmatrix.jdks.locate import has_everything
from jdkmatrix.jdks.own import load_with_own
from jdkmatrix.jdks.resolve import Available, fetch, resolve
from jdkmatrix.loads.kinds import kind_of as kind_of_load
from jdkmatrix.provision.nix_parts import EVERYTHING, NixParts, handed_over
from jdkmatrix.provision.own import find_own
from jdkmatrix.provision.postgres import Postgres, postgres_at, provision_postgres
from jdkmatrix.provision.project import Project
from jdkmatrix.provision.workloads import Workloads, build_workloads, open_workloads
from jdkmatrix.records.run import Calibration, HostFacts, JdkRecord, KnownBug, ServerFacts
from jdkmatrix.run.calibrate import calibrate, count_rounds
from jdkmatrix.run.impossible import check_some, cpu_sets_of, cpus_of_others, none_here
from jdkmatrix.run.origins import origins
from jdkmatrix.run.plan import make_plan
from jdkmatrix.run.prepared import Prepared, distinct
from jdkmatrix.servers.kinds import install
from jdkmatrix.subjects.kinds import assemble, jvm_options, kind_of
from jdkmatrix.subjects.parts import Flags, Parts, tuning_for, workload_of

Say = Callable[[str], None]


def set_up_parts(
    project: Project,
    matrix: Matrix,
    cells: Sequence[CellKey],
    *,
    profile: Profile,
    capacities_rps: Mapping[CellKey, float],
    say: Say,
) -> Parts:
    """Build the workloads, and get the servers, the JDKs of `cells` and the drivers; skip what is there.

    `capacities_rps`: by basis, what relative loads are worked out from. A JDK that is not available is not an error
    here: its cells are not testable.

    Raises:
        MatrixError: a part that every cell needs cannot be had.
    """
    catalogue = load_with_own(project.jdks, matrix.jdk_homes)
    handed = handed_over()
    workloads = _get_workloads(project, handed, say)
    wanted = dict.fromkeys([matrix.driver.jdk, *(cell.jdk for cell in cells)])
    if handed:
        _refuse_what_everything_has(handed, matrix, cells, [catalogue.entry(jdk) for jdk in wanted])
    servers = {
        name: install(project.root, name, served, workloads, handed, say=say)
        for name, served in matrix.servers.items()
        if any(cell.server == name for cell in cells)
    }
    workloads_asked = {cell.workload: matrix.workloads.get(cell.workload) for cell in cells}
    own = {name: find_own(asked.own, project.root) for name, asked in workloads_asked.items() if asked and asked.own}
    jdks = {jdk: _get_jdk(catalogue, jdk, say) for jdk in wanted}
    driver_jdk = jdks[matrix.driver.jdk]
    if isinstance(driver_jdk, str):
        raise MatrixError(f'driver.jdk = "{matrix.driver.jdk}" is not available here: {driver_jdk}')
    loadgen = LoadgenDriver(workloads.file("loadgen.jar"), driver_jdk.home / "bin" / "java", matrix.driver.jdk)
    loads = cell_loads(matrix, cells, capacities_rps)
    wrk2 = wrk2_from(handed, os.environ)
    has_rates = any(isinstance(load, RateLoad) for load in loads.values())
    if isinstance(wrk2, str) and matrix.driver.choice == "auto" and has_rates:
        say(f"constant rates are driven by loadgen: {wrk2}")
    drivers = choose_all(
        matrix.driver.choice,
        planned_phases(matrix, loads, profile, read_topology()),
        loadgen=loadgen,
        wrk2=Wrk2Driver(wrk2, loadgen) if isinstance(wrk2, Wrk2) else wrk2,
    )
    return Parts(
        workloads=workloads,
        servers=servers,
        jdks=jdks,
        loads=loads,
        drivers={cell: drivers[_made_alike(cell)] for cell in loads},
        own=own,
        postgres=postgres_from(project, handed, say)
        if any(kind_of(matrix, one).database(matrix, one) for one in cells)
        else None,
    )


def postgres_from(project: Project, handed: NixParts | None, say: Say) -> Postgres | str:
    """Get PostgreSQL; a text says why it is not available, or has no room for its data."""
    try:
        if handed is None:
            found = provision_postgres(project.root, say=say)
        elif handed.postgres:
            found = postgres_at(handed.postgres)
        else:
            return str(_handed_no(["PostgreSQL"]))
    except MatrixError as error:
        say(f"no database: {error}")
        return str(error)
    where = Path(tempfile.gettempdir())
    if os.geteuid() == 0 and not everyone_reaches(where):  # it runs as another user then
        return (
            f"PostgreSQL does not run as root, and other users cannot enter {where}, where its data would be (TMPDIR)"
        )
    return why_no_room(room_bytes(where), str(where)) or found


def _made_alike(cell: CellKey) -> MadeAlike:
    """Return the key of cells that ask the same of a driver: what it can do differs from delay to delay."""
    return cell.load, cell.wait_us


def planned_phases(
    matrix: Matrix, loads: Mapping[CellKey, CellLoad], profile: Profile, topology: Topology
) -> dict[MadeAlike, tuple[Phase, ...]]:
    """Return the phases that drivers must make for these cells, with the shortest timeout of their workloads. Pure."""
    timeouts: dict[MadeAlike, float] = {}
    asked: dict[MadeAlike, dict[tuple[CellLoad, int], None]] = {}
    for cell, load in loads.items():
        alike = _made_alike(cell)
        timeout_s = matrix.timeout_s_of(matrix.workloads[cell.workload])
        timeouts[alike] = min(timeouts.get(alike, timeout_s), timeout_s)
        driver_cpus, _ = cpus_of_others(matrix, cell, topology)
        asked.setdefault(alike, {})[load, driver_cpus] = None
    return {
        (name, wait_us): tuple(
            Phase(made, duration_s, timeouts[name, wait_us], driver_cpus)
            for load, driver_cpus in each
            for made, duration_s in kind_of_load(load).driver_loads(_window_s(matrix, profile, load, wait_us))
        )
        for (name, wait_us), each in asked.items()
    }


def _window_s(matrix: Matrix, profile: Profile, load: CellLoad, wait_us: int) -> float:
    """Return the window of a load without a length of its own. Forks in turns need a driver that makes short ones."""
    in_turns = profile.in_turns and kind_of_load(load).why_no_turns(wait_us / 1e6, matrix.turns) is None
    return matrix.turns.round_s if in_turns else profile.window_s


def prepare(
    project: Project,
    matrix: Matrix,
    profile: Profile,
    cells: Sequence[CellKey],
    *,
    seed: int,
    known_calibration: Callable[[HostFacts], Calibration | None],
    capacities_rps: Mapping[CellKey, float],
    confiner: Confiner,
    say: Say,
) -> Prepared:
    """Plan these cells and get everything ready. `seed`: for the order of forks; `known_calibration`: of the run that
    goes on, or of its first part, if there is one that holds on this host; `capacities_rps`: as in set_up_parts.

    Raises:
        MatrixError: none of the cells can be measured here, or a part cannot be had.
    """
    topology = read_topology()
    host = read_facts(topology).model_copy(update={"irq_time_accounting": irq_time_accounting(topology.cpus[-1].cpu)})
    catalogue, selected = load_with_own(project.jdks, matrix.jdk_homes), {cell.jdk for cell in cells}
    impossible = check_some(matrix, [(profile, cells)], topology, catalogue)  # before anything is downloaded for them
    measurable = [cell for cell in cells if cell not in impossible]
    parts = set_up_parts(project, matrix, measurable, profile=profile, capacities_rps=capacities_rps, say=say)
    box = read_limit_host(confiner.group("sut", [cpu.cpu for cpu in topology.cpus]))
    impossible |= {cell: reason for cell in measurable if (reason := _missing(matrix, parts, cell, box))}
    flags = Flags(confiner)
    cpu_sets = {cell: cpu_sets_of(matrix, cell, topology) for cell in measurable}
    for cell, cpus in cpu_sets.items():
        if cell not in impossible and (refused := _refused(matrix, parts, cell, cpus, flags)):
            impossible[cell] = refused
    plan = make_plan(cells, profile, seed=seed, impossible=impossible)
    if not plan.forks:
        raise none_here(cells, impossible)
    possible = [cell for cell in cells if cell not in impossible]
    calibration = known_calibration(host) or _calibration(matrix, parts, possible, topology, say)
    possible_sets = {cell: cpu_sets[cell] for cell in possible}
    setups = dict(assemble(matrix, profile, parts, possible_sets, calibration, host, confiner, flags))
    return Prepared(
        plan=plan,
        setups=setups,
        host=host,
        servers=tuple(
            ServerFacts(name=title_of(name), version=server.version, sha256=server.sha256, id=name)
            for name, server in parts.servers.items()
        ),
        drivers=distinct(
            program
            for cell in possible
            if not isinstance(driver := parts.drivers.get(cell, ""), str)
            for program in driver.programs
        ),
        jdks=tuple(_jdk_record(entry, parts.jdks.get(entry.id), entry.id in selected) for entry in catalogue.entries),
        calibration=calibration,
        provenance=origins(parts, handed_over()),
        notes=_notes(setups),
    )


def catalogue_records(project: Project, prepared: Prepared) -> tuple[JdkRecord, ...]:
    """Return a run's JDK records, with what is known of the entries that it did not select; ask the network."""
    prospects = {row.entry.id: row for row in outlook(load_catalogue(project.jdks))}
    return tuple(
        record.model_copy(
            update={
                "available": row.status != "unavailable",
                "source": row.source,
                "reason": row.detail if row.status == "unavailable" else None,
            }
        )
        if not record.selected and (row := prospects.get(record.id))
        else record
        for record in prepared.jdks
    )


def _get_workloads(project: Project, handed: NixParts | None, say: Say) -> Workloads:
    if handed is None:
        return build_workloads(project.root, say=say)
    if handed.workloads is None:
        raise _handed_no(["workloads to measure with"])
    return open_workloads(handed.source.root, handed.workloads)


def _refuse_what_everything_has(
    handed: NixParts, matrix: Matrix, cells: Sequence[CellKey], jdks: Sequence[JdkEntry]
) -> None:
    """Refuse what this package lacks and its neighbour with all parts has: nothing is got from elsewhere instead."""
    servers = dict.fromkeys(cell.server for cell in cells if cell.server in matrix.servers)
    artefacts = [artefact for name in servers if (artefact := matrix.servers[name].artefact)]
    lacking = [jdk.id for jdk in jdks if jdk.id not in handed.jdks and has_everything(jdk)]
    lacking += [artefact for artefact in artefacts if artefact not in handed.servers]
    if lacking:
        raise _handed_no(lacking)


def _handed_no(parts: Sequence[str]) -> MatrixError:
    has = f"`nix run {EVERYTHING} -- run …` has every part that lasts, and of JDKs those on axes.jdk"
    return MatrixError(f"this `matrix` was handed no {', no '.join(parts)}: {has}")


def wrk2_from(handed: NixParts | None, environment: Mapping[str, str]) -> Wrk2 | str:
    """Find wrk2; a text says why not. A package's is not looked for on the search path, which is for checkouts."""
    if handed is None or environment.get(WRK2_VARIABLE):
        return find_wrk2(environment, environment.get("PATH"))
    if handed.wrk2 is None:
        return f"no wrk2 was handed over; `nix run .#matrix` has it, unless nixpkgs has none for {this_system()}"
    return find_wrk2({WRK2_VARIABLE: str(handed.wrk2)}, None)


def _get_jdk(catalogue: Catalogue, jdk: str, say: Say) -> Available | str:
    """Get a JDK; a text says why it is not available."""
    entry = catalogue.entry(jdk)
    said: list[str] = []
    if (found := resolve(entry, progress=said.append)) is not None:
        for line in said:
            say(line)
        return found
    try:
        return fetch(entry, progress=say, catalogue=catalogue)
    except MatrixError as error:
        say(f"{jdk} is not available here: {error}")
        return str(error)


def _missing(matrix: Matrix, parts: Parts, cell: CellKey, host: LimitHost) -> str | None:
    """Return why a part of this cell is not available, or None."""
    jdk = parts.jdks[cell.jdk]
    if isinstance(jdk, str):
        return jdk
    if why_not := kind_of(matrix, cell).why_not(matrix, parts, cell):
        return why_not
    limits = workload_of(matrix, cell).limits
    quota_cpus = limits.cpu_quota_cpus if limits else None
    if quota_cpus and (why_not := why_no_quota(quota_cpus, host)):
        return f"{cell.workload}: {why_not}"
    return None


def _refused(matrix: Matrix, parts: Parts, cell: CellKey, cpus: CpuSets, flags: Flags) -> str | None:
    """Return the message of the cell’s JVM if it does not start with the options that only this arm has; None if it
    does."""
    jdk = parts.jdk(cell.jdk)
    if not tuning_for(matrix, cell).jvm_options:
        return None
    limits = workload_of(matrix, cell).limits
    why = why_refused(lambda: flags.of(jdk, cpus, jvm_options(matrix, cell, jdk.entry.vm), limits))
    return why and f"{cell.executor} on {cell.jdk}: {why}"


def _calibration(
    matrix: Matrix, parts: Parts, cells: Sequence[CellKey], topology: Topology, say: Say
) -> Calibration | None:
    """Calibrate burn for all JDKs of the run; None if no cell burns."""
    burning = next((cell for cell in cells if cell.burn_us), None)
    if burning is None:
        return None
    jdk = matrix.driver.jdk
    say(f"calibrating burn on {jdk}, for all JDKs")
    java, jar = parts.java(jdk), parts.workloads.file("burn.jar")
    cpu = cpu_sets_of(matrix, burning, topology).sut[-1]
    return calibrate(lambda: count_rounds(jdk, java, jar, cpu=cpu), matrix.measure)


def _jdk_record(entry: JdkEntry, found: Available | str | None, selected: bool) -> JdkRecord:
    got = (
        {name: getattr(found, name) for name in ("source", "notice", "version", "version_output", "release")}
        if isinstance(found, Available)
        else {"source": None, "release": {}}
    )
    return JdkRecord(
        id=entry.id,
        vendor=entry.vendor,
        vm=entry.vm,
        catalogue_version=entry.version,
        selected=selected,
        available=isinstance(found, Available),
        reason=found if isinstance(found, str) else None,
        known_bugs=tuple(KnownBug.model_validate(bug.model_dump()) for bug in entry.known_bugs),
        **got,
    )


def _notes(setups: Mapping[CellKey, CellSetup]) -> tuple[str, ...]:
    """Return the compromises of this host, each once, with the sizes of the cells that they concern."""
    sizes: dict[str, set[int]] = {}
    for key, setup in setups.items():
        for given_up in setup.cpu_sets.compromises:
            sizes.setdefault(given_up.message, set()).add(key.cpus)
    return tuple(f"cells with cpus = {', '.join(map(str, sorted(cpus)))}: {text}" for text, cpus in sizes.items())
