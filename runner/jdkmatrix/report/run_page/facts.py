"""A run in words: its host, JDKs and parts, when it was measured, its usable forks, how to repeat it, and what a cell
ran with. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from jdkmatrix.claims.address import web
from jdkmatrix.domain.cell_key import NO_SERVER
from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.domain.quantities import plural
from jdkmatrix.domain.servers import title_with_release
from jdkmatrix.host.cpulist import format_cpu_list
from jdkmatrix.loads.attainment import ForkOutcome, fate
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.run import HostFacts, JdkRecord, RunRecord, Session
from jdkmatrix.report.blocks.inline import Wording, badge, element, folded, joined, link, paragraphs, pre, say
from jdkmatrix.report.blocks.kinds import Disclosure, Fact, FactList, Items, PageBlock, Pre, Prose, Section
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.cells.cellstats import planned_forks
from jdkmatrix.report.words.numbers import quantity, span
from jdkmatrix.report.words.sentences import added_work, cell_words, confined_words
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun

_GIB = 1024**3
_UNITS = {"memory": "bytes of memory", "CPU quota": "thousandths of a CPU"}  # where a limit's name is not its unit
_VM = {"hotspot": "HotSpot", "openj9": "OpenJ9"}


def ranges(numbers: Iterable[int]) -> str:
    """Write numbers as Linux writes CPU lists: "0-3,8"."""
    return format_cpu_list(numbers) or "none"


def numbered(noun: str, numbers: Collection[int]) -> str:
    """ "CPU 0", "CPUs 0-3,8"."""
    return f"{noun}{'' if len(numbers) == 1 else 's'} {ranges(numbers)}"


def moment(iso: str) -> str:
    """Write a date as "2025-01-01 12:00 UTC"; text that is no date stays as it is."""
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return (time.astimezone(UTC) if time.tzinfo else time).strftime("%Y-%m-%d %H:%M UTC")


def lasted_s(one: Session | Fork) -> float | None:
    """Return how long it took; in older records by the wall clock. None: not ended, or that clock was set back."""
    if one.duration_s is not None or one.ended_at is None:
        return one.duration_s
    try:
        seconds = (datetime.fromisoformat(one.ended_at) - datetime.fromisoformat(one.started_at)).total_seconds()
    except (ValueError, TypeError):  # no date, or one with a zone and one without
        return None
    return seconds if seconds >= 0 else None


def duration(one: Session | Fork) -> str | None:
    seconds = lasted_s(one)
    return None if seconds is None else span(seconds)


def started(fork: Fork) -> Fact:
    took = duration(fork)
    return Fact("Started", moment(fork.started_at) + (f", {took}" if took else ""))


def order_words(fork: Fork, run: RunRecord) -> str:
    """Say where a fork stood in its block and run; and its attempt and session, where there are several."""
    attempt = f", attempt {fork.attempt}" if fork.attempt > 1 else ""
    session = f", session {fork.session}" if len(run.sessions) > 1 else ""
    return f"no. {fork.position} in block {fork.fork}, no. {fork.sequence} in the run{attempt}{session}"


def place_facts(fork: Fork, run: RunRecord, cpus: str) -> tuple[Fact, ...]:
    """Return when and where a fork ran."""
    confined = confined_words(fork.confinement.method, fork.confinement.why_not_cgroup)
    when = (Fact("Order", order_words(fork, run)), started(fork))
    return (*when, Fact("CPUs", cpus), Fact("CPU confinement", confined))


def limited(fork: Fork) -> Iterator[Fact]:
    limits = [f"{one.maximum:,} {_UNITS.get(one.limit, one.limit)} by {one.by}" for one in fork.limits]
    if limits:
        yield Fact("Limits", "; ".join(limits))


def host_facts(host: HostFacts) -> tuple[Fact, ...]:
    cpu, unknown = host.cpu, "the kernel does not report it"
    smt = "SMT on" if cpu.smt else "SMT off"
    packages = plural(cpu.packages, "package")
    frequency = {"governor": cpu.governor, "driver": cpu.driver, "boost": cpu.boost}
    vulnerable = {name: text for name, text in cpu.mitigations.items() if not text.startswith("Not affected")}
    mitigations = "; ".join(f"{name}: {text}" for name, text in sorted(vulnerable.items()))
    return (
        Fact("CPU", cpu.model),
        Fact("Cores", f"{plural(cpu.cores, 'core')} in {packages}, {plural(len(cpu.online), 'CPU')} online, {smt}"),
        Fact("CPUs allowed", ranges(cpu.allowed), "what this process may use"),
        Fact("Virtualisation", host.virtualisation or "none seen"),
        Fact("Kernel", host.kernel),
        Fact("OS, libc", f"{host.os}, {host.libc}"),
        Fact("Memory, swap", f"{host.memory_bytes / _GIB:.1f} GiB, {host.swap_bytes / _GIB:.1f} GiB"),
        Fact("Frequency", ", ".join(f"{name} {told}" for name, told in frequency.items() if told) or unknown),
        Fact("Scheduler", host.scheduler or unknown),
        Fact("Clock source", host.clocksource or unknown),
        Fact("Microcode", cpu.microcode or unknown),
        *([Fact("Huge pages", host.transparent_huge_pages)] if host.transparent_huge_pages else []),
        Fact("Load before the run", f"{host.load_1min:.2f}", "load average over one minute"),
        Fact("Mitigations", mitigations or "none needed or none reported"),
        *([Fact("Kernel command line", host.kernel_command_line)] if host.kernel_command_line else []),
        Fact("Limits", ", ".join(f"{name} {value}" for name, value in sorted(host.limits.items())) or "not recorded"),
        Fact("Host", f"{host.system}, {host.id}", "a hash tells hosts apart without naming them"),
    )


def run_facts(run: RunRecord) -> Iterator[Fact]:
    latest, host = run.latest_session, run.latest_session.host
    virtual = host.virtualisation or "no virtualisation seen"
    cores = f"{plural(host.cpu.cores, 'core')}, {plural(len(host.cpu.allowed), 'CPU')} usable"
    took = duration(run.first_session) if len(run.sessions) == 1 else None
    yield Fact("CPU", host.cpu.model)
    yield Fact("Host", f"{cores}; Linux {(host.kernel.split() or [''])[0]}; {virtual}")
    yield Fact("Measured", moment(run.started_at) + (f", {took}" if took else ""))
    for server in run.servers:
        name = f"Server {server.id}" if len(run.servers) > 1 else "Server"
        archive = f"archive sha256 {server.sha256}" if server.sha256 else None
        yield Fact(name, title_with_release(server.id, server.version), archive)
    for one in own_applications(run):
        yield Fact("Application", f"{one.workload}, GET {one.path}; {one.files}", one.how)
    yield Fact("JDKs", ", ".join(jdk.id for jdk in run.jdks if jdk.selected and jdk.available) or "none")
    drivers = "; ".join(
        f"{d.name} {d.version}" + (f" on Java {d.java_version}" if d.java_version else "") for d in run.drivers
    )
    programs = bool(run.cells) and all(key.server == NO_SERVER for key in run.cells)
    if drivers or not programs:
        yield Fact("Driver", drivers or "none")
    dirty = " with uncommitted changes" if is_dirty(run) else ""
    commit = f", commit {latest.git_commit[:12]}{dirty}" if latest.git_commit else ", no commit known"
    yield Fact("Tool", f"jdk-matrix {latest.tool_version}{commit}")
    yield _parts(run)
    if found := run.scenario:
        yield Fact("Scenario", f"{found.name}, {'as published' if found.scale == 'article' else 'scaled down'}")
        yield Fact("Published", ", ".join(found.published), "ids of the published results that this run repeats")
    narrowed = "; ".join(f"{axis} {', '.join(map(str, values))}" for axis, values in run.selection.items())
    yield Fact("Profile, seed", f"{run.profile}{f' with {narrowed}' if narrowed else ''}, seed {run.seed}")
    if rules := run.stopping:
        known = f"until every ratio is known to ± {rules.precision * 100:g} %, near 1 up to twice as precisely"
        yield Fact("Blocks", f"{rules.min_blocks} to {rules.max_blocks}, {known}")


def _parts(run: RunRecord) -> Fact:
    """Say how a run's parts were pinned. A run from the flake says in a notice what the flake did not give; for any
    other, it is said here."""
    provenance = run.provenance
    inputs = [f"{one.name} {one.rev[:12] if one.rev else 'without a revision'}" for one in provenance.inputs]
    missing = provenance.not_pinned(source_dirty=is_dirty(run))
    hashes = "; ".join(f"{one.name} {one.nar_hash}" for one in provenance.inputs if one.nar_hash) or None
    words = "not fully pinned" if missing else "fully pinned"
    if inputs:
        words += f", from the flake: {', '.join(inputs)}"
    elif missing:
        words += f": {'; '.join(missing)}"
    return Fact("Parts", words, hashes)


def is_dirty(run: RunRecord) -> bool | None:
    """Return whether the source had uncommitted changes in any session. None: of one it is not known."""
    told = [session.git_dirty for session in run.sessions]
    return True if True in told else None if None in told else False


def repeating(run: RunRecord) -> str:
    """Return the arguments of the command that repeats this run."""
    selected = [f"--{axis.replace('_', '-')}={value}" for axis, values in run.selection.items() for value in values]
    found = run.scenario
    scale = ["--scale", found.scale] if found else []
    what = ["--scenario", found.name, *scale] if found else ["--profile", run.profile]
    arguments = ["run", *what, *selected]
    if "--resume" not in run.first_session.command and len(run.first_session.command) > 1:
        # As typed, with what no record of its own holds (--blocks, --window-s), but without where it wrote to.
        arguments = [*_without(run.first_session.command[1:], ("--run", "--site", "--scale")), *scale]
    if not any(argument.split("=")[0] == "--seed" for argument in arguments):
        arguments += ["--seed", str(run.seed)]
    return shlex.join(arguments)


def reproduce(run: RunRecord) -> str:
    """Return the command lines that repeat this run in a clone of the project."""
    commit = run.latest_session.git_commit
    lines = [shlex.join(["git", "checkout", commit])] if commit else []
    return "\n".join([*lines, "make setup", f".venv/bin/matrix {repeating(run)}"])


def _without(arguments: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return `arguments` without the named options and their values."""
    rest, kept = iter(arguments), []
    for argument in rest:
        if argument in options:
            next(rest, None)
        elif argument.split("=")[0] not in options:
            kept.append(argument)
    return kept


