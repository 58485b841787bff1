"""Which system properties of the scheduler of virtual threads a JDK has: a property that it does not know changes
nothing, and a cell that measured it would show a tuning that was none. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jdkmatrix.jdks.identify import Vm


@dataclass(frozen=True)
class Known:
    """The feature versions `first` to `last` (None: to this day) of these VMs that have a property."""

    first: int
    last: int | None = None
    vms: tuple[Vm, ...] = ("hotspot", "openj9")

    def covers(self, vm: Vm, feature_version: int) -> bool:
        return vm in self.vms and self.first <= feature_version <= (self.last or feature_version)


# Names and first versions: JEP 444 and java.lang.VirtualThread of each version. `jdk.unparker.maxPoolSize` was seen to
# make as many "VirtualThread-unparker" threads as asked on 21.0.8; on 25.0.3 nothing reads it, since timed waits are in
# the ForkJoinPool's own delay scheduler (JDK-8351927). 22 to 24 were not looked at, so they count as without it.
PROPERTIES = {
    "jdk.virtualThreadScheduler.parallelism": Known(first=21),
    "jdk.virtualThreadScheduler.maxPoolSize": Known(first=21),
    "jdk.virtualThreadScheduler.minRunnable": Known(first=21),
    "jdk.unparker.maxPoolSize": Known(first=21, last=21),
}


def unknown_properties(names: Iterable[str], vm: Vm, feature_version: int) -> list[str]:
    """A sentence for each that this JDK does not have."""
    return [
        f"JDK {feature_version} ({vm}) is not known to have {name}"
        for name in names
        if name not in PROPERTIES or not PROPERTIES[name].covers(vm, feature_version)
    ]
