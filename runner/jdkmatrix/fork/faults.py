"""The ways in which a fork can end badly: by a fault of the host or of the measurement, or by what the server did.

Only faults are measured again. What the server did is a result, good or bad: repeating it would keep the forks that
went well and lose those that did not. So the decision rests on statuses and reason codes, which are all that `faults`
is given, and never on a figure; a fork with an unknown ending is not repeated.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from jdkmatrix.drivers.base import DriverError
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.affinity import AffinityError
from jdkmatrix.fork.database import DatabaseError
from jdkmatrix.fork.kernel import KernelError
from jdkmatrix.fork.remote import RemoteError
from jdkmatrix.fork.watchdog import DiskFullError, FloodError
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.host.ending import KilledError, OutOfMemoryError
from jdkmatrix.host.http import HttpError
from jdkmatrix.probes.process import SutGoneError
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.limits import LIMIT_CODES
from jdkmatrix.records.reasons import BURN_OFF, KILLED, Status
from jdkmatrix.servers.process import HungError, PortTakenError, ServerError
from jdkmatrix.servers.proof import HooksError, ProofError

Kind = Literal["fault", "outcome"]


class LostUpdateError(MatrixError):
    """The application's books are wrong."""


class ProgramError(MatrixError):
    """The program of an experiment ended without a result."""


# The first match counts.
_ENDS: tuple[tuple[type[MatrixError], str, Kind], ...] = (
    (OutOfMemoryError, "out-of-memory", "outcome"),
    (HungError, "server-hangs", "outcome"),
    (PortTakenError, "port-taken", "fault"),
    (ServerError, "server", "outcome"),
    (SutGoneError, "server", "outcome"),
    (HttpError, "server", "outcome"),  # it answers our own requests badly, or has requests that never end
    (ProgramError, "program", "outcome"),
    (DiskFullError, "disk-full", "fault"),
    (FloodError, "flood", "outcome"),
    (HooksError, "hooks", "fault"),
    (ProofError, "wrong-executor", "outcome"),
    (LostUpdateError, "lost-update", "outcome"),
    (DriverError, "driver", "fault"),
    (RemoteError, "remote", "fault"),
    (DatabaseError, "database", "fault"),
    (AffinityError, "confinement", "fault"),
    (CgroupError, "confinement", "fault"),
    (KernelError, "kernel", "fault"),
    (KilledError, KILLED, "fault"),
)
INTERNAL_ERROR = "internal-error"
_ANY_OTHER = "measurement"  # something that this tool could not do on this host, as the message says

KINDS: dict[str, Kind] = {
    **{code: kind for _, code, kind in _ENDS},
    INTERNAL_ERROR: "fault",
    _ANY_OTHER: "fault",
    # The work of a request was not as it should be: because of the host's clock, or of another compilation.
    BURN_OFF: "fault",
    # Of an invalid fork alone: gates refused so many windows of its search that it was given up.
    "no-capacity": "fault",
    # Limits are set to be run into.
    **dict.fromkeys(LIMIT_CODES, "outcome"),
    # What the server owed under load: a shortfall of a window (Window.shortfalls), never a fault, wherever it appears.
    **dict.fromkeys(("no-answers", "rate-missed", "errors"), "outcome"),
}


def code_of(error: MatrixError) -> str:
    """Return the code that a reason gives this error."""
    return next((code for kind, code, _ in _ENDS if isinstance(error, kind)), _ANY_OTHER)


def faults(status: Status, ends: Iterable[str], gates: Iterable[str]) -> tuple[str, ...]:
    """Return the codes of the faults that spoilt a fork, which then says nothing of the server; empty: it stands. Pure.

    `ends`: reason codes of the fork itself; `gates`: reason codes of invalid windows. A failed gate is a fault by
    definition (Window.reasons), an ending only where `KINDS` says so; `KILLED` always is one.
    """
    if status is Status.FAILED:
        codes = list(dict.fromkeys(ends))
        by_the_server = KILLED not in codes and any(KINDS.get(code) == "outcome" for code in codes)
        return () if by_the_server else tuple(code for code in codes if KINDS.get(code) == "fault")
    if status is Status.INVALID:
        of_fork = [code for code in ends if KINDS.get(code) == "fault"]
        return tuple(code for code in dict.fromkeys([*of_fork, *gates]) if KINDS.get(code, "fault") == "fault")
    return ()


def faults_of(fork: Fork) -> tuple[str, ...]:
    """Return the codes of the faults of the host that spoilt this fork."""
    codes, gates = ([reason.code for reason in reasons] for reasons in (fork.reasons, fork.window_reasons))
    return faults(fork.status, codes, gates)
