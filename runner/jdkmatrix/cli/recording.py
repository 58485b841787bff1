"""The record of a run in progress: saved from a session's first fork on, and with every stage that begins."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from jdkmatrix import __version__
from jdkmatrix.cli.own import from_anywhere
from jdkmatrix.cli.scenarios import Chosen
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.fork_record import now_utc
from jdkmatrix.host.facts import boot_id
from jdkmatrix.probes.clock_speed import clock_reader
from jdkmatrix.provision.nix_parts import handed_over
from jdkmatrix.provision.project import Project
from jdkmatrix.records.run import BasisCapacity, Calibration, HostFacts, NotTestable, RunRecord, Session, Stopping
from jdkmatrix.run.capacities import FOLDER as CAPACITY_FOLDER
from jdkmatrix.run.identity import calibration_of, host_inputs, is_same_host
from jdkmatrix.run.origins import source_revision
from jdkmatrix.run.plan import Stage, stages
from jdkmatrix.run.prepare import catalogue_records
from jdkmatrix.run.prepared import Prepared, together
from jdkmatrix.store.atomic import write_atomic
from jdkmatrix.store.runs import RunStore

T = TypeVar("T")
_CALIBRATION = "calibration.json"  # beside capacities, which may be measured before there is a run.json


@dataclass
class Recording:
    """`earlier`: the record of a run that is continued; `seed`: for the order of forks. `record`: None before a fork of
    this session is measured."""

    project: Project
    chosen: Chosen
    earlier: RunRecord | None
    store: RunStore
    confiner: Confiner
    stages: tuple[Stage, ...] = field(init=False)
    seed: int = field(init=False)
    record: RunRecord | None = field(default=None, init=False)
    _prepared: list[Prepared] = field(default_factory=list, init=False)
    _refused: list[NotTestable] = field(default_factory=list, init=False)
    _started_s: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        options = self.chosen.options
        self.stages = stages(self.chosen.matrix, options.profile)
        self.seed = self.earlier.seed if self.earlier else options.order_seed()

    @property
    def session(self) -> int:
        """The number of the session that begins now."""
        return 1 + len(self.earlier.sessions) if self.earlier else 1

    def keep_calibration(self, stage: Prepared) -> None:
        """Save the calibration, so that capacities that come next stand if the run is begun again in its folder."""
        if stage.calibration:
            kept = {"host": self._host(stage.host), "calibration": stage.calibration.model_dump(mode="json")}
            write_atomic(self._kept_calibration, json.dumps(kept, indent=1))

    def known_calibration(self, host: HostFacts) -> Calibration | None:
        """Return that of the continued run, or else one that was kept; None where this host is another than it was. Its
        clock is not known where something else has read it than what reads the clock of forks now."""
        known = self._known_calibration(host)
        if known is None or known.clock_reader == clock_reader():
            return known
        return known.model_copy(update={"clock_speed": None})

    def _known_calibration(self, host: HostFacts) -> Calibration | None:
        if self.earlier and (known := calibration_of(self.earlier, host, self.confiner.method)):
            return known
        try:
            kept = json.loads(self._kept_calibration.read_text("utf-8"))
            return Calibration.model_validate(kept["calibration"]) if kept["host"] == self._host(host) else None
        except (OSError, ValueError, LookupError, TypeError):  # there is none, or it is damaged
            return None

    @property
    def _kept_calibration(self) -> Path:
        return self.store.directory / CAPACITY_FOLDER / _CALIBRATION

    def _host(self, host: HostFacts) -> dict[str, Any]:
        return host_inputs(host, self.confiner.method)

    def add(self, stage: Prepared) -> None:
        self._prepared.append(stage)

    def no_longer(self) -> tuple[NotTestable, ...]:
        """Return the cells that an earlier session could measure on this same host, and this one cannot: their JDK
        cannot be had today, say. What was measured of them stands, and the rest is still to be measured."""
        earlier, prepared = self.earlier, self._prepared
        if earlier is None or not prepared or not is_same_host(earlier, prepared[0].host, self.confiner.method):
            return ()
        return tuple(one for one in self._refusals() if one.key not in earlier.refused)

    def refuse(self, cells: Sequence[NotTestable]) -> None:
        """Add the cells of a stage of which nothing can be measured."""
        self._refused += cells
        if self.record:
            self.record = self.record.model_copy(update={"not_testable": self._not_testable()})

    def _refusals(self) -> tuple[NotTestable, ...]:
        return (*together(self._prepared).plan.not_testable, *self._refused)

    def _not_testable(self) -> tuple[NotTestable, ...]:
        waiting = {one.key for one in self.no_longer()}
        return tuple(one for one in self._refusals() if one.key not in waiting)

    def begin(self, capacities: Iterable[BasisCapacity]) -> None:
        """Save a record of the stages added so far. `capacities`: those of an earlier session that still stand, too."""
        prepared = together(self._prepared)
        if self.record:
            sessions = self.record.sessions
        else:
            self._started_s = time.monotonic()
            sessions = (
                *(close_killed(self.earlier.sessions) if self.earlier else ()),
                self._session(prepared.host),
            )
        self.record = self._with_earlier(self._made(prepared, sessions, tuple(capacities)), prepared)
        self.store.save_run(self.record)

    def order(self, labels: tuple[str, ...]) -> None:
        """Record the labels of all forks when a stage has ended."""
        if self.record:
            self.record = self.record.model_copy(update={"order": labels})

    def end(self, status: Literal["complete", "interrupted"], order: tuple[str, ...]) -> None:
        """End the session. `order`: of what earlier sessions measured, where this one measured nothing."""
        if self.record is None:
            if status == "complete" and self.earlier:
                self.store.save_run(complete_idle(self.earlier, order=order))
            return
        self.record = end_session(self.record, status, now_utc(), time.monotonic() - self._started_s)
        self.store.save_run(self.record)
        if status == "complete":  # uses the network, and may be stopped
            jdks = catalogue_records(self.project, together(self._prepared))
            self.store.save_run(self.record.model_copy(update={"jdks": jdks}))

    def _session(self, host: HostFacts) -> Session:
        commit, dirty = source_revision(self.project.root, handed_over())
        return Session(
            number=self.session,
            started_at=now_utc(),
            ended_at=None,
            status="running",
            tool_version=__version__,
            git_commit=commit,
            git_dirty=dirty,
            command=from_anywhere(self.chosen.options.command or tuple(sys.argv), Path.cwd()),
            host=host,
            boot_id=boot_id(),
            confinement=self.confiner.method,
            why_not_cgroup=self.confiner.why_not_cgroup,
        )

    def _with_earlier(self, made: RunRecord, prepared: Prepared) -> RunRecord:
        """Add what an earlier session recorded of stages that this one has not reached, and may never reach."""
        earlier = self.earlier
        if earlier is None or len(self._prepared) == len(self.stages):
            return made
        selected = {jdk.id: jdk for jdk in earlier.jdks if jdk.selected}
        parts = _also(made.provenance.parts, earlier.provenance.parts, "part")
        testable = set(prepared.setups)
        return made.model_copy(
            update={
                "servers": _also(made.servers, earlier.servers, "id"),
                "drivers": _also(made.drivers, earlier.drivers, "name"),
                "not_testable": tuple(
                    one for one in _also(made.not_testable, earlier.not_testable, "key") if one.key not in testable
                ),
                "jdks": tuple(jdk if jdk.selected else selected.get(jdk.id, jdk) for jdk in made.jdks),
                "provenance": made.provenance.model_copy(update={"parts": parts}),
                "notes": tuple(dict.fromkeys((*made.notes, *earlier.notes))),
            }
        )

    def _made(
        self, prepared: Prepared, sessions: tuple[Session, ...], capacities: tuple[BasisCapacity, ...]
    ) -> RunRecord:
        matrix, options = self.chosen.matrix, self.chosen.options
        profile = matrix.profiles[options.profile]
        return RunRecord(
            run_id=self.earlier.run_id if self.earlier else self.store.directory.name,
            profile=options.profile,
            scenario=self.chosen.scenario,
            selection={axis: tuple(values) for axis, values in options.values.items()}
            | ({"aa": (options.aa,)} if options.aa else {})
            | ({"cpu_quota": tuple(f"{cpus:g}" for cpus in options.quotas_cpus)} if options.quotas_cpus else {}),
            seed=self.seed,
            ended_at=None,
            status="running",
            matrix=matrix.model_dump(mode="json", by_alias=True, exclude={"scenarios"}),
            servers=prepared.servers,
            drivers=prepared.drivers,
            jdks=prepared.jdks,
            calibrations=(prepared.calibration,) if prepared.calibration else (),
            capacities=capacities,
            cells=tuple(cell for stage in self.stages for cell in stage.cells),
            not_testable=self._not_testable(),
            order=prepared.plan.order,
            stopping=Stopping.model_validate(asdict(profile.stopping)) if profile.stopping else None,
            promised_precision=profile.promised_precision,
            provenance=prepared.provenance,
            notes=prepared.notes,
            sessions=sessions,
        )


def _also(now: Sequence[T], then: Sequence[T], name: str) -> tuple[T, ...]:
    """Return `now`, and those of `then` whose `name` does not occur in it."""
    known = {getattr(one, name) for one in now}
    return (*now, *(one for one in then if getattr(one, name) not in known))


def close_killed(sessions: Sequence[Session]) -> tuple[Session, ...]:
    """Return the earlier sessions when another begins: one that did not say how it ended was killed."""
    return tuple(
        session.model_copy(update={"status": "interrupted"}) if session.status == "running" else session
        for session in sessions
    )


def end_session(run: RunRecord, status: Literal["complete", "interrupted"], at: str, duration_s: float) -> RunRecord:
    """Return `run` with its latest session ended at this time of day, after this duration."""
    *earlier, latest = run.sessions
    last = latest.model_copy(update={"status": status, "ended_at": at, "duration_s": duration_s})
    return run.model_copy(update={"status": status, "ended_at": at, "sessions": (*earlier, last)})


def complete_idle(run: RunRecord, *, order: tuple[str, ...]) -> RunRecord:
    """Complete a run that was continued and had nothing left to measure, even one that was killed before it could say
    so."""
    if run.status == "complete":
        return run
    return run.model_copy(update={"status": "complete", "order": order, "sessions": close_killed(run.sessions)})
