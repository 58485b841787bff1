"""Everything that must or should be known before reading the figures of a run. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from statistics import median

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import first_arm, is_aa_arm
from jdkmatrix.domain.quantities import digits, per_cent, plural
from jdkmatrix.figures.refusals import gated_figures
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.inline import joined, strong
from jdkmatrix.report.blocks.kinds import Disclosure, FactList, Notice, Notices
from jdkmatrix.report.cells.block_checks import some_of
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.judgements import Judgements
from jdkmatrix.report.cells.shown import no_ratio_words
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page import sessions
from jdkmatrix.report.run_page.facts import is_dirty, own_applications, run_facts
from jdkmatrix.report.run_page.precision import dependence_notices
from jdkmatrix.report.words.numbers import apart, p_value, ratio_interval, ratio_value
from jdkmatrix.report.words.sentences import because, cell_words, not_judged_words, place_words, refusals_words
from jdkmatrix.servers.outside import PLATFORM_BELOW, VIRTUAL_AT_LEAST
from jdkmatrix.stats.modes import FEWEST, P_MAX
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.verdicts import Verdict
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun

_warn, _info = partial(Notice, "warn"), partial(Notice, "info")
# Enough forks for an interval to cover the truth nearly as often as it says, whatever the starts (stats/intervals).
_SHOW_MODES = 10
_FEW_FORKS = (
    ("warn", "One block only", 1, 1, "one usable fork: there is no interval, and a difference may be chance."),
    (
        *("info", "Two blocks", 2, 2),
        "two usable forks: intervals over two are very wide, so that most differences cannot be told from chance.",
    ),
    (
        *("info", f"Fewer than {_SHOW_MODES} forks", 3, _SHOW_MODES - 1),
        f"3 to {_SHOW_MODES - 1} usable forks. So few may not show that some starts of one executor are slower "
        "throughout: where one in four is 8 % slower, a 95 % interval over 3 or 5 covers the truth in 78 or 79 % of "
        "cases.",
    ),
)


def run_notices(judged: JudgedRun) -> tuple[Notice, ...]:
    """Return all notices; those that change how the figures of the run must be read come first."""
    run, loaded, cells = judged.run, judged.loaded, judged.cells
    damaged = f"{plural(len(loaded.damaged), 'file')}, named below: nothing here includes what they held."
    found = [
        *_run_notices(run),
        *_cell_notices(cells),
        *aa_notices(judged.judgements),
        *([_warn("Result files damaged or missing", damaged)] if loaded.damaged else []),
        *sessions.calibration_notices(run.calibrations),
        *sessions.clock_notices(loaded.cells, run.promised_precision),
        *(_info("Note on this run", note) for note in run.notes),
        *refusal_notices(judged, judged.refusals),
        *dependence_notices(judged.blocks),
        *modes_notices(judged, (*cells.keys, *judged.experiments.keys)),
        *experiment_notices(judged.experiments),
        *sessions.notices(loaded),
        *attempt_notices(loaded),
    ]
    return tuple(sorted(found, key=lambda notice: notice.weight != "warn"))


def about(judged: JudgedRun, notices: Sequence[Notice]) -> Disclosure:
    """Show the notices, then where, when and with what the run was measured. `notices`: as run_notices."""
    run, loaded = judged.run, judged.loaded
    told = (*run_facts(run), *sessions.fact(loaded), *sessions.windows_fact(loaded))
    summary = "Where, when, with what"
    if care := warned(notices):
        summary = joined(strong(f"Read with care: {' · '.join(care)}.", "warned"), f" {summary}")
    return Disclosure(summary, (*([Notices(tuple(notices))] if notices else []), FactList(told, "facts hero")), "about")


def pair_warnings(judged: JudgedRun, *keys: CellKey) -> Iterable[Notice]:
    """Return those `run_notices` that change how to read a comparison of these cells, with a server or without."""
    run = judged.run
    cells, programs = ([cell for key in keys if (cell := one.get(key))] for one in (judged.cells, judged.experiments))
    found = [
        *_cell_notices(cells),
        *sessions.clock_notices([cell.record for cell in (*cells, *programs)], run.promised_precision),
        *aa_notices(judged.judgements, keys),
        *refusal_notices(judged, [pair for pair in judged.refusals if {*pair} <= {*keys}]),
        *(dependence_notices(judged.blocks) if any(map(judged.blocks.dependent, keys)) else ()),
        *modes_notices(judged, keys),
        *experiment_notices(programs),
    ]
    return (notice for notice in found if notice.weight == "warn")


def _run_notices(run: RunRecord) -> Iterable[Notice]:
    if run.scenario:
        size = "The published size" if run.scenario.scale == "article" else "Not the published size"
        text = f"{run.scenario.description} {size}: {run.scenario.scale_words}."
        yield _info(f"Scenario {run.scenario.name}", text)
    if run.status != "complete":
        how = "was interrupted" if run.status == "interrupted" else "has not ended, or was killed"
        yield _warn("Not complete", f"This run {how}: cells may lack forks or be missing.")
    if virtualisation := run.latest_session.host.virtualisation:
        yield _info(
            "Not bare metal",
            f"This ran in a {virtualisation}. Whatever else runs on the same hardware can slow it down "
            "unnoticed; ratios inside a block suffer less than absolute figures.",
        )
    if is_dirty(run):
        told = "The tool had changes that are in no commit, so the run cannot be repeated exactly."
        yield _info("Uncommitted changes", told)
    if run.provenance.inputs and (loose := run.provenance.not_pinned(source_dirty=is_dirty(run))):
        yield _info("Not fully pinned", f"The flake did not provide everything: {'; '.join(loose)}.")
    yield from own_notices(run)
    if missing := [jdk.id for jdk in run.jdks if jdk.selected and not jdk.available]:
        yield _info("JDKs not available here", f"{', '.join(missing)}: reasons are in the table of JDKs.")
    if run.not_testable:
        yield _info("Not testable here", f"{plural(len(run.not_testable), 'cell')}: reasons are listed below.")


def _cell_notices(cells: Iterable[CellStats]) -> Iterable[Notice]:
    every = list(cells)
    if shared := [cell for cell in every if any(fork.confinement.overlapped for fork in cell.record.forks)]:
        yield _warn(
            "Server and driver share CPUs",
            f"In {len(shared)} of {plural(len(every), 'cell')} the host had too few CPUs to keep them apart: the "
            "driver took time from the server. Compare executors with each other, but take no figure as absolute.",
        )
    watched = "server and driver were kept on their CPUs", "; the server's threads were checked after every window"
    forks = [fork for cell in every for fork in cell.record.forks]
    yield from _by_affinity(forks, "Kept on their CPUs by affinity alone", *watched)
    for weight, title, least, most, words in _FEW_FORKS:
        if few := [cell for cell in every if least <= len(cell.usable) <= most]:
            told = f"{plural(len(few), 'cell')} of {len(every)} {'has' if len(few) == 1 else 'have'}"
            yield Notice(weight, title, f"{told} {words}")
    if unsteady := [cell for cell in every if any(f.status is Status.NOT_STEADY for f in cell.record.forks)]:
        yield _warn(
            "Not steady",
            f"In {plural(len(unsteady), 'cell')} the warm-up reached its cap before the steady state: JIT compilation "
            "may have continued into the measurement.",
        )


def _by_affinity(forks: Sequence[Fork], title: str, who: str, watched: str = "") -> Iterator[Notice]:
    """Say how many forks were kept on their CPUs by affinity alone, and why; nothing where none was."""
    if loose := [fork for fork in forks if fork.confinement.method == "sched_setaffinity"]:
        why = "; ".join(sorted({fork.confinement.why_not_cgroup or "no reason is recorded" for fork in loose}))
        yield _info(
            title,
            f"In {_share_of(loose, forks)} {who} by sched_setaffinity, which a thread can undo for "
            f"itself{watched}. Cgroup cpusets, which no thread can leave, were not used: {why}.",
        )


def _share_of(some: Sequence[Fork], forks: Sequence[Fork]) -> str:
    return "every fork" if len(some) == len(forks) else f"{len(some)} of {plural(len(forks), 'fork')}"


def warned(notices: Sequence[Notice]) -> tuple[str, ...]:
    """Return the titles of the notices that change how figures must be read."""
    return tuple(dict.fromkeys(notice.title for notice in notices if notice.weight == "warn"))


def aa_notices(judgements: Judgements, beside: Collection[CellKey] = ()) -> Iterable[Notice]:
    """Yield the A/A notices of each cell that was measured again, or only of those under the conditions of `beside`.
    The checks of a page are judged among themselves."""
    cells = judgements.cells
    keys = dict.fromkeys(peer for key in beside for peer in cells.peers(key)) if beside else cells.keys
    for key in filter(lambda key: is_aa_arm(key.executor), keys):
        base = first_arm(key.executor)
        metric = cells.leading(key)
        arms = f"{base} against itself {place_words(key)}"
        judged = judgements.of(metric, key)
        outcomes = judgements.outcomes(key)
        if outcomes is not None and outcomes.differs:
            text = f"{arms}: the second arm {outcomes.against} with the first, {outcomes.verdict_words}"
            yield _warn("A/A check failed", f"{text}: a difference where there is none.")
        if judged is None:
            why = no_ratio_words(cells, key, key.model_copy(update={"executor": base}))
            yield _warn("No A/A check", f"{arms}, no ratio of {metric.name}: {why}.")
            continue
        ratio = judged.ratio
        if judged.verdict is Verdict.NOT_JUDGED:
            yield _warn("A/A check not judged", f"{arms}: {not_judged_words(judged)}.")
            continue
        found = f"{arms}: {metric.name} ratio {ratio_value(ratio)}"
        detectable = detectable_share(ratio)
        if detectable is None:
            yield _info("A/A check", f"{found} in one block: no interval.")
            continue
        found += f", 95 % interval {ratio_interval(ratio)}"
        reason = because(judged, "A/A check")
        if judged.verdict is Verdict.DIFFERENT:
            yield _warn(
                "A/A check failed",
                f"{found}, {reason}: a difference where there is none. One page in twenty says so by chance; otherwise "
                "something on this host favours one arm, and no difference here can be trusted.",
            )
        else:
            yield _info(
                "A/A check",
                f"{found}; {reason}. In {ratio.blocks} blocks like these, a single comparison finds a difference of "
                f"{per_cent(detectable)} slightly more often than not, and one of "
                f"{per_cent(_SELDOM_MISSED * detectable)} in four of five runs; one among many finds only larger ones.",
            )


# For 80 %, by the noncentral t, where blocks scatter as these did: 1.31 with three, 1.35 with five, 1.38 with seven.
_SELDOM_MISSED = 1.4


def detectable_share(ratio: Ratio) -> float | None:
    """Return by how much a ratio of as many blocks, with the same scatter, must exceed 1 for its interval to leave 1
    out: the half-width of the interval on the log scale, as a share. None without an interval."""
    return None if ratio.half_width_log is None else math.expm1(ratio.half_width_log)


def modes_notices(judged: JudgedRun, keys: Iterable[CellKey]) -> Iterator[Notice]:
    """Yield one notice for all of these cells."""
    tested = {key: judged.modes[key] for key in keys if key in judged.modes}
    named = [
        f"{cell_words(key)}: {one.lower} and {plural(one.upper, 'fork')}, {apart(math.exp(one.apart))} apart, adjusted "
        f"{p_value(adjusted)}"
        for key, (one, adjusted) in tested.items()
        if adjusted < P_MAX
    ]
    if named:
        yield _warn(
            "Forks fall into two groups",
            f"In {len(named)} of {plural(len(tested), 'cell')} with at least {FEWEST} forks "
            f"({'; '.join(some_of(named))}). Perhaps a start ends up in one of two modes, "
            "or the host changed meanwhile. The mean lies between the groups, and its interval may be too narrow: see "
            "the dots in the charts, and measure more blocks.",
        )


def refusal_notices(judged: JudgedRun, pairs: Iterable[tuple[CellKey, CellKey]]) -> Iterator[Notice]:
    """Yield a notice for each of these `refusals`, with the figures that were refused beside those that count."""
    for key, base in pairs:
        told = judged.refusals[key, base]
        pair = key.model_copy(update={"executor": f"{key.executor} / {base.executor}"})
        figures = [words for one in (key, base) if (words := _gated(judged.cell(one).record))]
        yield _warn(
            "Gates refused one arm more often",
            f"{cell_words(pair)}: {refusals_words(told, key.executor, base.executor)}, earlier attempts "
            f"included (Fisher’s exact test, adjusted {p_value(told.p_value)}). A gate may be reacting to what is "
            f"compared, so the rest is not a fair sample, and the two get no verdict. {' '.join(figures)}".rstrip(),
        )


def _gated(record: CellRecord) -> str | None:
    found = gated_figures(record)
    if found is None:
        return None
    metric, refused, passed = found
    parts = []
    for values, did in ((refused, "were refused, alone or with their fork"), (passed, "passed")):
        if values:
            middle, least, most = (digits(value, 3) for value in (median(values), min(values), max(values)))
            figure = f"{middle} ({least}–{most}) {metric.unit}".rstrip()
            parts.append(f"{figure} in the {plural(len(values), 'window')} that {did}")
    return f"{record.key.executor}, {metric.name}: {', '.join(parts)} (median, least to most)."


def attempt_notices(loaded: LoadedRun) -> Iterator[Notice]:
    cells = loaded.cells
    attempts = sum(len(cell.attempts) for cell in cells)
    again = sum(fork.attempt > 1 for cell in cells for fork in cell.forks)
    told = f"{plural(again, 'fork')} of this run {'is' if again == 1 else 'are'} not the first attempt: faults of the "
    told += "host or of the measurement had spoilt an earlier one, or its block was cut off"
    if attempts:
        yield _info(
            "Measured more than once",
            f"{told if again else 'A block was cut off while it was measured again'}. What the server itself "
            "did is never a reason to measure again, and no figure plays a part. The pages of the cells show "
            f"{plural(attempts, 'earlier attempt')}.",
        )


def experiment_notices(experiments: Iterable[CellStats]) -> Iterable[Notice]:
    forks = [fork for cell in experiments for fork in cell.record.forks]
    if shared := [fork for fork in forks if set(fork.confinement.sut_cpus) & set(fork.confinement.remote_cpus)]:
        yield _warn(
            "Program and remote system share CPUs",
            f"In {_share_of(shared, forks)} without a server the host had too few CPUs to keep them apart: CPU "
            "time that the remote system used was not available to the program.",
        )
    yield from _by_affinity(
        forks, "Without a server: kept on its CPUs by affinity alone", "the program was kept on its CPUs"
    )


def own_notices(run: RunRecord) -> Iterator[Notice]:
    for one in own_applications(run):
        yield _info(
            "Proven from outside",
            f"{one.workload}: {one.files}; {one.how}. It contains nothing of this project. Which threads "
            "serve requests was seen in thread dumps under load before the warm-up, and by the CPU time of its threads "
            f"then and in every window: carriers of virtual threads must have at least {per_cent(VIRTUAL_AT_LEAST)} of "
            f"it where virtual threads are promised, and less than {per_cent(PLATFORM_BELOW)} elsewhere. Unknown, and "
            "missing here: requests by thread, time in collections, heap, allocation. So the gates for a growing heap "
            "and for requests that were not counted could not judge its windows.",
        )
