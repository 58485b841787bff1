"""What one Open Liberty process is made of: the files of its user folder, its command line, its environment.

Pure until `write`. The process is java itself, not a script around it, so that its pid is the server's and its CPU
affinity holds from the first instruction. The price is that the launch script's files (jvm.options, server.env) have
no effect, and that what the script adds stands here.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.liberty import FEATURE_SETS, Liberty
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.servers.applications import Application
from jdkmatrix.servers.process import Launch

SERVER_NAME = "matrix"
_BUNDLE = "jdkmatrix.requestexecutor_1.0.0.jar"
_FEATURE = "jdkmatrix.requestexecutor-1.0.mf"


@dataclass(frozen=True)
class LibertyLayout:
    """`files` maps every file of the user folder to the file that it is a copy of."""

    user_dir: Path
    output_dir: Path
    files: Mapping[Path, Path]
    launch: Launch


def executor_arm(executor: str) -> str:
    """Which of workloads/liberty/executors configures `executor` (a checked name)."""
    return {"liberty": "liberty", "liberty-virtual": "threads"}.get(executor, "plugged")


def sources(workloads: Workloads, *, application: Application, feature_set: str, executor: str) -> tuple[Path, ...]:
    """The files of ours that a server is made of which serves `application` like this."""
    arm = executor_arm(executor)
    return tuple(_files(workloads, Path(), application=application, feature_set=feature_set, arm=arm).values())


def lay_out(
    *,
    liberty: Liberty,
    workloads: Workloads,
    application: Application,
    java: Path,
    feature_set: str,
    executor: str,
    port: int,
    jvm_options: Sequence[str],
    properties: Mapping[str, str],
    folder: Path,
    log_dir: Path,
) -> LibertyLayout:
    """Describe a server that serves `application` on 127.0.0.1:`port`.

    `java` is the program to run, `feature_set` one of `FEATURE_SETS`, `executor` a checked name. `jvm_options` come
    before the system properties (`properties`, such as `jdkmatrix.burn.rounds_per_us`). `folder` will hold the
    server's files and must be its own; `log_dir` gets messages.log and console.log.

    Raises:
        MatrixError: unknown feature set, or a property that the application needs is missing.
    """
    if feature_set not in FEATURE_SETS:
        raise MatrixError(f'"{feature_set}" is not a feature set (allowed: {", ".join(FEATURE_SETS)})')
    application.check(properties)
    user_dir, output_dir = folder / "usr", folder / "out"
    return LibertyLayout(
        user_dir=user_dir,
        output_dir=output_dir,
        files=_files(workloads, user_dir, application=application, feature_set=feature_set, arm=executor_arm(executor)),
        launch=Launch(
            command=_command(
                liberty,
                application=application,
                java=java,
                executor=executor,
                port=port,
                jvm_options=jvm_options,
                properties=properties,
            ),
            env=_environment(user_dir, output_dir, log_dir),
            base_url=f"http://127.0.0.1:{port}{application.context_root}",
            ready_path=application.ready_path,
            messages_log=log_dir / "messages.log",
            console_log=log_dir / "console.log",
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
        server / "apps" / f"{application.name}.war": application.war(workloads),
    }
    if arm != "liberty":
        extension = user_dir / "extension" / "lib"
        files[extension / _BUNDLE] = workloads.request_executor_jar
        files[extension / "features" / _FEATURE] = workloads.request_executor_feature
    return files


def _command(
    liberty: Liberty,
    *,
    application: Application,
    java: Path,
    executor: str,
    port: int,
    jvm_options: Sequence[str],
    properties: Mapping[str, str],
) -> tuple[str, ...]:
    tools = liberty.home / "bin" / "tools"
    # For `liberty` the property is absent like the feature that reads it: the server as it comes.
    plugged = {} if executor == "liberty" else {"jdkmatrix.executor": executor}
    return (
        str(java),
        f"-javaagent:{tools / 'ws-javaagent.jar'}",
        "-Djava.awt.headless=true",
        "-Djdk.attach.allowAttachSelf=true",
        *liberty.java_options,
        *jvm_options,
        *(f"-D{name}={value}" for name, value in {**plugged, **properties}.items()),
        "-jar",
        str(tools / "ws-server.jar"),
        SERVER_NAME,
        "--",
        f"--http.port={port}",
        f"--application={application.name}",
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
