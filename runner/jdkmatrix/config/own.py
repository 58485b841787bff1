"""The user's own application, taken as it comes: a WAR that a server deploys, or a command that starts something that
serves HTTP. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import PurePath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from jdkmatrix.config.request_mix import RequestMix, RequestTemplate, example
from jdkmatrix.domain.applications import Application
from jdkmatrix.domain.catalogue import placeholders
from jdkmatrix.domain.tables import Table

LISTS = ("jvm_options", "arm")  # each such word becomes several
_PLACEHOLDERS = ("java", "port", "address", "folder", *LISTS)
SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*")
_OF_CELL = re.compile(r"-Xm[sx]|-XX:(?:(?:Min|Max|Initial)(?:HeapSize|RAM\w*)=|[+-]Use\w+GC\b)|-Xgcpolicy:")
# Options of java whose value is the next word (java --help-extra): a list of files and folders, or something else.
JAVA_PATHS = ("-cp", "-classpath", "--class-path", "-p", "--module-path")
_JAVA_WITH_A_WORD = (
    "--upgrade-module-path", "--add-modules", "--limit-modules", "--enable-native-access", "--add-reads",
    "--add-exports", "--add-opens", "--patch-module", "--source",
)  # fmt: skip
_SEED = 20241115


def _words(text: str) -> list[str]:
    """Split a command line into words. Raises: ValueError: no shell could read it."""
    words = shlex.split(text)
    every = (part for word in words for part in parts(word))
    if of_cell := next(filter(_OF_CELL.match, every), None):
        raise ValueError(
            f"{of_cell} belongs to the cell: give it in jvm.hotspot.options of the workload for all arms, or with "
            "--arm 'virtual:OPTIONS' for another arm"
        )
    return words


def parts(word: str) -> list[str]:
    """Return the word, or the words in the value of a setting such as JAVA_TOOL_OPTIONS."""
    return word.partition("=")[2].split() if SETTING.fullmatch(word) else [word]


def _options(text: str) -> str:
    _words(text)
    return text


def _command(text: str) -> str:
    words = _words(text)
    program = next((word for word in words if not SETTING.fullmatch(word)), None)
    if program is None:
        raise ValueError("there is no program in it")
    found = {name for word in words for name in placeholders(word, _PLACEHOLDERS)}
    if within := [word for word in words for name in LISTS if f"{{{name}}}" in word and word != f"{{{name}}}"]:
        raise ValueError(f'"{within[0]}": {{jvm_options}} and {{arm}} must be words of their own')
    if words.count("{arm}") > 1:
        raise ValueError("{arm} is in it more than once")
    if "port" not in found:
        raise ValueError("it must listen on {port}, which differs at every start, and does not contain it")
    if program != "java" and "jvm_options" not in found:
        raise ValueError(
            "it has no {jvm_options}, which all arms must share; only after `java` are they added by themselves"
        )
    return text


def _path(path: str) -> str:
    RequestTemplate(method="GET", path=path)
    return path


def _ready(path: str) -> str:
    if example(_path(path)) != path:
        raise ValueError(f"{path!r} has fields, but must be a single path")
    return path


Path = Annotated[str, AfterValidator(_path)]
Arm = Literal["pool", "virtual"]


class OwnApplication(Table):
    """`war`: a file that a server deploys; `command`: starts a server, with the options of `arms` for each executor.
    Names of files are relative to the folder of matrix.toml. `path`: of the requests, below the context root of a WAR,
    with fields as in [mixes]; `ready`: answers when it is ready, if `path` does not."""

    war: Annotated[str, Field(pattern=r"\.war$")] | None = None
    command: Annotated[str, AfterValidator(_command)] | None = None
    path: Path
    ready: Annotated[str, AfterValidator(_ready)] | None = None
    arms: dict[Arm, Annotated[str, AfterValidator(_options)]] = {}

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.war is None) == (self.command is None):
            raise ValueError("either war or command is needed")
        if self.arms if self.command is None else "pool" not in self.arms:
            raise ValueError("arms: a command has pool and what is compared with it; a WAR has none")
        return self

    @property
    def ready_path(self) -> str:
        return self.ready or self.example

    @property
    def example(self) -> str:
        """An example of the requests' path."""
        return example(self.path)

    @property
    def requests(self) -> RequestMix:
        return RequestMix(seed=_SEED, requests=(RequestTemplate(method="GET", path=self.path),))

    @cached_property
    def application(self) -> Application:
        """The WAR or the program, described like our applications; without a name unless it is a WAR."""
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", PurePath(self.war).stem) if self.war else ""
        return Application(
            name=name, fronts=("rest",), ready_path=self.ready_path, has_probes=False, at_root=self.war is None
        )

    def settings(self) -> dict[str, str]:
        """Return the environment variables that are set before its program."""
        settings, _ = self._split
        return dict(word.split("=", 1) for word in settings)

    def words(self, executor: str) -> list[str]:
        """Return the command as an arm starts it, with placeholders. The arm's options take the place of {arm}, or else
        follow those of the JVM."""
        _, words = self._split
        options = [word.replace("{", "{{").replace("}", "}}") for word in shlex.split(self.arms[executor])]  # type: ignore[index]
        if words[0] == "java":
            words = ["{java}", *([] if "{jvm_options}" in words else ["{jvm_options}"]), *words[1:]]
        if "{arm}" not in words:
            at = words.index("{jvm_options}") + 1
            words[at:at] = ["{arm}"]
        at = words.index("{arm}")
        return [*words[:at], *options, *words[at + 1 :]]

    def files(self) -> list[str]:
        """Return words that may name files: the WAR, or those of the command and of each arm's options. An empty word
        precedes each of these texts, so that its first word is not taken for the value of an option before it."""
        if self.war:
            return [self.war]
        texts = (self.command or "", *self.arms.values())
        return [part for text in texts for word in ("", *shlex.split(text)) for part in parts(word)]

    def of_java(self) -> Iterator[tuple[str, str]]:
        """Yield the options of `java` that name files to load, each with its value: -jar, and the lists of JAVA_PATHS.
        Yield none if `java` is not its program, since a script may run it in any folder."""
        _, words = self._split
        left = iter(words)
        if next(left, None) != "java":
            return
        for word in left:
            if word == "-jar" or word in JAVA_PATHS:
                yield word, next(left, "")
            elif word in _JAVA_WITH_A_WORD:
                next(left, None)
            if word == "-jar" or not word.startswith(("-", "{", "@")):
                return

    @property
    def _split(self) -> tuple[list[str], list[str]]:
        """The command's environment settings, and its program with arguments."""
        words = shlex.split(self.command or "")
        at = next((at for at, word in enumerate(words) if not SETTING.fullmatch(word)), len(words))
        return words[:at], words[at:]


def is_command(table: object) -> bool:
    """Return whether this table of matrix.toml, not validated, describes a workload that a command serves."""
    own = table.get("own") if isinstance(table, Mapping) else None
    return isinstance(own, Mapping) and own.get("command") is not None
