"""Ratios that a page compares, and nothing else: of arms that lost no fork."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from jdkmatrix.report.cells.judgements import Family
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.verdicts import NO_LOSSES, RELEVANT, Judged

Name = TypeVar("Name", str, int)


def judge(ratios: Mapping[Name, Ratio]) -> dict[Name, Judged]:
    """Judge them as one family."""
    found, _, _ = Family(RELEVANT, {name: (ratio, NO_LOSSES, None) for name, ratio in ratios.items()}).judge()
    return found
