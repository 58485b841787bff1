"""From a run to what its page shows. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jdkmatrix.config.executors import is_again, reference
from jdkmatrix.records import CellKey, RunRecord, Status
from jdkmatrix.report import attempts, facts, sessions
from jdkmatrix.report.alone import run_words as alone
from jdkmatrix.report.alone import words as alone_words
from jdkmatrix.report.alone.cells import Experiments
from jdkmatrix.report.cellstats import Cells, CellStats, summary_of
from jdkmatrix.report.charts import executor_order
from jdkmatrix.report.dependence import check_blocks, dependence_notices
from jdkmatrix.report.judgements import DENOMINATOR, Judgements, judge_run
from jdkmatrix.report.latency import percentile_figure
from jdkmatrix.report.names import cell_page
from jdkmatrix.report.numbers import (
    Figure,
    count,
    geomean,
    half_width,
    mebibytes,
    missing,
    plural,
    quantity,
    ratio_value,
)
from jdkmatrix.report.precision import precision_view
from jdkmatrix.report.published import published_views
from jdkmatrix.report.sections import sections
from jdkmatrix.report.views import CellRow, RunView, Trouble
from jdkmatrix.report.wording import (
    STATUS_CLASS,
    STATUS_MEANING,
    STATUS_WORDS,
    Finding,
    because,
    condition,
    family_words,
    finding,
    marked_interval,
)
from jdkmatrix.store.loaded import LoadedRun

AXES = ("workload", "server", "jdk", "executor", "cpus", "burn_us", "load")


def view_run(loaded: LoadedRun, cells: Cells) -> RunView:
    run = loaded.run
    experiments = Experiments(run, loaded.experiments)
    order = executor_order(key.executor for key in (*cells.keys, *experiments.keys))
    varying = frozenset(axis for axis in AXES if len({getattr(key, axis) for key in cells.keys}) > 1)
    judgements = judge_run(cells)
    rows = tuple(_row(key, cells, judgements, order) for key in cells.keys)
    troubles = [t for key in cells.keys if (t := _trouble(key, cells.get(key), run))]
    checks = check_blocks(cells)
    notices = [
        *facts.notices(loaded, cells, judgements),
        *dependence_notices(checks),
        *alone.notices(experiments),
        *sessions.notices(loaded),
        *attempts.notices(loaded),
    ]
    return RunView(
        run_id=run.run_id,
        title=_title(run, cells.keys, experiments),
        summary=" ".join(filter(None, (_summary(cells, experiments), alone.summary(experiments)))),
        facts=(*facts.run_facts(run), *sessions.fact(loaded)),
        host=facts.host_facts(run.latest_session.host),
        notices=tuple(sorted(notices, key=lambda notice: notice.weight != "warn")),
        family=family_words(judgements.comparisons, judgements.checks),
        sections=sections(cells, judgements, order),
        published=published_views(run),
        varying=varying,
        constant=_constant(cells.keys, varying),
        rows=rows,
        searched=any(cell.capacity_rps for cell in cells),
        statuses=_statuses(rows),
        precision=precision_view(run, cells, checks),
        troubles=(*troubles, *alone.troubles(experiments, _why_not_measured(run))),
        problems=loaded.problems,
        not_testable=tuple((label(n.key), n.reason) for n in run.not_testable),
        jdks=tuple(facts.jdk_row(jdk) for jdk in run.jdks),
        calibrations=tuple(
            (
                c.jdk,
                quantity(c.rounds_per_us, 3, why="not calibrated"),
                quantity(c.spread * 100, 2, why="not calibrated"),
                c.repeats,
                c.cpu,
            )
            for c in run.calibrations
        ),
        reproduce=facts.reproduce(run),
        order=run.order,
    )


def label(key: CellKey) -> str:
    if not key.has_server:
        return alone_words.label(key)
    return f"{key.served} · {key.jdk} · {key.executor} · {condition(key.cpus, key.burn_us)} · {key.load}"


def _title(run: RunRecord, keys: Sequence[CellKey], experiments: Experiments) -> str:
    if experiments.keys and not keys:
        return alone.title(run, experiments)
    about = [run.scenario.name] if run.scenario else list(dict.fromkeys(key.served for key in keys))
    if experiments.keys and not run.scenario:
        about.append(f"{alone.title(run, experiments)[0].lower()}{alone.title(run, experiments)[1:]}")
    return f"Thread pool or virtual threads: {', '.join(about)}" if about else "Thread pool or virtual threads"


def _summary(cells: Cells, experiments: Experiments) -> str:
    """Empty where the run has experiments without a server only."""
    if experiments.keys and not cells.keys:
        return ""

    def number(axis: str, noun: str) -> str:
        return plural(len({getattr(key, axis) for key in cells.keys}), noun)

    forks = sum(len(cell.record.forks) for cell in cells)
    measured = sum(1 for cell in cells if cell.usable)
    return (
        f"{number('executor', 'executor')} on {number('jdk', 'JDK')}: {measured} of {plural(len(cells.keys), 'cell')} "
        f"with figures that can be used, from {plural(forks, 'fork')}, each a fresh server process."
    )


def _constant(keys: Sequence[CellKey], varying: frozenset[str]) -> str:
    """What all cells share, so that the table need not repeat it."""
    if not keys:
        return ""
    key = keys[0]
    words = {
        "workload": key.workload,
        "server": key.server,
        "jdk": key.jdk,
        "executor": key.executor,
        "cpus": plural(key.cpus, "CPU"),
        "burn_us": f"{key.burn_us} µs of work per request" if key.burn_us else "no added work per request",
        "load": key.load,
    }
    return ", ".join(text for axis, text in words.items() if axis not in varying)


def _row(key: CellKey, cells: Cells, judgements: Judgements, order: Sequence[str]) -> CellRow:
    cell = cells.get(key)
    status = cell.status if cell else None
    why = f"{STATUS_WORDS[status]}: {STATUS_MEANING[status]}"
    usable = cell.usable if cell else ()
    throughput = summary_of(cell.throughput_rps) if cell else None
    cpu = summary_of(cell.cpu_us_per_request) if cell else None

    def percentile(name: str) -> Figure:
        return percentile_figure(
            cell.latency if cell else None, name, why="the driver recorded no such latency" if usable else why
        )

    def peak(by_block: dict[int, float] | None) -> float | None:
        return max(by_block.values(), default=None) if by_block else None

    ran = len(cell.record.forks) if cell else 0
    threads = peak(cell.threads_peak) if cell else None
    return CellRow(
        workload=key.workload,
        server=key.server,
        jdk=key.jdk,
        executor=key.executor,
        slot=order.index(key.executor),
        cpus=key.cpus,
        burn_us=key.burn_us,
        load=key.load,
        status=STATUS_WORDS[status],
        status_class=STATUS_CLASS[status],
        status_title=STATUS_MEANING[status],
        forks=f"{len(usable)}/{ran}",
        href=cell_page(key) if cell else None,
        throughput=quantity(throughput.geomean if throughput else None, 4, why=why),
        throughput_half=half_width(throughput) if throughput else missing(why),
        versus=_versus(key, cells, judgements),
        held=_geomean(cell.capacity_rps if cell else {}, 4, why=why if not usable else "nothing was searched for"),
        warm=_geomean(cell.time_to_steady_s if cell else {}, 3, why=why if not usable else _NEVER_STEADY),
        cpu=quantity(cpu.geomean if cpu else None, 3, why=why),
        p50=percentile("50"),
        p99=percentile("99"),
        p999=percentile("99.9"),
        rss=mebibytes(peak(cell.rss_peak_bytes) if cell else None, why=why),
        threads=count(None if threads is None else int(threads), why=why),
    )


_NEVER_STEADY = "no fork reached its steady state before the cap on the warm-up"


def _geomean(by_block: Mapping[int, float], significant: int, *, why: str) -> Figure:
    summary = summary_of(by_block)
    return geomean(summary, significant) if summary else missing(why)


def _versus(key: CellKey, cells: Cells, judgements: Judgements) -> Figure:
    """Its leading figure over that of what it is compared with; beneath it interval and verdict."""
    cell = cells.get(key)
    base = reference(key.executor)
    if key.executor == DENOMINATOR and cell and cell.usable:
        return Figure("1", 1.0, f"this is {DENOMINATOR}: what the others are compared with")
    metric = cells.leading(key)
    judged = judgements.of(metric, key)
    if judged is None:
        return missing(f"no block has this cell and {base} both usable")
    word = None
    if finding(judged, metric) in (Finding.BETTER, Finding.WORSE):
        word = "more" if judged.ratio.value > 1 else "less"
    reason = because(judged, "A/A check" if is_again(key.executor) else "comparison")
    return Figure(
        text=ratio_value(judged.ratio),
        sort=judged.ratio.value,
        title=f"{metric.title}: {word} than {base}, {reason}" if word else f"{metric.title}: {reason}",
        under=" ".join(filter(None, (marked_interval(judged), word))) or "one block",
    )


def _statuses(rows: Sequence[CellRow]) -> tuple[tuple[str, str, int], ...]:
    found: dict[tuple[str, str], int] = {}
    for status, word in STATUS_WORDS.items():
        number = sum(row.status == word for row in rows)
        if number:
            found[word, STATUS_CLASS[status]] = number
    return tuple((word, css, number) for (word, css), number in found.items())


def _trouble(key: CellKey, cell: CellStats | None, run: RunRecord) -> Trouble | None:
    status = cell.status if cell else None
    reasons: tuple[str, ...]
    if cell is None or status is None:
        reasons = (_why_not_measured(run),)
    else:
        reasons = tuple(
            f"{'fork' if len(forks) == 1 else 'forks'} {facts.ranges(forks)}: {reason.message}"
            for reason, forks in cell.reasons
        )
        if status is Status.OK and not reasons:
            return None
    return Trouble(
        label=label(key),
        href=cell_page(key) if cell else None,
        status=STATUS_WORDS[status] if status is not Status.OK else "some forks",
        status_class=STATUS_CLASS[status] if status is not Status.OK else "not-steady",
        reasons=reasons or ("no reason was recorded",),
    )


def _why_not_measured(run: RunRecord) -> str:
    if run.status == "complete":
        return "the run is complete and has no readable record of this cell: see the files that could not be read"
    return "the run ended before this cell had its turn"
