"""`matrix run` and `matrix setup`: prepare, measure, keep, show."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from rich.console import Console

from jdkmatrix import __version__
from jdkmatrix.cli.between_blocks import SiteBetweenBlocks, write_site_apart
from jdkmatrix.cli.measuring import measuring
from jdkmatrix.cli.progress import Display, display
from jdkmatrix.cli.reporting import EXIT_WITH_FAILURES, folders_of, tell_damage, write_site
from jdkmatrix.cli.scenarios import Chosen, chosen_here
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.stopping import StoppedError, stoppable
from jdkmatrix.cli.summary import has_failures, print_summary
from jdkmatrix.cli.terminal import escape
from jdkmatrix.config.load import parse_matrix
from jdkmatrix.config.model import Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural
from jdkmatrix.errors import MatrixError, visible
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.fork_record import now_utc
from jdkmatrix.host.facts import boot_id
from jdkmatrix.loads.cell_loads import basis_cells
from jdkmatrix.provision.nix_parts import handed_over
from jdkmatrix.provision.project import Project, find_project
from jdkmatrix.records.run import BasisCapacity, HostFacts, RunRecord, Session, Stopping
from jdkmatrix.report.site.replace_folder import check_replaceable
from jdkmatrix.report.words.sentences import confined_words
from jdkmatrix.run.campaign import Campaign
from jdkmatrix.run.capacities import FOLDER as CAPACITY_FOLDER
from jdkmatrix.run.capacities import capacity_of, profile_of_bases
from jdkmatrix.run.origins import source_revision
from jdkmatrix.run.plan import Stage, estimate_s, select_cells, stages
from jdkmatrix.run.prepare import Prepared, catalogue_records, prepare, set_up_parts, together
from jdkmatrix.run.repeats import again_words, in_order
from jdkmatrix.run.sessions import closed, ended, idle
from jdkmatrix.servers.kinds import check_folder
from jdkmatrix.store.readable import readable
from jdkmatrix.store.runs import RUN_FILE, RunStore, is_run, latest_begun, runs_of


def set_up(options: Options) -> None:
    """Get and build what these cells need."""
    project = find_project()
    chosen = chosen_here(project, options)
    profile = chosen.options.profile
    cells = select_cells(chosen.matrix, profile, chosen.options.only)
    rules = chosen.matrix.profiles[profile]
    with stoppable():
        set_up_parts(project, chosen.matrix, cells, profile=rules, capacities_rps={}, say=_say)


def run(options: Options, *, resume: bool, directory: Path | None, site: Path | None) -> int:
    """Run, or go on with a run; returns the exit code."""
    if resume and options.given:
        which = ", ".join(options.given)
        raise MatrixError(f"--resume continues a run as it was started, which leaves nothing to choose: drop {which}")
    project = find_project()
    console = Console()
    fresh = None if resume else _asked_for(project, options, directory)
    check_replaceable(site or project.site)
    with measuring() as confiner:
        _say(f"threads are kept on their CPUs {confined_words(confiner.method, confiner.why_not_cgroup)}")
        store, chosen, earlier = _begun(fresh) if fresh else _resumed(project, directory)
        going = _Going(project, chosen, earlier, store, confiner, console)
        stopped = going.measure(SiteBetweenBlocks(partial(_write_apart, project, store, site), _say))
        if stopped:
            return stopped.exit_code
        gaps = going.gaps()
    code = conclude(project, store, site, console)
    if going.cut_short:
        raise going.cut_short
    if gaps:
        _say(f"faults of the host have left gaps in {_gaps_words(gaps)} again")
    return code


def _gaps_words(blocks: int) -> str:
    return f"{plural(blocks, 'block')}: matrix run --resume measures {'it' if blocks == 1 else 'them'}"


class _Going:
    """A run that goes on, stage by stage. `cut_short`: why a later stage could not begin; what is measured stands."""

    def __init__(
        self,
        project: Project,
        chosen: Chosen,
        earlier: RunRecord | None,
        store: RunStore,
        confiner: Confiner,
        console: Console,
    ) -> None:
        options = chosen.options
        self._project, self._chosen, self._earlier, self._store = project, chosen, earlier, store
        self._confiner, self._console = confiner, console
        self._seed = earlier.seed if earlier else options.order_seed()
        self._stages = stages(chosen.matrix, options.profile, options.only)
        self._sessions = closed(earlier.sessions) if earlier else ()
        self._capacities = earlier.capacities if earlier else ()
        self._calibration = next(iter(earlier.calibrations), None) if earlier else None
        # Those of later stages, too, so that a fork that is measured again comes behind them.
        kept = store.load().cells if earlier and len(self._stages) > 1 else ()
        self._cells = {cell.key: cell for cell in kept}
        self._opened: list[tuple[Prepared, Campaign]] = []
        self._record: RunRecord | None = None  # from the first fork on
        self._started_s = 0.0
        self.cut_short: MatrixError | None = None

    def measure(self, between: Callable[[], None]) -> StoppedError | None:
        """All that is needed; `between` is called between two blocks. Returns what stopped it."""
        status: Literal["complete", "interrupted"] = "interrupted"
        try:
            for stage in self._stages:
                if self._record:
                    between()
                try:
                    prepared, campaign = self._open(stage)
                except MatrixError as error:
                    if self._record is None:
                        raise
                    self.cut_short = error
                    return None
                self._measure_stage(stage, prepared, campaign, between)
            status = "complete"
        except StoppedError as stopped:
            if self._record is None:
                raise
            _say(f"stopped; finished work is kept in {self._store.directory} (matrix run --resume continues)")
            return stopped
        finally:
            if self._record:
                self._end(self._record, status)
        if self._record is None and self._earlier:
            _say("nothing to do: every block is complete, and no fault of the host spoilt a fork")
            self._store.save_run(idle(self._earlier, order=in_order(self._cells.values())))
        return None

    def gaps(self) -> int:
        """Blocks that faults of the host have left without a fork, where anything was measured."""
        return sum(len(campaign.needed(self._cells)) for _, campaign in self._opened) if self._record else 0

    def _open(self, stage: Stage) -> tuple[Prepared, Campaign]:
        self._know_capacities(stage)
        prepared, campaign = self._prepared(stage.profile, stage.cells, self._store)
        self._calibration = prepared.calibration
        self._cells |= campaign.open(_say)
        self._opened.append((prepared, campaign))
        return prepared, campaign

    def _measure_stage(self, stage: Stage, prepared: Prepared, campaign: Campaign, between: Callable[[], None]) -> None:
        needed = campaign.needed(self._cells)
        if self._earlier and not needed and not self._record:
            return
        for words in again_words(needed, self._cells):
            _say(words)
        if len(self._stages) > 1:
            _say(f"stage {stage.name}: {plural(len(needed), 'block')}")
        self._record = self._begun(self._record)
        self._store.save_run(self._record)
        with self._display(stage.profile, prepared) as shown:
            order = campaign.measure(self._cells, shown, between)
        self._record = self._record.model_copy(update={"order": order})

    def _begun(self, record: RunRecord | None) -> RunRecord:
        """The record of the stages that are opened; in a session of its own where there is none yet."""
        prepared = self._together()
        if record:
            sessions = record.sessions
        else:
            self._started_s = time.monotonic()
            session = _session(len(self._sessions) + 1, self._project, prepared.host, self._confiner)
            sessions = (*self._sessions, session)
        cells = tuple(cell for stage in self._stages for cell in stage.cells)
        name = self._store.directory.name
        return _record(name, self._chosen, cells, prepared, self._earlier, sessions, self._capacities, seed=self._seed)

    def _end(self, record: RunRecord, status: Literal["complete", "interrupted"]) -> None:
        if status == "complete":
            record = record.model_copy(update={"jdks": catalogue_records(self._project, self._together())})
        self._store.save_run(ended(record, status, now_utc(), time.monotonic() - self._started_s))

    def _together(self) -> Prepared:
        return together([prepared for prepared, _ in self._opened])

    def _know_capacities(self, stage: Stage) -> None:
        """Those that its loads are worked out from: by what an earlier stage measured, else by one fork of each basis;
        what an earlier try left in the run's folder counts."""
        known = {one.key: one for one in self._capacities if one.throughput_rps}
        missing = [basis for basis in basis_cells(self._chosen.matrix, stage.cells) if basis not in known]
        measured = [key for key in missing if any(key in campaign.parts for _, campaign in self._opened)]
        here = (capacity_of(key, self._cells[key], None) for key in measured)
        known |= {one.key: one for one in here if one.throughput_rps}
        if lacking := [key for key in missing if key not in known]:
            known |= {one.key: one for one in self._measure_bases(stage, lacking)}
        self._capacities = tuple(known.values())

    def _measure_bases(self, stage: Stage, bases: Sequence[CellKey]) -> list[BasisCapacity]:
        once = profile_of_bases(stage.profile)
        prepared, campaign = self._prepared(once, bases, RunStore.create(self._store.directory / CAPACITY_FOLDER))
        cells = campaign.open(_say)
        _say(f"first, the capacities that loads are derived from: {plural(len(bases), 'fork')}")
        with self._display(once, prepared) as shown:
            campaign.measure(cells, shown)
        impossible = {entry.key: entry.reason for entry in prepared.plan.not_testable}
        return [capacity_of(key, cells.get(key), impossible.get(key)) for key in bases]

    def _prepared(self, profile: Profile, cells: Sequence[CellKey], store: RunStore) -> tuple[Prepared, Campaign]:
        prepared = prepare(
            self._project,
            self._chosen.matrix,
            profile,
            cells,
            seed=self._seed,
            known_calibration=self._calibration,
            capacities_rps={one.key: one.throughput_rps for one in self._capacities if one.throughput_rps},
            confiner=self._confiner,
            say=_say,
        )
        campaign = Campaign(
            matrix=self._chosen.matrix,
            profile=profile,
            plan=prepared.plan,
            parts=prepared.parts,
            host=prepared.host,
            confiner=self._confiner,
            store=store,
            session=len(self._sessions) + 1,
        )
        return prepared, campaign

    def _display(self, profile: Profile, prepared: Prepared) -> Display:
        sure = prepared.plan.sure
        return display(self._console, estimate_s(self._chosen.matrix, profile, sure) / len(sure))


