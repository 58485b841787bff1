"""What every cell's page has, whatever was measured in it. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from jdkmatrix.domain.quantities import amount
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.views import Fact, RanWith
from jdkmatrix.report.words.sentences import confined_words
from jdkmatrix.store.cells import CellRecord

_UNITS = {"threads": "threads", "memory": "bytes of memory", "open files": "open files"}


def ran_with(record: CellRecord, run: RunRecord, *, work: str) -> RanWith:
    """`work`: what takes the time on the CPU."""
    key = record.key
    jdk = next((jdk for jdk in run.jdks if jdk.id == key.jdk), None)
    done = f"{record.burn_rounds:,} rounds, meant to take {key.burn_us:,} µs" if key.burn_us else "none"
    return RanWith(
        jdk=facts.jdk_row(jdk) if jdk else None,
        work=Fact(work, done),
        identity_digest=record.identity.digest,
        identity_inputs=facts.pretty_json(record.identity.inputs),
        jvm_flags=tuple(sorted(record.jvm_flags.items())),
        host=facts.host_facts(run.latest_session.host),
    )


def reason_words(reasons: Sequence[Reason]) -> tuple[str, ...]:
    return tuple(map(_reason, reasons))


def _reason(reason: Reason) -> str:
    figures = ", ".join(f"{name} {amount(value, '')}" for name, value in reason.figures.items())
    return f"{reason.message} ({figures})" if figures else reason.message


def command_lines(*programs: tuple[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """Of each program that was started: what it is, and its command line."""
    return tuple((title, shlex.join(command)) for title, command in programs if command)


def kept_there(fork: Fork) -> Fact:
    return Fact("Kept there", confined_words(fork.confinement.method, fork.confinement.why_not_cgroup))


def box(fork: Fork) -> Iterator[Fact]:
    """Its limits, if it had any."""
    if fork.limits:
        yield Fact("Box", "; ".join(f"{one.maximum:,} {_UNITS[one.limit]} by {one.by}" for one in fork.limits))
