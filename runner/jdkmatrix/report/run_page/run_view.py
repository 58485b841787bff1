"""From a run to what its page shows. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from jdkmatrix.domain.cell_key import AXES, CellKey
from jdkmatrix.domain.executors import is_aa_arm
from jdkmatrix.domain.quantities import plural
from jdkmatrix.domain.servers import own_pool
from jdkmatrix.figures.fork_figures import overall
from jdkmatrix.figures.metrics import CAPACITY, CPU, RSS_PEAK, THREADS_PEAK, THROUGHPUT, TIME_TO_STEADY
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.cells.cell_figures import failed_words, of_metric, percentile
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.judgements import JudgedOutcomes, Judgements
from jdkmatrix.report.cells.latency import KIND_SHORT, KIND_WORDS
from jdkmatrix.report.cells.outcomes import counted, finding_of, sentence, worth_reporting
from jdkmatrix.report.cells.pairs import paired_words, pairs_title
from jdkmatrix.report.claims.published import not_repeated_views, published_views
from jdkmatrix.report.html.names import cell_page
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page import attempts, experiment_words, facts, refusals, sessions
from jdkmatrix.report.run_page.dependence import check_blocks, dependence_notices
from jdkmatrix.report.run_page.fork_counts import count_forks
from jdkmatrix.report.run_page.modes import modes_notices
from jdkmatrix.report.run_page.precision import precision_view
from jdkmatrix.report.run_page.sections import sections
from jdkmatrix.report.run_page.troubles import fork_lines
from jdkmatrix.report.views import CellRow, RunView, Trouble
from jdkmatrix.report.words.numbers import Figure, half_width, missing, quantity, ratio_value
from jdkmatrix.report.words.sentences import (
    Finding,
    because,
    cell_words,
    delay_of,
    family_words,
    finding,
    losses_words,
    marked_interval,
    tasks_of,
)
from jdkmatrix.report.words.states import STATE_CLASS, STATE_MEANING, State
from jdkmatrix.stats.forks import Summary


def view_run(judged: JudgedRun) -> RunView:
    loaded, run, cells, experiments = judged.loaded, judged.run, judged.cells, judged.experiments
    order, judgements = judged.order, judged.judgements
    varying = frozenset(axis for axis in AXES if len({getattr(key, axis) for key in cells.keys}) > 1)
    drivers = {cell.driver for cell in cells} - {None}
    varying |= {"driver"} if len(drivers) > 1 else set()
    rows = tuple(_row(key, cells, judgements, order) for key in cells.keys)
    troubles = [t for key in cells.keys if (t := _trouble(key, cells.get(key), run))]
    parts, checks = sections(cells, judgements, order), check_blocks(cells)
    notices = [
        *facts.notices(loaded, cells, judgements),
        *refusals.notices(judged.refusals, loaded.cells),
        *dependence_notices(checks),
        *modes_notices(cells),
        *experiment_words.notices(experiments),
        *sessions.notices(loaded),
        *attempts.notices(loaded),
    ]
    return RunView(
        run_id=run.run_id,
        title=_title(run, cells.keys, experiments),
        forks=count_forks(loaded),
        summary=" ".join(filter(None, (_summary(cells, experiments), experiment_words.summary(experiments)))),
        facts=(*facts.run_facts(run), *sessions.fact(loaded), *sessions.windows_fact(loaded)),
        host=facts.host_facts(run.latest_session.host),
        notices=tuple(sorted(notices, key=lambda notice: notice.weight != "warn")),
        family=family_words(judgements.comparisons, judgements.checks),
        sections=parts,
        published=published_views(judged.claims, judged.earlier_verdicts),
        scale_words=run.scenario.scale_words if run.scenario and run.scenario.scale == "small" else None,
        not_repeated=not_repeated_views(run),
        pairs=" or ".join(dict.fromkeys(f"{above} over {below}" for above, below in (one.pair for one in parts))),
        references=cells.references,
        relevant=f"{cells.relevant * 100:g} %",
        varying=varying,
        constant=_constant(cells.keys, varying, drivers),
        rows=rows,
        searched=any(cell.figures(CAPACITY) for cell in cells),
        outcomes=_outcomes_head(cells, judgements),
        latency_head=_latency_head(cells),
        service_times=KIND_WORDS["uncorrected"] if "uncorrected" in _kinds(cells) else None,
        statuses=_statuses(rows),
        precision=precision_view(run, cells, checks, judgements),
        troubles=(*troubles, *experiment_words.troubles(experiments, _why_not_measured(run))),
        problems=loaded.problems,
        not_testable=tuple((cell_words(n.key), n.reason) for n in run.not_testable),
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
        capacities=tuple(
            (cell_words(one.key), quantity(one.throughput_rps, 4, why=one.why_not or "not measured"))
            for one in run.capacities
        ),
        reproduce=facts.reproduce(run),
        order=run.order,
    )


def _title(run: RunRecord, keys: Sequence[CellKey], experiments: Cells) -> str:
    if experiments.keys and not keys:
        return experiment_words.title(run, experiments)
    about = [run.scenario.name] if run.scenario else list(dict.fromkeys(key.served for key in keys))
    if experiments.keys and not run.scenario:
        about.append(
            f"{experiment_words.title(run, experiments)[0].lower()}{experiment_words.title(run, experiments)[1:]}"
        )
    return f"Thread pool or virtual threads: {', '.join(about)}" if about else "Thread pool or virtual threads"


def _summary(cells: Cells, experiments: Cells) -> str:
    """Empty where the run has experiments without a server only."""
    if experiments.keys and not cells.keys:
        return ""

    def number(axis: str, noun: str) -> str:
        return plural(len({getattr(key, axis) for key in cells.keys}), noun)

    measured = sum(1 for cell in cells if cell.usable)
    return (
        f"{number('executor', 'executor')} on {number('jdk', 'JDK')}: {measured} of {plural(len(cells.keys), 'cell')} "
        "with a fork that can be used, each fork a fresh server process."
    )


def _kinds(cells: Cells) -> tuple[str, ...]:
    """Of latencies, those that the cells have."""
    return tuple(dict.fromkeys(cell.latency.kind for cell in cells if cell.latency))


def _latency_head(cells: Cells) -> str | None:
    kinds = {kind: words for kind, words in KIND_SHORT.items() if kind in _kinds(cells)}
    return next(iter(kinds.values())) if len(kinds) == 1 else None


def _outcomes_head(cells: Cells, judgements: Judgements) -> str | None:
    """Where one load asks the question it stands in the head, else each figure's tooltip says it."""
    questions = {cell.question for cell in cells if cell.question.in_tables and _is_news(cell, judgements)}
    if not questions:
        return None
    return questions.pop().title if len(questions) == 1 else "Did as asked"