def _write_apart(project: Project, store: RunStore, site: Path | None) -> None:
    write_site_apart(project, folders_of([*runs_of(project.results), store.directory]), site)


def conclude(project: Project, store: RunStore, site: Path | None, console: Console) -> int:
    """Write the site, print the summary; returns the exit code."""
    loaded = store.load()
    try:
        built = write_site(project, folders_of([*runs_of(project.results), store.directory]), site)
    finally:
        with readable(store.directory):
            print_summary(loaded, console)
        tell_damage(loaded.damaged)
    tell_damage(built.unreadable)
    console.print(escape(f"results: {store.directory}\nsite: {built.index}"), soft_wrap=True)
    return EXIT_WITH_FAILURES if has_failures(loaded) else 0


def _asked_for(project: Project, options: Options, directory: Path | None) -> tuple[Path, Chosen]:
    """The folder and the cells of a new run, looked at before it has to wait for anything."""
    chosen = chosen_here(project, options)
    profile = chosen.options.profile
    cells = select_cells(chosen.matrix, profile, chosen.options.only)
    folder = directory or project.results / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{profile}"
    for server in {cell.server for cell in cells}:
        check_folder(server, folder)
    if (folder / "run.json").exists():
        raise MatrixError(f"{folder}: there is a run already; --resume continues it, another --run starts a new one")
    return folder, chosen


