"""The kinds of load, in the files beside this one: their fields, what follows from these, their words and figures.

A file's `LOADS` names the records that a table [loads.NAME] may be, with what makes a `LoadKind` of each. A new kind is
measured without being named elsewhere. The only ones named elsewhere have a chart (report/run_page/over_rate.py,
report/run_page/over_time.py), advice (report/cells/advice.py) or a check (config/checks.py) of their own, or are loads
of drivers and experiments (domain/loads.py).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from importlib import import_module
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from jdkmatrix.domain.loads import CellLoad, GivenLoad, TaskLoad
from jdkmatrix.loads.base import LoadKind

_FILES = [import_module(f"{__name__}.{file.name}") for file in pkgutil.iter_modules(__path__)]
KINDS: Mapping[type[GivenLoad], Callable[[Any], LoadKind[Any]]] = {
    load: kind for file in _FILES for load, kind in file.LOADS.items()
}

if TYPE_CHECKING:
    AskedLoad = GivenLoad  # in matrix.toml
    AnyLoad = GivenLoad  # of a cell
else:
    AskedLoad = Annotated[reduce(or_, KINDS), Field(discriminator="kind")]
    _OF_CELLS = [load for load in KINDS if issubclass(load, CellLoad | TaskLoad)]
    AnyLoad = Annotated[reduce(or_, _OF_CELLS), Field(discriminator="kind")]


def kind_of(load: GivenLoad) -> LoadKind[Any]:
    """Return the kind of a load, which serves for all that does not depend on a rate not known yet: its length."""
    return KINDS[type(load)](load)


def loads_words(loads: Sequence[GivenLoad]) -> str:
    """Describe the load of cells that share its name: it differs if it was worked out for each condition."""
    distinct = list(dict.fromkeys(loads))
    first = kind_of(distinct[0])
    return first.words() if len(distinct) == 1 else first.words_of_all(distinct)
