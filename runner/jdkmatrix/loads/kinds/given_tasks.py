"""Tasks given to a program without a server, whose arms are not compared with each other."""

from __future__ import annotations

from typing import Any

from jdkmatrix.domain.loads import CountLoad, GivenLoad, InFlightLoad, TaskRateLoad
from jdkmatrix.loads.base import LoadKind, Question


class Tasks(LoadKind[Any]):
    question = Question("ran to its end", "Ran to the end", in_tables=False)
    metrics = ()
    ratio_of = ""

    def words(self) -> str:
        words: str = self.load.words()
        return words


LOADS: dict[type[GivenLoad], type[Tasks]] = {InFlightLoad: Tasks, TaskRateLoad: Tasks, CountLoad: Tasks}