def _begun(fresh: tuple[Path, Chosen]) -> tuple[RunStore, Chosen, RunRecord | None]:
    folder, chosen = fresh
    if chosen.why:
        _say(chosen.why)
    return RunStore.create(folder), chosen, None


def _resumed(project: Project, directory: Path | None) -> tuple[RunStore, Chosen, RunRecord | None]:
    """A run goes on as it was started: with its own copy of the matrix, not with today's matrix.toml."""
    folder = directory or latest_begun(project.results)
    if not folder.is_dir():
        raise MatrixError(f"{folder}: no run there")
    if not is_run(folder):
        raise MatrixError(
            f"{folder}: stopped before it had a {RUN_FILE}, so that nothing says what it was to measure. Give its "
            f"command again with --run {folder}, which keeps what it has, or continue another: --resume --run FOLDER"
        )
    store = RunStore(folder)
    record = store.read_run()
    for server in {cell.server for cell in record.cells}:
        check_folder(server, store.directory)
    matrix = parse_matrix(record.matrix, str(store.directory / "run.json"))
    only = {axis: values for axis, values in record.selection.items() if axis != "aa"}
    aa = next((str(executor) for executor in record.selection.get("aa", ())), None)
    return store, Chosen(matrix, Options(record.profile, only, aa=aa), record.scenario, None), record


def _session(number: int, project: Project, host: HostFacts, confiner: Confiner) -> Session:
    """The one that begins now."""
    commit, dirty = source_revision(project.root, handed_over())
    return Session(
        number=number,
        started_at=now_utc(),
        ended_at=None,
        status="running",
        tool_version=__version__,
        git_commit=commit,
        git_dirty=dirty,
        command=tuple(sys.argv),
        host=host,
        boot_id=boot_id(),
        confinement=confiner.method,
        why_not_cgroup=confiner.why_not_cgroup,
    )


def _record(
    run_id: str,
    chosen: Chosen,
    cells: tuple[CellKey, ...],
    prepared: Prepared,
    earlier: RunRecord | None,
    sessions: tuple[Session, ...],
    capacities: tuple[BasisCapacity, ...],
    *,
    seed: int,
) -> RunRecord:
    matrix, options = chosen.matrix, chosen.options
    return RunRecord(
        run_id=earlier.run_id if earlier else run_id,
        profile=options.profile,
        scenario=chosen.scenario,
        selection={axis: tuple(values) for axis, values in options.only.items()}
        | ({"aa": (options.aa,)} if options.aa else {}),
        seed=seed,
        ended_at=None,
        status="running",
        matrix=matrix.model_dump(mode="json", by_alias=True),
        servers=prepared.servers,
        drivers=prepared.drivers,
        jdks=prepared.jdks,
        calibrations=(prepared.calibration,) if prepared.calibration else (),
        capacities=capacities,
        cells=cells,
        not_testable=prepared.plan.not_testable,
        order=prepared.plan.order,
        stopping=_stopping_record(matrix.profiles[options.profile]),
        promised_precision=matrix.profiles[options.profile].promised_precision,
        provenance=prepared.provenance,
        notes=prepared.notes,
        sessions=sessions,
    )


def _stopping_record(profile: Profile) -> Stopping | None:
    rules = profile.stopping
    return Stopping.model_validate(asdict(rules)) if rules else None


def _say(text: str) -> None:
    print(visible(text), flush=True)
