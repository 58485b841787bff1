"""`matrix run` and `matrix setup`: prepare, measure, record, show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from rich.console import Console

from jdkmatrix.cli.answer import going_on
from jdkmatrix.cli.between_blocks import SiteBetweenBlocks, write_site_apart
from jdkmatrix.cli.console import console_here
from jdkmatrix.cli.measuring_lock import is_measuring, measuring
from jdkmatrix.cli.progress import Display, display
from jdkmatrix.cli.recording import Recording
from jdkmatrix.cli.reporting import EXIT_WITH_FAILURES, claims_of_today, folders_of, tell_damage, write_site
from jdkmatrix.cli.scenarios import Chosen, chosen_here
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.stopping import StoppedError, stoppable
from jdkmatrix.cli.summary import has_failures, print_summary
from jdkmatrix.cli.terminal import escape, say
from jdkmatrix.config.cell_loads import basis_cells
from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.host.topology import read_topology
from jdkmatrix.jdks.own import load_with_own
from jdkmatrix.provision.project import Project, find_project
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.records.run import BasisCapacity, Calibration, NotTestable, RunRecord
from jdkmatrix.report.site.replace_folder import check_replaceable
from jdkmatrix.report.words.sentences import confined_words
from jdkmatrix.run.campaign import Campaign
from jdkmatrix.run.capacities import FOLDER as CAPACITY_FOLDER
from jdkmatrix.run.capacities import capacity_of, profile_of_bases
from jdkmatrix.run.changed import changed_code, changed_jdks, changed_options, changed_own, changed_servers
from jdkmatrix.run.code_version import measuring_code
from jdkmatrix.run.impossible import NoneHereError, check_some
from jdkmatrix.run.plan import Stage, blocks_of, estimate_s, select_cells, stages
from jdkmatrix.run.prepare import prepare, set_up_parts
from jdkmatrix.run.prepared import Prepared
from jdkmatrix.run.repeats import in_order, repeat_words
from jdkmatrix.run.try_own import Tried, arm_of, knowing_answers, own_cells, try_own
from jdkmatrix.servers.kinds import check_folder
from jdkmatrix.store.readable import UnreadableError, readable
from jdkmatrix.store.runs import RunStore, has_begun, is_run, latest_begun, runs_of, unrecorded
from jdkmatrix.validation import validated


def set_up(options: Options) -> None:
    """Fetch and build what these cells need.

    Raises:
        MatrixError: as set_up_parts; a JDK or the database is not available here, after all else is set up; or a run is
            measuring, which this would disturb.
    """
    if is_measuring():
        raise MatrixError(
            "a run is measuring on this host: fetching and building would disturb it, and might replace what it "
            "measures with; set up when it has ended"
        )
    project = find_project()
    chosen = chosen_here(project, options)
    matrix, name = chosen.matrix, chosen.options.profile
    cells, profile = select_cells(matrix, name), matrix.profiles[name]
    with stoppable():
        parts = set_up_parts(project, matrix, cells, profile=profile, capacities_rps={}, say=say)
    if parts.not_here:
        raise MatrixError(f"not available here: {', '.join(parts.not_here)}; all else is set up")


def run(options: Options, *, resume: bool, directory: Path | None, site: Path | None, verbose: bool = False) -> int:
    """Start or continue a run; return the exit code."""
    if resume and options.given:
        which = ", ".join(options.given)
        raise MatrixError(f"--resume continues a run as it was started and leaves nothing to choose: drop {which}")
    project = find_project()
    chosen = None if resume else chosen_here(project, options)
    if chosen and chosen.why:
        say(chosen.why)
    return measure(project, chosen, directory, site, verbose=verbose)


def measure(project: Project, chosen: Chosen | None, folder: Path | None, site: Path | None, *, verbose: bool) -> int:
    """Measure; return the exit code. `chosen`: of a new run; None: the one in `folder`, or the newest, is continued."""
    console = console_here()
    measuring_code()  # of what this process has just loaded: the files may change before the first stage
    new_folder = _new_folder(project, chosen, folder) if chosen else None
    check_replaceable(site or project.site)
    with measuring() as confiner:
        confined = confined_words(confiner.method, confiner.why_not_cgroup)
        say(f"server, driver and this tool are each kept on CPUs of their own, as far as there are enough, {confined}")
        if chosen and new_folder:
            store, earlier = RunStore.create(new_folder), None
        else:
            store, chosen, earlier = _resumed(project, folder)
        measured = _Stages(Recording(project, chosen, earlier, store, confiner), console, verbose=verbose)
        write = SiteBetweenBlocks(lambda: write_site_apart(project, _runs_with(project, store), site), say)
        stopped = measured.measure(write)
        if stopped:
            return stopped.exit_code
        gaps = measured.gaps()
    try:
        with stoppable():
            code = conclude(project, store, site, console)
    except MatrixError:
        if measured.cut_short:  # with another exit code than a run that is complete
            raise measured.cut_short from None
        raise
    if measured.cut_short:
        raise measured.cut_short
    if gaps:
        again = f"to measure {'it' if gaps == 1 else 'them'} again: {going_on(store.directory)}"
        say(f"faults of the host have left gaps in {plural(gaps, 'block')}; {again}")
    return code


class _Stages:
    """The stages of a run, one after another. `cut_short`: why a later one could not begin; what is measured stands."""

    def __init__(self, recording: Recording, console: Console, *, verbose: bool) -> None:
        self._recording, self._console, self._verbose = recording, console, verbose
        self._matrix, self._stages, self._store = recording.chosen.matrix, recording.stages, recording.store
        earlier = recording.earlier
        self._capacities: dict[CellKey, BasisCapacity] = {}
        self._earlier_capacities = {one.key: one for one in earlier.capacities} if earlier else {}
        self._calibration: Calibration | None = None
        # Including later stages and what cannot be measured now: a fork that is measured again comes after them.
        loaded = self._store.load() if earlier else None
        kept = (*loaded.cells, *loaded.earlier) if loaded else ()
        self._cells = {cell.key: cell for cell in kept}
        self._campaigns: list[Campaign] = []
        self._spoilt_bases: set[CellKey] = set()
        self._artefacts: dict[str, str] = {}
        self._tried: Tried = {}
        self.cut_short: MatrixError | None = None

    def measure(self, between: Callable[[], None]) -> StoppedError | None:
        """Measure all that is needed; `between` is called between two blocks. Return what stopped it."""
        status: Literal["complete", "interrupted"] = "interrupted"
        try:
            for stage in self._stages:
                if self._recording.record:
                    between()
                try:
                    prepared = self._open(stage)
                except MatrixError as error:
                    if isinstance(error, NoneHereError) and self._left_out(stage, error):
                        continue
                    if self._recording.record is None:
                        self._store.remove_empty()
                        raise
                    self.cut_short = error
                    return None
                self._measure_stage(stage, prepared, between)
            self.cut_short = self._why_unfinished()
            status = "interrupted" if self.cut_short else "complete"
        except StoppedError as stopped:
            if self._recording.record is None:
                self._store.remove_empty()
                raise
            with suppress(OSError):  # whoever listened may be stopped, too
                say(f"stopped; finished work is kept; to continue: {going_on(self._store.directory)}")
            return stopped
        finally:
            self._recording.end(status, in_order(self._cells.values()))
        if self._recording.record is None and not self.cut_short and not self._spoilt_bases:
            say("nothing to do: every block is complete, and no fault of the host spoilt a fork")
        return None

    def _left_out(self, stage: Stage, error: NoneHereError) -> bool:
        """Leave out a stage of which nothing can be measured here, unless it is the last and so were all others."""
        if stage is self._stages[-1] and not self._campaigns:
            return False
        say(f"stage {stage.name}: {error}")
        self._recording.refuse([NotTestable(key=key, reason=reason) for key, reason in error.reasons.items()])
        return True

    def _why_unfinished(self) -> MatrixError | None:
        """Say which cells lack blocks that an earlier session could have measured, but not this one; None: no cell."""
        if not (waiting := self._recording.no_longer()):
            return None
        forks = {cell.key: len(cell.forks) for cell in self._store.load().cells}
        planned = {key: blocks for stage in self._stages for key, blocks in _blocks(stage).items()}
        lacking = [one for one in waiting if forks.get(one.key, 0) < planned.get(one.key, 0)]
        if not lacking:
            return None
        cells = "\n  ".join(f"{one.key.cell_id}: {one.reason}" for one in lacking)
        return MatrixError(
            f"{plural(len(lacking), 'cell')} that an earlier session could measure cannot be measured now, so the run "
            f"is not complete:\n  {cells}\nto go on another time: {going_on(self._store.directory)}"
        )

    def gaps(self) -> int:
        """Count the blocks that faults of the host have left without a fork, if anything was measured."""
        needed = sum(len(one.needed(self._cells)) for one in self._campaigns) if self._recording.record else 0
        return needed + len(self._spoilt_bases)

    def _open(self, stage: Stage) -> Prepared:
        self._know_capacities(stage)
        prepared, campaign = self._prepared(stage.profile, stage.cells, self._store)
        campaign = self._try_own(campaign)
        opened = campaign.open(say)
        self._cells |= opened
        for key in (key for key, cell in opened.items() if not cell.forks):  # its results were set aside, if it had any
            self._earlier_capacities.pop(key, None)
        self._recording.add(prepared)
        self._campaigns.append(campaign)
        return prepared

    def _measure_stage(self, stage: Stage, prepared: Prepared, between: Callable[[], None]) -> None:
        campaign, recording = self._campaigns[-1], self._recording
        needed = campaign.needed(self._cells)
        if recording.earlier and not needed and not recording.record:
            return
        for words in repeat_words(needed, self._cells):
            say(words)
        if len(self._stages) > 1:
            say(f"stage {stage.name}: {plural(len(needed), 'block')}")
        stand = {key: one for key, one in self._earlier_capacities.items() if key not in self._capacities}
        recording.begin((self._capacities | stand).values())

        def checked() -> None:
            self._check_unchanged(prepared.setups)
            between()

        with self._display(stage.profile, prepared) as shown:
            recording.order(campaign.measure(self._cells, shown, checked))
        self._check_unchanged(prepared.setups)

    def _know_capacities(self, stage: Stage) -> None:
        """Find the capacities behind this stage's loads: from an earlier stage, else from one fork of each basis; what
        an earlier try left in the run's folder counts. A capacity that is known from an earlier session stands as long
        as forks of its basis do: what decides them has not changed."""
        missing = [basis for basis in basis_cells(self._matrix, stage.cells) if basis not in self._known_rps]
        measured = {key: campaign.session for campaign in self._campaigns for key in campaign.setups}
        for key in (key for key in missing if key in measured):
            kept = any(fork.session < measured[key] for fork in self._cells[key].forks)
            known = self._earlier_capacities.get(key) if kept else None
            self._capacities[key] = known or capacity_of(key, self._cells[key], None)
        if lacking := [key for key in missing if key not in self._known_rps]:
            self._capacities |= {one.key: one for one in self._measure_bases(stage, lacking)}

    @property
    def _known_rps(self) -> dict[CellKey, float]:
        return {key: one.throughput_rps for key, one in self._capacities.items() if one.throughput_rps}

    def _measure_bases(self, stage: Stage, bases: Sequence[CellKey]) -> list[BasisCapacity]:
        once = profile_of_bases(stage.profile)
        try:
            prepared, campaign = self._prepared(once, bases, RunStore.create(self._store.directory / CAPACITY_FOLDER))
        except NoneHereError as error:  # the rest of the stage may still be measured
            why_not = " ".join(str(error).split())
            say(f"the capacity of {plural(len(bases), 'cell')} is not known: {why_not}")
            return [BasisCapacity(key=key, throughput_rps=None, why_not=why_not) for key in bases]
        campaign = self._try_own(campaign)
        cells = campaign.open(say)
        if needed := campaign.needed(cells):
            say(f"first, the capacities that loads are derived from: {plural(len(needed), 'fork')}")
            self._recording.keep_calibration(prepared)
        with self._display(once, prepared) as shown:
            campaign.measure(cells, shown, lambda: self._check_unchanged(prepared.setups))
        self._check_unchanged(prepared.setups)
        self._spoilt_bases -= {*bases}
        self._spoilt_bases |= {fork.key for block in campaign.needed(cells) for fork in block.forks}
        impossible = {entry.key: entry.reason for entry in prepared.plan.not_testable}
        found = [capacity_of(key, cells.get(key), impossible.get(key)) for key in bases]
        for one in found:
            if one.why_not:
                say(f"{one.key.cell_id}: its capacity is not known: {one.why_not}")
        return found

    def _check_unchanged(self, setups: Mapping[CellKey, CellSetup]) -> None:
        """Raises: MatrixError: what is measured is no longer what this session began with."""
        root = self._recording.project.root
        for changed, of_what in (
            (changed_code(), "the code of this tool"),
            (changed_servers(setups), "configuration below workloads/servers"),
            (changed_jdks(setups), "the files of a JDK that no hash pins"),
            (changed_options(setups), "a file that JVM options name"),
            (changed_own(setups, root), "the files of your application"),
        ):
            if changed:
                raise MatrixError(
                    f"{', '.join(changed)}: {of_what} changed during the run, so forks may have used either version; "
                    f"to measure the new one: {self._again}"
                )

    def _check_built(self, setups: Mapping[CellKey, CellSetup]) -> None:
        """Raises: MatrixError: since an earlier stage, artefacts were built anew."""
        found = {pair for cell in setups.values() for pair in cell.inputs["artefacts"].items()}
        if changed := sorted(name for name, sha256 in found if self._artefacts.setdefault(name, sha256) != sha256):
            raise MatrixError(
                f"{', '.join(changed)}: changed since an earlier stage of the run, so stages would use different "
                f"versions; to measure the new one: {self._again}"
            )

    @property
    def _again(self) -> str:
        begun = self._recording.record or self._recording.earlier
        return going_on(self._store.directory) if begun else f"the same command with --run {self._store.directory}"

    def _try_own(self, campaign: Campaign) -> Campaign:
        """Try the arms of own applications that need a fork, before what they measured earlier is set aside; return the
        campaign with what that told of them. All cells of an arm count, so that a run that goes on tries the same."""
        if own := own_cells(campaign.setups):
            blocks = campaign.needed(campaign.open(None))
            needed = {arm_of(fork.key) for block in blocks for fork in block.forks}
            try_own({key: setup for key, setup in own.items() if arm_of(key) in needed}, self._tried, say)
        return replace(campaign, setups=knowing_answers(campaign.setups, self._tried))

    def _prepared(self, profile: Profile, cells: Sequence[CellKey], store: RunStore) -> tuple[Prepared, Campaign]:
        prepared = prepare(
            self._recording.project,
            self._matrix,
            profile,
            cells,
            seed=self._recording.seed,
            known_calibration=lambda host: self._calibration or self._recording.known_calibration(host),
            capacities_rps=self._known_rps,
            confiner=self._recording.confiner,
            say=say,
        )
        self._calibration = prepared.calibration
        self._check_built(prepared.setups)
        campaign = Campaign(
            matrix=self._matrix,
            profile=profile,
            plan=prepared.plan,
            setups=prepared.setups,
            store=store,
            session=self._recording.session,
        )
        return prepared, campaign

    def _display(self, profile: Profile, prepared: Prepared) -> Display:
        sure = prepared.plan.sure
        fork_s = estimate_s(self._matrix, profile, sure) / len(sure)
        sequential = profile.stopping is not None
        return display(self._console, fork_s, profile.promised_precision, sequential=sequential, verbose=self._verbose)


def _blocks(stage: Stage) -> dict[CellKey, int]:
    """Return how many blocks each cell has at least."""
    return {key: min(stage.profile.blocks, most) for key, most in blocks_of(stage.profile, stage.cells).items()}


def _runs_with(project: Project, store: RunStore) -> tuple[Path, ...]:
    return folders_of([*runs_of(project.results), store.directory])


def conclude(project: Project, store: RunStore, site: Path | None, console: Console) -> int:
    """Write the site, print the summary; return the exit code."""
    loaded = store.load()
    registry: tuple[ClaimRecord, ...] = ()  # without it, the checks that the run recorded
    try:
        registry = claims_of_today(project)
        built = write_site(project, _runs_with(project, store), site)
    finally:
        with readable(store.directory):
            print_summary(loaded, console, registry)
            failed = has_failures(loaded)
        tell_damage(loaded.damaged)
    tell_damage(built.unreadable)
    console.print(escape(f"results: {store.directory}\nsite: {built.index}"), soft_wrap=True)
    return EXIT_WITH_FAILURES if failed else 0


def _new_folder(project: Project, chosen: Chosen, directory: Path | None) -> Path:
    """Return the folder of a new run, which is checked before the run has to wait for anything."""
    profile = chosen.options.profile
    planned = stages(chosen.matrix, profile)
    catalogue = load_with_own(project.jdks, chosen.matrix.jdk_homes)
    check_some(chosen.matrix, ((one.profile, one.cells) for one in planned), read_topology(), catalogue)
    folder = directory or project.results / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{profile}"
    for server in {cell.server for stage in planned for cell in stage.cells}:
        check_folder(server, folder)
    if is_run(folder):
        raise MatrixError(f"{folder}: already holds a run; --resume continues it, another --run starts a new one")
    if folder.is_dir() and not has_begun(folder) and (others := sorted(path.name for path in folder.iterdir())):
        raise MatrixError(f"{folder}: has other files ({others[0]}); --run takes a folder that is new or empty")
    return folder


def _resumed(project: Project, directory: Path | None) -> tuple[RunStore, Chosen, RunRecord]:
    """Load a run to continue as it was started: with its own copy of the matrix, not with today's matrix.toml."""
    folder = directory or latest_begun(project.results)
    if not folder.is_dir():
        raise MatrixError(f"{folder}: no run there")
    if not is_run(folder):
        raise MatrixError(f"{unrecorded(folder)}, or continue another: --resume --run FOLDER")
    store = RunStore(folder)
    try:
        record = store.read_run()
    except UnreadableError as error:  # its exit code is that of a complete run
        raise MatrixError(str(error)) from None
    for server in {cell.server for cell in record.cells}:
        check_folder(server, store.directory)
    # It was checked as a whole before options changed the profile that the run measures.
    matrix = validated(Matrix, record.matrix, store.directory / "run.json")
    values = {axis: values for axis, values in record.selection.items() if axis != "aa"}
    aa = next((str(executor) for executor in record.selection.get("aa", ())), None)
    return store, Chosen(matrix, Options(record.profile, values, aa=aa), record.scenario, None), record
