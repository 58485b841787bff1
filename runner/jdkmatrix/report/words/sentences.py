"""Plain words for figures, loads and states. Pure; every sentence that interprets a figure is here."""

from __future__ import annotations

import re
from enum import Enum
from typing import Self

from jdkmatrix.domain.cell_key import DEFAULT_SERVER, NO_SERVER, CellKey, TaskSize
from jdkmatrix.domain.quantities import MINUS, digits, plural, wait_words, work_words
from jdkmatrix.domain.servers import server_kind, title_with_release
from jdkmatrix.domain.tables import Database
from jdkmatrix.figures.metrics import Metric
from jdkmatrix.records.forks import ConfinementMethod
from jdkmatrix.records.reasons import Status
from jdkmatrix.report.words.numbers import apart, much, p_value, ratio_interval, ratio_value, reads_as_factor, than
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.verdicts import ArmRefusals, Judged, Losses, Verdict

# The words for the status of a fork.
STATUS_WORDS = {status: status.replace("-", " ") for status in Status}

AXIS_TITLES = {
    **{"host": "Host", "workload": "Workload", "server": "Server", "jdk": "JDK", "executor": "Executor"},
    **{"cpus": "CPUs", "burn_us": "Task duration", "wait_us": "Remote delay", "load": "Load", "driver": "Driver"},
}


class State(Enum):
    """The state of a whole cell: its word, its class in the style sheet, and its meaning."""

    OK = "ok", "ok", "measured in the steady state"
    NOT_STEADY = (
        "not steady",
        "not-steady",
        "measured, but the warm-up reached its cap before the steady state: read with care",
    )
    FELL_SHORT = (
        "fell short",
        "fell-short",
        "measured; the server did not do everything that the load asked for, which is a result",
    )
    PARTLY = "partly usable", "partly", "some forks are unusable; figures are those of the others: read with care"
    INVALID = "invalid", "invalid", "measured, but not to be trusted: excluded from all figures and ratios"
    FAILED = "failed", "failed", "nothing was measured"
    NOT_MEASURED = "not measured", "none", "planned, but no fork of it has run"

    css: str
    meaning: str

    def __new__(cls, word: str, css: str, meaning: str) -> Self:
        state = object.__new__(cls)
        state._value_, state.css, state.meaning = word, css, meaning
        return state


class PairFinding(Enum):
    """Everything that a ratio, or the outcomes of forks, can say about the executor in the numerator."""

    BETTER = "better"
    WORSE = "worse"
    NO_EVIDENCE_YET = "no evidence yet"
    NO_DIFFERENCE_SEEN = "no difference seen"
    CANNOT_TELL = "cannot tell"
    ONE_BLOCK = "one block, no interval"
    NOT_JUDGED = "not judged"
    TOO_FEW_FORKS = "too few forks to tell"


def finding(judged: Judged, metric: Metric) -> PairFinding:
    if judged.verdict is not Verdict.DIFFERENT:
        return PairFinding[judged.verdict.name]
    return PairFinding.BETTER if (judged.ratio.value > 1) == metric.more_is_better else PairFinding.WORSE


def because(judged: Judged, compared: str = "comparison") -> str:
    """Give the reason for the verdict; `compared` names one member of the family."""
    if judged.verdict is Verdict.NOT_JUDGED:
        return f"not judged: {not_judged_words(judged)}"
    if judged.p_adjusted is None:
        return "one block only: no interval, only a hint"
    adjusted = f"adjusted {p_value(judged.p_adjusted)}"
    match judged.verdict:
        case Verdict.NO_EVIDENCE_YET:
            family = plural(judged.family, compared)
            return f"no evidence yet, although its own interval excludes 1: the page makes {family}, {adjusted}"
        case Verdict.NO_DIFFERENCE_SEEN:
            return f"no difference seen, the interval contains 1, {adjusted}"
        case Verdict.CANNOT_TELL:
            return f"cannot tell: {possible_words(judged)}, {adjusted}"
        case _:
            return adjusted


def possible_words(judged: Judged) -> str:
    """Say "−44 % is possible", "−93 % and 5.4 times as much are possible": ends of the interval that would matter."""
    ends = [
        f"{digits(end, 2)} times as much" if reads_as_factor(end) else f"{MINUS if end < 1 else '+'}{apart(end)}"
        for end in judged.possible
    ]
    return f"{' and '.join(ends)} {'is' if len(ends) == 1 else 'are'} possible"