def _is_news(cell: CellStats, judgements: Judgements) -> bool:
    judged = judgements.outcomes(cell.key)
    return (judged is not None and worth_reporting(judged)) or (cell.attained.no > 0 and not cell.question.is_sought)


def _constant(keys: Sequence[CellKey], varying: frozenset[str], drivers: Collection[str | None]) -> str:
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
        "burn_us": tasks_of(key.burn_us),
        "wait_us": delay_of(key.wait_us) if key.wait_us else "",
        "load": key.load,
        "driver": f"driven by {next(iter(drivers), None)}" if drivers else "",
    }
    return ", ".join(text for axis, text in words.items() if text and axis not in varying)


def _row(key: CellKey, cells: Cells, judgements: Judgements, order: Sequence[str]) -> CellRow:
    cell = cells.get(key)
    state = cell.state if cell else State.NOT_MEASURED
    why = f"{state.value}: {STATE_MEANING[state]}"
    usable = cell.usable if cell else ()
    over = overall(cell.figures(THROUGHPUT).values()) if cell else None
    failed = failed_words(cell) if cell else None
    forks = f"{len(usable)}/{cell.forks if cell else 0}"
    return CellRow(
        workload=key.workload,
        server=key.server,
        jdk=key.jdk,
        executor=key.executor,
        slot=order.index(key.executor),
        cpus=key.cpus,
        burn_us=key.burn_us,
        wait_us=key.wait_us,
        load=key.load,
        driver=(cell and cell.driver) or "",
        status=state.value,
        status_text=state_text(cell),
        status_class=STATE_CLASS[state],
        status_title=STATE_MEANING[state],
        forks=forks,
        href=cell_page(key) if cell else None,
        outcome=_outcome(cell, judgements.outcomes(key), cells.reference(key)) if cell else missing(why),
        throughput=replace(of_metric(THROUGHPUT, cell, why=why), under=failed, amber=failed is not None),
        throughput_half=_half(over.summary, over.bounded) if over else missing(why),
        versus=_versus(key, cells, judgements),
        held=of_metric(CAPACITY, cell, why=why),
        warm=of_metric(TIME_TO_STEADY, cell, why=why),
        cpu=replace(of_metric(CPU, cell, why=why), under=cell.kind.cpu_label if cell and usable else None),
        p50=percentile(cell, "50", why=why),
        p99=percentile(cell, "99", why=why),
        p999=percentile(cell, "99.9", why=why),
        rss=of_metric(RSS_PEAK, cell, why=why),
        threads=of_metric(THREADS_PEAK, cell, why=why),
    )


