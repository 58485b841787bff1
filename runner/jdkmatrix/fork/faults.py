"""How a fork can end badly, and whether that was a fault of the host or of the measurement, or what the server did.

Only faults are measured again. What the server did is a result, good or bad: to repeat it would keep forks that went
well and lose those that did not. So the choice is made by statuses and codes of reasons, which are all that `faults` is
given, and never by a figure; and an end that is not known is not repeated.
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


# The first that fits counts.
_ENDS: tuple[tuple[type[MatrixError], str, Kind], ...] = (
    (OutOfMemoryError, "out-of-memory", "outcome"),
    (HungError, "server-hangs", "outcome"),
    (PortTakenError, "port-taken", "fault"),
    (ServerError, "server", "outcome"),
    (SutGoneError, "server", "outcome"),
    (HttpError, "server", "outcome"),  # it answers our own questions badly, or has requests that never end
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
_ANY_OTHER = "measurement"  # what this tool could not do on this host, and says in words

KINDS: dict[str, Kind] = {
    **{code: kind for _, code, kind in _ENDS},
    INTERNAL_ERROR: "fault",
    _ANY_OTHER: "fault",
    # The work of a request was not what it should be: the clock of the host, or another compilation of it.
    BURN_OFF: "fault",
    # Boxes are there to be run into.
    **dict.fromkeys(LIMIT_CODES, "outcome"),
    # What the server owed under the load: a shortfall of a window (Window.shortfalls), and no fault wherever it stands.
    **dict.fromkeys(("no-answers", "rate-missed", "errors"), "outcome"),
}


def code_of(error: MatrixError) -> str:
    """How a reason calls it."""
    return next((code for kind, code, _ in _ENDS if isinstance(error, kind)), _ANY_OTHER)


def faults(status: Status, ends: Iterable[str], gates: Iterable[str]) -> tuple[str, ...]:
    """The codes of the faults that have spoilt a fork, so that it says nothing of the server; empty: it stands. Pure.

    `ends`: codes of the reasons of the fork itself; `gates`: codes of the reasons why windows are invalid. A gate that
    was not passed is a fault by what it is (Window.reasons), an end only where `KINDS` says so; `KILLED` always
    is one.
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
    """The codes of the faults of the host that spoilt this fork."""
    codes, gates = ([reason.code for reason in reasons] for reasons in (fork.reasons, fork.window_reasons))
    return faults(fork.status, codes, gates)