def losses_words(losses: Losses, numerator: str = "", denominator: str = "") -> str:
    """Say in how many forks each arm has no figure that compares, the numerator first, and name both arms where their
    names are given. Such a fork may be lost, or its figure a bound."""
    one, other = losses.numerator, losses.denominator
    why = ", for different reasons" if losses.as_many and losses.differ else ""
    if numerator:
        first = f"{one} of {plural(losses.numerator_of, 'fork')} of {numerator}"
        return f"there is no figure to compare in {first} and {other} of {losses.denominator_of} of {denominator}{why}"
    of = "" if losses.numerator_of == losses.denominator_of else f" of {losses.numerator_of}"
    forks = plural(losses.denominator_of, "fork")
    return f"the arms have no figure to compare in {one}{of} and {other} of {forks}{why}"


def not_judged_words(judged: Judged, *arms: str) -> str:
    """Say why the ratio is not judged. `arms`: the names of both, or none."""
    if judged.refusals is None or judged.losses.differ:
        return losses_words(judged.losses, *arms)
    return refusals_words(judged.refusals, *arms)


def refusals_words(refusals: ArmRefusals, numerator: str = "one arm", denominator: str = "the other") -> str:
    """Say how many windows of each arm were refused, and by which gates."""
    one, other = refusals.numerator, refusals.denominator
    codes = sorted({*one.by_gate, *other.by_gate})
    by = ", ".join(f"{code} {one.by_gate.get(code, 0)} and {other.by_gate.get(code, 0)}" for code in codes)
    first = f"{one.refused} of {plural(one.of, 'window')} of {numerator}"
    return f"gates refused {first} and {other.refused} of {other.of} of {denominator} ({by})"


def marked_interval(judged: Judged) -> str | None:
    """Return the interval, with a star where it excludes 1 without being evidence; None for a single block."""
    interval = ratio_interval(judged.ratio)
    return f"{interval} *" if judged.verdict is Verdict.NO_EVIDENCE_YET else interval


def family_words(comparisons: int, checks: int) -> str | None:
    """Explain how the page arrives at its verdicts; None where it has none."""
    found = []
    if comparisons:
        found.append(
            f"{plural(comparisons, 'comparison')} on this page: “better”, “worse”, “ahead”, “more”, “less” and "
            "colours appear only where the p-value, adjusted for all of them (Holm), is below 0.05. A star (*) marks "
            "an interval that excludes 1 although that p-value is not below 0.05: no evidence yet. Ratios are neither "
            "judged nor counted if their arms lost different numbers of forks, or if gates refused one arm more often."
        )
    if checks:
        how = "separately in the same way" if comparisons else "for one another (Holm)"
        found.append(f"{plural(checks, 'A/A check')}, with p-values adjusted {how}.")
    return " ".join(found) or None


def change(ratio: Ratio, numerator: str, denominator: str) -> str:
    """Say "18 % lower with A than with B"."""
    return f"{much(ratio.value)} with {numerator} {than(ratio.value)} with {denominator}"


def condition(cpus: int, task: TaskSize) -> str:
    """Say "1 CPU, tasks of 100 µs, remote delay of 2 ms"."""
    delay = f", {delay_of(task.wait_us)}" if task.wait_us else ""
    return f"{plural(cpus, 'CPU')}, {tasks_of(task.burn_us)}{delay}"


def size_parts(key: CellKey) -> dict[str, str]:
    """Return its CPUs, work and delay in words, by axis; "" for what need not be said."""
    work, delay = tasks_of(key.burn_us), delay_of(key.wait_us)
    if not key.has_server:
        work = f"{work_words(key.burn_us)} of work per task" if key.burn_us else ""
        delay = f"answers after {wait_words(key.wait_us)}"
    return {"cpus": plural(key.cpus, "CPU"), "burn_us": work, "wait_us": delay if key.wait_us else ""}


def size_words(key: CellKey) -> str:
    """Describe the size as `condition` does, but also for an experiment without a server."""
    return ", ".join(filter(None, size_parts(key).values()))


