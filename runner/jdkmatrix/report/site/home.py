"""The front page: one question, its answers from all runs, what else can be asked for, and the runs. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.domain.quantities import MISSING, delay_words, plural, wait_words
from jdkmatrix.domain.servers import own_pool, virtual_of
from jdkmatrix.report.blocks.inline import METHOD_PAGE, badge, element, joined, link, paragraphs, say, small, strong
from jdkmatrix.report.blocks.kinds import (
    SITE_MENU,
    Container,
    Disclosure,
    Notice,
    Notices,
    PageBlock,
    Pick,
    Picker,
    Prose,
    Section,
    Tile,
    Tiles,
    WebPage,
)
from jdkmatrix.report.blocks.tables import Cell, DataTable, Sorted, TableRow, columns
from jdkmatrix.report.cells.advice import OUTCOME, Advice
from jdkmatrix.report.claims.verdicts import VERDICT_CLASS, ClaimVerdict
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.conditions import FIGURES, Answering, answering, conditions_maps, overview
from jdkmatrix.report.site.digest import MeasuredCondition, RunDigest, host_names, runs_section
from jdkmatrix.report.words.numbers import Figure
from jdkmatrix.report.words.sentences import AXIS_TITLES, added_work, database_words, server_words
from jdkmatrix.report.words.sentences import condition as condition_words


@dataclass(frozen=True)
class Offered:
    """What can be measured. `values`: by axis; `served`: pairs of a workload and a server that serves it with its own
    pool and with virtual threads, whether requests can wait for a remote system, and the database in words."""

    values: Mapping[str, tuple[str | int, ...]]
    served: tuple[Mapping[str, Any], ...]


def offered(matrix: Matrix) -> Offered:
    """Return everything on the axes that can be compared, and the loads that a profile has."""
    selects = [rule for profile in matrix.profiles.values() for rule in (profile.select, *profile.include)]
    named = {load for rule in selects if rule.load not in (None, "all") for load in rule.load or ()}
    loads = tuple(load for load in matrix.axes.load if load in named and not isinstance(matrix.loads[load], TaskLoad))
    served = tuple(_served(matrix, loads[0])) if loads else ()
    return Offered(
        values={
            **{axis: getattr(matrix.axes, axis) for axis in ("jdk", "cpus", "burn_us", "wait_us")},
            **{axis: tuple(dict.fromkeys(one[axis] for one in served)) for axis in ("server", "workload")},
            "load": loads,
        },
        served=served,
    )


def _served(matrix: Matrix, load: str) -> Iterator[Mapping[str, Any]]:
    for workload, table in matrix.workloads.items():
        for server in matrix.servers:
            cells = [
                CellKey(workload=workload, server=server, jdk="", executor=executor, cpus=1, burn_us=0, load=load)
                for executor in (own_pool(server), virtual_of(server))
            ]
            if all(map(matrix.has_cell, cells)):
                able = {
                    "waits": table.remote is not None,
                    "burns": table.own is None,
                    "database": database_words(table.database),
                }
                yield {"workload": workload, "server": server, **able}


_OUTCOMES = "Did as asked"  # each load says for itself what that is
# The runs that measured a condition, newest first; with each, the answers under its conditions, from whichever run
# knows them best.
_ByRun = Sequence[tuple[RunDigest, Sequence[Answering]]]
_SORTED_BY = ("server", "workload", "jdk", "load", "cpus", "burn_us", "wait_us")


def home_page(
    runs: Sequence[RunDigest], claims: Iterable[ClaimVerdict], unreadable: Sequence[str], offered: Offered
) -> WebPage:
    """Build the front page. `runs`: newest first. `claims`: what all runs together say about each; `unreadable`: why
    runs are not shown; `offered`: what can be measured."""
    hosts = host_names(runs)
    found = grouped(((run.host_id, *one.values), (run, one)) for run in runs for one in run.conditions)
    newest = map(answering, found.values())
    ordered = sorted(newest, key=lambda one: [getattr(one.condition, axis) for axis in _SORTED_BY])
    numbered = enumerate(ordered, start=1)
    answers = tuple(replace(one, anchor=f"answer-{number}", host=hosts[one.run.host_id]) for number, one in numbered)
    every = [_all_answers(answers)] if answers else []
    lost = tuple(Notice("warn", "A run is not shown", text) for text in unreadable)
    return WebPage(
        heading="Thread pool or virtual threads?",
        lede=[Notices(lost)] if lost else [],
        blocks=(
            Section("answer", "Which executor?", tuple(_answer(runs, answers, offered)), unseen=True),
            *_claims(Counter(claims)),
            runs_section(runs, hosts, ""),
            *every,
        ),
        root="",
        menu=(("Answer", "#answer"), ("Runs", "#runs"), *([("All answers", "#all")] if every else []), *SITE_MENU[2:]),
        foot=say("front_foot", folder=runs[0].folder, method=METHOD_PAGE),
    )


def _figures(answers: Iterable[Answering]) -> dict[str, str]:
    """Return, by id, the titles of all figures that may matter to a reader."""
    there = {one.figure: one.title for told in answers for one in told.condition.advice}
    there.update({OUTCOME: _OUTCOMES} if OUTCOME in there else {})
    return {figure: there[figure] for figure in FIGURES if figure in there}


def _answer(runs: Sequence[RunDigest], answers: Sequence[Answering], offered: Offered) -> Iterator[PageBlock]:
    known = {tuple(one.values.values()): one for one in answers}
    by_run = [(run, [known[run.host_id, *one.values] for one in run.conditions]) for run in runs if run.conditions]
    first = first_answer(by_run)
    if first is None:
        yield Prose(
            "No run here has a figure by which virtual threads and a server’s own pool can be compared. Each run’s "
            "page shows what it measured."
        )
        return
    maps = tuple(_maps(by_run, first))
    summed = overview([(one.condition.task, one.condition.advice) for one in answers])
    summed_up = [Prose(summed, css="overview")] if summed else []
    yield from summed_up if maps else ()
    yield from maps
    yield Picker(tuple(_picks(answers, offered, first)))
    yield Container(tuple(_said(first)), id="said", live=True)
    yield from () if maps else summed_up
    yield Container((Prose(say("map_colours")),), "js-only", "map")
    hosts = {run.host_id for run, _ in by_run}
    measured = plural(len(answers), "condition")
    yield Prose(
        f"{measured} measured, in {plural(len(by_run), 'run')} on {plural(len(hosts), 'host')}. An answer holds for "
        "the host, the JDK and the condition that it names; nothing is extrapolated."
    )


def _maps(by_run: _ByRun, first: Answering) -> Iterator[PageBlock]:
    """Show the newest run that has an answer at a glance; a published experiment only if there is no other. Each entry
    links to its row among all answers; a script picks its condition instead."""
    mapped, here = min(by_run, key=lambda told: told[0].repeats_published)
    maps = conditions_maps([(one.anchor, one.condition) for one in here], first.anchor)
    if maps:
        when = f"{moment(mapped.started_at)}, on {here[0].host}"
        shown = (block for one in maps for block in (Prose(heading=one.title), Container((one,), "heats")))
        yield Container((*shown, Prose(say("conditions", when=when))), id="conditions")


def _said(one: Answering) -> Iterator[PageBlock]:
    """Yield the sentence of an answer's first figure, the ratios of all figures, and what it rests on."""
    lead = one.advice[0]
    where = element("span", f"On {one.host}: {where_words(one.condition)}.", css="where")
    yield Prose(joined(where, " ", strong(_unbroken(lead.sentence))), css=f"verdict {lead.side.value}")
    over = small("virtual / pool")
    shown = ((told, Figure(told.value, None, under=told.under)) for told in one.advice)
    yield Tiles([Tile(joined(f"{told.title} ", over), figure, css=told.tone) for told, figure in shown])
    yield from (Prose(text, css=css) for text, css in _rests_on(one))