def pretty_json(value: object) -> Pre:
    return Pre(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False))


@dataclass(frozen=True)
class OwnApplicationFacts:
    """An application of the user, in words. `files`: what it was made of; `how`: the way it was started."""

    workload: str
    path: str
    files: str
    how: str


def own_applications(run: RunRecord) -> Iterator[OwnApplicationFacts]:
    """Yield the user's own applications that this run has measured."""
    parts = {part.part: part.detail for part in run.provenance.parts}
    for name in dict.fromkeys(key.workload for key in run.cells):
        own = (run.matrix.get("workloads", {}).get(name) or {}).get("own")
        if own:
            arms = "; ".join(f"{arm}: {options or 'as it is'}" for arm, options in (own.get("arms") or {}).items())
            how = f"started by {own['command']} ({arms})" if own.get("command") else f"deployed from {own['war']}"
            yield OwnApplicationFacts(name, own["path"], parts.get(name, "its files were not recorded"), how)


@dataclass(frozen=True)
class ForkCount:
    """The number of usable forks, and in a line what became of the others. `amber`: some were lost."""

    text: str
    usable: int
    amber: bool


def count_forks(loaded: LoadedRun) -> ForkCount:
    """ "6 of 8 forks usable: 1 lost to faults of the host or of the measurement, 1 lost to the server’s own doing; 2
    measured again"."""
    cells = loaded.cells
    forks = sum(len(cell.forks) for cell in cells)
    unusable = [(fork, cell.load) for cell in cells for fork in cell.forks if not fork.conclusive]
    own_doing = [load for fork, load in unusable if fate(fork, load) is not ForkOutcome.LOST]
    whose = dict.fromkeys("program’s" if isinstance(load, TaskLoad) else "server’s" for load in own_doing)
    recorded = {cell.key.cell_id: len(cell.forks) for cell in cells}
    missing = sum(max(0, number - recorded.get(cell, 0)) for cell, number in planned_forks(loaded.run).items())
    losses = {
        "lost to faults of the host or of the measurement": len(unusable) - len(own_doing),
        f"lost to the {' or '.join(whose)} own doing": len(own_doing),
        "without a readable record": missing,
    }
    lost = ", ".join(f"{number} {what}" for what, number in losses.items() if number)
    again = sum(fork.attempt > 1 for cell in cells for fork in cell.forks)
    usable = forks - len(unusable)
    text = f"{usable} of {plural(forks + missing, 'fork')} usable"
    told = f"{text}{f': {lost}' if lost else ''}{f'; {again} measured again' if again else ''}"
    return ForkCount(told, usable, amber=lost != "")


