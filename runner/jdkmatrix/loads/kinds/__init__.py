"""The kinds of load, in the files beside this one: their fields, what follows from these, their words and figures.

A file's `LOADS` names the records that a table [loads.NAME] may be, with what makes a `LoadKind` of each. Another kind
is measured without being named elsewhere. Named are those that alone have a chart (report/run_page/over_rate.py,
report/run_page/over_time.py), advice (report/cells/advice.py) or a check (config/checks.py) of their own, and the loads
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
    """One whose rate is not known yet stands for what does not depend on it: its length."""
    return KINDS[type(load)](load)


def loads_words(loads: Sequence[GivenLoad]) -> str:
    """The load of cells that have it by one name, in words: it differs where it was worked out for each condition."""
    distinct = list(dict.fromkeys(loads))
    first = kind_of(distinct[0])
    return first.words() if len(distinct) == 1 else first.words_of_all(distinct)
