"""From what a cell runs on to a server that can be started: lay its files out and find it a port."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.domain.applications import application_of
from jdkmatrix.jdks.identify import Vm
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.servers.base import InstalledServer, Launch, LaunchRequest


@dataclass(frozen=True)
class Instance:
    """`application` is a name of terms/applications, `properties` are the system properties that it needs.
    `rounds_per_us`: rounds of burn in a microsecond; 0 where nothing burns."""

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

    def lay_out(self, folder: Path, log_dir: Path) -> Launch:
        """Write the server's files below `folder`; its logs will be in `log_dir`.

        Raises:
            MatrixError: unknown feature set or application, or a property that it needs is missing.
        """
        burn = {"jdkmatrix.burn.rounds_per_us": repr(self.rounds_per_us)} if self.rounds_per_us else {}
        wanted = LaunchRequest(
            application=application_of(self.application),
            java=self.java,
            feature_set=self.feature_set,
            executor=self.executor,
            port=free_port(),
            jvm_options=self.jvm_options,
            properties={**burn, **self.properties},
        )
        return self.server.lay_out(self.workloads, wanted, folder=folder, log_dir=log_dir)


def free_port() -> int:
    """A TCP port on loopback that nobody listens on now; another process may take it before we do, and then the server
    says so in its log."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
