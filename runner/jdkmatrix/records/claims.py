"""The published claims about an experiment, as they stood in its source when a run of that experiment was made."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from jdkmatrix.domain.record import Record

Text = Annotated[str, Field(min_length=1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Unit = Literal[
    "ratio",
    "requests/s",
    "requests",
    "operations/s",
    "operations",
    "ms",
    "s",
    "min",
    "MB",
    "GB",
    "MiB",
    "GiB",
    "threads",
    "files",
    "errors",
    "occurrences",
    "lines",
]
Count = Annotated[int, Field(strict=True, ge=0)]
Version = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)*$")]


class ClaimSource(Record):
    """The publication of a claim. `by`: author or site; `date`: ISO 8601, as much of it as is known; `no_url`: why no
    address is known; `conditions`: machine, JDK, kernel and procedure, as far as they were published; `inference`: what
    this project concludes beyond what the source says."""

    title: Text
    by: Text | None = None
    date: Annotated[str, Field(pattern=r"^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$")] | None = None
    url: Text | None = None
    no_url: Text | None = None
    conditions: Text | None = None
    inference: Text | None = None


class PublishedFigure(Record):
    """One number: `value`, or its bounds (`low`, `high`; one of them alone leaves the other side open).

    `arm`: the executor it was observed with, by this project's name. `versus`: the executor it is compared with: a
    quotient if the unit is "ratio", else a difference. `baseline`: in words, what a ratio is of if that is no executor.
    `as_printed`: the source's words. `inference`: what of the number is this project's reading of it."""

    quantity: Text
    arm: Text | None = None
    versus: Text | None = None
    baseline: Text | None = None
    condition: Text | None = None
    value: Number | None = None
    low: Number | None = None
    high: Number | None = None
    unit: Unit
    as_printed: Text
    inference: Text | None = None

    @model_validator(mode="after")
    def _is_one_number(self) -> Self:
        if (self.value is not None) == (self.low is not None or self.high is not None):
            raise ValueError("give either value, or low or high or both")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"low = {self.low:g} is not below high = {self.high:g}")
        if self.unit == "ratio" and (self.versus is None) == (self.baseline is None):
            raise ValueError("a ratio needs either versus (an executor) or baseline (words)")
        if self.unit != "ratio" and self.baseline is not None:
            raise ValueError("baseline belongs to a ratio")
        if self.versus is not None and (self.arm is None or self.arm == self.versus):
            raise ValueError("versus needs another executor as arm")
        return self


def _check_order(low: float | None, high: float | None) -> None:
    """Raises: ValueError: nothing lies between them."""
    if low is not None and high is not None and low > high:
        raise ValueError(f"low = {low:g} is above high = {high:g}")


Patterns = Annotated[tuple[Text, ...], Field(min_length=1)]
Counts = Annotated[tuple[Count, ...], Field(min_length=1)]


class CheckedCells(Record):
    """The cells that a check looks at: values of axes, with names as shell patterns ("temurin-21*"); an omitted axis
    means any value. `cell_id`: patterns of values that belong together ("*.cpus-2.*.count-3")."""

    workload: Patterns | None = None
    server: Patterns | None = None
    jdk: Patterns | None = None
    cpus: Counts | None = None
    burn_us: Counts | None = None
    wait_us: Counts | None = None
    load: Patterns | None = None
    cell_id: Patterns | None = None


BandOrigin = Literal["as published", "published with our tolerance", "ours"]


class Precondition(Record):
    """A figure that must be observed in a cell before a check may judge it: without the published cause, its effect
    proves nothing.

    `says`: the same in words; `metric`: as in a check, for the executor `arm` in the check's cell (None: for every cell
    that is compared). The figure over usable forks, as on the page, lies between `low` and `high`; for a peak that must
    be at least `low`, the fork with the least counts.
    `of_bounds`: required only where the check's figure is a bound, such as that of a peak that was not reached."""

    says: Text
    metric: Text
    arm: Text | None = None
    low: Number | None = None
    high: Number | None = None
    of_bounds: bool = False

    @model_validator(mode="after")
    def _has_an_end(self) -> Self:
        if self.low is None and self.high is None:
            raise ValueError("give low or high or both")
        _check_order(self.low, self.high)
        return self