def _unbroken(sentence: str) -> str:
    return sentence.replace(" %", "\u00a0%")


def _rests_on(one: Answering) -> Iterator[tuple[str, str]]:
    """Yield what an answer rests on, each text with its class."""
    run, condition = one.run, one.condition
    if condition.cause:
        yield f"A likely cause, for {_inside(one.advice[0].title)}: {condition.cause}.", "cause"
    if condition.better:
        best, *others = condition.better
        options = link("The options", f"{run.folder}{best.page}")
        less = [part for one in others for part in (", ", link(one.executor, f"{run.folder}{one.page}"))]
        more = joined("; smaller gains: ", *less[1:]) if less else ""
        yield joined(f"Virtual threads with other options: {best.words}. ", options, more, "."), "cause"
    if one.together:
        yield f"{one.together}.", "cause"
    by = f", by {condition.driver}" if condition.driver else ""
    server = None if condition.is_command else dict(run.servers).get(condition.server)
    on = f", on {server}" if server else ""
    care = ", ".join(map(_inside, condition.warnings))
    if one.others_warnings:
        care += f"{'; ' if care else ''}in other runs: {', '.join(map(_inside, one.others_warnings))}"
    yield (
        joined(
            f"{'The most precise run was measured' if one.together else 'Measured'} "
            f"{moment(run.started_at)}, {plural(condition.blocks, 'block')}{on}; {condition.load_words}{by}. ",
            link("Virtual threads", f"{run.folder}{condition.page}"),
            " and ",
            link("the pool", f"{run.folder}{condition.pool_page}"),
            ", fork by fork; ",
            link("the whole run", f"{run.folder}index.html"),
            ".",
            *([" ", element("span", f"Read with care: {care}.", css="warned")] if care else []),
        ),
        "trust",
    )


