"""The sections that the page of a run has for its experiments."""

from __future__ import annotations

from collections.abc import Mapping

from jdkmatrix.report.blocks.kinds import Section
from jdkmatrix.report.blocks.tables import Cell
from jdkmatrix.report.experiments.sections import experiment_sections
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.store.loaded import LoadedRun

OLD, NEW = "temurin-21.0.8", "temurin-25"
Sections = Mapping[str, Section]
Row = dict[str, Cell]


def sections_of(loaded: LoadedRun) -> Sections:
    judged = JudgedRun(loaded)
    found = experiment_sections(judged.experiments)
    return {one.id.removeprefix("experiment-"): one for one in found}
