"""Host, JDKs, run and notices in words. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.run import HostFacts, RunRecord, Session
from jdkmatrix.report.blocks.kinds import Fact, Notice
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.judgements import Judgements
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.aa_check import aa_notices
from jdkmatrix.report.run_page.clock import calibration_notices, clock_notices
from jdkmatrix.report.run_page.own import own_facts, own_notices
from jdkmatrix.report.words.numbers import span
from jdkmatrix.store.loaded import LoadedRun

_GIB = 1024**3
_SHOW_MODES = (
    10  # forks whose interval covers the truth nearly as often as it says, whatever the starts (stats/intervals)
)


def ranges(numbers: Iterable[int]) -> str:
    """ "0-3,8" as Linux writes CPU lists."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs) or "none"


def moment(iso: str) -> str:
    """ "2025-01-01 12:00 UTC"; text that is no date stays as it is."""
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return (time.astimezone(UTC) if time.tzinfo else time).strftime("%Y-%m-%d %H:%M UTC")


def lasted_s(one: Session | Fork) -> float | None:
    """For an older record, by the time of day. None: it has not ended, or that clock was set back meanwhile."""
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


def host_facts(host: HostFacts) -> tuple[Fact, ...]:
    cpu = host.cpu
    smt = "SMT on" if cpu.smt else "SMT off"
    packages = plural(cpu.packages, "package")
    vulnerable = {name: text for name, text in cpu.mitigations.items() if not text.startswith("Not affected")}
    return (
        Fact("CPU", cpu.model),
        Fact("Cores", f"{plural(cpu.cores, 'core')} in {packages}, {plural(len(cpu.online), 'CPU')} online, {smt}"),
        Fact("CPUs allowed", ranges(cpu.allowed), "what this process may use"),
        Fact("Virtualisation", host.virtualisation or "none seen"),
        Fact("Kernel", host.kernel),
        Fact("OS, libc", f"{host.os}, {host.libc}"),
        Fact("Memory, swap", f"{host.memory_bytes / _GIB:.1f} GiB, {host.swap_bytes / _GIB:.1f} GiB"),
        Fact("Frequency", ", ".join(filter(None, _frequency(host))) or "the kernel does not say"),
        Fact("Scheduler", host.scheduler or "the kernel does not say"),
        Fact("Clock source", host.clocksource or "the kernel does not say"),
        Fact("Microcode", cpu.microcode or "the kernel does not say"),
        *([Fact("Huge pages", host.transparent_huge_pages)] if host.transparent_huge_pages else []),
        Fact("Load before the run", f"{host.load_1min:.2f}", "load average over one minute"),
        Fact(
            "Mitigations",
            "; ".join(f"{name}: {text}" for name, text in sorted(vulnerable.items())) or "none needed or none reported",
        ),
        *([Fact("Kernel command line", host.kernel_command_line)] if host.kernel_command_line else []),
        Fact("Limits", ", ".join(f"{name} {value}" for name, value in sorted(host.limits.items())) or "not recorded"),
        Fact("Host", f"{host.system}, {host.hostname_hash}", "a hash tells hosts apart without naming them"),
    )


def _frequency(host: HostFacts) -> tuple[str | None, ...]:
    cpu = host.cpu
    return (
        f"governor {cpu.governor}" if cpu.governor else None,
        f"driver {cpu.driver}" if cpu.driver else None,
        f"boost {cpu.boost}" if cpu.boost else None,
    )


def run_facts(run: RunRecord) -> tuple[Fact, ...]:
    took = duration(run.first_session) if len(run.sessions) == 1 else None
    latest = run.latest_session
    dirty = " with uncommitted changes" if _dirty(run) else ""
    commit = f", commit {latest.git_commit[:12]}{dirty}" if latest.git_commit else ", no commit known"
    jdks = [jdk.id for jdk in run.jdks if jdk.selected and jdk.available]
    served = not run.cells or any(key.has_server for key in run.cells)
    drivers = "; ".join(
        f"{d.name} {d.version}" + (f" on Java {d.java_version}" if d.java_version else "") for d in run.drivers
    )
    return (
        Fact("CPU", latest.host.cpu.model),
        Fact("Host", _host_line(latest.host)),
        Fact("Measured", moment(run.started_at) + (f", {took}" if took else "")),
        *(
            Fact(
                f"Server {server.id}" if len(run.servers) > 1 else "Server",
                f"{server.name} {server.version}".rstrip(),
                f"archive sha256 {server.sha256}" if server.sha256 else None,
            )
            for server in run.servers
        ),
        *own_facts(run),
        Fact("JDKs", ", ".join(jdks) or "none"),
        *([Fact("Driver", drivers or "none")] if drivers or served else []),
        Fact("Tool", f"jdk-matrix {latest.tool_version}{commit}"),
        *_pinned(run),
        *_scenario(run),
        Fact("Profile, seed", f"{run.profile}{_narrowed(run)}, seed {run.seed}"),
        *_stopping(run),
    )


