"""Applications of the user on the page of a run: what they were, and what is not known of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jdkmatrix.domain.quantities import per_cent
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.kinds import Fact, Notice
from jdkmatrix.servers.outside import PLATFORM_BELOW, VIRTUAL_AT_LEAST


@dataclass(frozen=True)
class OwnApplicationFacts:
    """`files`: that it was made of; `how`: it was started. In words."""

    workload: str
    path: str
    files: str
    how: str


def own_applications(run: RunRecord) -> Iterator[OwnApplicationFacts]:
    """Those that this run has measured."""
    parts = {part.part: part.detail for part in run.provenance.parts} if run.provenance else {}
    for name in dict.fromkeys(key.workload for key in run.cells):
        own = (run.matrix.get("workloads", {}).get(name) or {}).get("own")
        if own:
            arms = "; ".join(f"{arm}: {options or 'as it is'}" for arm, options in (own.get("arms") or {}).items())
            how = f"started by {own['command']} ({arms})" if own.get("command") else f"deployed from {own['war']}"
            yield OwnApplicationFacts(name, own["path"], parts.get(name, "its files were not recorded"), how)


def own_facts(run: RunRecord) -> Iterator[Fact]:
    for one in own_applications(run):
        yield Fact("Application", f"{one.workload}, GET {one.path}; {one.files}", one.how)


def own_notices(run: RunRecord) -> Iterator[Notice]:
    for one in own_applications(run):
        yield Notice(
            "info",
            "Proven from outside",
            f"{one.workload}: {one.files}; {one.how}. Nothing of this project is in it. On which threads it serves was "
            "seen in thread dumps under load before the warm-up, and by the CPU time of its threads then and in every "
            f"window: carriers of virtual threads must have at least {per_cent(VIRTUAL_AT_LEAST)} of it where virtual "
            f"threads are promised, and less than {per_cent(PLATFORM_BELOW)} elsewhere. Not known, and missing here: "
            "requests by thread, time in collections, heap, allocation. So the gates of a growing heap and of requests "
            "that were not counted could not judge its windows.",
        )
