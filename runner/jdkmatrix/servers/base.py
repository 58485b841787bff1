"""A server on this host, and how it is launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path
from typing import NamedTuple

from jdkmatrix.domain.applications import Application
from jdkmatrix.domain.catalogue import BUILT, ServerKind
from jdkmatrix.provision.workloads import Workloads


@dataclass(frozen=True)
class Launch:
    """A server process to start. `ready_words`: what the server writes to `messages_log` when it reports that it is
    ready; None: it reports nothing before it answers. `cwd`: its working directory; None: the folder of its logs.
    `hint`: what to do if `ready_path` is answered, but not with status 2xx."""

    command: Sequence[str]
    env: Mapping[str, str]
    base_url: str
    ready_path: str
    messages_log: Path
    console_log: Path
    ready_words: str | None = None
    cwd: Path | None = None
    hint: str = ""


@dataclass(frozen=True)
class OwnParts:
    """A user's application, as one executor serves it. `war`: the file to deploy; `command`: words with placeholders;
    `settings`: its environment variables."""

    application: Application
    war: Path | None = None
    command: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


class Serving(NamedTuple):
    """An application and the executor that serves it. `own_war`: the WAR of an application that is not ours."""

    application: Application
    feature_set: str
    executor: str
    own_war: Path | None = None


@dataclass(frozen=True)
class InstalledServer:
    """A server to launch. `sha256`: of the archive that it was made from, or of our jar; `java_options`: those that it
    needs on any JDK. `home`: its folder, `files_sha256`: of all files there; None if all of it is ours."""

    kind: ServerKind
    version: str
    sha256: str
    java_options: tuple[str, ...] = ()
    home: Path | None = None
    files_sha256: str | None = None

    def files(self, workloads: Workloads, serving: Serving) -> dict[str, Path]:
        """Return the files to copy, by place in the fork's folder."""
        application, feature_set, executor, own_war = serving
        switch, folder = self.kind.switch_of(executor), workloads.servers / self.kind.name
        option = self.kind.option_of(executor)
        values = {"application": application.name, "feature_set": feature_set, "executor": option}
        found: dict[str, Path] = {}
        if self.kind.war and (own_war or self.kind.jar is None):
            found[self.kind.war.format_map(values)] = own_war or workloads.file(f"{application.name}.war")
        for place, source in {**self.kind.files, **switch.files}.items():
            name = source.format_map(values)
            ours = name.startswith(BUILT)
            beside = Path(normpath(folder / name))  # or in the folder of the server that it extends
            found[place.format_map(values)] = workloads.file(name.removeprefix(BUILT)) if ours else beside
        return found

    def sources(self, workloads: Workloads, serving: Serving) -> tuple[Path, ...]:
        """Return our own files that it consists of when it serves this application."""
        files = [file for file in self.files(workloads, serving).values() if file != serving.own_war]
        return (*files, *([workloads.file(self.kind.jar)] if self.kind.jar else []))