def _dirty(run: RunRecord) -> bool | None:
    """Had the source uncommitted changes in any session? None: of one it is not known."""
    told = [session.git_dirty for session in run.sessions]
    return True if True in told else None if None in told else False


def _pinned(run: RunRecord) -> tuple[Fact, ...]:
    if run.provenance is None:
        return ()
    inputs = [f"{one.name} {one.rev[:12] if one.rev else 'without a revision'}" for one in run.provenance.inputs]
    by = f", from the flake: {', '.join(inputs)}" if inputs else ""
    hashes = "; ".join(f"{one.name} {one.nar_hash}" for one in run.provenance.inputs if one.nar_hash) or None
    missing = run.provenance.not_pinned(source_dirty=_dirty(run))
    return (Fact("Parts", ("not fully pinned" if missing else "fully pinned") + by, hashes),)


def _scenario(run: RunRecord) -> tuple[Fact, ...]:
    found = run.scenario
    if found is None:
        return ()
    return (
        Fact("Scenario", f"{found.name}, {'as published' if found.scale == 'article' else 'scaled down'}"),
        Fact("Published", ", ".join(found.published), "ids of the published results that this run repeats"),
    )


def _stopping(run: RunRecord) -> tuple[Fact, ...]:
    if run.stopping is None:
        return ()
    least, most, share = run.stopping.min_blocks, run.stopping.max_blocks, run.stopping.precision * 100
    return (Fact("Blocks", f"{least} to {most}, until every ratio is known to ± {share:g} %"),)


def _host_line(host: HostFacts) -> str:
    virtual = host.virtualisation or "no virtualisation seen"
    cores = f"{plural(host.cpu.cores, 'core')}, {plural(len(host.cpu.allowed), 'CPU')} usable"
    return f"{cores}; Linux {(host.kernel.split() or [''])[0]}; {virtual}"


def _narrowed(run: RunRecord) -> str:
    parts = [f"{axis} {', '.join(map(str, values))}" for axis, values in run.selection.items()]
    return f" with {'; '.join(parts)}" if parts else ""


def notices(loaded: LoadedRun, cells: Cells, judgements: Judgements) -> tuple[Notice, ...]:
    """Those that change how the figures must be read come first."""
    run = loaded.run
    found = [*_run_notices(run), *_cell_notices(cells), *aa_notices(cells, judgements)]
    if loaded.damaged:
        text = (
            f"{plural(len(loaded.damaged), 'file')}: nothing here counts what stood there. The files are named below."
        )
        found.append(Notice("warn", "Result files damaged or missing", text))
    found += [*calibration_notices(run.calibrations), *clock_notices(loaded.cells, run.promised_precision)]
    found += [Notice("info", "Note of the run", note) for note in run.notes]
    return tuple(sorted(found, key=lambda notice: notice.weight != "warn"))


def pair_warnings(judged: JudgedRun, *keys: CellKey) -> Iterable[Notice]:
    """Those `notices` of their run that change how the comparison of these cells must be read."""
    run, cells = judged.run, [cell for key in keys if (cell := judged.cells.get(key))]
    found = [
        *_cell_notices(cells),
        *clock_notices([cell.record for cell in cells], run.promised_precision),
        *aa_notices(judged.cells, judged.judgements, keys),
    ]
    return (notice for notice in found if notice.weight == "warn")


def _run_notices(run: RunRecord) -> Iterable[Notice]:
    if run.scenario:
        size = "The published size" if run.scenario.scale == "article" else "Not the published size"
        text = f"{run.scenario.description} {size}: {run.scenario.scale_words}."
        yield Notice("info", f"Scenario {run.scenario.name}", text)
    if run.status != "complete":
        how = "was interrupted" if run.status == "interrupted" else "has not ended, or was killed"
        yield Notice("warn", "Not complete", f"This run {how}: cells may lack forks or be missing.")
    virtualisation = run.latest_session.host.virtualisation
    if virtualisation:
        yield Notice(
            "info",
            "Not bare metal",
            f"This ran in a {virtualisation}. What else runs on the same hardware can slow it down without "
            "being seen; ratios inside a block suffer less than absolute figures.",
        )
    if _dirty(run):
        yield Notice(
            "info", "Uncommitted changes", "The tool had changes that are in no commit: not exactly repeatable."
        )
    loose = run.provenance.not_pinned(source_dirty=_dirty(run)) if run.provenance else ()
    if loose:
        yield Notice("info", "Not fully pinned", f"What the flake would have given, and did not: {'; '.join(loose)}.")
    yield from own_notices(run)
    missing = [jdk for jdk in run.jdks if jdk.selected and not jdk.available]
    if missing:
        names = ", ".join(jdk.id for jdk in missing)
        yield Notice("info", "JDKs not available here", f"{names}: reasons are in the table of JDKs.")
    if run.not_testable:
        yield Notice("info", "Not testable here", f"{plural(len(run.not_testable), 'cell')}: reasons are listed below.")