def state_text(cell: CellStats | None) -> str:
    """What stands for a cell: a word, or how many of its forks can be used."""
    if cell is not None and cell.state is State.PARTLY:
        return f"{len(cell.usable)} of {plural(cell.forks, 'fork')} usable"
    return (cell.state if cell else State.NOT_MEASURED).value


def _half(summary: Summary, bounded: int) -> Figure:
    return missing("no interval: some forks give a bound only") if bounded else half_width(summary)


def _outcome(cell: CellStats, judged: JudgedOutcomes | None, base: str) -> Figure:
    """How many of its forks did what the load asks for; against what it is compared with where that is."""
    arm = cell.attained
    text = f"{cell.question.title} in {counted(arm)} forks"
    under = None
    if judged is not None:
        text = sentence(judged, cell.key.executor, base)
        found = finding_of(judged)
        under = found.value if judged.differs else None
    amber = arm.no > 0 and not cell.question.is_sought
    return Figure(counted(arm), arm.yes / arm.told if arm.told else None, text, under, amber)


def _versus(key: CellKey, cells: Cells, judgements: Judgements) -> Figure:
    """Its leading figure over that of what it is compared with; beneath it interval and verdict."""
    cell = cells.get(key)
    base = cells.reference(key)
    if key.executor == base and cell and cell.usable:
        return Figure("1", 1.0, f"this is {base}: what the others are compared with")
    metric = cells.leading(key)
    judged = judgements.of(metric, key)
    compared = judgements.comparison(metric, key)
    if judged is None or compared is None:
        lost = f"; {losses_words(compared.losses)}" if compared else ""
        return missing(f"no block has this cell and {base} both usable{lost}")
    found = finding(judged, metric)
    word = None
    if found in (Finding.BETTER, Finding.WORSE):
        word = "more" if judged.ratio.value > 1 else "less"
    elif found is Finding.NOT_JUDGED:
        word = found.value
    told = " ".join(filter(None, (marked_interval(judged), word))) or "one block"
    of = None if base == own_pool(key.server) else f"of {base}"
    reason = because(judged, "A/A check" if is_aa_arm(key.executor) else "comparison")
    said = f"{metric.title}: {word} than {base}, {reason}" if word in ("more", "less") else f"{metric.title}: {reason}"
    return Figure(
        text=ratio_value(judged.ratio),
        sort=judged.ratio.value,
        title=". ".join(filter(None, (said, paired_words(compared), pairs_title(compared)))),
        under=" ".join(filter(None, (told, of))),
        amber=found is Finding.NOT_JUDGED,
    )


def _statuses(rows: Sequence[CellRow]) -> tuple[tuple[str, str, int], ...]:
    words = [(state.value, STATE_CLASS[state]) for state in State]
    counts = ((word, css, sum(row.status == word for row in rows)) for word, css in words)
    return tuple((word, css, number) for word, css, number in counts if number)


def _trouble(key: CellKey, cell: CellStats | None, run: RunRecord) -> Trouble | None:
    state = cell.state if cell else State.NOT_MEASURED
    if cell is None or state is State.NOT_MEASURED:
        reasons: tuple[str, ...] = (_why_not_measured(run),)
    else:
        reasons = fork_lines(cell.record.forks, shortfalls=cell.fell_short)
        if state is State.OK and not reasons:
            return None
    return Trouble(
        label=cell_words(key),
        href=cell_page(key) if cell else None,
        status=state_text(cell) if state is not State.OK else "some forks",
        status_class=STATE_CLASS[state] if state is not State.OK else "not-steady",
        reasons=reasons or ("no reason was recorded",),
    )


def _why_not_measured(run: RunRecord) -> str:
    if run.status == "complete":
        return "the run is complete and has no readable record of this cell: see the files that could not be read"
    return "the run ended before this cell had its turn"
