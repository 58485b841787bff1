"""What was published about an experiment, as it stood in claims.toml when a run of that experiment was made."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from jdkmatrix.terms.record import Record

Text = Annotated[str, Field(min_length=1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Unit = Literal[
    "ratio", "requests/s", "requests", "ms", "s", "min", "MB", "GB", "GiB", "threads", "files", "occurrences", "lines"
]
Only = Literal["graph", "words"]


class ClaimSource(Record):
    """Where it was published. `by`: author or site; `date`: ISO 8601, as much of it as is known; `no_url`: why no
    address is known; `conditions`: machine, JDK, kernel and procedure, as far as they were published; `inference`: what
    this project concludes, which the source does not say."""

    title: Text
    by: Text | None = None
    date: Annotated[str, Field(pattern=r"^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$")] | None = None
    url: Text | None = None
    no_url: Text | None = None
    conditions: Text | None = None
    inference: Text | None = None


class PublishedFigure(Record):
    """One number: `value`, or what it lies between (`low`, `high`; one of them alone leaves the other side open).

    `arm`: the executor that it was seen with, by this project's name. `versus`: the executor that it is compared with:
    a quotient where the unit is "ratio", else a difference. `baseline`: in words, what a ratio is of where that is no
    executor. `as_printed`: how the source puts it. `inference`: what of the number is this project's reading of it."""

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


class PublishedResult(Record):
    """`published`: in words; `figures`: what of it is a number; `only`: what there is where no number was published,
    None: not told; `note`: what the original leaves out, or where it contradicts itself;
    `inference`: what this project concludes, which the original does not say; `not_repeated`: why no scenario repeats
    it, None where one does."""

    condition: Text
    published: Text
    figures: tuple[PublishedFigure, ...] = ()
    only: Only | None = None
    note: Text | None = None
    inference: Text | None = None
    not_repeated: Text | None = None

    @model_validator(mode="after")
    def _has_figures_or_not(self) -> Self:
        if self.figures and self.only is not None:
            raise ValueError(
                f'only = "{self.only}" is of a claim without figures, and this one has {len(self.figures)}'
            )
        return self


class ClaimRecord(PublishedResult):
    id: Text
    source: ClaimSource
