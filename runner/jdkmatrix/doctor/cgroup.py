"""Find the limits of this process's control groups, in either version (cgroups(7))."""

from __future__ import annotations

from jdkmatrix.doctor.base import Host
from jdkmatrix.host.cgroup_limits import read_hierarchies


def limit_files(host: Host, controller: str, v1_name: str, v2_name: str) -> tuple[str, ...] | None:
    """The files that limit this process, its own group's first, then those of the groups above it: the tightest
    counts.

    None where the kernel does not say which groups these are.
    """
    if host.text("/proc/self/cgroup") is None:
        return None
    files = []
    for hierarchy in read_hierarchies(host.at("/proc")):
        if hierarchy.version == 2 or controller in hierarchy.controllers:
            name = v2_name if hierarchy.version == 2 else v1_name
            files += [str(group / name) for group in hierarchy.upwards]
    return tuple(file for file in files if host.at(file).is_file())
