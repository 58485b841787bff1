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
from jdkmatrix.cli.measuring import measuring
from jdkmatrix.cli.progress import display
from jdkmatrix.cli.reporting import EXIT_WITH_FAILURES, folders_of, tell_damage, write_site
from jdkmatrix.cli.scenarios import Chosen, chosen_here
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.stopping import StoppedError, stoppable
from jdkmatrix.cli.summary import has_failures, print_summary
from jdkmatrix.cli.terminal import escape
from jdkmatrix.config.load import parse_matrix
from jdkmatrix.config.model import Matrix, Profile
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
from jdkmatrix.run.plan import estimate_s, select_cells
from jdkmatrix.run.prepare import Prepared, catalogue_records, prepare, set_up_parts
from jdkmatrix.run.repeats import again_words, in_order
from jdkmatrix.run.sessions import closed, ended, idle
from jdkmatrix.servers.liberty import check_folder
from jdkmatrix.store.readable import readable
from jdkmatrix.store.runs import RUN_FILE, RunStore, is_run, latest_begun, runs_of
from jdkmatrix.terms.cell_key import CellKey
from jdkmatrix.terms.quantities import plural
from jdkmatrix.terms.servers import OPEN_LIBERTY


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
        matrix, options = chosen.matrix, chosen.options
        seed = earlier.seed if earlier else options.order_seed()
        profile = matrix.profiles[options.profile]
        sessions = closed(earlier.sessions) if earlier else ()
        preparing = partial(
            prepare,
            project,
            matrix,
            seed=seed,
            known_calibration=next(iter(earlier.calibrations), None) if earlier else None,
            confiner=confiner,
            say=_say,
        )
        planned = select_cells(matrix, options.profile, options.only)
        capacities = earlier.capacities if earlier else ()
        bases = basis_cells(matrix, planned)
        if not {basis.key for basis in capacities if basis.throughput_rps} >= set(bases):
            capacities = _capacities(matrix, profile, bases, preparing, confiner, store, len(sessions) + 1, console)
        capacities_rps = {one.key: one.throughput_rps for one in capacities if one.throughput_rps}
        prepared = preparing(profile, planned, capacities_rps=capacities_rps)
        campaign = Campaign(
            matrix=matrix,
            profile=profile,
            plan=prepared.plan,
            parts=prepared.parts,
            host=prepared.host,
            confiner=confiner,
            store=store,
            session=len(sessions) + 1,
        )
        cells = campaign.open(_say)
        needed = campaign.needed(cells)
        if earlier and not needed:
            _say("nothing to do: every block is complete, and no fault of the host spoilt a fork")
            store.save_run(idle(earlier, order=in_order(cells.values())))
            return conclude(project, store, site, console)
        for words in again_words(needed, cells):
            _say(words)
        started_s = time.monotonic()
        session = _session(len(sessions) + 1, project, prepared.host, confiner)
        record = _record(store.directory.name, chosen, prepared, earlier, (*sessions, session), capacities, seed=seed)
        store.save_run(record)
        status: Literal["complete", "interrupted"] = "interrupted"
        try:
            with display(
                console, estimate_s(matrix, campaign.profile, prepared.plan.sure) / len(prepared.plan.sure)
            ) as shown:
                record = record.model_copy(update={"order": campaign.measure(cells, shown)})
            status = "complete"
        except StoppedError as stopped:
            _say(f"stopped; finished work is kept in {store.directory} (matrix run --resume continues)")
            return stopped.exit_code
        finally:
            if status == "complete":
                record = record.model_copy(update={"jdks": catalogue_records(project, prepared)})
            store.save_run(ended(record, status, now_utc(), time.monotonic() - started_s))
        gaps = len(campaign.needed(cells))
    code = conclude(project, store, site, console)
    if gaps:
        _say(f"faults of the host have left gaps in {_gaps_words(gaps)} again")
    return code


def _gaps_words(blocks: int) -> str:
    return f"{plural(blocks, 'block')}: matrix run --resume measures {'it' if blocks == 1 else 'them'}"


def _capacities(
    matrix: Matrix,
    profile: Profile,
    bases: Sequence[CellKey],
    preparing: Callable[..., Prepared],
    confiner: Confiner,
    store: RunStore,
    session: int,
    console: Console,
) -> tuple[BasisCapacity, ...]:
    """Measure what servers can do, one fork of each basis; what an earlier try left in the run's folder counts."""
    once = profile_of_bases(profile)
    prepared = preparing(once, bases, capacities_rps={})
    campaign = Campaign(
        matrix=matrix,
        profile=once,
        plan=prepared.plan,
        parts=prepared.parts,
        host=prepared.host,
        confiner=confiner,
        store=RunStore.create(store.directory / CAPACITY_FOLDER),
        session=session,
    )
    cells = campaign.open(_say)
    _say(f"first, the capacities that loads are derived from: {plural(len(bases), 'fork')}")
    with display(console, estimate_s(matrix, once, prepared.plan.sure) / len(prepared.plan.sure)) as shown:
        campaign.measure(cells, shown)
    impossible = {entry.key: entry.reason for entry in prepared.plan.not_testable}
    return tuple(capacity_of(key, cells.get(key), impossible.get(key)) for key in bases)


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
    if any(cell.server == OPEN_LIBERTY.name for cell in cells):
        check_folder(folder)
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
    if any(cell.server == OPEN_LIBERTY.name for cell in record.cells):
        check_folder(store.directory)
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
        cells=prepared.plan.cells,
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
