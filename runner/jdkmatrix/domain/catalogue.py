"""The servers and executors that exist. A new server is a folder in workloads/servers, a new executor a row in
workloads/executors/executors.toml; nothing else names it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
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

BUILT = "built:"  # prefix of the name of a file that the build makes
SIZE = re.compile(r"-([1-9][0-9]{0,4})\Z")  # the part of an executor's name that stands for -N of its row
_LISTS = ("jvm_options", "properties", "server_options", "command")  # each becomes several arguments
_OF_FILES = ("application", "executor", "feature_set")
_OF_ENV = (*_OF_FILES, "java", "home", "jar", "folder", "log_dir", "port")
# Fields of a ServerKind that no fork runs with: words about it, which cells it can serve, and what differs by executor.
_DECIDES_NOTHING = {
    "extends", "title", "differs", "own_pool", "virtual", "limits", "feature_sets", "unfit_in_paths", "executors",
    "plugged",
}  # fmt: skip


def placeholders(text: str, allowed: Sequence[str]) -> list[str]:
    """Return the placeholders in `text`, each a name in braces and nothing else.

    Raises:
        ValueError: one that is not `allowed`, or a brace of no placeholder that is not doubled.
    """
    try:
        parts = list(Formatter().parse(text))
    except ValueError as error:
        raise ValueError(f"{error}; double a brace that is not part of a placeholder") from None
    names = [name for _, name, _, _ in parts if name is not None]
    if wrong := sorted({*names} - {*allowed}):
        raise ValueError(f"{{{wrong[0]}}} is not a placeholder here (allowed: {', '.join(allowed)})")
    escaped = [(literal.replace("{", "{{").replace("}", "}}"), name) for literal, name, _, _ in parts]
    if "".join(literal + ("" if name is None else f"{{{name}}}") for literal, name in escaped) != text:
        raise ValueError(f'"{text}": a placeholder is a name in braces and nothing else, such as {{{names[0]}}}')
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
    """A row of the catalogue: an executor, with N for any number. `words`: what it is. `plugged`: a server that has
    `plugged` can be given it. `per_request`: it starts a thread for each request. `same_as`: the row that this is an
    old name of."""

    words: str
    same_as: str | None = None
    plugged: bool = False
    virtual: bool = False
    per_request: bool = False


class Switch(Record):
    """The way a server gets an executor. `switch`: as documented, in words; `option`: what {executor} stands for if it
    is not its name, with N where the name has it; `files`: as those of the server; `properties`: of the JVM."""

    switch: str
    option: str | None = None
    files: Mapping[File, File] = {}
    properties: Mapping[str, File] = {}


class OwnExecutor(Switch):
    """An executor that a server brings along. `threads`: how the names of its threads begin; None: they are ours.
    `per_request`: as in `ExecutorKind`, by what the server documents about its switch."""

    words: str
    virtual: bool = False
    per_request: bool = False
    threads: EnvValue | None = None


class FeatureSet(Record):
    """`has`: what an application may need beyond Jakarta REST. `only_here`: no server without features can stand in."""

    has: tuple[str, ...] = ()
    only_here: bool = False


class Limit(Record):
    """A default that would change a comparison, and its value `here`."""

    what: str
    default: str
    here: str


class ServerKind(Record):
    """A server.toml, in a folder that has the server's name. With `extends`, it inherits all keys that it does not have
    itself from the server of that name.

    `differs`: what else, besides threads, sets it apart when it answers a request, in a phrase: its interface, its JSON
    library, its HTTP layer. `executors`: those that it brings along; `own_pool`: the one of them that all others are
    compared with; `virtual`: the one that stands for virtual threads where a sentence compares these with the pool;
    `plugged`: how it is given those of the catalogue; None: it cannot be. `files`: by place in the fork's folder, a
    file beside server.toml or one that the build makes. `war`: the place from which it deploys an application; None: it
    deploys none. A server with a module serves ours without a war, and gets the whole path of another's for
    {application}. `release`: what makes it from an artefact of toolchain.lock.json; None: the module beside server.toml
    embeds it, and its jar has the `version`, under a key of a properties file or manifest; a server that is started by
    a {command} of the user has neither. `ready_words`: what it writes to `messages_log` when it is ready. `gauges`: the
    MBean of its own pool, if that is no OwnPoolMXBean. `connection_pool`: the library that pools its database
    connections; it takes no other. A server without `feature_sets` has no Jakarta REST. `unfit_in_paths`: characters
    that must not occur in the path of the folder in which it runs."""

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
        """True if it is whatever a command of the user starts."""
        return "{command}" in self.command

    @property
    def jar(self) -> str | None:
        """The name of the jar that its module builds; None if it has no module."""
        return f"{self.name}-server.jar" if self.version is not None else None

    def switch_of(self, executor: str) -> Switch:
        """Return how it gets this executor. Raises: KeyError: it does not have this executor."""
        row = SIZE.sub("-N", executor)
        return self.executors[row] if self.plugged is None else self.executors.get(row, self.plugged)

    def option_of(self, executor: str) -> str:
        """Return what {executor} stands for; raises as `switch_of`."""
        option, size = self.switch_of(executor).option, SIZE.search(executor)
        if option is None:
            return executor
        return option.replace("-N", size[0]) if size else option

    def decides(self, executor: str) -> dict[str, Any]:
        """Return all of its table that decides how it runs with this executor, as JSON; raises as `switch_of`."""
        return {
            **self.model_dump(mode="json", exclude=_DECIDES_NOTHING),
            "executor": self.switch_of(executor).model_dump(mode="json", exclude={"words", "switch"}),
            "threads": {row: [own.threads, own.virtual] for row, own in self.executors.items()},
        }

    def every_executor(self) -> tuple[str, ...]:
        """Return its own executors and those that it can be given, with N for any number."""
        given = (name for name, row in catalogue().items() if self.plugged and row.plugged and row.same_as is None)
        return (*self.executors, *given)

    def has(self, unsized_executor: str) -> bool:
        row = catalogue().get(unsized_executor)
        return unsized_executor in self.executors or (self.plugged is not None and row is not None and row.plugged)


@cache
def server_kinds() -> Mapping[str, ServerKind]:
    """Read the kinds of server, by name, the usual one first.

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
        raise MatrixError(f'{path}: extends: "{base}" is not a server beside this one, or itself extends another')
    return {**_beside(str(base), inherited), **told}


def _beside(server: str, tables: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a server with its files as they are seen from the folder of another server beside it."""

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
    """Read workloads/executors/executors.toml.

    Raises:
        MatrixError: a row is not as it should be: names the file and the row.
    """
    path = workloads_folder() / "executors" / "executors.toml"
    return {name: validated(ExecutorKind, row, f"{path}: {name}") for name, row in read_toml(path).items()}


@cache
def executor_kinds() -> Mapping[str, ExecutorKind | OwnExecutor]:
    """Return every executor, with N for any number: those that the usual server brings along, those that every server
    can be given, those that others bring along, and those that only experiments without a server have."""
    rows = catalogue()
    plugged = {name: row for name, row in rows.items() if row.plugged}
    usual, *others = [kind.executors for kind in server_kinds().values()]
    return {**usual, **plugged, **{name: one for own in others for name, one in own.items()}, **rows}