def host_section(run: RunRecord) -> Section:
    blocks: list[PageBlock] = [FactList(host_facts(run.latest_session.host))]
    if run.calibrations:
        words = say("calibration", single=len(run.calibrations) == 1)
        rows: list[tuple[Cell, ...]] = []
        for one in run.calibrations:
            figures = quantity(one.rounds_per_us, 3, why=""), quantity(one.spread * 100, 2, why="")
            rows.append((one.jdk, *figures, str(one.repeats), str(one.cpu)))
        heads = columns("JDK", "Rounds|per µs#", "Spread|% of median#", "Repeats#", "CPU#")
        blocks += [Prose(words, "Calibration of the work"), DataTable("Calibration", heads, rows)]
    if run.capacities:
        title, heads = "Capacities behind the loads", columns("Cell", "Throughput|req/s#")
        throughputs = [
            (cell_words(one.key), quantity(one.throughput_rps, 4, why=one.why_not or "not measured"))
            for one in run.capacities
        ]
        blocks += [Prose(say("capacities"), title), DataTable(title, heads, throughputs)]
    return Section("host", "Host", blocks)


def reproduce_section(run: RunRecord) -> Section:
    order = (Prose(say("order_of_forks")), Items(run.order, "order", ordered=True))
    planned = planned_forks(run)  # the order also has attempts that were repeated
    forks = plural(planned.total() or len(run.order), "fork")
    title = "Order of execution" if run.status == "complete" else "Planned order of execution"
    blocks = (
        Pre(reproduce(run), "Commands that repeat this run"),
        Disclosure(f"{title} ({forks})", order),
        Prose(say("files_of_run")),
    )
    return Section("reproduce", "Reproduce this run", blocks, say("reproduce"))


