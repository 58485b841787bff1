"""One workload under one load: first the answer, what it says about virtual threads, in sentences, JDK by JDK; then
heat maps and charts. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from jdkmatrix.domain.cell_key import CellKey, TaskSize
from jdkmatrix.domain.executors import tuning_of
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import plural, wait_words
from jdkmatrix.figures.metrics import CAPACITY, CPU, THROUGHPUT, Metric, metrics_of
from jdkmatrix.loads.kinds import kind_of, loads_words
from jdkmatrix.report.blocks.inline import element, file_stem, joined, say
from jdkmatrix.report.blocks.kinds import AnswerBox, AnswerBoxes, Charts, ColourScale, Container, Prose, Section
from jdkmatrix.report.cells.causes import cause_of
from jdkmatrix.report.cells.heat import heat_map, legend, mapped, scorecard
from jdkmatrix.report.cells.judgements import JudgedOutcomes, Judgements, counted, of_forks
from jdkmatrix.report.cells.shown import paired_words
from jdkmatrix.report.cells.slices import Pair, Slice, slices
from jdkmatrix.report.run_page.charts import bar_charts, latency_charts
from jdkmatrix.report.run_page.over_rate import remarks, search_charts, steps_charts
from jdkmatrix.report.run_page.over_time import became, memory_charts, ramp_charts, readings_words
from jdkmatrix.report.words.numbers import ratio_value
from jdkmatrix.report.words.sentences import (
    PairFinding,
    change,
    condition,
    driven,
    finding,
    losses_words,
    marked_interval,
    not_judged_words,
    possible_words,
    ratio_sentence,
    served_words,
    size_words,
)
from jdkmatrix.stats.verdicts import Judged


def answers(
    judgements: Judgements, piece: Slice, metrics: Sequence[Metric], seen: Mapping[str, Sequence[tuple[str, str]]]
) -> tuple[AnswerBox, ...]:
    """Build one box per JDK, on these figures of its load, the leading one first; `seen`: sentences about its executors
    that are not ratios."""
    return tuple(_answer(judgements, piece, metrics, jdk, tuple(seen.get(jdk, ()))) for jdk in piece.jdks)


def _tuned(judgements: Judgements, piece: Slice, metric: Metric, jdk: str) -> Iterator[tuple[str, str]]:
    """Yield the gain of each tuning in the leading figure, whose title comes before the tuning's name."""
    conditions = len({(key.cpus, key.task) for key in piece.keys if key.jdk == jdk})
    found: dict[Pair, dict[CellKey, Judged]] = {}
    for key in piece.keys:
        executor, one = key.executor, judgements.of(metric, key)
        if one and key.jdk == jdk and tuning_of(executor) and executor != piece.pair.numerator:
            found.setdefault(Pair(executor, judgements.cells.reference(key)), {})[key] = one
    for pair, by_key in found.items():
        which = f"{metric.title}, {pair.numerator}"
        if conditions > 1:
            yield which, _tally(pair, by_key, metric, conditions)
        else:
            yield from ((which, ratio_sentence(metric, one, *pair)) for one in by_key.values())


def _answer(
    judgements: Judgements, piece: Slice, metrics: Sequence[Metric], jdk: str, seen: tuple[tuple[str, str], ...]
) -> AnswerBox:
    pair, cells = piece.pair, judgements.cells
    mine = (key for key in piece.keys if (key.jdk, key.executor) == (jdk, pair.numerator))
    keys = [key for key in mine if cells.reference(key) == pair.base]
    judged = [(metric, {key: one for key in keys if (one := judgements.of(metric, key))}) for metric in metrics]
    outcomes = {key: outcome for key in keys if (outcome := judgements.outcomes(key))}
    told = [(metric, by_key) for metric, by_key in judged if by_key]
    news = {key: outcome for key, outcome in outcomes.items() if outcome.worth_reporting}
    behind = tuple(_tuned(judgements, piece, metrics[0], jdk)) if metrics else ()
    if not told and not news:
        absent = pair.absent(key.executor for key in piece.keys if key.jdk == jdk)
        nothing = f"No block has a usable fork of both {pair.numerator} and {pair.base}."
        if absent:
            nothing = f"There is no ratio {pair.words}: {absent}."
        lead = jdk if seen or behind else f"{jdk}: no answer"
        return AnswerBox(lead, (*(seen or (("", nothing),)), *behind))
    amber = any(finding(one, metric) is PairFinding.NOT_JUDGED for metric, by_key in told for one in by_key.values())
    if len(keys) > 1:
        # Who did what the load asks for comes before the leading figure, where that makes a difference.
        leads = {key: finding(one, metrics[0]) for key, one in judged[0][1].items()}
        leads |= {key: outcome.finding for key, outcome in outcomes.items() if outcome.differs}
        recorded = {key: leads.get(key) for key in keys if judgements.cells.get(key)}
        first = [*_crossovers(pair, recorded), *([_outcomes_tally(pair, outcomes)] if news else [])]
        tallies = [(metric.title, _tally(pair, by_key, metric, len(keys))) for metric, by_key in told]
        return AnswerBox(jdk, (*seen, *first, *tallies, *behind), amber)
    (key,) = keys
    sentences = pair_sentences(judgements, key, metrics if told else ())
    lead = _lead(pair, metrics, [(metric, by_key[key]) for metric, by_key in told], next(iter(news.values()), None))
    return AnswerBox(f"{jdk}: {lead}", (*seen, *sentences, *behind), amber)


