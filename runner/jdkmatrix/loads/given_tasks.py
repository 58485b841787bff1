"""Tasks that a program without a server is given to do: its arms are not compared with each other."""

from __future__ import annotations

from typing import Any

from jdkmatrix.loads.base import LoadKind, Question
from jdkmatrix.records.forks import Fork


class Tasks(LoadKind[Any]):
    question = Question("ran to its end", "Ran to the end", in_tables=False)
    metrics = ()
    ratio_of = ""

    def answer(self, fork: Fork) -> bool:
        return True

    def words(self) -> str:
        words: str = self.load.words()
        return words
