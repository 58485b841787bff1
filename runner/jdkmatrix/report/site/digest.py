"""Everything the site says about a run outside the run's own pages: enough for an answer, a row and a verdict. Pure.

It is written beside the run's pages, so that the site can be put together again without rereading the run.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.cell_key import CellKey, TaskSize
from jdkmatrix.domain.executors import is_aa_arm
from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.domain.quantities import plural
from jdkmatrix.domain.servers import own_pool, server_kind, title_with_release
from jdkmatrix.domain.tables import Database
from jdkmatrix.figures.metrics import CPU, P99, Metric
from jdkmatrix.figures.refusals import one_sided_among
from jdkmatrix.loads.kinds import loads_words
from jdkmatrix.report.blocks.inline import cell_page, file_stem, joined, link, small
from jdkmatrix.report.blocks.kinds import Disclosure, Notice, PageBlock, Section
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.cells.advice import Advice, KeptRatio, Side, advised, asked_of, ratio_words
from jdkmatrix.report.cells.causes import likely_cause
from jdkmatrix.report.cells.cellstats import Cells, CellStats, protocol_of
from jdkmatrix.report.cells.judgements import Family, JudgedOutcomes, Judgements
from jdkmatrix.report.claims.evidence import ClaimEvidence
from jdkmatrix.report.exports import compared_by
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.facts import ForkCount, count_forks, is_dirty, moment, own_applications
from jdkmatrix.report.run_page.notices import pair_warnings, warned
from jdkmatrix.report.run_page.page import run_title
from jdkmatrix.report.words.numbers import Figure, ratio_interval, ratio_value
from jdkmatrix.report.words.sentences import PairFinding, change, database_words, finding, not_judged_words
from jdkmatrix.stats.modes import P_MAX
from jdkmatrix.stats.verdicts import Judged, Verdict

# In the order in which a reader chooses.
PICKED = ("server", "jdk", "cpus", "burn_us", "wait_us", "workload", "load")


@dataclass(frozen=True)
class ArmFigure:
    """A figure of one executor by itself: its geometric mean over forks, in the metric's unit, with the 95 % interval,
    all rounded to the digits that a chart can show."""

    executor: str
    figure: str
    value: KeptRatio
    low: KeptRatio | None
    high: KeptRatio | None


@dataclass(frozen=True)
class HeldRate:
    """A constant rate in words, and a cell's CPU per request under it; `not_steady`: how many of its forks were not."""

    words: str
    cpu: ArmFigure
    not_steady: int