def _inside(title: str) -> str:
    """Return a title as it reads inside a sentence."""
    return title if title[:2].isupper() or title.startswith("A/A") else f"{title[:1].lower()}{title[1:]}"


def where_words(condition: MeasuredCondition) -> str:
    """ "temurin-25, 1 CPU, tasks of 100 µs, remote delay of 2 ms: mp-ping on Open Liberty, flood"."""
    size = condition_words(condition.cpus, condition.task)
    on = "" if condition.is_command else f" on {server_words(condition.server)}"
    return f"{condition.jdk}, {size}: {condition.workload}{on}, {condition.load}"


def first_answer(by_run: _ByRun) -> Answering | None:
    """Return the newest answer that decides something on the host of the newest one, or else the newest one itself;
    from a published experiment only if there is no other, since it answers somebody else's question."""
    if not by_run:
        return None
    host_id = by_run[0][0].host_id
    here = [(run, one) for run, answers in by_run if run.host_id == host_id for one in answers]
    deciding = (told for told in here if told[1].decided)
    return min(deciding, key=lambda told: told[0].repeats_published, default=here[0])[1]


def _claims(counts: Counter[ClaimVerdict]) -> Iterator[Section]:
    badges = [badge(f"{counts[one]} {one.value}", VERDICT_CLASS[one]) for one in ClaimVerdict if counts[one]]
    if badges:
        every = link("Every published claim, beside what was measured here", "claims/index.html")
        blocks = (Prose(Markup(" ").join(badges), css=""), Prose(every, css=""))
        yield Section("claims", "Published and measured", blocks)


def _all_answers(answers: Sequence[Answering]) -> Section:
    """Build the table of all answers, from which scripts read them."""
    figures = _figures(answers)
    several = len({one.host for one in answers}) > 1
    heads = columns("Condition", *(["Host"] if several else []), *figures.values(), "Rests on")
    rows = [_row(one, figures, (one.host,) if several else ()) for one in answers]
    table = DataTable("Table of all answers", heads, rows, "wrap", "answers-table", sortable=True, tall=True)
    words = (
        "For each host and condition, one run of the newest build: the one with the most precise ratio. A ratio is "
        "virtual threads over the server’s pool, with its 95 % interval; what several runs decide is from all of them."
    )
    return Section("all", "All answers", (Disclosure(plural(len(answers), "condition"), (table,)),), words)


