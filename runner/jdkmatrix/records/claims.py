"""What was published about an experiment, as it stood in claims.toml when a run of that experiment was made."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from jdkmatrix.records.base import Record

Text = Annotated[str, Field(min_length=1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Unit = Literal["ratio", "requests/s", "ms", "s", "MB", "GiB"]


class ClaimSource(Record):
    """Where it was published. `by`: author or site; `date`: ISO 8601, as much of it as is known; `conditions`: machine,
    JDK, kernel and procedure, as far as they were published."""

    title: Text
    by: Text | None = None
    date: Annotated[str, Field(pattern=r"^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$")] | None = None
    url: Text | None = None
    conditions: Text | None = None


class PublishedFigure(Record):
    """One number: `value`, or what it lies between (`low`, `high`; one of them alone leaves the other side open).

    `arm`: the executor that it was seen with, by this project's name. `versus`: the executor that it is compared with:
    a quotient where the unit is "ratio", else a difference. `baseline`: in words, what a ratio is of where that is no
    executor. `as_printed`: how the source puts it."""

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
    """`published`: in words; `figures`: what of it is a number; `note`: what is wrong or doubtful in the original."""

    condition: Text
    published: Text
    figures: tuple[PublishedFigure, ...] = ()
    note: Text | None = None


class ClaimRecord(PublishedResult):
    id: Text
    source: ClaimSource
