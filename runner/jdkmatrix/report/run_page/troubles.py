"""What is not ok in a run, and why: its cells, a line for each fork, and files. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from jdkmatrix.figures.unsteady import COMPILING, why_not_steady
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.run import RunRecord
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.kinds import PageBlock, Prose, Section, Trouble, Troubles
from jdkmatrix.report.cells.shown import ShownCell, shown_cells
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.facts import ranges
from jdkmatrix.report.words.sentences import State, cell_words, without_log_prefix

_NO_REASON = "no reason was recorded"
_NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")


def fork_lines(forks: Iterable[Fork], *, shortfalls: bool) -> tuple[str, ...]:
    """Why forks are not simply ok, and which windows they lost; those of which the same is to be told, together.
    `shortfalls`: also what the server did not do in usable forks."""
    told: dict[str, list[int]] = {}
    for fork in forks:
        if line := "; ".join(_parts(fork, shortfalls=shortfalls or not fork.usable)):
            told.setdefault(line, []).append(fork.fork)
    return tuple(_of_forks(some, line) for line, some in told.items())


def _program_lines(every: Iterable[Fork]) -> tuple[str, ...]:
    """How an experiment ended is a finding, and limits that it hit belong to that: here is what spoilt its forks."""
    forks = [fork for fork in every if fork.status is not Status.OK]
    told = ((reason, fork.fork) for fork in forks for reason in ([one.message for one in fork.reasons] or [_NO_REASON]))
    return tuple(_of_forks(some, words) for words, some in alike(told))


def _of_forks(numbers: Sequence[int], words: str) -> str:
    return f"{'fork' if len(numbers) == 1 else 'forks'} {ranges(numbers)}: {words}"


def _parts(fork: Fork, *, shortfalls: bool) -> Iterable[str]:
    windows = fork.windows
    lost = {(reason.code, reason.message) for window in windows for reason in window.reasons}
    if own := [reason for reason in fork.reasons if (reason.code, reason.message) not in lost]:
        yield from merged(_message(reason, fork) for reason in own)
    if spoilt := [window for window in windows if window.reasons]:
        messages = merged(reason.message for window in spoilt for reason in window.reasons)
        yield f"{_named(fork, spoilt)} lost: {'; '.join(messages)}"
    short = [window for window in windows if window.shortfalls]
    if shortfalls and short:
        messages = merged(reason.message for window in short for reason in window.shortfalls)
        which = f"{_named(fork, short)}: " if len(windows) > 1 else ""
        yield f"{which}{'; '.join(messages)}"


def _message(reason: Reason, fork: Fork) -> str:
    """In the words of today, where the record has what it was said of."""
    warmup = fork.warmup
    if reason.code == "not-steady" and warmup is not None and not all(series.warm for series in warmup.series):
        return why_not_steady(warmup, compiling=COMPILING in reason.message)
    return without_log_prefix(reason.message)


def _named(fork: Fork, some: Sequence[Window]) -> str:
    """ "windows 3, 10 of 10"."""
    noun = f"{'round' if fork.together else 'window'}{'' if len(some) == 1 else 's'}"
    numbers = ranges(window.index for window in some).replace(",", ", ")
    return f"{noun} {numbers} of {len(fork.windows)}"


def merged(messages: Iterable[str]) -> list[str]:
    """Those that differ in numbers only become one, with the least and the most of each: "used 9.1 to 41.0 % of"."""
    return [words for words, _ in alike((message, 0) for message in messages)]


def alike(told: Iterable[tuple[str, int]]) -> list[tuple[str, list[int]]]:
    """Like `merged`, each with the forks of which it is told."""
    found: dict[str, tuple[list[list[str]], list[int]]] = {}
    for message, fork in told:
        numbers, forks = found.setdefault(_NUMBER.sub("0", message), ([], []))
        numbers.append(_NUMBER.findall(message))
        forks.append(fork)
    return [(_filled(words, zip(*numbers, strict=True)), forks) for words, (numbers, forks) in found.items()]


def _filled(words: str, columns: Iterable[Sequence[str]]) -> str:
    numbers = (sorted(set(column), key=lambda text: float(text.replace(",", ""))) for column in columns)
    ends = (some[0] if len(some) == 1 else f"{some[0]} to {some[-1]}" for some in numbers)
    return re.sub(r"(?<=[0-9])%", " %", _NUMBER.sub(lambda _: next(ends), words))


def troubles_section(judged: JudgedRun) -> Iterator[Section]:
    run, loaded = judged.run, judged.loaded
    shown = (one for cells in (judged.cells, judged.experiments) for one in shown_cells(cells, judged.judgements))
    of_cells = (*(trouble for one in shown if (trouble := _trouble(one, run))),)
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
        why = "the run ended before this cell had its turn"
        if run.status == "complete":
            why = "the run is complete and has no readable record of this cell: see the files that could not be read"
        reasons: tuple[str, ...] = (why,)
    else:
        forks = one.cell.record.forks
        reasons = _program_lines(forks) if one.cell.is_program else fork_lines(forks, shortfalls=one.cell.fell_short)
        if one.state is State.OK and not reasons:
            return None
    is_ok = one.state is State.OK
    return Trouble(
        label=cell_words(one.key),
        href=one.href,
        status="some forks" if is_ok else one.state_text,
        status_class="not-steady" if is_ok else one.state.css,
        reasons=reasons or (_NO_REASON,),
    )