@dataclass(frozen=True)
class BetterArm:
    """Virtual threads that did better with these options than without, in words; `page`: that of its cell, seen from
    the run."""

    executor: str
    words: str
    page: str


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The condition of a measurement. `driver`: the name of what made its load."""

    workload: str
    server: str
    jdk: str
    cpus: int
    burn_us: int
    wait_us: int
    load: str
    driver: str | None

    @property
    def task(self) -> TaskSize:
        return TaskSize(self.burn_us, self.wait_us)

    @property
    def is_command(self) -> bool:
        """True if it is served by whatever a command of the user started."""
        kind = server_kind(self.server)
        return kind is not None and kind.is_command


@dataclass(frozen=True, kw_only=True)
class MeasuredCondition(Measured):
    """Virtual threads and a server's pool under one condition. `protocol`: how their forks were measured; `settings`:
    of both, as in Identity; `load_table`: as in RunRecord; `asked`: the demand on the server, in words; `database`: of
    the workload, likewise. `page`, `pool_page`: those of their cells, seen from the run. `arms`: each by itself;
    `forks`: the leading figure of each usable fork of both, by executor. `cause`: what was measured beside the leading
    figure and may explain it, None where nothing was. `warnings`: titles of what changes how these two cells must be
    read. `better`: arms that did better than these virtual threads, by other options."""

    load_words: str
    load_table: str
    protocol: str
    settings: tuple[str, ...]
    asked: str
    database: str
    blocks: int
    page: str
    pool_page: str
    advice: tuple[Advice, ...]
    arms: tuple[ArmFigure, ...]
    forks: tuple[tuple[str, tuple[KeptRatio, ...]], ...]
    cause: str | None
    warnings: tuple[str, ...]
    better: tuple[BetterArm, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """Its values on the axes that a reader picks."""
        return tuple(str(getattr(self, axis)) for axis in PICKED)

    @property
    def is_relative(self) -> bool:
        """True if its load was worked out for this condition, as a share of what the pool did."""
        return "of" in json.loads(self.load_table)


@dataclass(frozen=True, kw_only=True)
class MeasuredCell(Measured):
    """A cell with a server. `figure`: its leading one; `over`: the executor that it is compared with, None where others
    are compared with it; `value`: the ratio, None where there is none; `under`: its interval, or why there is no ratio.
    `page`: seen from the run. `rate`: one that no fork missed; None where a fork did, or under any other load.
    `usable`: whether it has a usable fork."""

    executor: str
    figure: str
    over: str | None
    value: str | None
    under: str
    page: str
    rate: HeldRate | None
    usable: bool


@dataclass(frozen=True)
class RunDigest:
    """A run in brief. `host_id` tells hosts apart; `jdks`, `servers`: id and version; `about`: scenario or profile;
    `repeats_published`: whether it is a scenario, whose conditions somebody else has chosen; `commit`: of the tool.
    `aa`: what the A/A checks came to, None where there was none; `claims`: the evidence on published ones, not yet
    judged; `damaged`: files that could not be read; `own`: applications of the user, by workload, and the files that
    they were made of; `two_modes`: cells whose forks fall into two groups."""

    run_id: str
    folder: str
    started_at: str
    about: str
    repeats_published: bool
    title: str
    host: str
    host_id: str
    kernel: str
    jdks: tuple[tuple[str, str], ...]
    servers: tuple[tuple[str, str], ...]
    status: str
    forks: ForkCount
    aa: str | None
    damaged: tuple[str, ...]
    conditions: tuple[MeasuredCondition, ...]
    cells: tuple[MeasuredCell, ...]
    claims: tuple[ClaimEvidence, ...]
    own: tuple[tuple[str, str], ...] = ()
    commit: str = "not known"
    two_modes: tuple[CellKey, ...] = ()

    @property
    def kernel_version(self) -> str:
        """The kernel's version without its build, which a cloud changes from day to day."""
        return re.sub(r"[^0-9.].*", "", self.kernel, flags=re.DOTALL)


def run_folder(run_id: str) -> str:
    """Return the folder of a run's pages, seen from the site's root."""
    return f"runs/{file_stem(run_id)}/"


def digest(judged: JudgedRun, notices: Sequence[Notice]) -> RunDigest:
    """Reduce a run to its digest. `notices`: as from run_notices."""
    run, judgements = judged.run, judged.judgements
    session = run.latest_session
    host, commit = session.host, session.git_commit
    virtual = f", {host.virtualisation}" if host.virtualisation else ""
    dirty = " with uncommitted changes" if is_dirty(run) else ""
    own = {one.workload: one.files for one in own_applications(run)}
    return RunDigest(
        run_id=run.run_id,
        folder=run_folder(run.run_id),
        started_at=run.started_at,
        about=f"scenario {run.scenario.name}, {run.scenario.scale}" if run.scenario else f"profile {run.profile}",
        repeats_published=run.scenario is not None,
        title=run_title(judged),
        host=f"{host.cpu.model}, {plural(len(host.cpu.online), 'CPU')}{virtual}",
        host_id=host.id,
        kernel=host.kernel.split(maxsplit=1)[0] if host.kernel.strip() else "not known",
        jdks=tuple((jdk.id, jdk.version or "not known") for jdk in run.jdks if jdk.selected and jdk.available),
        servers=tuple((server.id, title_with_release(server.id, server.version)) for server in run.servers),
        status=run.status,
        forks=count_forks(judged.loaded),
        aa=aa_words(judgements),
        damaged=judged.loaded.damaged,
        conditions=tuple(_conditions(judged, warned(notices), own)),
        cells=tuple(_cells(judgements)),
        claims=judged.evidence,
        own=tuple(own.items()),
        commit=f"{commit[:12]}{dirty}" if commit else "not known",
        two_modes=tuple(key for key, (_, p_value) in judged.modes.items() if p_value < P_MAX),
    )


def aa_words(judgements: Judgements) -> str | None:
    """Say how many of the A/A checks came to what."""
    counts = Counter(_check(cell.key, judgements) for cell in judgements.cells if is_aa_arm(cell.key.executor))
    return ", ".join(f"{number} {words}" for words, number in counts.items()) or None


