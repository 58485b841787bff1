"""The page of a run, from its answers to the command that repeats it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jdkmatrix.domain.quantities import plural
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.inline import joined, say, strong
from jdkmatrix.report.blocks.kinds import (
    Command,
    Container,
    Disclosure,
    FactList,
    HowToRead,
    Items,
    Notice,
    Notices,
    PageBlock,
    Prose,
    Section,
    Trouble,
    Troubles,
)
from jdkmatrix.report.blocks.page import WebPage
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.comparisons import slices
from jdkmatrix.report.cells.shown import ShownCell, shown_cells
from jdkmatrix.report.claims.published import claim_in_run, published_blocks
from jdkmatrix.report.html.names import METHOD_PAGE
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page import attempts, experiment_words, facts, refusals, sessions
from jdkmatrix.report.run_page.cells_table import cells_section
from jdkmatrix.report.run_page.dependence import check_blocks, dependence_notices
from jdkmatrix.report.run_page.fork_counts import count_forks
from jdkmatrix.report.run_page.jdks import jdks_section
from jdkmatrix.report.run_page.modes import modes_notices
from jdkmatrix.report.run_page.precision import precision_section
from jdkmatrix.report.run_page.sections import sections
from jdkmatrix.report.run_page.troubles import fork_lines
from jdkmatrix.report.words.numbers import quantity
from jdkmatrix.report.words.sentences import cell_words, family_words
from jdkmatrix.report.words.states import State


def run_page(judged: JudgedRun, experiments: Sequence[Section], notices: Sequence[Notice], root: str) -> WebPage:
    """`experiments`: what it shows of those; `notices`: as run_notices; `root` leads to the site's folder."""
    run, cells, judgements = judged.run, judged.cells, judged.judgements
    served = bool(cells.keys) or not experiments
    pairs = dict.fromkeys(f"{one.pair.numerator} over {one.pair.base}" for one in slices(cells))
    parts: list[PageBlock] = []
    if served:
        family = family_words(judgements.comparisons, judgements.checks)
        ended = [Prose(family, css="family")] if family else []
        parts.append(Container((*sections(cells, judgements, judged.order), *ended), id="answers"))
    if experiments:
        parts.append(Container(experiments, id="experiments"))
    later: tuple[PageBlock, ...] = (
        *_published(judged, root),
        *([cells_section(judged)] if served else []),
        *precision_section(run, cells, check_blocks(cells), judgements),
        *_troubles(judged),
        jdks_section(run.jdks),
        _host(run),
        HowToRead(served, bool(experiments), " or ".join(pairs), cells.references),
        _reproduce(run),
    )
    return WebPage(
        title=f"{run_title(judged)} · {run.run_id}",
        heading=run_title(judged),
        summary=_summary(judged),
        lede=(_about(judged, notices),),
        blocks=(*parts, *later),
        root=root,
        up=f"{root}index.html",
        run_id=run.run_id,
        menu=tuple(_menu(served, experiments, later)),
    )


_MENU = {
    "published": "Published",
    "cells": "Cells",
    "troubles": "Not ok",
    "precision": "Precision",
    "jdks": "JDKs",
    "host": "Host",
}


def _menu(served: bool, experiments: Sequence[Section], later: Sequence[PageBlock]) -> Iterator[tuple[str, str]]:
    if served:
        yield "Answers", "#answers"
    yield from ((one.title.partition(" <")[0], f"#{one.id}") for one in experiments)
    there = {one.id for one in later if isinstance(one, Section)}
    yield from ((title, f"#{name}") for name, title in _MENU.items() if name in there)
    yield from (("How to read", "#reading"), ("How windows are judged", METHOD_PAGE), ("Reproduce", "#reproduce"))


def run_notices(judged: JudgedRun) -> tuple[Notice, ...]:
    """All that must or should be known of a run; those that change how its figures must be read come first."""
    loaded, cells = judged.loaded, judged.cells
    found = [
        *facts.notices(loaded, cells, judged.judgements),
        *refusals.notices(judged.refusals, loaded.cells),
        *dependence_notices(check_blocks(cells)),
        *modes_notices(cells),
        *experiment_words.notices(judged.experiments),
        *sessions.notices(loaded),
        *attempts.notices(loaded),
    ]
    return tuple(sorted(found, key=lambda notice: notice.weight != "warn"))


def warned(notices: Sequence[Notice]) -> tuple[str, ...]:
    """Titles of those that change how figures must be read."""
    return tuple(dict.fromkeys(notice.title for notice in notices if notice.weight == "warn"))


def run_title(judged: JudgedRun) -> str:
    run, keys, experiments = judged.run, judged.cells.keys, judged.experiments
    alone = experiment_words.title(run, experiments)
    if experiments.keys and not keys:
        return alone
    about = [run.scenario.name] if run.scenario else list(dict.fromkeys(key.served for key in keys))
    if experiments.keys and not run.scenario:
        about.append(f"{alone[0].lower()}{alone[1:]}")
    return f"Thread pool or virtual threads: {', '.join(about)}" if about else "Thread pool or virtual threads"


