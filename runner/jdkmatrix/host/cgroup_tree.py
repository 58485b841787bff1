"""Hand controllers of cgroups of version 2 down to cgroups of our own. The deciding rules are those of the kernel's
Documentation/admin-guide/cgroup-v2.rst:

- The controller must be handed down: it is in the parent's cgroup.controllers, then in its cgroup.subtree_control.
- A cgroup with processes of its own, such as the runner's, can hand down only threaded controllers (cpuset and pids
  are, memory is not), and only to threaded children; so it must have no other children with processes.
- A user other than root must be able to write in the nearest cgroup above both the old and the new place of a process.

The runner's own cgroup and the processes in it stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.host import cgroup_folders as folders
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.host.cgroup_limits import read_hierarchies

_THREADED_CONTROLLERS = frozenset({"cpu", "cpuset", "perf_event", "pids"})
_ADVICE = "root can start this in a scope of its own: systemd-run --scope -p Delegate=yes"


@dataclass(frozen=True)
class CgroupState:
    """Facts that decide which cgroups can be made below `parent`. `is_root`: it is the root of the hierarchy, to which
    the rule about own processes does not apply. `type`: cgroup.type. `busy_children`: those that have processes.
    `may_hand_down`: this user may write to cgroup.subtree_control. `v1_controllers`: those in hierarchies of version 1.
    """

    parent: Path
    is_root: bool
    type: str
    controllers: frozenset[str]
    handed_down: frozenset[str]
    has_processes: bool
    busy_children: tuple[str, ...]
    writable: bool
    may_hand_down: bool
    read_only: bool
    v1_controllers: frozenset[str]

    @property
    def threaded(self) -> bool:
        """True if its children must be threaded."""
        return not self.is_root and (self.has_processes or self.type in ("threaded", "domain threaded"))


def probe(proc: Path = Path("/proc"), parent: Path | None = None) -> CgroupState | None:
    """Look at `parent` (default: the cgroup of this process); None if no hierarchy of version 2 is mounted."""
    hierarchies = read_hierarchies(proc)
    unified = next((hierarchy for hierarchy in hierarchies if hierarchy.version == 2), None)
    if unified is None:
        return None
    folder = parent or unified.folder
    return CgroupState(
        parent=folder,
        is_root=not (folder / "cgroup.type").exists(),
        type=folders.read(folder / "cgroup.type"),
        controllers=frozenset(folders.read(folder / "cgroup.controllers").split()),
        handed_down=_handed_down(folder),
        has_processes=bool(folders.read(folder / "cgroup.procs")),
        busy_children=tuple(
            child.name
            for child in sorted(folder.glob("*/"))
            if not folders.is_ours(child) and "populated 1" in folders.read(child / "cgroup.events")
        ),
        writable=all(os.access(path, os.W_OK) for path in (folder, folder / "cgroup.procs")),
        may_hand_down=os.access(folder / "cgroup.subtree_control", os.W_OK),
        read_only=folders.is_read_only(folder),
        v1_controllers=frozenset(name for hierarchy in hierarchies for name in hierarchy.controllers),
    )


def why_not(state: CgroupState | None, controller: str) -> str | None:
    """Say why cgroups with this controller cannot be made; None when nothing prevents it. Pure."""
    return next(_obstacles(state, controller), None)


def _obstacles(state: CgroupState | None, controller: str) -> Iterator[str]:
    if state is None:
        yield "no cgroup hierarchy of version 2 is mounted"
        return
    where = f"the cgroup {state.parent}"
    if controller in state.v1_controllers:
        yield f"the {controller} controller is in a cgroup hierarchy of version 1"
    if controller not in state.controllers:
        yield f"{where} does not have the {controller} controller; {_ADVICE}"
    if state.read_only:
        yield f"{where} is mounted read-only"
    if not state.writable or not (state.may_hand_down or controller in state.handed_down):
        yield f"this user may not write in {where}; {_ADVICE}"
    if state.type == "domain invalid":
        yield f"{where} is below a threaded cgroup and cannot be used"
    if state.threaded and controller not in _THREADED_CONTROLLERS:
        yield f"{where} has processes, and so cannot hand down the {controller} controller"
    if state.threaded and state.type == "domain":
        if state.busy_children:
            children = ", ".join(state.busy_children)
            yield f"{where} has processes, as does {children} in it, so nothing can be handed down; {_ADVICE}"
        domain = sorted(state.handed_down - _THREADED_CONTROLLERS)
        if domain:
            yield f"{where} hands down {', '.join(domain)}: its children cannot be threaded"


@contextmanager
def children(state: CgroupState, roles: Sequence[str], controllers: Collection[str]) -> Iterator[dict[str, Path]]:
    """Make a cgroup per role below `state.parent`, all with these controllers; leave nothing behind, neither of ours
    nor of a killed runner.

    Processes still in one at the end go back to the runner's own cgroup. Controllers are taken back from the parent if
    they were handed down here and no other runner uses them.

    Raises:
        CgroupError: it cannot be done; then nothing is changed.
    """
    remove_leftovers(state.parent)
    added = frozenset(controllers) - _handed_down(state.parent)
    made: dict[str, Path] = {}
    try:
        if added:
            folders.write(state.parent / "cgroup.subtree_control", _signed("+", added))
        for role in roles:
            made[role] = folders.make(state.parent, role, added)
            if state.threaded:
                folders.write(made[role] / "cgroup.type", "threaded")
        yield made
    finally:
        home = own_folder() or state.parent
        for folder in made.values():
            folders.remove(folder, home)
        _take_back(state.parent, added)


def remove_leftovers(parent: Path, proc: Path = Path("/proc")) -> tuple[Path, ...]:
    """Remove the cgroups of runners that are gone, and return them. The controllers that such a runner handed down are
    taken back from `parent` if no other uses them."""
    removed = folders.remove_leftovers(parent, proc)
    _take_back(parent, frozenset[str]().union(*removed.values()))
    return tuple(removed)


def own_folder() -> Path | None:
    """Return the folder of this process in the hierarchy of version 2."""
    return next((hierarchy.folder for hierarchy in read_hierarchies(Path("/proc")) if hierarchy.version == 2), None)


def _handed_down(parent: Path) -> frozenset[str]:
    return frozenset(folders.read(parent / "cgroup.subtree_control").split())


def _take_back(parent: Path, controllers: frozenset[str]) -> None:
    """Take controllers back, unless a runner has a cgroup here: the kernel would take them away from that one too."""
    if not controllers or any(folders.is_ours(child) for child in parent.iterdir()):
        return
    try:
        folders.write(parent / "cgroup.subtree_control", _signed("-", controllers))
    except CgroupError:
        return  # a child hands one down further: somebody else has begun to use it


def _signed(sign: str, controllers: frozenset[str]) -> str:
    return " ".join(f"{sign}{controller}" for controller in sorted(controllers))