def pair_sentences(judgements: Judgements, key: CellKey, metrics: Iterable[Metric]) -> Iterator[tuple[str, str]]:
    """Describe a cell over the one that it is compared with: how many forks did what their load asks for, where that is
    worth a sentence; those of these figures that are compared; and a likely cause why one of the two is behind."""
    arms = key.executor, judgements.cells.reference(key)
    outcomes = judgements.outcomes(key)
    if outcomes is not None and outcomes.worth_reporting:
        yield outcomes.question.title, f"{outcomes.sentence(*arms)}."
    for metric in metrics:
        judged, compared = judgements.of(metric, key), judgements.comparison(metric, key)
        if compared and judged:
            yield metric.title, ratio_sentence(metric, judged, *arms, paired=paired_words(compared))
        elif compared:
            yield metric.title, f"no block has both; {losses_words(compared.losses, *arms)}."
    if cause := cause_of(judgements, key):
        yield "A likely cause", f"{cause}."


def _crossovers(pair: Pair, found: Mapping[CellKey, PairFinding | None]) -> list[tuple[str, str]]:
    """Say from which delay on the numerator is ahead, by CPUs and work, where several delays were measured."""
    by_place = grouped(((key.cpus, key.burn_us), (key.wait_us, one)) for key, one in found.items())
    return [
        (f"From which delay? {condition(cpus, TaskSize(burn_us, 0))}", crossover_sentence(dict(findings), *pair))
        for (cpus, burn_us), findings in sorted(by_place.items())
        if len(findings) > 1
    ]


def _lead(
    pair: Pair, metrics: Sequence[Metric], judged: Sequence[tuple[Metric, Judged]], outcomes: JudgedOutcomes | None
) -> str:
    """Say who is ahead: by which forks did as asked where that differs or nothing else is known, else by the leading
    figure, the first of `metrics`."""
    if outcomes is not None and (outcomes.differs or not judged):
        found = outcomes.finding
        ahead = {PairFinding.BETTER: pair, PairFinding.WORSE: pair[::-1]}.get(found)
        if ahead is None:
            return f"{pair.numerator} {outcomes.against} with {pair.base}, {found.value}"
        return f"{ahead[0]} ahead of {ahead[1]}: {pair.numerator} {outcomes.against}"
    metric, leading = judged[0]
    if metric is not metrics[0]:
        return f"{metrics[0].name} not judged: no block has a figure of both that compares"
    found = finding(leading, metric)
    better, worse = pair if found is PairFinding.BETTER else pair[::-1]
    undecided = {
        PairFinding.NOT_JUDGED: f"{metric.name} not judged: {not_judged_words(leading, *pair)}",
        PairFinding.NO_EVIDENCE_YET: f"no evidence yet of a difference in {metric.name}",
        PairFinding.CANNOT_TELL: f"cannot tell about {metric.name}: {possible_words(leading)}",
        PairFinding.NO_DIFFERENCE_SEEN: f"no difference seen in {metric.name}",
        PairFinding.ONE_BLOCK: "one block has both, only a hint",
    }
    return undecided.get(found, f"{better} ahead of {worse} in {metric.name}")


