"""A server instance that can be started: its files, its command line, its environment, its port."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.domain.applications import Application, application_of
from jdkmatrix.domain.executors import unsized
from jdkmatrix.errors import MatrixError
from jdkmatrix.host.ports import server_port
from jdkmatrix.jdks.identify import Vm
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.servers.base import InstalledServer, Launch, OwnParts, Serving

_ADDRESS = "127.0.0.1"
_HINT_OF_OWN = "--path must be answered with 2xx or, if another path tells that it is ready, --ready"


@dataclass(frozen=True)
class Instance:
    """A server with all that it is started with. `application`: a name from domain/applications; `properties`: the
    system properties that it needs; `executor`: a checked name that the server has. `rounds_per_us`: rounds of burn per
    microsecond; 0 if nothing burns. `own`: a user's application in place of ours."""

    server: InstalledServer
    workloads: Workloads
    application: str
    java: Path
    vm: Vm
    feature_set: str
    executor: str
    jvm_options: Sequence[str]
    rounds_per_us: float
    properties: Mapping[str, str]
    own: OwnParts | None = None

    def lay_out(self, folder: Path, log_dir: Path) -> Launch:
        """Write the files of a server below `folder`, which must be its own, to serve on a free port of 127.0.0.1; its
        logs will be in `log_dir`.

        Raises:
            MatrixError: unknown feature set or application, a property that it needs is missing, or a file of the
                server.
        """
        kind, own = self.server.kind, self.own
        application = own.application if own else application_of(self.application)
        if kind.feature_sets and self.feature_set not in kind.feature_sets:
            allowed = ", ".join(kind.feature_sets)
            raise MatrixError(f'"{self.feature_set}" is not a feature set of {kind.title} (allowed: {allowed})')
        application.check(self.properties)
        serving = Serving(application, self.feature_set, self.executor, own.war if own else None)
        files = self.server.files(self.workloads, serving)
        for made in (folder, log_dir, *((folder / place).parent for place in files)):
            made.mkdir(parents=True, exist_ok=True)
        for place, source in files.items():
            shutil.copyfile(source, folder / place)
        port = server_port()
        values = {
            "application": self._served(application, folder),
            "executor": kind.option_of(self.executor),
            "feature_set": self.feature_set,
            "java": str(self.java),
            "home": str(self.server.home),
            "jar": str(self.workloads.file(kind.jar)) if kind.jar else "",
            "folder": str(folder),
            "log_dir": str(log_dir),
            "port": str(port),
            "address": _ADDRESS,
        }
        settings = own.settings if own else {}
        return Launch(
            command=tuple(self._command(values)),
            env={name: value.format_map(values) for name, value in {**kind.env, **settings}.items()},
            base_url=f"http://{_ADDRESS}:{port}{application.context_root}",
            ready_path=application.ready_path,
            messages_log=log_dir / kind.messages_log,
            console_log=log_dir / "console.log",
            ready_words=kind.ready_words,
            cwd=folder if kind.is_command else None,
            hint=_HINT_OF_OWN if own else "",
        )

    def _served(self, application: Application, folder: Path) -> str:
        """Return the word for the application on the server's command line: the file of the user’s own one, the name of
        any other."""
        kind = self.server.kind
        if self.own is None or kind.war is None or kind.jar is None:
            return application.name
        return str(folder / kind.war.format(application=application.name))

    def _command(self, values: Mapping[str, str]) -> Iterator[str]:
        lists = {
            "jvm_options": [*self.jvm_options, *self._places(values)],
            "properties": [f"-D{name}={value}" for name, value in self._properties(values)],
            "server_options": self.server.java_options,
        }
        kind = self.server.kind
        for argument in self.own.command if self.own and kind.is_command else kind.command:
            name = argument[1:-1] if argument.startswith("{") and argument.endswith("}") else ""
            yield from lists[name] if name in lists else [argument.format_map(values)]

    def _places(self, values: Mapping[str, str]) -> list[str]:
        """Return options for a command's JVM: temporary files go with its folder, crash reports to its logs."""
        if not self.server.kind.is_command:
            return []
        report = [f"-XX:ErrorFile={values['log_dir']}/hs_err_pid%p.log"] if self.vm == "hotspot" else []
        return [f"-Djava.io.tmpdir={values['folder']}", *report]

    def _properties(self, values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield the system properties of the probes (the thread names by which they recognise executors that the server
        brings along, of several with the same names the one that is started, and where its pool has its gauges), of the
        executor, of burn, and of the application."""
        kind = self.server.kind
        owned = [(name, own) for name, own in kind.executors.items() if not name.endswith("-N")]
        if started := kind.executors.get(unsized(self.executor)):
            owned.append((self.executor, started))
        for way, virtual in (("platform", False), ("virtual", True)):
            names = {own.threads: name for name, own in owned if own.threads and own.virtual == virtual}
            if told := [f"{name}={threads.format_map(values)}" for threads, name in names.items()]:
                yield f"jdkmatrix.own.{way}", ";".join(told)
        if kind.gauges:
            yield "jdkmatrix.own.gauges", kind.gauges
        for name, text in kind.switch_of(self.executor).properties.items():
            yield name, text.format_map(values)
        if self.rounds_per_us:
            yield "jdkmatrix.burn.rounds_per_us", repr(self.rounds_per_us)
        yield from self.properties.items()
