"""The answer first: what one kind of experiment came to, JDK by JDK, in sentences made of figures. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from jdkmatrix.config.experiments import ExperimentName
from jdkmatrix.report.experiments.cells import ExperimentCell, Part
from jdkmatrix.report.experiments.pinning_heat import cell_held, construct, held_words
from jdkmatrix.report.experiments.words import amount, load_of, measure, outcome_views, place, range_words
from jdkmatrix.report.numbers import plural
from jdkmatrix.report.views import Answer
from jdkmatrix.stats.experiments import Spread

_Sentences = Iterator[tuple[str, str]]
_Seen = Sequence[tuple[ExperimentCell, Spread]]


def answers(part: Part) -> tuple[Answer, ...]:
    """One per JDK. Figures are of forks that ran to their end; how others ended stands behind them."""
    found = []
    for jdk in part.jdks:
        cells = [cell for cell in part.cells if cell.key.jdk == jdk]
        sentences = (*_SENTENCES[part.kind](part, [cell for cell in cells if _complete(cell)]), *_ends(part, cells))
        nothing = (("", "No cell of this JDK has a fork whose figures can be used."),)
        found.append(Answer(jdk, sentences or nothing))
    return tuple(found)


def _complete(cell: ExperimentCell) -> bool:
    return bool(cell.usable) and all(
        fork.experiment.result and fork.experiment.result.outcome == "complete" for fork in cell.usable
    )


def _ends(part: Part, cells: Iterable[ExperimentCell]) -> _Sentences:
    """How cells ended that did not come to their end."""
    found: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        for outcome in outcome_views(cell.record.forks):
            if outcome.css != "ok":
                ended = (outcome.word, ": ".join(filter(None, (outcome.where, outcome.message))))
                found.setdefault(ended, []).append(_name(part, cell))
    for (word, why), names in found.items():
        yield word, f"{'; '.join(names)} ({why})." if why else f"{'; '.join(names)}."


def _name(part: Part, cell: ExperimentCell) -> str:
    if part.kind != "pinning":
        return place(part, cell, without=("jdk",))
    return ", ".join([construct(part, cell.key), *filter(None, [place(part, cell, without=("jdk", "workload"))])])


def _with(cells: Iterable[ExperimentCell], name: str) -> _Seen:
    return [(cell, spread) for cell in cells if (spread := cell.spread(name))]


def _burn(part: Part, cells: Sequence[ExperimentCell]) -> _Sentences:
    shares = [
        (spread.median / spread.expected, cell, spread)
        for cell, spread in _with(cells, "throughput")
        if spread.expected
    ]
    if shares:
        low, high = (pick(shares, key=lambda one: one[0]) for pick in (min, max))
        text = f"{low[0] * 100:.0f} % of what is expected with {_of_expected(part, low[1], low[2])}"
        if len(shares) > 1:
            text = f"from {text}, to {high[0] * 100:.0f} % with {_of_expected(part, high[1], high[2])}"
        yield "Throughput", f"{text}."
    used = _with(cells, "CPU used")
    if used:
        yield "CPU used", f"{range_words([spread.median for _, spread in used], '%')} of the CPUs that it may use."
    longest = _with(cells, "longest of them")
    if longest:
        cell, spread = max(longest, key=lambda one: one[1].most)
        yield (
            "Parked while tasks were queued",
            f"a worker at most for {measure(spread.most, spread.unit)} at a stretch "
            f"({place(part, cell, without=('jdk',))}){_parked_share(cells)}.",
        )


def _parked_share(cells: Sequence[ExperimentCell]) -> str:
    shares = [spread.median for _, spread in _with(cells, "parked while tasks were queued")]
    return f"; together {range_words(shares, '%')} of all workers’ time" if shares else ""


def _of_expected(part: Part, cell: ExperimentCell, spread: Spread) -> str:
    expected = "" if spread.expected is None else f" of {measure(spread.expected, spread.unit)}"
    return f"{place(part, cell, without=('jdk',))} ({measure(spread.median, spread.unit)}{expected})"


def _spawn(part: Part, cells: Sequence[ExperimentCell]) -> _Sentences:
    for executor in dict.fromkeys(cell.key.executor for cell in cells):
        mine = [cell for cell in cells if cell.key.executor == executor]
        words = [
            f"{words} {range_words([spread.median for _, spread in seen], seen[0][1].unit)}"
            for name, words in (("RSS per thread", "RSS"), ("VIRT per thread", "VIRT"))
            if (seen := _with(mine, name))
        ]
        sentences = [f"{' and '.join(words)} per thread"] if words else []
        whole = [
            f"{name} {range_words([spread.median for _, spread in seen], seen[0][1].unit)}"
            for name in ("RSS", "VIRT")
            if (seen := _with(mine, name))
        ]
        sentences += [f"of the whole process {' and '.join(whole)}"] if whole else []
        started = [spread.median for _, spread in _with(mine, "until all were started")]
        if started:
            sentences.append(f"all started after {range_words(started, 's')}")
        if sentences:
            yield executor, f"{'; '.join(sentences)}, over {plural(len(mine), 'condition')}."


def _pinning(part: Part, cells: Sequence[ExperimentCell]) -> _Sentences:
    conditions = dict.fromkeys((cell.key.executor, cell.key.cpus, cell.key.load) for cell in cells)
    for executor, cpus, load in conditions:
        mine = [cell for cell in cells if (cell.key.executor, cell.key.cpus, cell.key.load) == (executor, cpus, load)]
        by_words: dict[str, list[str]] = {}
        for cell in mine:
            found, throughput = cell_held(cell), cell.spread("throughput")
            if found and throughput:
                figure = f"{construct(part, cell.key)} ({measure(throughput.median, throughput.unit)})"
                by_words.setdefault(held_words(found), []).append(figure)
        term = ", ".join((executor, load_of(part, mine[0].key), plural(cpus, "CPU")))
        if by_words:
            yield term, "; ".join(f"{words}: {', '.join(names)}" for words, names in by_words.items()) + "."


def _fanout(part: Part, cells: Sequence[ExperimentCell]) -> _Sentences:
    seen = _with(cells, "until all were answered")
    for cell, spread in seen:
        expected = "" if spread.expected is None else f", where {measure(spread.expected, 's')} is ideal"
        least_most = f" ({amount(spread.least, 's')}–{amount(spread.most, 's')})" if spread.forks > 1 else ""
        text = f"all answered after {measure(spread.median, spread.unit)}{least_most}{expected}."
        yield place(part, cell, without=("jdk",)), text


_SENTENCES: dict[ExperimentName, Callable[[Part, Sequence[ExperimentCell]], _Sentences]] = {
    "burn": _burn,
    "spawn": _spawn,
    "pinning": _pinning,
    "fanout": _fanout,
}