def _counts(pair: Pair, findings: Sequence[PairFinding], conditions: int) -> str:
    """ "liberty better in 2 of 3 conditions, no difference seen in 1"."""
    named = {PairFinding.BETTER: f"{pair.numerator} better", PairFinding.WORSE: f"{pair.base} better"}
    counts = {found: findings.count(found) for found in PairFinding if found in findings}
    said = {named.get(found, found.value): number for found, number in counts.items()}
    if len(findings) < conditions:
        said["no pair"] = conditions - len(findings)
    (first, number), *others = said.items()
    whole = f"{'all' if number == conditions > 1 else f'{number} of'} {plural(conditions, 'condition')}"
    return ", ".join([f"{first} in {whole}", *(f"{text} in {number}" for text, number in others)])


def _tally(pair: Pair, by_key: dict[CellKey, Judged], metric: Metric, conditions: int) -> str:
    """Say how often each finding came up, and where the ratio was farthest from 1."""
    findings = [finding(judged, metric) for judged in by_key.values()]
    key, judged = max(by_key.items(), key=lambda item: abs(math.log(item[1].ratio.value)))
    found = finding(judged, metric)
    open_ = None if found in (PairFinding.BETTER, PairFinding.WORSE) else found.value
    basis = ", ".join(filter(None, (f"ratio {ratio_value(judged.ratio)}", marked_interval(judged), open_)))
    largest = f"{change(judged.ratio, *pair)} ({basis}), with {size_words(key)}"
    return f"{_counts(pair, findings, conditions)}. The largest difference: {largest}."


def _outcomes_tally(pair: Pair, by_key: Mapping[CellKey, JudgedOutcomes]) -> tuple[str, str]:
    """Tally, as `_tally` does, how many forks did what their load asks for."""
    counts = _counts(pair, [one.finding for one in by_key.values()], len(by_key))
    key, widest = max(by_key.items(), key=lambda item: item[1].contrast.gap)
    one, other = widest.contrast.numerator, widest.contrast.denominator
    both = f"{of_forks(one)} with {pair.numerator}, {counted(other)} with {pair.base}"
    which = "The largest difference" if widest.contrast.gap else "For example"
    return widest.question.title, f"{counts}. {which}: {both}, with {size_words(key)}."


def crossover_sentence(findings: Mapping[int, PairFinding | None], numerator: str, denominator: str) -> str:
    """Say who is ahead at the delays that were measured, and nothing of those between. `findings`: by delay in µs; None
    where there is no pair."""
    waits = sorted(findings)
    ahead = [wait_us for wait_us in waits if findings[wait_us] is PairFinding.BETTER]
    behind = [wait_us for wait_us in waits if findings[wait_us] is PairFinding.WORSE]
    unjudged = [wait_us for wait_us in waits if findings[wait_us] in (PairFinding.NOT_JUDGED, None)]
    if unjudged == waits:
        return f"no verdict at any delay that was measured: {_delays(waits)}."
    since = min(takewhile(ahead.__contains__, reversed(waits)), default=None)  # ahead at every delay from here on
    if since == waits[0]:
        words = f"{numerator} is ahead at every delay that was measured"
    elif since is not None:
        before = [wait_us for wait_us in waits if wait_us < since and wait_us not in (*ahead, *unjudged)]
        earlier = [wait_us for wait_us in ahead if wait_us < since]
        at_those = f" at {_delays(earlier)} and" if earlier else ""
        words = f"{numerator} is ahead{at_those} from a delay of {wait_words(since)} on"
        words += f"; it is not shown to be at {_delays(before)}" if before else ""
    elif ahead:
        words = f"{numerator} is ahead at {_delays(ahead)}"
        longer = (wait_us for wait_us in waits if wait_us > ahead[0] and wait_us not in (*ahead, *unjudged))
        words += ", but not at every longer delay" if any(longer) else ""
    else:
        words = f"{numerator} is not shown to be ahead at any delay that was {'judged' if unjudged else 'measured'}"
    parts = [words]
    if behind:
        parts.append(f"{denominator} is ahead at {_delays(behind)}")
    if open_ := [wait_us for wait_us in waits if wait_us not in (*ahead, *behind, *unjudged)]:
        parts.append(f"nothing is shown at {_delays(open_)}")
    if unjudged:
        parts.append(f"no verdict at {_delays(unjudged)}")
    return f"{'; '.join(parts)}. Measured: {_delays(waits)}."


