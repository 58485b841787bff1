"""Read matrix.toml and what lies beside it: from files to a validated Matrix, or to one clear message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jdkmatrix.config import checks
from jdkmatrix.config.assemble import NUMBERS, Tables, assembled
from jdkmatrix.config.model import Axes, Matrix
from jdkmatrix.domain.applications import application_file, applications
from jdkmatrix.domain.catalogue import server_file, server_kinds
from jdkmatrix.domain.servers import server_kind
from jdkmatrix.errors import MatrixError
from jdkmatrix.reading import read_toml
from jdkmatrix.validation import explain, told

Values = tuple[str | int, ...]
TABLES = {"workload": ("workloads", "experiments"), "server": ("servers",), "load": ("loads",)}


def load_matrix(path: Path) -> Matrix:
    """Read and validate `path` and what lies beside it.

    Raises:
        ConfigError: names the file, every wrong key, what was found and what is allowed.
    """
    return parse_files(read_files(path))


def read_files(path: Path) -> dict[str, Tables]:
    """Read the tables of matrix.toml, and of the profiles, applications, servers and published sources beside it, by
    file; not validated.

    Raises:
        ConfigError: as read_toml.
    """
    mixes = {str(application_file(name)): {"mixes": dict(one.mixes)} for name, one in applications().items()}
    embedded = [name for name, kind in server_kinds().items() if kind.jar is not None]
    servers: dict[str, Tables] = {str(server_file(name)): {"servers": {name: {}}} for name in embedded}
    profiles, sources = (
        sorted(path.parent.glob(files)) for files in ("profiles/*.toml", "published/*/scenarios*.toml")
    )
    own, others = ({str(file): read_toml(file) for file in files} for files in ([path, *profiles], sources))
    return {**own, **mixes, **servers, **others}


def parse_files(
    files: Mapping[str, Tables],
    also: Mapping[str, Sequence[str | int]] | None = None,
    tables: Mapping[str, Mapping[str, Any]] | None = None,
) -> Matrix:
    """Validate what the files say together. `files`: by their names in messages, that of matrix.toml first; `also`: by
    axis, values to put on it though no file does; `tables`: by table, entries to add likewise."""
    first, *others = files
    for table, entries in (tables or {}).items():
        for name, entry in entries.items():
            if any(_is_another(said.get(table), name, entry) for said in files.values()):
                raise MatrixError(f"{table}.{name}: the command line makes it, but another table has this name")
    added = {table: {**files[first].get(table, {}), **entries} for table, entries in (tables or {}).items() if entries}
    found = assembled({first: {**files[first], **added}, **{name: files[name] for name in others}}, also or {})
    if found.problems:
        raise told(dict.fromkeys(found.problems))
    try:
        matrix = Matrix.model_validate(found.tables)
    except ValidationError as error:
        raise found.error(explain(error, Matrix)) from None
    axes = axes_of(matrix)
    whole = matrix.model_copy(update={"axes": axes})
    if problems := [*checks.of_axes(matrix.axes, axes), *checks.problems(whole, found.templates)]:
        raise found.error(problems)
    return whole


def _is_another(written: Any, name: str, made: Any) -> bool:
    """Return whether a file has a different entry of this name; a different description does not count."""
    if not isinstance(written, Mapping) or name not in written:
        return False
    one, other = ({**each, "description": ""} if isinstance(each, dict) else each for each in (written[name], made))
    return bool(one != other)


def axes_of(matrix: Matrix) -> Axes:
    """Return the whole axes. Workloads, servers and loads are those that have a table, in the order of the tables; JDKs
    are listed. Executors are those that the servers bring along, those that they can be given, and what else is listed
    or selected. Numbers are in ascending order."""
    listed: Mapping[str, Values] = dict(matrix.axes)

    def selected(axis: str, first: Iterable[str | int] = ()) -> Values:
        rules = (rule for protocol in matrix.protocols.values() for rule in (protocol.select, *protocol.include))
        named = (values for rule in rules if (values := getattr(rule, axis)) is not None and values != "all")
        return tuple(dict.fromkeys((*first, *listed[axis], *(value for values in named for value in values))))

    return matrix.axes.model_copy(
        update={
            **{
                axis: tuple(name for table in tables for name in getattr(matrix, table))
                for axis, tables in TABLES.items()
            },
            "executor": selected("executor", _of_servers(matrix)),
            **{axis: tuple(sorted(selected(axis))) for axis in NUMBERS},
        }
    )


def _of_servers(matrix: Matrix) -> Iterator[str]:
    """Yield the executors of all servers, except those whose name has a number."""
    kinds = [kind for name in matrix.servers if (kind := server_kind(name))]
    names = (
        *(name for kind in kinds for name in kind.executors),
        *(n for kind in kinds for n in kind.every_executor()),
    )
    yield from (name for name in names if not name.endswith("-N"))