def _row(one: Answering, figures: Iterable[str], host: Sequence[str]) -> TableRow:
    advice = {told.figure: told for told in one.advice}
    rests_on = (element("p", text, css=css) for text, css in _rests_on(one))
    cells: tuple[Cell, ...] = (
        where_words(one.condition),
        *host,
        *(_figure(advice.get(figure)) for figure in figures),
        element("div", *rests_on, css="rests"),
    )
    driver = one.condition.driver or "a driver not recorded"
    beside = {"database": one.condition.database, "driver": driver, "lead": one.advice[0].figure}
    return TableRow(cells, id=one.anchor, data=(*one.values.items(), *beside.items()))


def _figure(told: Advice | None) -> Sorted:
    """Show a figure, sorted by its ratio where it has one."""
    if told is None:
        return Sorted(MISSING, "")
    content = (strong(told.value), " ", small(told.under), paragraphs((_unbroken(told.sentence),)))
    data = {"data_figure": told.figure, "data_title": told.title, "data_tone": told.tone, "data_side": told.side.value}
    shown = element("div", *content, **data)
    return Sorted(shown, _first_number(told.value) if told.ratio is None else str(told.ratio))


def _first_number(text: str) -> str:
    """Return what sorts two arms without a ratio: the quotient of two figures, or the first count; empty where the text
    begins with neither."""
    number = r"(?:[≥<] ?)?([0-9][0-9,.]*)"
    both, first = (re.match(pattern, text) for pattern in (rf"{number} / {number}$", number))
    told = [float(one.replace(",", "")) for one in both.groups()] if both else []
    if told and told[1]:
        return str(told[0] / told[1])
    return first[1].replace(",", "") if first else ""


def _picks(answers: Sequence[Answering], offered: Offered, first: Answering) -> Iterator[Pick]:
    hosts = {one.values["host"]: one.host for one in answers}
    given = (one.condition for one in answers if not one.condition.is_relative)
    load_words = grouped((condition.load, condition.load_words) for condition in given)

    def words(axis: str, value: str) -> str:
        match axis:
            case "burn_us":
                return added_work(int(value))
            case "wait_us":
                return wait_words(int(value)) if int(value) else delay_words(0)
            case "host":
                return hosts[value]
            case "load":
                told = {*load_words.get(value, ())}
                return f"{value}: {next(iter(told))}" if len(told) == 1 else value
            case _:
                return value

    newest = next(one for one in answers if one.condition.values == first.condition.values)
    chosen = {**first.values, "host": "" if newest is first else first.values["host"]}
    for axis, value_chosen in chosen.items():
        measured = dict.fromkeys(one.values[axis] for one in answers)
        others = dict.fromkeys(map(str, offered.values.get(axis, ())))
        values = (list(measured), [value for value in others if value not in measured])
        # Numbers by size, everything else in the order given.
        ordered = [sorted(some, key=int) if axis in ("cpus", "burn_us", "wait_us") else some for some in values]
        told, unmeasured = (tuple((value, words(axis, value)) for value in some) for some in ordered)
        yield Pick(axis, AXIS_TITLES[axis], told, unmeasured, value_chosen)
        if axis == "workload":
            yield from _database(answers, offered, first)
    yield Pick("figure", "What matters", tuple(_figures(answers).items()), chosen=first.advice[0].figure)


def _database(answers: Sequence[Answering], offered: Offered, first: Answering) -> Iterator[Pick]:
    """Yield the pick by which a reader finds a workload without its name; nothing if no workload has a database."""
    measured = dict.fromkeys(one.condition.database for one in answers)
    others = dict.fromkeys(one["database"] for one in offered.served if one["database"] not in measured)
    if {*measured, *others} != {database_words(None)}:
        told, unmeasured = (tuple((words, words) for words in some) for some in (measured, others))
        yield Pick("database", "Database", told, unmeasured, first.condition.database)