def _check(key: CellKey, judgements: Judgements) -> str:
    judged, outcomes = judgements.of(judgements.cells.leading(key), key), judgements.outcomes(key)
    if outcomes is not None and outcomes.differs:
        return "failed"
    if judged is None:
        return "without a pair"
    words = {Verdict.DIFFERENT: "failed", Verdict.ONE_BLOCK: "of one block, which can show nothing"}
    words[Verdict.CANNOT_TELL] = "too wide to tell"
    return words.get(judged.verdict, judged.verdict.value)


def _conditions(judged: JudgedRun, care: Sequence[str], own: Collection[str]) -> Iterator[MeasuredCondition]:
    """Yield each condition. `care`: titles of the run page's warnings; `own`: workloads that are the user's own."""
    cells, judgements = judged.cells, judged.judgements

    def titles(*keys: CellKey) -> set[str]:
        return {notice.title for notice in pair_warnings(judged, *keys)}

    of_cells = titles(*cells.keys, *judged.experiments.keys)
    for key, advice in advised(judgements).items():
        pool = key.model_copy(update={"executor": own_pool(key.server)})
        here, both = titles(key, pool), cells.some((pool, key))
        of_pool, cell = both
        database = cell.record.parameters.get("database")
        yield MeasuredCondition(
            **{axis: getattr(key, axis) for axis in PICKED},
            load_words=loads_words([cell.load]),
            load_table=judged.run.load_table(key.load),
            driver=cell.driver or of_pool.driver,  # a fork that failed before its windows had none
            protocol=protocol_of(both),
            settings=tuple(one.record.identity.settings for one in both),
            asked=asked_of(cell),
            database=database_words(database and Database.model_validate(database), known=key.workload not in own),
            blocks=_blocks(advice[0], judgements.outcomes(key)),
            page=cell_page(key),
            pool_page=cell_page(pool),
            advice=advice,
            arms=tuple(_arm_figures(both)),
            forks=tuple((cell.key.executor, _of_forks(cell, cells.leading(key))) for cell in both),
            cause=likely_cause(
                {"virtual threads": cell, "the pool": of_pool},
                {Side.VIRTUAL: "virtual threads", Side.POOL: "the pool"}.get(advice[0].side),
                advice[0].figure,
            ),
            warnings=tuple(one for one in care if one not in of_cells or one in here),
            better=tuple(_better(judgements, key, pool)),
        )


def _better(judgements: Judgements, plain: CellKey, pool: CellKey) -> Iterator[BetterArm]:
    """Yield the arms that are better than these virtual threads in the leading figure, best first, each also over the
    pool, since a reader would ask for that next."""
    cells = judgements.cells
    metric = cells.leading(plain)
    better: dict[CellKey, Judged] = {}
    for key in cells.peers(plain):
        judged = judgements.of(metric, key)
        is_tuned = not is_aa_arm(key.executor) and cells.reference(key) == plain.executor
        if judged and is_tuned and finding(judged, metric) is PairFinding.BETTER:
            better[key] = judged
    over_pool = _over_pool(cells, metric, better, pool)
    for key, judged in sorted(better.items(), key=lambda told: -abs(math.log(told[1].ratio.value))):
        words = f"{metric.name} is {change(judged.ratio, key.executor, plain.executor)}"
        words += f" ({ratio_value(judged.ratio)}, 95 % interval {ratio_interval(judged.ratio)})"
        beside = over_pool.get(key)
        if beside and finding(beside, metric) is PairFinding.NOT_JUDGED:
            words += f"; it is not judged against the pool: {not_judged_words(beside, key.executor, pool.executor)}"
        elif beside and (interval := ratio_interval(beside.ratio)):
            words += f"; it is {ratio_value(beside.ratio)} ({interval}) times that of the pool"
        yield BetterArm(key.executor, words, cell_page(key))


def _over_pool(cells: Cells, metric: Metric, keys: Iterable[CellKey], pool: CellKey) -> Mapping[CellKey, Judged]:
    """Judge each of `keys` over `pool`, as a family of their own: the page of the run does not compare them."""
    compared = [one for key in keys if (one := cells.over(metric, key, pool))]
    refused = one_sided_among((one.cell.key, one.cell.record, one.base.record) for one in compared)
    ratios = {one.cell.key: (one.ratio, one.losses, refused.get(one.cell.key)) for one in compared if one.ratio}
    return Family(cells.relevant, ratios).judge()[0]


