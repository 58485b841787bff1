"""Find names with a number, such as "saturate-50", whose template does not take that number. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from functools import cache

from pydantic import TypeAdapter, ValidationError

from jdkmatrix.config.assemble import NUMBER_MAX, Tables, assembled, numbered, with_number
from jdkmatrix.config.model import Tuning, Workload
from jdkmatrix.loads.kinds import AskedLoad
from jdkmatrix.validation import wrong_size

_MODELS = {"workloads": Workload, "loads": AskedLoad, "tunings": Tuning}


def why_no_size(files: Mapping[str, Tables], table: str, name: str) -> str | None:
    """Return which numbers the template of this name takes, if only the name's number is wrong; else None."""
    templates = (one for tables in files.values() for one in tables.get(table, {}))
    found = next(((one, number) for one in templates if (number := numbered(one, name))), None)
    if found is None:
        return None
    template, number = found

    def fits(size: int) -> bool:
        one = with_number(template, size)
        axis = {"executor": f"virtual+{one}"} if table == "tunings" else {table.removesuffix("s"): one}
        entry = assembled(files, {axis: (value,) for axis, value in axis.items()}).tables[table][one]
        try:
            _validator(table).validate_python(entry)
        except ValidationError:
            return False
        return True

    if re.fullmatch("[1-9][0-9]*", number) and int(number) <= NUMBER_MAX and fits(int(number)):
        return None
    most = bisect_left(range(1, NUMBER_MAX + 1), True, key=lambda size: not fits(size))
    return wrong_size(name, template, most)


@cache
def _validator(table: str) -> TypeAdapter[object]:
    return TypeAdapter(_MODELS[table])
