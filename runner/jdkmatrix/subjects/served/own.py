"""Look at an application of the user before anything is measured of it: is it what its table says?"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from jdkmatrix.config.model import Server
from jdkmatrix.config.request_mix import RequestMix
from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.drivers.base import Driver, Target
from jdkmatrix.errors import MatrixError
from jdkmatrix.host.http import Connection, excerpt
from jdkmatrix.servers.instance import Instance
from jdkmatrix.servers.process import ServerProcess
from jdkmatrix.subjects.served.outside import prove_from_outside


def try_once(
    instance: Instance,
    path: str,
    requests: RequestMix,
    load: SaturateLoad,
    driver: Driver,
    cpus: Sequence[int],
    driver_cpus: tuple[int, ...],
    rules: Server,
) -> float:
    """Start it once, ask it for `path`, see under a closed loop of `requests` on which threads it serves, and end it;
    returns the seconds to its first answer. `cpus`, `driver_cpus`: of the server, of the driver.

    Raises:
        MatrixError: as ServerProcess.wait_ready, `check_own` and `prove_from_outside`; says how it was started.
    """
    with tempfile.TemporaryDirectory(prefix="jdk-matrix-own-") as name:
        folder = Path(name)
        launch = instance.lay_out(folder / "server", folder / "logs")
        target = Target(f"{launch.base_url}{path}", driver_cpus, folder / "logs", requests=requests)
        try:
            with (
                ServerProcess(launch, cpus=cpus, rules=rules) as server,
                Connection(launch.base_url, timeout_s=rules.answer_timeout_s) as connection,
            ):
                first_response_s = server.wait_ready()
                check_own(server, connection, instance, path)
                with driver.open(target) as session:
                    session.wait_ready()
                    prove_from_outside(
                        server.pid,
                        instance.executor,
                        path,
                        lambda label, duration_s: session.warm(load, duration_s, label=label).answers,
                        java=instance.java,
                        scratch=folder,
                    )
                return first_response_s
        except MatrixError as error:
            command = instance.server.kind.is_command
            started = f"\nit was started as: {shlex.join(launch.command)}" if command else ""
            raise MatrixError(f"{error}{started}") from None


def check_own(server: ServerProcess, connection: Connection, instance: Instance, path: str) -> None:
    """Raises:
    ServerError: other hosts can reach it, its process is another program than the cell's JVM, or a request like those
        of the load is not answered with status 2xx.
    HttpError: no answer.
    """
    server.check_only_on_loopback()
    if instance.server.kind.is_command:
        server.check_runs(instance.java)
    status, body = connection.get(path)
    if status // 100 != 2:
        raise server.error(f"GET {path} is answered with status {status}, and 2xx is needed (--path): {excerpt(body)}")
