"""Plain words for experiments without a server: figures, loads, outcomes. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from jdkmatrix.config.experiments import ExperimentName
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.loads import CellKey, CountLoad, InFlightLoad, TaskLoad, TaskRateLoad
from jdkmatrix.records.reasons import Status
from jdkmatrix.report.experiments.cells import ExperimentCell, Part
from jdkmatrix.report.experiments.views import OutcomeView
from jdkmatrix.report.numbers import Figure, digits, plural
from jdkmatrix.report.wording import delay_words, wait_words, work_words
from jdkmatrix.stats.experiments import Spread

TITLES: dict[ExperimentName, str] = {
    "burn": "Burn",
    "spawn": "Spawn",
    "pinning": "Pinning",
    "fanout": "Fan-out",
}
INTRODUCTIONS: dict[ExperimentName, str] = {
    "burn": "Tasks that only compute, each the same fixed amount of work, are handed to an executor of the JDK. There "
    "is no server, no network and no lock between them: whatever keeps CPUs idle here is the executor or the kernel.",
    "spawn": "Threads are started all at once; they sleep, print a line or compute. What does each cost in memory, and "
    "how long does it take until all were started and until all were done?",
    "pinning": "A virtual thread runs on a carrier, a thread of the kernel, and leaves it while it blocks, so that "
    "others can run there. Some constructs keep it there (the thread is pinned): then only as many threads make "
    "progress at a time as there are carriers. Here every thread blocks inside such a construct, again and again, or "
    "only sleeps while as many others as there are carriers wait to enter a monitor or lock that is held.",
    "fanout": "Blocking HTTP requests are sent all at once to an endpoint that answers each after a delay, the same "
    "for all or spread. How long does it take until all are answered, and which limit ends it?",
}
# The names that formulas use, by experiment.
GLOSSARY: dict[ExperimentName, str] = {
    "burn": "rate_rps: tasks that are due per second; cpus: CPUs that the program may use; workers: threads of the "
    "executor; in_flight: tasks at a time; burn_us: how long one computes on a CPU of its own, in µs.",
    "spawn": "thread_stack_bytes: the stack that a platform thread reserves; count: threads; burn_rounds / "
    "rounds_per_us: how long one computes, in µs; processors: CPUs. VIRT is address space, RSS is memory that is "
    "really there, both as top and ps know them. Seconds count from the first start.",
    "pinning": "threads: how many block; carriers: threads of the kernel that carry virtual ones, as many as CPUs "
    "unless tuned; max_pool_size: how many of them there may be when the JDK adds some in place of blocked ones; "
    "block_ms: how long a thread blocks each time, in ms.",
    "fanout": "requests: how many are sent; at_once: how many may be under way at a time; delay_ms: how long the "
    "endpoint takes to answer, in ms, on average where delays are spread; ceil: rounded up.",
}
STATUS_MEANING: dict[Status | None, str] = {
    Status.OK: "the program ran to its end",
    Status.INVALID: "it ran, but its figures are not to be trusted: they stand nowhere",
    Status.FAILED: "the program gave no result",
    None: "planned, but no fork of it has run",
}


def amount(value: float, unit: str) -> str:
    """Without its unit; counts as they are."""
    if unit == "" and math.isfinite(value) and value == int(value):
        return f"{value:,.0f}"
    if unit == "%" and abs(value) < 10:
        return digits(value, 2)
    return digits(value, 4 if abs(value) >= 1000 else 3)


def measure(value: float, unit: str) -> str:
    """ "39.5/s", "1,024 KiB", "98.2 %", "12"."""
    text = amount(value, unit)
    if unit == "1/s":
        return f"{text}/s"
    return f"{text} {unit}" if unit else text


_FIGURES = {
    "longest of them": "longest stretch parked while tasks were queued",
    "of 10 ms and more": "such stretches of 10 ms and more",
    "of them in place of blocked ones": "carriers in place of blocked ones",
    "failed": "failed requests",
    "started": "threads started",
}


def figure_words(name: str) -> str:
    """A figure of stats.experiments where it stands alone, without those before it."""
    return _FIGURES.get(name, name)


def spread_figure(spread: Spread) -> Figure:
    """The median over forks, the least and the most beneath it."""
    under = None
    if spread.least != spread.most:
        under = f"{amount(spread.least, spread.unit)}–{amount(spread.most, spread.unit)}"
    title = f"{figure_words(spread.name)}: median of {plural(spread.forks, 'fork')}"
    if spread.unit == "KiB":
        title += f", {digits(spread.median / 1024, 3)} MiB"
    if spread.unit == "MiB":
        title += f", {spread.median * 1024:,.0f} KiB: top shows it in KiB, without a unit"
    return Figure(amount(spread.median, spread.unit), spread.median, title, under)


def range_words(values: Sequence[float], unit: str) -> str:
    """ "3.1 KiB", "3.1 to 24 KiB"."""
    low, high = measure(min(values), unit), measure(max(values), unit)
    return low if low == high else f"{amount(min(values), unit)} to {high}"


def short_load(load: TaskLoad) -> str:
    match load:
        case InFlightLoad():
            return f"{load.tasks:,} in flight"
        case TaskRateLoad():
            return f"{digits(load.rate_per_s, 4)} per second"
        case CountLoad():
            return f"{load.count:,} at once"


def load_words(load: TaskLoad) -> str:
    match load:
        case InFlightLoad():
            return f"closed loop: {plural(load.tasks, 'task')} in flight, each that ends is followed by the next"
        case TaskRateLoad():
            return f"open loop: {digits(load.rate_per_s, 4)} tasks per second on a fixed schedule"
        case CountLoad():
            return f"{load.count:,} at once"


def condition(key: CellKey) -> str:
    cpus = plural(key.cpus, "CPU")
    if key.wait_us:
        return f"{cpus}, answers after {wait_words(key.wait_us)}"
    return f"{cpus}, {work_words(key.burn_us)} of work per task" if key.burn_us else cpus


def label(key: CellKey) -> str:
    return f"{key.workload} · {key.jdk} · {key.executor} · {condition(key)} · {key.load}"


def load_of(part: Part, key: CellKey) -> str:
    """In words where any cell with this load was measured."""
    load = next((cell.record.task_load for cell in part.cells if cell.key.load == key.load), None)
    return short_load(load) if load else key.load


def place(part: Part, cell: ExperimentCell, *, without: Sequence[str] = ()) -> str:
    """What tells this cell from the others of its kind: its arm, and what else varies."""
    key = cell.key
    axes = {
        "executor": key.executor,
        "workload": key.workload,
        "load": short_load(cell.record.task_load),
        "cpus": plural(key.cpus, "CPU"),
        "burn_us": work_words(key.burn_us) if key.burn_us else "no work",
        "wait_us": delay_words(key.wait_us),
        "jdk": key.jdk,
    }
    told = [text for axis, text in axes.items() if axis not in without and (axis == "executor" or part.varies(axis))]
    return ", ".join(told)


OUTCOME_CLASS = {"complete": "ok", "not-on-this-jdk": "none"}


def outcome_words(outcome: str) -> str:
    return "not on this JDK" if outcome == "not-on-this-jdk" else outcome.replace("-", " ")


def outcome_views(forks: Sequence[Fork]) -> tuple[OutcomeView, ...]:
    """Each way in which forks ended once, with how far they came, why, and what helps."""
    by_outcome: dict[str, list[Fork]] = {}
    ended = [fork for fork in forks if fork.experiment.result is not None]
    for fork in ended:
        if fork.experiment.result is not None:
            by_outcome.setdefault(fork.experiment.result.outcome, []).append(fork)
    found = []
    for outcome, same in by_outcome.items():
        problems = [
            fork.experiment.result.problem for fork in same if fork.experiment.result and fork.experiment.result.problem
        ]
        counts = [problem.at_count for problem in problems if problem.at_count is not None]
        words = []
        if counts:
            low, high = min(counts), max(counts)
            words.append(f"at {low:,}" if low == high else f"at {low:,} to {high:,}")
        if len(same) < len(ended):
            words.append(f"in {len(same)} of {plural(len(ended), 'fork')}")
        found.append(
            OutcomeView(
                word=outcome_words(outcome),
                css=OUTCOME_CLASS.get(outcome, "not-steady"),
                where=", ".join(words),
                message="; ".join(dict.fromkeys(problem.message for problem in problems)),
                advice="; ".join(dict.fromkeys(problem.advice for problem in problems if problem.advice)),
            )
        )
    return tuple(found)
