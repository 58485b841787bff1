"""Open Liberty: the files of its user folder, its command line, its environment.

Pure until `write`. The process is java itself, not a script around it, so that its pid is the server's and its CPU
affinity holds from the first instruction. The price is that the launch script's files (jvm.options, server.env) have
no effect, and that what the script adds stands here.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.domain.applications import Application
from jdkmatrix.domain.servers import FEATURE_SETS
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.liberty import Liberty
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.servers.base import Launch, LaunchRequest

SERVER_NAME = "matrix"
# It reads the paths of its applications as URLs: such a server starts and answers 404 to everything, or does not start.
_UNFIT = "#?!%\\"
_READY = "CWWKF0011I"  # "The NAME server is ready to run a smarter planet"
_BUNDLE = "jdkmatrix.requestexecutor_1.0.0.jar"
_FEATURE = "jdkmatrix.requestexecutor-1.0.mf"


@dataclass(frozen=True)
class LibertyLayout:
    """`files` maps every file of the user folder to the file that it is a copy of."""

    user_dir: Path
    output_dir: Path
    files: Mapping[Path, Path]
    launch: Launch


@dataclass(frozen=True)
class LibertyServer:
    liberty: Liberty

    @property
    def version(self) -> str:
        return self.liberty.version

    @property
    def sha256(self) -> str:
        return self.liberty.sha256

    @property
    def files_sha256(self) -> str:
        return self.liberty.files_sha256

    @property
    def java_options(self) -> tuple[str, ...]:
        return self.liberty.java_options

    @property
    def home(self) -> Path:
        return self.liberty.home

    def sources(
        self, workloads: Workloads, *, application: Application, feature_set: str, executor: str
    ) -> tuple[Path, ...]:
        arm = executor_arm(executor)
        return tuple(_files(workloads, Path(), application=application, feature_set=feature_set, arm=arm).values())

    def lay_out(self, workloads: Workloads, wanted: LaunchRequest, *, folder: Path, log_dir: Path) -> Launch:
        layout = lay_out(self.liberty, workloads, wanted, folder=folder, log_dir=log_dir)
        write(layout)
        return layout.launch


def check_folder(folder: Path) -> None:
    """Raises: MatrixError: no server can run below `folder`, because of its name."""
    unfit = next((character for character in str(folder) if character in _UNFIT or not character.isprintable()), None)
    if unfit is not None:
        raise MatrixError(f"{folder}: Open Liberty cannot run below a folder with {unfit!r} in its name")


def executor_arm(executor: str) -> str:
    """Which of workloads/liberty/executors configures `executor` (a checked name)."""
    return {"liberty": "liberty", "liberty-virtual": "threads"}.get(executor, "plugged")


def lay_out(
    liberty: Liberty, workloads: Workloads, wanted: LaunchRequest, *, folder: Path, log_dir: Path
) -> LibertyLayout:
    """As `InstalledServer.lay_out`, without writing anything.

    Raises:
        MatrixError: unknown feature set, or a property that the application needs is missing.
    """
    application, feature_set = wanted.application, wanted.feature_set
    if feature_set not in FEATURE_SETS:
        raise MatrixError(f'"{feature_set}" is not a feature set (allowed: {", ".join(FEATURE_SETS)})')
    application.check(wanted.properties)
    user_dir, output_dir = folder / "usr", folder / "out"
    arm = executor_arm(wanted.executor)
    return LibertyLayout(
        user_dir=user_dir,
        output_dir=output_dir,
        files=_files(workloads, user_dir, application=application, feature_set=feature_set, arm=arm),
        launch=Launch(
            command=_command(liberty, wanted),
            env=_environment(user_dir, output_dir, log_dir),
            base_url=f"http://127.0.0.1:{wanted.port}{application.context_root}",
            ready_path=application.ready_path,
            messages_log=log_dir / "messages.log",
            console_log=log_dir / "console.log",
            ready_words=_READY,
        ),
    )


def write(layout: LibertyLayout) -> None:
    """Create the folders and copy the files."""
    layout.output_dir.mkdir(parents=True, exist_ok=True)
    layout.launch.messages_log.parent.mkdir(parents=True, exist_ok=True)
    for target, source in layout.files.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _files(
    workloads: Workloads, user_dir: Path, *, application: Application, feature_set: str, arm: str
) -> dict[Path, Path]:
    server, config = user_dir / "servers" / SERVER_NAME, workloads.liberty_config
    files = {
        server / "server.xml": config / "server.xml",
        server / "bootstrap.properties": config / "bootstrap.properties",
        server / "features.xml": config / "features" / f"{feature_set}.xml",
        server / "executor.xml": config / "executors" / f"{arm}.xml",
        server / "apps" / f"{application.name}.war": workloads.file(application.archive),
    }
    if arm != "liberty":
        extension = user_dir / "extension" / "lib"
        files[extension / _BUNDLE] = workloads.file("request-executor.jar")
        files[extension / "features" / _FEATURE] = workloads.file("request-executor.mf")
    return files


def _command(liberty: Liberty, wanted: LaunchRequest) -> tuple[str, ...]:
    tools = liberty.home / "bin" / "tools"
    # For `liberty` the property is absent like the feature that reads it: the server as it comes.
    plugged = {} if wanted.executor == "liberty" else {"jdkmatrix.executor": wanted.executor}
    return (
        str(wanted.java),
        f"-javaagent:{tools / 'ws-javaagent.jar'}",
        "-Djava.awt.headless=true",
        "-Djdk.attach.allowAttachSelf=true",
        *liberty.java_options,
        *wanted.jvm_options,
        *(f"-D{name}={value}" for name, value in {**plugged, **wanted.properties}.items()),
        "-jar",
        str(tools / "ws-server.jar"),
        SERVER_NAME,
        "--",
        f"--http.port={wanted.port}",
        f"--application={wanted.application.name}",
    )


def _environment(user_dir: Path, output_dir: Path, log_dir: Path) -> dict[str, str]:
    """All of it: Liberty takes configuration from any variable that it finds, so nothing is inherited."""
    return {
        "WLP_USER_DIR": str(user_dir),
        "WLP_OUTPUT_DIR": str(output_dir),
        "LOG_DIR": str(log_dir),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
    }
