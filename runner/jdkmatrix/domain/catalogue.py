"""The servers and executors that there are. Another server is a folder in workloads/servers, another executor a row in
workloads/executors/executors.toml, and nothing else names it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from jdkmatrix.domain.cell_key import DEFAULT_SERVER
from jdkmatrix.domain.record import Record
from jdkmatrix.domain.tables import ConnectionPool
from jdkmatrix.errors import MatrixError
from jdkmatrix.project_files import workloads_folder
from jdkmatrix.reading import read_toml
from jdkmatrix.validation import validated

BUILT = "built:"  # begins the name of a file that the build makes
SIZE = re.compile(r"-([1-9][0-9]{0,4})\Z")  # what stands in an executor's name for -N of its row
_LISTS = ("jvm_options", "properties", "server_options", "command")  # such an argument becomes several
_OF_FILES = ("application", "executor", "feature_set")
_OF_ENV = (*_OF_FILES, "java", "home", "jar", "folder", "log_dir", "port")
# Of a ServerKind, what no fork runs with: words about it, which cells it can serve, and what is told apart by executor.
_DECIDES_NOTHING = {
    "extends", "title", "differs", "own_pool", "virtual", "limits", "feature_sets", "unfit_in_paths", "executors",
    "plugged",
}  # fmt: skip


def placeholders(text: str, allowed: Sequence[str]) -> list[str]:
    """Those in `text`, each a name in braces and nothing else.

    Raises:
        ValueError: one that is not `allowed`, or a brace of no placeholder that is not doubled.
    """
    try:
        parts = list(Formatter().parse(text))
    except ValueError as error:
        raise ValueError(f"{error}; a brace that begins or ends no placeholder is doubled") from None
    names = [name for _, name, _, _ in parts if name is not None]
    if wrong := sorted({*names} - {*allowed}):
        raise ValueError(f"{{{wrong[0]}}} is no placeholder here (allowed: {', '.join(allowed)})")
    literals = (literal.replace("{", "{{").replace("}", "}}") for literal, _, _, _ in parts)
    if "".join(chain.from_iterable(zip_longest(literals, (f"{{{name}}}" for name in names), fillvalue=""))) != text:
        raise ValueError(f'"{text}": a placeholder is a name in braces and no more, such as {{{names[0]}}}')
    return names


def _filled_with(*allowed: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        placeholders(text, allowed)
        return text

    return check


Name = Annotated[str, Field(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$")]
Row = Annotated[str, Field(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*(-N)?$")]
File = Annotated[str, AfterValidator(_filled_with(*_OF_FILES))]
EnvValue = Annotated[str, AfterValidator(_filled_with(*_OF_ENV))]
Argument = Annotated[str, AfterValidator(_filled_with(*_OF_ENV, *_LISTS))]


class ExecutorKind(Record):
    """A row of the catalogue: an executor, with N for any number. `words`: what it is. `plugged`: a server
    that has `plugged` can be given it. `per_request`: it starts a thread for each request. `same_as`: the row of which
    this is an old name."""

    words: str
    same_as: str | None = None
    plugged: bool = False
    virtual: bool = False
    per_request: bool = False


class Switch(Record):
    """How a server gets an executor. `switch`: the documented way, in words; `option`: what {executor} stands for, if
    not for its name, with N where the name has it; `files` as those of the server; `properties` of the JVM."""

    switch: str
    option: str | None = None
    files: Mapping[File, File] = {}
    properties: Mapping[str, File] = {}


class OwnExecutor(Switch):
    """An executor that a server brings along. `threads`: how the names of its threads begin; None: they are ours.
    `per_request`: as of an `ExecutorKind`, by what the server documents of its switch."""

    words: str
    virtual: bool = False
    per_request: bool = False
    threads: EnvValue | None = None


class FeatureSet(Record):
    """`has`: what an application may need beyond Jakarta REST. `only_here`: no server without features stands in."""

    has: tuple[str, ...] = ()
    only_here: bool = False


class Limit(Record):
    """A default that would change a comparison, and what it is `here`."""

    what: str
    default: str
    here: str


class ServerKind(Record):
    """server.toml in a folder that has the server's name. With `extends`, it has all keys of the server of that name
    that it does not have itself.

    `differs`: what else, besides threads, sets it apart when it answers a request, in a phrase: its interface, its JSON
    library, its HTTP layer. `own_pool`: the one of `executors`, which it brings along, that all others are compared
    with; `virtual`: the one that stands for virtual threads where a sentence compares these with the pool; `plugged`:
    how it is given those of the catalogue; None: it cannot be. `files`: by place in the fork's folder, a file beside
    server.toml or one that the build makes. `war`: the place from which it deploys an application; None: it deploys
    none. One with a module serves ours without, and is given the whole path of another's for {application}. `release`:
    what makes it of an artefact of toolchain.lock.json; None: the module beside server.toml embeds it, and its jar says
    the `version`, in a file of properties or a manifest by a key; one that is started by a {command} of the user has
    neither. `ready_words`: what it writes to `messages_log` when it says that it is ready. `gauges`: the MBean of its
    own pool, where it is no OwnPoolMXBean. `connection_pool`: the library that pools its database connections; it takes
    no other. One without `feature_sets` has no Jakarta REST. `unfit_in_paths`: characters that no folder may have in
    its name in which it runs."""

    name: Name
    extends: Name | None = None
    title: str
    differs: str
    own_pool: Name
    virtual: Name = "virtual"
    command: Annotated[tuple[Argument, ...], Field(min_length=1)]
    env: Mapping[str, EnvValue]
    files: Mapping[File, File] = {}
    war: File | None = None
    executors: Mapping[Row, OwnExecutor]
    plugged: Switch | None = None
    connection_pool: ConnectionPool | None = None
    release: Literal["liberty"] | None = None
    version: tuple[str, str] | None = None
    ready_words: str | None = None
    messages_log: str = "console.log"
    gauges: str | None = None
    feature_sets: Mapping[str, FeatureSet] = {}
    unfit_in_paths: str = ""
    limits: tuple[Limit, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.own_pool not in self.executors:
            raise ValueError(f"own_pool: there is no [executors.{self.own_pool}]")
        if self.virtual not in (*self.executors, "virtual"):
            raise ValueError(f"virtual: there is no [executors.{self.virtual}]")
        for row, own in self.executors.items():
            if own.option and own.option.endswith("-N") != row.endswith("-N"):
                raise ValueError(f'executors.{row}: option: "{own.option}" ends in -N if the name does, and only then')
        if (self.release is not None) + (self.version is not None) + self.is_command != 1:
            raise ValueError("version: belongs to a server with a module, and release to one without")
        return self

    @property
    def has_features(self) -> bool:
        return bool(self.feature_sets)

    @property
    def is_command(self) -> bool:
        """Is it whatever a command of the user starts?"""
        return "{command}" in self.command

    @property
    def jar(self) -> str | None:
        """The name of the jar that its module builds; None where it has no module."""
        return f"{self.name}-server.jar" if self.version is not None else None

    def switch_of(self, executor: str) -> Switch:
        """Raises: KeyError: it does not have this executor."""
        row = SIZE.sub("-N", executor)
        return self.executors[row] if self.plugged is None else self.executors.get(row, self.plugged)

    def option_of(self, executor: str) -> str:
        """What {executor} stands for; raises as `switch_of`."""
        option, size = self.switch_of(executor).option, SIZE.search(executor)
        if option is None:
            return executor
        return option.replace("-N", size[0]) if size else option

    def decides(self, executor: str) -> dict[str, Any]:
        """All in its table that decides how it runs with this executor, as JSON; raises as `switch_of`."""
        return {
            **self.model_dump(mode="json", exclude=_DECIDES_NOTHING),
            "executor": self.switch_of(executor).model_dump(mode="json", exclude={"words", "switch"}),
            "threads": {row: [own.threads, own.virtual] for row, own in self.executors.items()},
        }

    def every_executor(self) -> tuple[str, ...]:
        """Its own and those that it can be given, with N for any number."""
        given = (name for name, row in catalogue().items() if self.plugged and row.plugged and row.same_as is None)
        return (*self.executors, *given)

    def has(self, unsized_executor: str) -> bool:
        row = catalogue().get(unsized_executor)
        return unsized_executor in self.executors or (self.plugged is not None and row is not None and row.plugged)


@cache
def server_kinds() -> Mapping[str, ServerKind]:
    """The kinds of server by name, the usual one first.

    Raises:
        MatrixError: a server.toml is not as it should be: names the file and the key.
    """
    files = workloads_folder().glob("servers/*/server.toml")
    order = sorted(files, key=lambda path: (path.parent.name != DEFAULT_SERVER, path))
    return {path.parent.name: read_server(path) for path in order}


def server_file(kind: str) -> Path:
    return workloads_folder() / "servers" / kind / "server.toml"


def read_server(path: Path) -> ServerKind:
    """Read and check one server.toml; raises as `server_kinds`."""
    kind = validated(ServerKind, {**_whole(path), "name": path.parent.name}, path)
    switches = (*kind.executors.values(), *((kind.plugged,) if kind.plugged else ()))
    for files in (kind.files, *(switch.files for switch in switches)):
        for source in files.values():
            if not (source.startswith(BUILT) or "{" in source or (path.parent / source).is_file()):
                raise MatrixError(f"{path}: files: there is no {source} beside it")
    return kind


def _whole(path: Path) -> dict[str, Any]:
    told = read_toml(path)
    if (base := told.get("extends")) is None:
        return told
    other = path.parent.parent / str(base) / path.name
    if not other.is_file() or "extends" in (inherited := read_toml(other)):
        raise MatrixError(f'{path}: extends: "{base}" is no server beside this one, or extends another itself')
    return {**_beside(str(base), inherited), **told}


def _beside(server: str, tables: dict[str, Any]) -> dict[str, Any]:
    """With the files that lie beside another server.toml, as seen from a server's folder beside its own."""

    def seen(source: str) -> str:
        return source if source.startswith(BUILT) else f"../{server}/{source}"

    def moved(key: str, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if key == "files":
            return {place: seen(source) for place, source in value.items()}
        return {name: moved(name, one) for name, one in value.items()}

    return {key: moved(key, value) for key, value in tables.items()}


@cache
def catalogue() -> Mapping[str, ExecutorKind]:
    """workloads/executors/executors.toml.

    Raises:
        MatrixError: a row is not as it should be: names the file and the row.
    """
    path = workloads_folder() / "executors" / "executors.toml"
    return {name: validated(ExecutorKind, row, f"{path}: {name}") for name, row in read_toml(path).items()}


@cache
def executor_kinds() -> Mapping[str, ExecutorKind | OwnExecutor]:
    """Every executor, with N for any number: what the usual server brings along, what every server can be given, what
    others bring along, and what only experiments without a server have."""
    rows = catalogue()
    plugged = {name: row for name, row in rows.items() if row.plugged}
    usual, *others = [kind.executors for kind in server_kinds().values()]
    return {**usual, **plugged, **{name: one for own in others for name, one in own.items()}, **rows}