def _summary(judged: JudgedRun) -> str:
    forks, experiments = count_forks(judged.loaded), judged.experiments
    words = filter(None, (_of_served(judged.cells, experiments), experiment_words.summary(experiments)))
    return joined(strong(f"{forks.text}.", "forks amber" if forks.amber else "forks"), " ", " ".join(words))


def _of_served(cells: Cells, experiments: Cells) -> str:
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


def _about(judged: JudgedRun, notices: Sequence[Notice]) -> Disclosure:
    run, loaded = judged.run, judged.loaded
    told = (*facts.run_facts(run), *sessions.fact(loaded), *sessions.windows_fact(loaded))
    care = warned(notices)
    summary = "Where, when, with what"
    if care:
        summary = joined(strong(f"Read with care: {' · '.join(care)}.", "warned"), f" {summary}")
    return Disclosure(summary, (*([Notices(tuple(notices))] if notices else []), FactList(told, "facts hero")), "about")


def _published(judged: JudgedRun, root: str) -> Iterator[Section]:
    run, claims = judged.run, {one.claim.id: one for one in judged.claims}
    if not claims:
        return
    scenario, earlier = run.scenario, judged.earlier_verdicts
    blocks = [
        *published_blocks(
            [one.claim for one in claims.values()],
            lambda claim: claim_in_run(claims[claim.id], earlier.get(claim.id)),
        )
    ]
    if scenario and scenario.not_repeated:
        nothing = Prose("Nothing on this page speaks for or against these.")
        others = published_blocks(scenario.not_repeated, lambda _: (None, ()))
        blocks.append(Disclosure("Published, and repeated by no scenario", (nothing, *others), "not-repeated"))
    small_run = scenario.scale_words if scenario and scenario.scale == "small" else None
    yield Section(
        "published", "What was published", blocks, say("published", scale=small_run, claims=f"{root}claims/index.html")
    )


def _troubles(judged: JudgedRun) -> Iterator[Section]:
    run, loaded = judged.run, judged.loaded
    shown = shown_cells(judged.cells, judged.judgements)
    of_cells = (
        *(trouble for one in shown if (trouble := _trouble(one, run))),
        *experiment_words.troubles(judged.experiments, _why_not_measured(run)),
    )
    not_testable = (Trouble(cell_words(n.key), None, "not testable", "none", (n.reason,)) for n in run.not_testable)
    files = (Trouble(problem, None, "file", "failed") for problem in loaded.problems)
    blocks: list[PageBlock] = [
        block
        for heading, troubles in (("", of_cells), ("Not testable here", (*not_testable,)), ("Result files", (*files,)))
        if troubles
        for block in (*((Prose(heading=heading),) if heading else ()), Troubles(troubles))
    ]
    if blocks:
        yield Section("troubles", "What is not ok, and why", blocks)


def _trouble(one: ShownCell, run: RunRecord) -> Trouble | None:
    if one.cell is None or one.state is State.NOT_MEASURED:
        reasons: tuple[str, ...] = (_why_not_measured(run),)
    else:
        reasons = fork_lines(one.cell.record.forks, shortfalls=one.cell.fell_short)
        if one.state is State.OK and not reasons:
            return None
    is_ok = one.state is State.OK
    return Trouble(
        label=cell_words(one.key),
        href=one.href,
        status="some forks" if is_ok else one.state_text,
        status_class="not-steady" if is_ok else one.state.css,
        reasons=reasons or ("no reason was recorded",),
    )


def _why_not_measured(run: RunRecord) -> str:
    if run.status == "complete":
        return "the run is complete and has no readable record of this cell: see the files that could not be read"
    return "the run ended before this cell had its turn"


def _host(run: RunRecord) -> Section:
    blocks: list[PageBlock] = [FactList(facts.host_facts(run.latest_session.host))]
    if run.calibrations:
        words = say("calibration", single=len(run.calibrations) == 1)
        rows: list[tuple[Cell, ...]] = [
            (
                one.jdk,
                quantity(one.rounds_per_us, 3, why=""),
                quantity(one.spread * 100, 2, why=""),
                str(one.repeats),
                str(one.cpu),
            )
            for one in run.calibrations
        ]
        heads = columns("JDK", "Rounds|per µs#", "Spread|% of median#", "Repeats#", "CPU#")
        blocks += [Prose(words, "Calibration of the work"), DataTable("Calibration", heads, rows)]
    if run.capacities:
        title, heads = "Capacities behind the loads", columns("Cell", "Throughput|req/s#")
        throughputs = [
            (cell_words(one.key), quantity(one.throughput_rps, 4, why=one.why_not or "not measured"))
            for one in run.capacities
        ]
        blocks += [Prose(say("capacities"), title), DataTable(title, heads, throughputs)]
    return Section("host", "Host", blocks)


def _reproduce(run: RunRecord) -> Section:
    order = (Prose(say("order_of_forks")), Items(run.order, "order", ordered=True))
    blocks = (
        Command(facts.reproduce(run), "Commands that repeat this run"),
        Disclosure(f"Order of execution ({len(run.order)} forks)", order),
        Prose(say("files_of_run")),
    )
    return Section("reproduce", "Reproduce this run", blocks, say("reproduce"))
