"""The experiments. A new one is a file beside these, and its class in this tuple."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from jdkmatrix.experiments.base import Details, Experiment, Measurand
from jdkmatrix.experiments.borrow import Borrow
from jdkmatrix.experiments.burn import Burn
from jdkmatrix.experiments.fanout import Fanout
from jdkmatrix.experiments.hang import Hang
from jdkmatrix.experiments.json_writes import JsonWrites
from jdkmatrix.experiments.pinning import Pinning
from jdkmatrix.experiments.puts import Puts
from jdkmatrix.experiments.spawn import Spawn
from jdkmatrix.records.readings import ProgramResult

# In the order of the page.
EXPERIMENTS: tuple[type[Experiment], ...] = (Burn, Spawn, Pinning, Hang, Fanout, JsonWrites, Borrow, Puts)


def name_of(experiment: type[Experiment]) -> str:
    """Return the name of an experiment in its tables and results."""
    (name,) = experiment.model_fields["experiment"].annotation.__args__  # type: ignore[union-attr]
    return str(name)


BY_NAME: dict[str, type[Experiment]] = {name_of(one): one for one in EXPERIMENTS}

if TYPE_CHECKING:
    AnyExperiment = Experiment
else:
    AnyExperiment = Annotated[reduce(or_, EXPERIMENTS), Field(discriminator="experiment")]

_TABLE: TypeAdapter[Experiment] = TypeAdapter(AnyExperiment)


def table_of(parameters: Any) -> Experiment | None:
    """Return the table that a record keeps; None if it is none: a file from elsewhere may say anything."""
    try:
        return _TABLE.validate_python(parameters)
    except ValidationError:
        return None


def measurands(result: ProgramResult | None) -> dict[str, Measurand]:
    """Return the metrics of such a result's readings, by id."""
    experiment = BY_NAME.get(result.experiment) if result else None
    return {one.id: one for one in experiment.METRICS} if experiment else {}


def details_of(result: ProgramResult) -> Details:
    """Return the details; empty if nothing was seen, or a file from elsewhere says what no such experiment has."""
    experiment = BY_NAME.get(result.experiment)
    if experiment is None or result.seen is None:
        return Details()
    try:
        return experiment.details(result.seen)
    except (AttributeError, KeyError, TypeError, ValueError):
        return Details()
