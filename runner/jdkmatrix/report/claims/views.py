"""What the templates are given of published claims: plain text and figures, everything decided."""

from __future__ import annotations

from dataclasses import dataclass

from jdkmatrix.report.claims.seen import Seen, seen_words
from jdkmatrix.report.words.numbers import Figure


@dataclass(frozen=True)
class ClaimFigure:
    """One published number: of what, under what, whose, how much; `inference`: what of it is this project's reading."""

    quantity: str
    condition: str | None
    whom: str
    amount: str
    as_printed: str
    inference: str | None


@dataclass(frozen=True)
class CheckedCellView:
    """`measured`: with its interval; `remark`: why there is no verdict, how many blocks would decide; `seen`: of what
    the check needs."""

    label: str
    href: str | None
    measured: Figure
    verdict: str
    verdict_class: str
    remark: str | None
    seen: tuple[Seen, ...]

    @property
    def seen_words(self) -> tuple[str, ...]:
        return seen_words(self.seen)


@dataclass(frozen=True)
class CheckView:
    """`band`: what would reproduce the claim, and `origin` who says so; `why`: where no cell could be judged."""

    says: str
    band: str
    origin: str
    inference: str | None
    verdict: str
    verdict_class: str
    why: str | None
    cells: tuple[CheckedCellView, ...]


@dataclass(frozen=True)
class RunLink:
    run_id: str
    page: str
    measured: str
    about: str


@dataclass(frozen=True)
class SpokenView:
    """What the runs of one host say together of a claim, and what that `rests_on`."""

    host: str
    runs: tuple[RunLink, ...]
    verdict: str
    verdict_class: str
    rests_on: tuple[str, ...]
    checks: tuple[CheckView, ...]


@dataclass(frozen=True)
class ClaimView:
    """`instead`: what there is in place of figures; `inference`: this project's, not the source's; `not_repeated`: why
    no scenario repeats it. `verdict` is None of claims that no run speaks to; `why_not`: why it is not testable;
    `earlier`: the verdict by the checks that a run recorded, where it is another; `spoken`: what each host says."""

    id: str
    verdict: str | None
    verdict_class: str
    why_not: str | None
    checks: tuple[CheckView, ...]
    condition: str
    published: str
    instead: str | None
    note: str | None
    inference: str | None
    not_repeated: str | None
    figures: tuple[ClaimFigure, ...]
    earlier: str | None = None
    spoken: tuple[SpokenView, ...] = ()


@dataclass(frozen=True)
class SourceView:
    """`about`: author or site, and date, as far as they are known; `no_url`: why there is no link."""

    title: str
    about: str | None
    href: str | None
    no_url: str | None
    conditions: str | None
    inference: str | None
    claims: tuple[ClaimView, ...]
