"""The page of a run, from its answers to the command that repeats it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jdkmatrix.domain.executors import base_of, first_arm
from jdkmatrix.domain.quantities import plural
from jdkmatrix.figures.metrics import metrics_of
from jdkmatrix.report.blocks.inline import METHOD_PAGE, joined, say, strong
from jdkmatrix.report.blocks.kinds import Container, HowToRead, Notice, PageBlock, Prose, Section, WebPage
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.judgements import Judgements
from jdkmatrix.report.cells.slices import Slice, of_kinds, slices
from jdkmatrix.report.claims.published import claim_in_run, published_blocks
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.answers import sections
from jdkmatrix.report.run_page.cells_table import cells_section, troubles_section
from jdkmatrix.report.run_page.facts import count_forks, host_section, jdks_section, reproduce_section
from jdkmatrix.report.run_page.notices import about
from jdkmatrix.report.run_page.precision import precision_section
from jdkmatrix.report.words.sentences import State, capitalised, family_words, served_words


def run_page(judged: JudgedRun, experiments: Sequence[Section], notices: Sequence[Notice], root: str) -> WebPage:
    """Build the page. `experiments`: its sections on those; `notices`: as run_notices; `root` leads to the site."""
    run, cells, judgements = judged.run, judged.cells, judged.judgements
    served = bool(cells.keys) or not experiments
    measured = (one for one in slices(cells) if not one.pair.absent(one.executors))
    pairs = dict.fromkeys(f"{one.pair.numerator} over {one.pair.base}" for one in measured if _whole(judgements, one))
    parts: list[PageBlock] = []
    if served:
        family = family_words(judgements.comparisons, judgements.checks)
        ended = [Prose(family, css="family")] if family else []
        parts.append(Container((*sections(judgements), *ended), id="answers"))
    if experiments:
        parts.append(Container(experiments, id="experiments"))
    later: tuple[PageBlock, ...] = (
        *_published(judged, root),
        *([cells_section(judged)] if served else []),
        *precision_section(judged),
        *troubles_section(judged),
        jdks_section(judged.loaded),
        host_section(run),
        HowToRead(served, bool(experiments), " or ".join(pairs), cells.references),
        reproduce_section(run),
    )
    return WebPage(
        heading=run_title(judged),
        summary=_summary(judged),
        lede=(about(judged, notices),),
        blocks=(*parts, *later),
        root=root,
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


def _whole(judgements: Judgements, piece: Slice) -> bool:
    """Return whether the pair is compared by more than the leading figure."""
    keys = (key for key in piece.keys if key.executor == piece.pair.numerator)
    cells = (cell for key in keys if (cell := judgements.cells.get(key)))
    return any(judgements.comparison(metric, cell.key) for cell in cells for metric in metrics_of(cell.load)[1:])


def _menu(served: bool, experiments: Sequence[Section], later: Sequence[PageBlock]) -> Iterator[tuple[str, str]]:
    if served:
        yield "Answers", "#answers"
    yield from ((one.title.partition(" <")[0], f"#{one.id}") for one in experiments)
    there = {one.id for one in later if isinstance(one, Section)}
    yield from ((title, f"#{name}") for name, title in _MENU.items() if name in there)
    yield from (("How to read", "#reading"), ("How windows are judged", METHOD_PAGE), ("Reproduce", "#reproduce"))


def run_title(judged: JudgedRun) -> str:
    run, keys, experiments = judged.run, judged.cells.keys, judged.experiments
    alone = f"without a server: {run.scenario.name if run.scenario else _kinds(experiments) or 'experiments'}"
    if experiments.keys and not keys:
        return capitalised(alone)
    served = dict.fromkeys(map(served_words, keys))
    about = [run.scenario.name] if run.scenario else [*served, *([alone] if experiments.keys else [])]
    return ": ".join(filter(None, ("Thread pool or virtual threads", ", ".join(about))))


def _kinds(experiments: Cells) -> str:
    return ", ".join(piece.page.title.lower() for piece in of_kinds(experiments))


def _summary(judged: JudgedRun) -> str:
    """Say how many forks are usable, and how much was measured with servers and in experiments without one."""
    count, cells, experiments = count_forks(judged.loaded), judged.cells, judged.experiments
    told = []
    if cells.keys or not experiments.keys:
        usable = sum(bool(cell.usable) for cell in cells)
        # An executor that is measured again as the second arm of an A/A check counts once.
        arms = {first_arm(key.executor) for key in cells.keys}
        bases = {*map(base_of, arms)}
        executors = plural(len(bases), "executor") + (f" in {len(arms)} arms" if len(arms) > len(bases) else "")
        told.append(
            f"{executors} on {_number(cells, 'jdk', 'JDK')}: {usable} of "
            f"{plural(len(cells.keys), 'cell')} with a usable fork, each fork a fresh server process."
        )
    if experiments.keys:
        kinds, ended = _kinds(experiments), sum(cell.state is State.OK for cell in experiments)
        forks = plural(sum(len(cell.record.forks) for cell in experiments), "fork")
        told.append(
            f"Without a server{f' ({kinds})' if kinds else ''}: {_number(experiments, 'executor', 'arm')} on "
            f"{_number(experiments, 'jdk', 'JDK')}, {ended} of {plural(len(experiments.keys), 'cell')} ran to an "
            f"outcome, from {forks}, each a fresh process."
        )
    return joined(strong(f"{count.text}.", "forks amber" if count.amber else "forks"), " ", " ".join(told))


def _number(cells: Cells, axis: str, noun: str) -> str:
    return plural(len({getattr(key, axis) for key in cells.keys}), noun)


def _published(judged: JudgedRun, root: str) -> Iterator[Section]:
    run, claims = judged.run, {one.claim.id: one for one in judged.claims}
    if not claims:
        return
    scenario, earlier = run.scenario, judged.earlier_verdicts
    every = [one.claim for one in claims.values()]
    blocks = tuple(published_blocks(every, lambda one: claim_in_run(claims[one.id], earlier.get(one.id))))
    small_run = scenario.scale_words if scenario and scenario.scale == "small" else None
    words = say("published", scale=small_run, claims=f"{root}claims/index.html")
    yield Section("published", "What was published", blocks, words)
