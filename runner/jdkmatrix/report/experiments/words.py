"""Plain words for experiments without a server: figures, outcomes, and what was expected. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import amount, digits, plural, range_words
from jdkmatrix.experiments.base import Spread
from jdkmatrix.experiments.kinds import measurands
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.inline import badge, code, element, joined, small
from jdkmatrix.report.words.numbers import Figure

_MIB_FROM_KIB = 100  # the digits of a smaller size would follow too many zeros


def spread_figure(spread: Spread) -> Figure:
    """Return the median over forks, with the least and the most beneath it."""
    median, *ends = (amount(one, spread.unit) for one in (spread.median, spread.least, spread.most))
    title = f"{spread.title}: median of {plural(spread.forks, 'fork')}"
    if spread.unit == "KiB" and spread.median >= _MIB_FROM_KIB:
        title += f", {digits(spread.median / 1024, 3)} MiB"
    if spread.unit == "MiB":
        title += f", {spread.median * 1024:,.0f} KiB: top shows it in KiB, without a unit"
    under = "–".join(ends) if spread.least != spread.most else None
    return Figure(spread.signed(median), spread.median, title, under)


_CLASS = {"complete": "ok", "not-on-this-jdk": "none"}


@dataclass(frozen=True)
class Ending:
    """How some forks ended. `where`: how far they got, in how many forks; each text may be empty."""

    word: str
    css: str
    where: str
    message: str
    advice: str

    @property
    def words(self) -> Markup:
        told = f" {self.where}" if self.where else ""
        if self.message:
            told += f"{':' if self.where else ''} {self.message}."
        return joined(badge(self.word, self.css), told, *([" ", small(self.advice)] if self.advice else []))


def outcome_words(outcome: str) -> str:
    return "not on this JDK" if outcome == "not-on-this-jdk" else outcome.replace("-", " ")


def endings(forks: Sequence[Fork]) -> tuple[Ending, ...]:
    """Return each way in which forks ended once, with how far they got, why, and what helps."""
    results = [fork.result for fork in forks if fork.result]
    found = []
    for outcome, same in grouped((result.outcome, result) for result in results).items():
        problems = [result.problem for result in same if result.problem]
        counts = [problem.at_count for problem in problems if problem.at_count is not None]
        words = [f"at {range_words(counts, '')}"] if counts else []
        if len(same) < len(results):
            words.append(f"in {len(same)} of {plural(len(results), 'fork')}")
        css, where = _CLASS.get(outcome, "not-steady"), ", ".join(words)
        message = "; ".join(dict.fromkeys(problem.message for problem in problems))
        advice = "; ".join(dict.fromkeys(problem.advice for problem in problems if problem.advice))
        found.append(Ending(outcome_words(outcome), css, where, message, advice))
    return tuple(found)


def ended(forks: Sequence[Fork]) -> list[str]:
    """Return the same for a cell of a table, a paragraph each."""
    return [element("p", one.words, css="outcome") for one in endings(forks)]


def titled(name: str, unit: str, css: str | None = None) -> Markup:
    """Make the head of a column or a row."""
    return joined(element("span", name, css=css) if css else name, *([" ", small(unit)] if unit else []))


def expectation_of(fork: Fork) -> tuple[str, str] | None:
    """Return a figure's formula and its source; None where the fork says nothing of it."""
    found = fork.result.expected if fork.result else None
    if found is None:
        return None
    named = next((one.id for one in measurands(fork.result).values() if one.at == found.quantity), None)
    figure = named or (found.quantity or "").rpartition(".")[2].replace("_", " ")
    name = "No figure is expected" if found.formula == "none" else joined(f"{figure} = ", code(found.formula))
    return name, joined(found.source)