def jdks_section(loaded: LoadedRun) -> Section:
    """List the JDKs that were selected, and the others of the catalogue below them."""
    heads = columns("JDK", "Vendor", "VM", "Version~", "Source", "State", "Remark=")
    ran = {cell.key.jdk for cell in loaded.cells if cell.forks}
    selected, others = (
        tuple(jdk_row(jdk, ran=jdk.id in ran) for jdk in loaded.run.jdks if jdk.selected is wanted)
        for wanted in (True, False)
    )
    blocks: list[PageBlock] = [DataTable("Table of JDKs", heads, selected, "stack", sortable=True)]
    if others:
        table = DataTable("Table of JDKs that were not selected", heads, others, "stack", sortable=True)
        blocks.append(Disclosure(f"{len(others)} more in the catalogue, not selected here", (table,)))
    return Section("jdks", "JDKs", blocks)


def jdk_facts(jdk: JdkRecord) -> tuple[Fact, ...]:
    """Describe a JDK in short, for the page of a cell."""
    words = f"{jdk.id}: {jdk.vendor}, {_VM[jdk.vm]}, {_version(jdk)}; from: {jdk.source or '–'}"
    return (Fact("JDK", words), *(Fact("Known bug", f"{bug.id}: {bug.summary}") for bug in jdk.known_bugs))


def reports_of_itself(jdk: JdkRecord) -> tuple[str, ...]:
    """Return the output of `java -version`, and the JDK's file `release`."""
    release = "\n".join(f"{key}={value}" for key, value in sorted(jdk.release.items()))
    return tuple(filter(None, (jdk.version_output, release)))


def jdk_row(jdk: JdkRecord, *, ran: bool) -> tuple[Cell, ...]:
    """Build a JDK's row; known bugs and what it reports are folded below the remark. `ran`: it has a fork."""
    if jdk.available:
        told = "selected, no fork of it has run" if jdk.selected else "available, not selected"
        state, css = ("measured", "ok") if ran else (told, "none")
    else:
        state, css = "not available here", "failed" if jdk.selected else "none"
    remark: list[str] = [(jdk.notice if jdk.available else jdk.reason) or ""]
    if jdk.known_bugs:
        bugs = tuple(joined(link(bug.id, web(bug.url)), f": {bug.summary}") for bug in jdk.known_bugs)
        names = ", ".join(bug.id for bug in jdk.known_bugs)
        remark.append(folded(f"Known bugs: {names}", paragraphs(bugs), css="bugs"))
    if reports := reports_of_itself(jdk):
        remark.append(folded("What it reports about itself", *map(pre, reports)))
    return (jdk.id, jdk.vendor, _VM[jdk.vm], _version(jdk), jdk.source or "–", badge(state, css), joined(*remark))


def _version(jdk: JdkRecord) -> str:
    return jdk.version or f"{jdk.catalogue_version} (catalogue)"


def parts_section(record: CellRecord, run: RunRecord, work: str, where: Wording) -> Section:
    """Show everything that decides a cell's figures besides its condition. `work`: what takes the time on the CPU;
    `where`: where its record is."""
    key, flags = record.key, tuple(sorted(record.jvm_flags.items()))
    jdk = next((jdk for jdk in run.jdks if jdk.id == key.jdk), None)
    done = f"{record.burn_rounds:,} rounds, meant to take {key.burn_us:,} µs" if key.burn_us else added_work(0)
    digest = Fact("Identity", element("span", record.identity.digest, css="digest"))
    blocks: list[PageBlock] = [FactList((*(jdk_facts(jdk) if jdk else ()), Fact(work, done), digest))]
    if reports := reports_of_itself(jdk) if jdk else ():
        blocks.append(Disclosure("What the JDK reports about itself", tuple(map(Pre, reports))))
    if flags:
        table = DataTable("Final flags", columns("Flag", "Value"), flags)
        blocks.append(Disclosure(f"Final flags of the JVM that are not at their default ({len(flags)})", (table,)))
    decides = "Everything that decides the result (the inputs of the identity)"
    blocks += [
        Disclosure("Host", (FactList(host_facts(run.latest_session.host)),)),
        Disclosure(decides, (pretty_json(record.identity.inputs),)),
        Prose(where),
    ]
    return Section("parts", "What it ran with", blocks)