class ClaimCheck(Record):
    """A comparison that supports a claim or contradicts it.

    `says`: what is looked at, in words. `metric`: the id of a figure, or the name of an experiment's reading, for the
    executor `arm` (a pattern). `versus`: divided by the same cell on that executor, or minus it if the band is one of a
    `difference`; `versus_load`, `versus_workload`: divided by the same cell under that load, or of that workload.
    `versus_vendor`: the ratio to `versus`, divided by the same ratio on that vendor's JDK of the same version.

    The band is that of the claim's figure number `figure` (from 1 on), with `tolerance`, a share, around a single
    value; or `low` and `high` are this project's reading of words. `one_is_enough`: the claim says that such cells
    exist, not that all are such, or gives one example; a single one inside the band supports it, and none contradicts
    it. `requires`: what must be observed in a cell before it may be judged. `scale`: only the scenario of that size has
    such cells, and the other size has others, with a check of their own. `kernel_from`, `kernel_below`: the Linux
    versions that the claim is about.
    `inference`: what of the check no original says.
    """

    says: Text
    metric: Text
    arm: Text
    versus: Text | None = None
    versus_load: Text | None = None
    versus_workload: Text | None = None
    versus_vendor: Text | None = None
    difference: bool = False
    figure: Annotated[int, Field(strict=True, ge=1)] | None = None
    tolerance: Annotated[float, Field(gt=0, lt=1)] | None = None
    low: Number | None = None
    high: Number | None = None
    where: CheckedCells = CheckedCells()
    one_is_enough: bool = False
    scale: Literal["article", "small"] | None = None
    requires: tuple[Precondition, ...] = ()
    kernel_from: Version | None = None
    kernel_below: Version | None = None
    inference: Text | None = None

    @model_validator(mode="after")
    def _has_one_band(self) -> Self:
        own = self.low is not None or self.high is not None
        if (self.figure is not None) == own:
            raise ValueError("give either figure, or low or high or both")
        _check_order(self.low, self.high)
        if own and self.inference is None:
            raise ValueError("low and high are not a published figure: say in inference where they come from")
        if self.tolerance is not None and (self.figure is None or self.inference is None):
            raise ValueError("tolerance is for the value of a figure: name it, and say in inference why it is so large")
        if sum(one is not None for one in (self.versus, self.versus_load, self.versus_workload)) > 1:
            raise ValueError("give one of versus, versus_load and versus_workload")
        if self.difference and self.versus is None:
            raise ValueError("a difference needs versus")
        if self.versus_vendor is not None and (self.versus is None or self.difference):
            raise ValueError("versus_vendor compares ratios: it needs versus, and no difference")
        return self


class PublishedResult(Record):
    """`published`: the result in words; `figures`: its numbers; `only`: what there is if no number was published, None:
    not told; `note`: what the original leaves out, or where it contradicts itself; `inference`: what this project
    concludes beyond what the original says; `not_repeated`: why no scenario repeats it, None if one does; `checks`:
    what in the results supports or contradicts it; `not_checked`: why nothing does."""

    condition: Text
    published: Text
    figures: tuple[PublishedFigure, ...] = ()
    only: Literal["graph", "words"] | None = None
    note: Text | None = None
    inference: Text | None = None
    not_repeated: Text | None = None
    checks: tuple[ClaimCheck, ...] = ()
    not_checked: Text | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if len({check.scale for check in self.checks} - {None}) == 1:
            raise ValueError("a check of one scale needs another check of the other scale to stand for it there")
        for number, check in enumerate(self.checks, start=1):
            if check.figure is None:
                continue
            if check.figure > len(self.figures):
                raise ValueError(f"check {number}: figure = {check.figure}, but there are {len(self.figures)}")
            if (self.figures[check.figure - 1].value is not None) != (check.tolerance is not None):
                raise ValueError(f"check {number}: a figure with a single value needs a tolerance; others take none")
        if self.checks and self.not_checked is not None:
            raise ValueError(f"says in not_checked why nothing checks it, but has {len(self.checks)} checks")
        if self.figures and self.only is not None:
            raise ValueError(
                f'only = "{self.only}" is for a claim without figures, but this one has {len(self.figures)}'
            )
        return self

    def origin(self, check: ClaimCheck) -> BandOrigin:
        """Return who drew the band of one of its checks."""
        if check.figure is None or self.figures[check.figure - 1].inference is not None:
            return "ours"
        return "published with our tolerance" if check.tolerance is not None else "as published"


class ClaimRecord(PublishedResult):
    id: Text
    source: ClaimSource