def _arm_figures(cells: Iterable[CellStats]) -> Iterator[ArmFigure]:
    """Yield the figures of each arm by itself, except p99, which is that of all requests together."""
    for cell, metric, over in compared_by(cells):
        if metric is not P99 and over.value:
            value, low, high = (one and float(f"{one:.6g}") for one in (over.value, over.low, over.high))
            yield ArmFigure(cell.key.executor, metric.id, value or over.value, low, high)


def _of_forks(cell: CellStats, leading: Metric) -> tuple[float, ...]:
    return tuple(float(f"{one:.6g}") for one in cell.by_block(leading).values() if one > 0)


def _cells(judgements: Judgements) -> Iterator[MeasuredCell]:
    cells = judgements.cells
    for cell in cells:
        key = cell.key
        metric, over = cells.leading(key), cells.reference(key)
        judged = judgements.of(metric, key)
        yield MeasuredCell(
            **{axis: getattr(key, axis) for axis in (*PICKED, "executor")},
            driver=next((one.driver for one in (cell, *cells.some(cells.peers(key))) if one.driver), None),
            figure=metric.title,
            over=None if over == key.executor else over,
            value=ratio_value(judged.ratio) if judged else None,
            under=_under(judged) if judged else _why_no_ratio(cells, key),
            page=cell_page(key),
            rate=_held_rate(cell),
            usable=bool(cell.usable),
        )


def _held_rate(cell: CellStats) -> HeldRate | None:
    if not isinstance(cell.load, RateLoad) or cell.attained.no:
        return None
    cpu = next((one for one in _arm_figures([cell]) if one.figure == CPU.id), None)
    return HeldRate(loads_words([cell.load]), cpu, cell.not_steady) if cpu else None


def _under(judged: Judged) -> str:
    """Return the interval, with the verdict's word where the interval alone would look like no difference."""
    told = [judged.verdict.value] if judged.verdict is Verdict.CANNOT_TELL else []
    return ", ".join([ratio_words(judged), *told])


def _why_no_ratio(cells: Cells, key: CellKey) -> str:
    if cells.reference(key) != key.executor:
        return "no ratio"
    return "what others are compared with" if cells.is_reference(key) else "nothing is compared with it"


def _blocks(lead: Advice, outcomes: JudgedOutcomes | None) -> int:
    """Count the blocks behind the first figure of an answer; without a ratio, or where its sentence is of what forks
    did, those that tell whether they did what was asked."""
    if lead.blocks and not (outcomes and outcomes.differs):
        return lead.blocks
    return min(outcomes.contrast.numerator.told, outcomes.contrast.denominator.told) if outcomes else 0


_UNFOLDED_MAX = 20
_COLUMNS = columns("Run", "Measured", "What~", "Host~", "JDKs~", "Forks~", "A/A checks~")


def host_names(runs: Iterable[RunDigest]) -> dict[str, str]:
    """Name each host in words, with a part of its hash where two hosts have the same words."""
    words = {run.host_id: run.host for run in reversed(list(runs))}
    twice = {text for text, number in Counter(words.values()).items() if number > 1}
    return {host: f"{text} ({host[:6]})" if text in twice else text for host, text in words.items()}


def runs_section(runs: Sequence[RunDigest], hosts: Mapping[str, str], root: str) -> Section:
    """List the runs. `runs`: newest first; where there are many, the oldest are folded; `root` leads to the site."""
    rows = [_row(run, hosts[run.host_id], root) for run in runs]
    blocks: list[PageBlock] = [DataTable("Table of runs", _COLUMNS, rows[:_UNFOLDED_MAX], "wrap", sortable=True)]
    if older := rows[_UNFOLDED_MAX:]:
        table = DataTable("Table of older runs", _COLUMNS, older, "wrap", sortable=True)
        blocks.append(Disclosure(f"{plural(len(older), 'older run')}", (table,)))
    return Section("runs", "Runs", blocks)


def _row(run: RunDigest, host: str, root: str) -> tuple[Cell, ...]:
    remarks = [] if run.status == "complete" else [f"{run.status}: cells may lack forks, or be missing"]
    if run.damaged:
        remarks.append(f"{plural(len(run.damaged), 'result file')} damaged or missing")
    forks = joined(run.forks.text, *([" ", small("; ".join(remarks), css="warned")] if remarks else []))
    return (
        link(run.run_id, f"{root}{run.folder}index.html"),
        moment(run.started_at),
        run.about,
        host,
        ", ".join(name for name, _ in run.jdks),
        Figure(forks, run.forks.usable, amber=run.forks.amber),
        run.aa or "none",
    )
