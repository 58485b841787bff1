"""A run: every fork of a plan, one after another, each on disk before the next one starts."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from jdkmatrix.alone.fork import AloneSetup, measure_alone
from jdkmatrix.alone.parts import AloneParts
from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.measure.blocks import decide, words
from jdkmatrix.measure.draft import CellParts, ForkSetup
from jdkmatrix.measure.fork import measure_fork
from jdkmatrix.measure.identity import identity_of
from jdkmatrix.measure.pinning import Pinner
from jdkmatrix.measure.warmup import load_statistics
from jdkmatrix.measure.windows import Listener
from jdkmatrix.plan import Plan, PlannedFork
from jdkmatrix.records import (
    AnyCell,
    CellKey,
    CellLoad,
    CellRecord,
    ExperimentFork,
    ExperimentRecord,
    Fork,
    HostFacts,
    Identity,
    TaskLoad,
)
from jdkmatrix.store.runs import RunStore, UnreadableError


class CampaignListener(Listener, Protocol):
    """Hears how a run goes on."""

    def forks_ahead(self, forks: int) -> None:
        """So many are left to measure, as far as is known; told at the start and when it changes."""

    def fork_started(self, planned: PlannedFork) -> None: ...

    def fork_finished(self, fork: Fork | ExperimentFork, cell: AnyCell) -> None: ...

    def decided(self, text: str) -> None:
        """Whether a group of cells gets another block, and why."""

    def notice(self, text: str) -> None: ...


@dataclass(frozen=True)
class Campaign:
    matrix: Matrix
    profile: Profile
    plan: Plan
    parts: Mapping[CellKey, CellParts | AloneParts]  # of every cell that is not "not testable"
    host: HostFacts
    pinner: Pinner
    store: RunStore

    def measure(self, listener: CampaignListener) -> tuple[str, ...]:
        """Measure every fork that is needed and that the store does not have yet; returns the order of all that are
        recorded then."""
        load_statistics()
        cells = {key: self._open_cell(key, listener) for key in self.parts}
        listener.forks_ahead(sum(planned.fork not in recorded(cells[planned.key]) for planned in self.plan.sure))
        stopped: set[CellKey] = set()
        order: list[str] = []
        for planned in self.plan.forks:
            group = planned.key.group
            if group not in stopped and planned.position == 1 and self._has_enough(planned, cells, listener):
                stopped.add(group)
            if group in stopped:
                continue
            order.append(planned.label)
            if planned.fork in recorded(cells[planned.key]):
                continue
            cells[planned.key] = self._measured(replace(planned, sequence=len(order)), cells[planned.key], listener)
        return tuple(order)

    def _measured(self, planned: PlannedFork, cell: AnyCell, listener: CampaignListener) -> AnyCell:
        """`cell` with this fork, on disk."""
        listener.fork_started(planned)
        parts = self.parts[planned.key]
        if isinstance(cell, CellRecord) and isinstance(parts, CellParts):
            cell = with_fork(cell, measure_fork(self._setup(planned, cell.load, parts), listener))
        elif isinstance(cell, ExperimentRecord) and isinstance(parts, AloneParts):
            cell = with_fork(cell, measure_alone(self._alone_setup(planned, cell.load, parts), listener))
        self.store.save_cell(cell)
        listener.fork_finished(next(fork for fork in cell.forks if fork.fork == planned.fork), cell)
        return cell

    def _has_enough(self, first: PlannedFork, cells: Mapping[CellKey, AnyCell], listener: CampaignListener) -> bool:
        """Is the block that `first` begins not needed? An experiment without a server makes no ratios: it has as many
        blocks as any needs."""
        rules = self.profile.stopping
        done = first.fork - 1
        if rules is None or done < rules.min_blocks:
            return False
        if not first.key.has_server:
            return True
        group = [cell for key, cell in cells.items() if key.group == first.key.group and isinstance(cell, CellRecord)]
        decision = decide(group, done, rules)
        if any(first.fork not in recorded(cell) for cell in group):
            listener.decided(f"{first.key.group_id}: {words(decision, done, rules)}")
            listener.forks_ahead(0 if decision.stop else len(group))
        return decision.stop

    def identity(self, key: CellKey) -> Identity:
        parts = self.parts[key]
        return identity_of(
            {
                "cell": key.model_dump(),
                "windows": self.profile.windows,
                "window_s": self.profile.window_s,
                "thresholds": self.matrix.thresholds.model_dump(),
                "burn_rounds": parts.burn_rounds,
                "sut_cpus": list(parts.cpu_sets.sut),
                "driver_cpus": list(parts.cpu_sets.driver),
                "remote_cpus": list(parts.cpu_sets.remote),
                "remote": self.matrix.remote.model_dump() if parts.remote else None,
                "host": {
                    "hostname_hash": self.host.hostname_hash,
                    "cpu": self.host.cpu.model,
                    "kernel": self.host.kernel,
                },
                **(self._served_inputs(key, parts) if isinstance(parts, CellParts) else self._alone_inputs(key)),
                **parts.inputs,
            }
        )

    def _served_inputs(self, key: CellKey, parts: CellParts) -> dict[str, Any]:
        return {
            "load": self.matrix.loads[key.load].model_dump(),
            "precision": self.profile.promised_precision,
            "warmup": self.matrix.warmup.model_dump(),
            "measure": self.matrix.measure.model_dump(),
            "driver": parts.driver.facts.model_dump(),
        }

    def _alone_inputs(self, key: CellKey) -> dict[str, Any]:
        return {"load": self.matrix.task_loads[key.load].model_dump()}

    def _fresh(self, key: CellKey, identity: Identity) -> AnyCell:
        parts = self.parts[key]
        if isinstance(parts, AloneParts):
            return ExperimentRecord(
                key=key,
                load=self.matrix.task_loads[key.load],
                identity=identity,
                parameters=parts.experiment.model_dump(mode="json", exclude_none=True),
                burn_rounds=parts.burn_rounds,
                jvm_flags=dict(parts.jvm_flags),
                forks=(),
            )
        return CellRecord(
            key=key,
            load=self.matrix.loads[key.load],
            identity=identity,
            burn_rounds=parts.burn_rounds,
            jvm_flags=dict(parts.jvm_flags),
            forks=(),
        )

    def _open_cell(self, key: CellKey, listener: CampaignListener) -> AnyCell:
        """The cell as far as it is measured; what cannot be read or was made of other parts is set aside."""
        identity = self.identity(key)
        fresh = self._fresh(key, identity)
        try:
            found = self.store.read_cell(key)
        except UnreadableError as error:
            aside = self.store.set_aside(key, "unreadable")
            listener.notice(f"{error}; kept as {aside.name}, the cell is measured again")
            return fresh
        if found is None:
            return fresh
        if found.identity.digest != identity.digest:
            aside = self.store.set_aside(key, "superseded")
            changed = ", ".join(differing(found.identity.inputs, identity.inputs))
            listener.notice(f"{key.cell_id}: {changed} changed; kept as {aside.name}, the cell is measured again")
            return fresh
        return found

    def _alone_setup(self, planned: PlannedFork, load: TaskLoad, parts: AloneParts) -> AloneSetup:
        log_dir = self.store.new_log_dir(planned.key, planned.fork)
        return AloneSetup(
            planned=planned,
            load=load,
            matrix=self.matrix,
            duration_s=self.profile.windows * self.profile.window_s,
            parts=parts,
            pinner=self.pinner,
            log_dir=log_dir,
            log_prefix=self._log_prefix(log_dir),
        )

    def _setup(self, planned: PlannedFork, load: CellLoad, parts: CellParts) -> ForkSetup:
        log_dir = self.store.new_log_dir(planned.key, planned.fork)
        scratch = self.store.directory / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        return ForkSetup(
            planned=planned,
            load=load,
            matrix=self.matrix,
            windows=self.profile.windows,
            window_s=self.profile.window_s,
            precision=self.profile.promised_precision,
            burn_rounds=parts.burn_rounds,
            cpu_sets=parts.cpu_sets,
            pinner=self.pinner,
            driver=parts.driver,
            instance=parts.instance,
            kernel=parts.kernel,
            workload=parts.workload,
            remote=parts.remote,
            mix=parts.mix,
            calibration=parts.calibration,
            scratch=scratch,
            log_dir=log_dir,
            log_prefix=self._log_prefix(log_dir),
        )

    def _log_prefix(self, log_dir: Path) -> str:
        return f"../{log_dir.relative_to(self.store.directory)}"


def recorded(cell: AnyCell) -> frozenset[int]:
    """The numbers of its forks."""
    return frozenset(fork.fork for fork in cell.forks)


Cell = TypeVar("Cell", CellRecord, ExperimentRecord)


def with_fork(cell: Cell, fork: Fork | ExperimentFork) -> Cell:
    """`cell` with one more fork of its kind, in the order of their numbers."""
    forks = sorted((*cell.forks, fork), key=lambda f: f.fork)
    return cell.model_copy(update={"forks": tuple(forks)})


def differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Sequence[str]:
    """The keys whose values differ."""
    return sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