def _delays(waits_us: Sequence[int]) -> str:
    words = [wait_words(wait_us) if wait_us else "0 ms" for wait_us in waits_us]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def sections(judgements: Judgements) -> tuple[Section, ...]:
    pieces = enumerate(slices(judgements.cells), start=1)
    return tuple(_section(f"s{number}", piece, judgements) for number, piece in pieces)


def _section(prefix: str, piece: Slice, judgements: Judgements) -> Section:
    load = piece.first_load
    metrics = metrics_of(load) if load else ()
    seen = grouped(
        (cell.key.jdk, (cell.key.executor if piece.single else f"{cell.key.executor}, {size_words(cell.key)}", words))
        for cell in piece.in_order(piece.cells)
        for words in (*became(cell), *(f"{remark}." for remark in remarks(cell)))
    )
    served = served_words(piece.keys[0])
    words = "no cell of this load has been measured"
    if piece.cells:
        words = driven(loads_words([cell.load for cell in piece.cells]), piece.driver)
        words += f"; {piece.single}" if piece.single else ""
    usable = any(cell.usable for cell in piece.cells)
    return Section(
        id=f"{prefix}-{file_stem(piece.keys[0].served)}-{file_stem(piece.keys[0].load)}",
        title=joined(f"{served} ", element("span", "under", css="under"), f" {piece.keys[0].load}"),
        words=words,
        blocks=(
            AnswerBoxes(answers(judgements, piece, metrics, seen)),
            *_maps(piece, judgements, metrics),
            *_figures(prefix, piece),
            *(() if usable else (Prose(say("no_usable_fork")),)),
        ),
    )


def _maps(piece: Slice, judgements: Judgements, metrics: Sequence[Metric]) -> Iterator[Prose | Container | ColourScale]:
    """Yield a map for each JDK, or one of all JDKs where there is only one condition."""
    pair, of, single = piece.pair, f"{served_words(piece.keys[0])} under {piece.keys[0].load}", piece.single
    figures = mapped(judgements, piece, metrics)
    by_jdk = {
        jdk: tuple(heat_map(judgements, figure, piece, jdk, f"{jdk}, {of}") for figure in figures)
        for jdk in (() if single else piece.jdks)
    }
    if single:
        by_jdk[""] = (scorecard(judgements, figures, piece, of),)
    # Without a single ratio there is nothing to colour: the answers say why.
    if any(cell.href for maps in by_jdk.values() for one in maps for _, row in one.rows for cell in row):
        ratios = [one.ratio for metric in metrics for key in piece.keys if (one := judgements.of(metric, key))]
        within = " and shown with its 95 % interval" if any(ratio.ci_low is not None for ratio in ratios) else ""
        paired = f"Every ratio is paired within blocks{within}."
        rows = "" if single else "Rows: CPUs of the server; columns: the task. "
        yield Prose(f"{rows}{paired}", pair.words)
        for jdk, maps in by_jdk.items():
            if single:
                yield Container(maps, "score")
            else:
                beside = [Container((Prose(heading=one.title, level=5), one)) for one in maps]
                yield Container((Prose(heading=jdk, level=4), Container(beside, "heats")), "jdk-heat")
        yield ColourScale(legend(), f"{pair.base} better", f"{pair.numerator} better")
        yield Prose(say("colours", relevant=f"{judgements.cells.relevant * 100:g} %"))
    elif absent := pair.absent(piece.executors):
        yield Prose(f"No heat map: it would compare {pair.numerator} with {pair.base}, but {absent}.")


def _figures(prefix: str, piece: Slice) -> Iterator[Charts]:
    load, shares, rps = piece.first_load, len(piece.tasks) > 1, "requests per second"
    yield from bar_charts(prefix, piece, CAPACITY, rps, say("rate_held", shares=shares))
    for charts in (search_charts, steps_charts, ramp_charts, memory_charts):
        yield from charts(prefix, piece)
    of = kind_of(load).throughput_of if load else None
    yield from bar_charts(prefix, piece, THROUGHPUT, rps, say("throughput", of=of, shares=shares))
    cost = say("cpu_cost", scope=cpu_scope(piece), shares=shares)
    yield from bar_charts(prefix, piece, CPU, "CPU µs per request", cost)
    yield from latency_charts(prefix, piece)


def cpu_scope(piece: Slice) -> str | None:
    """Say which part of the load CPU per request is of, and what it leaves out."""
    load = piece.first_load
    return " ".join(filter(None, (kind_of(load).cpu_scope if load else None, readings_words(piece)))) or None
