"""A run, or a stage of one, that is ready to be measured. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.records.provenance import Provenance
from jdkmatrix.records.run import Calibration, DriverFacts, HostFacts, JdkRecord, ServerFacts
from jdkmatrix.run.plan import Plan


@dataclass(frozen=True)
class Prepared:
    plan: Plan
    setups: Mapping[CellKey, CellSetup]
    host: HostFacts
    servers: tuple[ServerFacts, ...]
    drivers: tuple[DriverFacts, ...]
    jdks: tuple[JdkRecord, ...]
    calibration: Calibration | None  # None: nothing burns
    provenance: Provenance
    notes: tuple[str, ...]


def distinct(facts: Iterable[DriverFacts]) -> tuple[DriverFacts, ...]:
    """Return the facts with each name once."""
    return tuple({fact.name: fact for fact in facts}.values())


def together(stages: Sequence[Prepared]) -> Prepared:
    """Merge the stages prepared so far, in their order, into one for the record of the run."""
    *_, last = stages
    plans = [stage.plan for stage in stages]
    selected = {jdk.id: jdk for stage in stages for jdk in stage.jdks if jdk.selected}
    return Prepared(
        plan=Plan(
            cells=tuple(cell for plan in plans for cell in plan.cells),
            not_testable=tuple(entry for plan in plans for entry in plan.not_testable),
            forks=tuple(fork for plan in plans for fork in plan.forks),
            blocks=last.plan.blocks,
            seed=last.plan.seed,
        ),
        setups={key: setup for stage in stages for key, setup in stage.setups.items()},
        host=last.host,
        servers=tuple({server.id: server for stage in stages for server in stage.servers}.values()),
        drivers=distinct(driver for stage in stages for driver in stage.drivers),
        jdks=tuple(selected.get(jdk.id, jdk) for jdk in last.jdks),
        calibration=last.calibration,
        provenance=Provenance(
            inputs=last.provenance.inputs,
            parts=tuple({part.part: part for stage in stages for part in stage.provenance.parts}.values()),
        ),
        notes=tuple(dict.fromkeys(note for stage in stages for note in stage.notes)),
    )
