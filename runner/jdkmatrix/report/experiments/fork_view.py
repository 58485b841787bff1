"""From one fork of an experiment to what its cell's page shows. Pure; logs were read before."""

from __future__ import annotations

from collections.abc import Sequence

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import amount, digits
from jdkmatrix.experiments.base import Details, Measurand
from jdkmatrix.experiments.kinds import details_of, measurands
from jdkmatrix.experiments.pinning import pinned_words
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import WindowReading
from jdkmatrix.records.run import RunRecord
from jdkmatrix.records.windows import ProgramWindow
from jdkmatrix.report.blocks.kinds import Fact, Log
from jdkmatrix.report.cell_page.every_cell import command_lines, confined, limited, reason_words
from jdkmatrix.report.experiments.expectations import expectation_of
from jdkmatrix.report.experiments.fork_facts import distributions, remote_facts, vm_facts
from jdkmatrix.report.experiments.stacks import pinned_view
from jdkmatrix.report.experiments.views import ExperimentForkView
from jdkmatrix.report.experiments.words import outcome_views
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.attempts import order_words
from jdkmatrix.report.run_page.clock import speed_words
from jdkmatrix.report.words.numbers import Figure, missing, share
from jdkmatrix.report.words.states import STATUS_CLASS, STATUS_WORDS


def fork_view(fork: Fork, key: CellKey, run: RunRecord, logs: Sequence[Log]) -> ExperimentForkView:
    program, result = fork.program, fork.result
    details, known = details_of(result) if result else Details(), measurands(result)
    return ExperimentForkView(
        number=fork.fork,
        anchor=f"fork-{fork.fork}",
        status=STATUS_WORDS[fork.status],
        status_class=STATUS_CLASS[fork.status],
        reasons=reason_words(fork.reasons),
        outcomes=outcome_views((fork,)),
        figures=tuple(_figure(one, known[one.metric]) for one in fork.readings if one.metric in known),
        expectation=expectation_of(fork),
        facts=_facts(fork, run),
        counts=tuple(Fact(*row) for row in details.facts),
        distributions=distributions(details),
        sections=tuple((title, tuple(Fact(*row) for row in rows)) for title, rows in details.sections),
        pinned=pinned_view(f"{key.workload} on {key.jdk}", (fork,)),
        pinned_note=pinned_words(result) if result else None,
        host=(*_watched(program), *_host(program.host)) if program and program.host else (),
        remote=remote_facts(program.remote) if program and program.remote else (),
        vm=vm_facts(result.vm) if result else (),
        asked=facts.pretty_json(result.asked) if result else "",
        commands=command_lines(("Program", fork.command), ("Remote system", fork.remote_command)),
        logs=tuple(logs),
    )


def _figure(one: WindowReading, metric: Measurand) -> tuple[str, str, Figure, Figure, Figure]:
    expected = missing("nothing is expected of this figure")
    ratio = expected
    if one.expected is not None:
        expected = Figure(amount(one.expected, metric.unit), one.expected)
        ratio = missing("0 is expected")
        if one.expected != 0:
            ratio = Figure(digits(one.value / one.expected, 3), one.value / one.expected)
    return metric.title, metric.unit, Figure(amount(one.value, metric.unit), one.value), expected, ratio


def _facts(fork: Fork, run: RunRecord) -> tuple[Fact, ...]:
    confinement = fork.confinement
    cpus = f"program {facts.ranges(confinement.sut_cpus)}"
    if confinement.remote_cpus:
        together = "they share CPUs" if set(confinement.remote_cpus) & set(confinement.sut_cpus) else "no CPU in common"
        cpus += f", remote system {facts.ranges(confinement.remote_cpus)}: {together}"
    found = [
        Fact("Order", order_words(fork, run)),
        facts.started(fork),
        Fact("CPUs", cpus),
        confined(fork),
        Fact("CPU speed", speed_words(fork), "of serial work on one of its CPUs, before and after"),
    ]
    found += [Fact("Compromise", compromise) for compromise in confinement.compromises]
    found += limited(fork)
    found += [Fact("Limit that was hit", outcome.message) for outcome in fork.outcomes]
    return tuple(found)


def _watched(program: ProgramWindow) -> tuple[Fact, ...]:
    span = program.result.measured_span if program.result else None
    if span is None or program.host_span_s is None:
        why = "including start and warm-up: it reported no measured span"
        return (Fact("Watched", "all of the program’s life", why),)
    return (
        Fact(
            "Watched",
            f"{digits(program.host_span_s, 3)} s around the {digits(span.duration_s, 3)} s that it measured",
            "from the last reading before them to the first after them, and for half a second at least",
        ),
    )


def _host(host: Pressure) -> tuple[Fact, ...]:
    found = [
        Fact("Steal", share(host.steal_share).text, "time that the hypervisor gave to others"),
        Fact("Others’ CPU", share(host.foreign_cpu_share).text, "of all CPUs: busy, and no part of the experiment"),
        Fact("CPU pressure", share(host.psi_cpu_some_share).text, "of the time a task waited for a CPU"),
    ]
    if host.throttled_share is not None:
        found.append(Fact("Throttled", share(host.throttled_share).text, "by the CPU quota of a cgroup"))
    if host.swapped_bytes_per_s is not None:
        found.append(Fact("Swapped", f"{digits(host.swapped_bytes_per_s, 3)} bytes/s"))
    if host.clock_step_s:
        found.append(Fact("Clock stepped", f"{digits(host.clock_step_s, 3)} s"))
    if host.suspended_s:
        found.append(Fact("Suspended", f"{digits(host.suspended_s, 3)} s"))
    return tuple(found)
