"""Every property, and the examination of a host."""

from __future__ import annotations

from jdkmatrix.doctor.base import AnyProperty, Check, Host, HostChange, Property
from jdkmatrix.doctor.cpu_frequency import Boost, CStates, Governor
from jdkmatrix.doctor.cpu_sharing import CpuCount, CpuQuota, Interrupts, Isolation, Smt
from jdkmatrix.doctor.limits import Aslr, OpenFiles, PerfEvents, Processes
from jdkmatrix.doctor.machine import ClockSource, Machine
from jdkmatrix.doctor.memory import Disk, Memory, Swap, TransparentHugePages
from jdkmatrix.doctor.network import EphemeralPorts, ListenQueue, SynQueue
from jdkmatrix.doctor.noise import ForeignLoad, Hiccups, Load, PressureStall, Steal

# In the order in which they are read: averages before the samples that this program disturbs them with, and the
# spinning last.
PROPERTIES: tuple[AnyProperty, ...] = (
    Load(),
    PressureStall(),
    ForeignLoad(),
    Machine(),
    ClockSource(),
    CpuCount(),
    CpuQuota(),
    Smt(),
    Isolation(),
    Interrupts(),
    Governor(),
    Boost(),
    CStates(),
    Memory(),
    Swap(),
    TransparentHugePages(),
    Disk(),
    Aslr(),
    PerfEvents(),
    OpenFiles(),
    Processes(),
    EphemeralPorts(),
    ListenQueue(),
    SynQueue(),
    Steal(),
    Hiccups(),
)


def examine(host: Host) -> tuple[Check, ...]:
    """Read and judge everything; takes the two samples, so about 3 s."""
    return tuple(known.check(known.read(host)) for known in PROPERTIES)


def proposed(host: Host) -> tuple[HostChange, ...]:
    """Changes that would make this host quieter. Only what can be fixed is read: no CPU spins for it."""
    fixable = [known for known in PROPERTIES if type(known).fix is not Property.fix]
    return tuple(change for known in fixable for change in known.check(known.read(host)).changes)
