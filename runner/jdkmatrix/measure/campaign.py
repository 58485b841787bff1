"""A run: every fork of a plan, one after another, each on disk before the next one starts."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.drivers.base import Driver
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.measure.fork import ForkSetup, Listener, measure_fork
from jdkmatrix.measure.identity import identity_of
from jdkmatrix.measure.pinning import Pinner
from jdkmatrix.plan import Plan, PlannedFork
from jdkmatrix.records import CellKey, CellRecord, Fork, HostFacts, Identity, Load
from jdkmatrix.store.runs import RunStore, UnreadableError
from jdkmatrix.sut.instance import Instance


@dataclass(frozen=True)
class CellParts:
    """What one cell is measured with. `inputs`: the versions and hashes of its parts, as JSON."""

    driver: Driver
    cpu_sets: CpuSets
    burn_rounds: int
    jvm_flags: Mapping[str, str]
    instance: Instance
    inputs: Mapping[str, Any]


class CampaignListener(Listener, Protocol):
    """Hears how a run goes on."""

    def fork_started(self, planned: PlannedFork) -> None: ...

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None: ...

    def notice(self, text: str) -> None: ...


@dataclass(frozen=True)
class Campaign:
    matrix: Matrix
    profile: Profile
    plan: Plan
    parts: Mapping[CellKey, CellParts]  # of every cell that is not "not testable"
    host: HostFacts
    pinner: Pinner
    store: RunStore

    def measure(self, listener: CampaignListener) -> None:
        """Measure every fork that the store does not have yet."""
        cells = {key: self._open_cell(key, listener) for key in self.parts}
        for planned in self.remaining(cells):
            listener.fork_started(planned)
            fork = measure_fork(self._setup(planned, cells[planned.key].load), listener)
            cell = with_fork(cells[planned.key], fork)
            self.store.save_cell(cell)
            cells[planned.key] = cell
            listener.fork_finished(fork, cell)

    def remaining(self, cells: Mapping[CellKey, CellRecord]) -> tuple[PlannedFork, ...]:
        """The planned forks that are not recorded, in order."""
        done = {(key, fork.fork) for key, cell in cells.items() for fork in cell.forks}
        return tuple(planned for planned in self.plan.forks if (planned.key, planned.fork) not in done)

    def identity(self, key: CellKey) -> Identity:
        parts = self.parts[key]
        return identity_of(
            {
                "cell": key.model_dump(),
                "load": self.matrix.loads[key.load].model_dump(),
                "windows": self.profile.windows,
                "window_s": self.profile.window_s,
                "warmup": self.matrix.warmup.model_dump(),
                "measure": self.matrix.measure.model_dump(),
                "thresholds": self.matrix.thresholds.model_dump(),
                "burn_rounds": parts.burn_rounds,
                "driver": parts.driver.facts.model_dump(),
                "sut_cpus": list(parts.cpu_sets.sut),
                "driver_cpus": list(parts.cpu_sets.driver),
                "host": {
                    "hostname_hash": self.host.hostname_hash,
                    "cpu": self.host.cpu.model,
                    "kernel": self.host.kernel,
                },
                **parts.inputs,
            }
        )

    def _open_cell(self, key: CellKey, listener: CampaignListener) -> CellRecord:
        """The cell as far as it is measured; what cannot be read or was made of other parts is set aside."""
        identity = self.identity(key)
        parts = self.parts[key]
        fresh = CellRecord(
            key=key,
            load=self.matrix.loads[key.load],
            identity=identity,
            burn_rounds=parts.burn_rounds,
            jvm_flags=dict(parts.jvm_flags),
            forks=(),
        )
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

    def _setup(self, planned: PlannedFork, load: Load) -> ForkSetup:
        parts = self.parts[planned.key]
        log_dir = self.store.log_dir(planned.key, planned.fork)
        scratch = self.store.directory / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        return ForkSetup(
            planned=planned,
            load=load,
            matrix=self.matrix,
            windows=self.profile.windows,
            window_s=self.profile.window_s,
            burn_rounds=parts.burn_rounds,
            cpu_sets=parts.cpu_sets,
            pinner=self.pinner,
            driver=parts.driver,
            instance=parts.instance,
            scratch=scratch,
            log_dir=log_dir,
            log_prefix=f"../{log_dir.relative_to(self.store.directory)}",
        )


def with_fork(cell: CellRecord, fork: Fork) -> CellRecord:
    """`cell` with one more fork, in the order of their numbers."""
    forks = sorted((*cell.forks, fork), key=lambda f: f.fork)
    return cell.model_copy(update={"forks": tuple(forks)})


def differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Sequence[str]:
    """The keys whose values differ."""
    return sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