def _cell_notices(cells: Iterable[CellStats]) -> Iterable[Notice]:
    every = list(cells)
    shared = [cell for cell in every if any(fork.confinement.overlapped for fork in cell.record.forks)]
    if shared:
        yield Notice(
            "warn",
            "Server and driver share CPUs",
            f"In {len(shared)} of {plural(len(every), 'cell')} the host had too few CPUs to keep them apart: the "
            "driver took time from the server. Compare executors with each other, take no figure as absolute.",
        )
    if loose := by_affinity([fork for cell in every for fork in cell.record.forks]):
        where, why = loose
        yield Notice(
            "info",
            "Kept on their CPUs by affinity alone",
            f"In {where} server and driver were kept on their CPUs by sched_setaffinity, which a thread can undo for "
            "itself; the server's threads were looked at after every window. Cgroup cpusets, which no thread can "
            f"leave, were not used: {why}.",
        )
    single = [cell for cell in every if len(cell.usable) == 1]
    if single:
        yield Notice(
            "warn",
            "One block only",
            f"{plural(len(single), 'cell')} of {len(every)} {'has' if len(single) == 1 else 'have'} one usable fork: "
            "there is no interval, and a difference may be chance.",
        )
    few = [cell for cell in every if len(cell.usable) == 2]
    if few:
        yield Notice(
            "info",
            "Two blocks",
            f"{plural(len(few), 'cell')} of {len(every)} {'has' if len(few) == 1 else 'have'} two usable forks: "
            "intervals over two are very wide, so that most differences cannot be told from chance.",
        )
    several = [cell for cell in every if 2 < len(cell.usable) < _SHOW_MODES]
    if several:
        yield Notice(
            "info",
            f"Fewer than {_SHOW_MODES} forks",
            f"{plural(len(several), 'cell')} of {len(every)} {'has' if len(several) == 1 else 'have'} 3 to "
            f"{_SHOW_MODES - 1} usable forks. So few may not show that some starts of one executor are slower for "
            "good: where one in four is so by 8 %, an interval of 95 % over 3 or 5 covers the truth in 78 or 79 % of "
            "cases.",
        )
    unsteady = [cell for cell in every if any(f.status is Status.NOT_STEADY for f in cell.record.forks)]
    if unsteady:
        yield Notice(
            "warn",
            "Not steady",
            f"In {plural(len(unsteady), 'cell')} the warm-up reached its cap before the steady state: JIT compilation "
            "may have run on into the measurement.",
        )


def by_affinity(forks: Sequence[Fork]) -> tuple[str, str] | None:
    """How many forks were kept on their CPUs by affinity alone, and why; None where none was."""
    loose = [fork for fork in forks if fork.confinement.method == "sched_setaffinity"]
    reasons = sorted({fork.confinement.why_not_cgroup or "no reason is recorded" for fork in loose})
    return (share_of(loose, forks), "; ".join(reasons)) if loose else None


def share_of(some: Sequence[Fork], forks: Sequence[Fork]) -> str:
    return "every fork" if len(some) == len(forks) else f"{len(some)} of {plural(len(forks), 'fork')}"


def reproduce(run: RunRecord) -> str:
    """The command lines that repeat this run in a clone of the project."""
    selected = [f"--{axis.replace('_', '-')}={value}" for axis, values in run.selection.items() for value in values]
    found = run.scenario
    scale = ["--scale", found.scale] if found else []
    what = ["--scenario", found.name, *scale] if found else ["--profile", run.profile]
    arguments = ["run", *what, *selected]
    if "--resume" not in run.first_session.command and len(run.first_session.command) > 1:
        # As typed, with what is in no record of its own (--blocks, --window-s); where it wrote to is not part of it.
        arguments = [*_without(run.first_session.command[1:], ("--run", "--site", "--scale")), *scale]
    if not any(argument.split("=")[0] == "--seed" for argument in arguments):
        arguments += ["--seed", str(run.seed)]
    commit = run.latest_session.git_commit
    lines = [f"git checkout {commit}"] if commit else []
    return "\n".join([*lines, "make setup", shlex.join([".venv/bin/matrix", *arguments])])


def _without(arguments: Sequence[str], options: Sequence[str]) -> list[str]:
    """`arguments` less the options that are named, each with its value."""
    kept: list[str] = []
    skip = False
    for argument in arguments:
        if skip or argument.split("=")[0] in options:
            skip = not skip and argument in options
        else:
            kept.append(argument)
    return kept


def pretty_json(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