def served_words(key: CellKey) -> str:
    """Say "mp-ping", "banking on Open Liberty 23.0.0.10": the server is named where it is not the usual one."""
    kind = server_kind(key.server)
    if key.server in (DEFAULT_SERVER, NO_SERVER) or (kind and kind.is_command):
        return key.workload
    return f"{key.workload} on {server_words(key.server)}"


def server_words(server: str) -> str:
    """Say "Open Liberty", "Open Liberty 23.0.0.10"."""
    kind = server_kind(server)
    release = server.removeprefix(kind.name).removeprefix("-") if kind else ""
    return title_with_release(server, release)


def database_words(database: Database | None, *, known: bool = True) -> str:
    """Say "PostgreSQL, 10 connections by HikariCP", "none"; "not known" for an application that is not ours."""
    if not known:
        return "not known"
    if database is None:
        return "none"
    library = {"hikari": "HikariCP", "agroal": "Agroal"}[database.pool]
    return f"PostgreSQL, {plural(database.connections, 'connection')} by {library}"


def cell_words(key: CellKey) -> str:
    return f"{served_words(key)} · {key.jdk} · {key.executor} · {size_words(key)} · {key.load}"


def tasks_of(burn_us: int) -> str:
    return f"tasks of {work_words(burn_us)}" if burn_us else added_work(burn_us)


def added_work(burn_us: int) -> str:
    return work_words(burn_us) if burn_us else "no added work"


def driven(load_words: str, driver: str | None) -> str:
    """Name a load, and the driver that made it."""
    return f"{load_words}, by {driver}" if driver else load_words


def delay_of(wait_us: int) -> str:
    return f"remote delay of {wait_words(wait_us)}"


def place_words(key: CellKey) -> str:
    """Say "on temurin-25, mp-ping, 1 CPU, …"."""
    return f"on {key.jdk}, {served_words(key)}, {size_words(key)}, {key.load}"


def ratio_name(key: CellKey, base_executor: str) -> str:
    """Say "virtual / liberty on temurin-25, mp-ping, 1 CPU, …"."""
    return f"{key.executor} / {base_executor} {place_words(key)}"


def capitalised(text: str) -> str:
    """Capitalise the first letter and leave the others as they are."""
    return f"{text[:1].upper()}{text[1:]}"


def without_log_prefix(message: str) -> str:
    """Strip what a JVM writes before each line of its log, such as "[88.402s][warning][os,thread]"."""
    return re.sub(r"(^|: )(\[[^\]\s]+\]\s?)+", r"\1", message)


def confined_words(method: ConfinementMethod, why_not_cgroup: str | None) -> str:
    """Say how threads are confined to their CPUs."""
    if method == "cgroup cpuset":
        return "by cgroup cpusets, which no thread can leave"
    why = f" (no cgroup cpusets: {why_not_cgroup})" if why_not_cgroup else ""
    return f"by CPU affinity, which a thread can change for itself; each window is checked for that{why}"


def ratio_sentence(
    metric: Metric, judged: Judged, numerator: str, denominator: str, *, paired: str | None = None
) -> str:
    """State a ratio with its verdict, interval, blocks and p-value. `paired`: as from shown.paired_words."""
    ratio, interval, p_adjusted = judged.ratio, ratio_interval(judged.ratio), judged.p_adjusted
    within = f"95 % interval {interval}" if interval else None
    adjusted = None if p_adjusted is None else f"adjusted {p_value(p_adjusted)}"
    parts = (f"ratio {ratio_value(ratio)}", within, plural(ratio.blocks, "block"), adjusted, paired)
    basis = ", ".join(filter(None, parts))
    match finding(judged, metric):
        case PairFinding.NOT_JUDGED:
            words = f"not judged: {not_judged_words(judged, numerator, denominator)}"
        case PairFinding.NO_EVIDENCE_YET:
            words = f"no evidence yet of a difference between {numerator} and {denominator}"
        case PairFinding.CANNOT_TELL:
            words = f"cannot tell: {possible_words(judged)}"
        case PairFinding.NO_DIFFERENCE_SEEN:
            words = f"no difference seen between {numerator} and {denominator}"
        case PairFinding.ONE_BLOCK:
            words = f"{change(ratio, numerator, denominator)} in the only block that has both: only a hint"
        case _:
            words = change(ratio, numerator, denominator)
    return f"{words} ({basis})."
