"""Views as plain JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from jdkmatrix.records.loads import CellKey
from jdkmatrix.report.heat import HeatCell
from jdkmatrix.report.numbers import Figure
from jdkmatrix.report.views import CellView, RunView


def plain(page: RunView | CellView) -> Any:
    """The view as JSON, its charts by title and note only: their looks are not what is pinned."""

    def slim(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: slim(item) for name, item in value.items() if name not in ("spec", "order")}
        if isinstance(value, list | tuple):
            return [slim(item) for item in value]
        return sorted(value) if isinstance(value, frozenset) else value

    return json.loads(json.dumps(slim(_deep(page)), ensure_ascii=False))


def _deep(value: Any) -> Any:
    if isinstance(value, Figure):
        more = f"{f' [{value.under}]' if value.under else ''}{f' ({value.title})' if value.title else ''}"
        return f"{value.text}{more}{' amber' if value.amber else ''}"
    if isinstance(value, HeatCell):
        return f"{value.value}, {value.interval}, {value.basis}, {value.tone}, {value.title}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _deep(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, CellKey):
        return value.cell_id
    if isinstance(value, tuple):
        return [_deep(item) for item in value]
    return value
