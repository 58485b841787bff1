"""The files, command line and environment of a server process, without starting one."""

from __future__ import annotations

from pathlib import Path

import pytest

from jdkmatrix.domain.applications import APPLICATIONS, application_of
from jdkmatrix.domain.servers import FEATURE_SETS
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.liberty import Liberty
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.servers.base import LaunchRequest
from jdkmatrix.servers.liberty import LibertyLayout, executor_arm, lay_out, write

EXECUTORS = {
    "liberty": "liberty",
    "liberty-virtual": "threads",
    "virtual": "plugged",
    "platform": "plugged",
    "cached": "plugged",
    "fixed-50": "plugged",
}


def workloads(folder: Path) -> Workloads:
    config = folder / "liberty"
    for name in ("features", "executors"):
        (config / name).mkdir(parents=True)
    artefacts = {"mp-ping.war": "p.war", "banking.war": "b.war", "pinning.war": "pinning.war"}
    artefacts |= {"request-executor.jar": "r.jar", "request-executor.mf": "r.mf"}
    files = {name: folder / copy for name, copy in artefacts.items()}
    sources = [
        config / "server.xml",
        config / "bootstrap.properties",
        *(config / "features" / f"{name}.xml" for name in FEATURE_SETS),
        *(config / "executors" / f"{name}.xml" for name in set(EXECUTORS.values())),
        *files.values(),
    ]
    for path in sources:
        path.write_text(path.name)
    return Workloads(files, config, {})


def layout(
    folder: Path,
    executor: str,
    feature_set: str = "restfulWS-3.1",
    application: str = "mp-ping",
    **properties: str,
) -> LibertyLayout:
    wanted = LaunchRequest(
        application=application_of(application),
        java=Path("/jdk/bin/java"),
        feature_set=feature_set,
        executor=executor,
        port=9123,
        jvm_options=("-Xmx1g", "-XX:+UseG1GC"),
        properties={"jdkmatrix.burn.rounds_per_us": "812.5", **properties},
    )
    liberty = Liberty(Path("/cache/wlp"), "25.0.0.12", "0" * 64, "1" * 64, ("--add-opens", "a/b=ALL-UNNAMED"))
    return lay_out(liberty, workloads(folder / "sources"), wanted, folder=folder / "server", log_dir=folder / "logs")


@pytest.mark.parametrize(("executor", "arm"), EXECUTORS.items())
def test_every_executor_has_its_configuration(executor: str, arm: str, tmp_path: Path) -> None:
    assert executor_arm(executor) == arm
    made = layout(tmp_path, executor)
    server = made.user_dir / "servers" / "matrix"
    assert made.files[server / "executor.xml"].name == f"{arm}.xml"
    extension = [path for path in made.files if "extension" in path.parts]
    assert len(extension) == (0 if executor == "liberty" else 2)
    properties = [part for part in made.launch.command if part.startswith("-Djdkmatrix.executor=")]
    assert properties == ([] if executor == "liberty" else [f"-Djdkmatrix.executor={executor}"])


def test_the_command_is_java_itself_with_the_options_in_order(tmp_path: Path) -> None:
    made = layout(tmp_path, "virtual")
    assert made.launch.command == (
        "/jdk/bin/java",
        "-javaagent:/cache/wlp/bin/tools/ws-javaagent.jar",
        "-Djava.awt.headless=true",
        "-Djdk.attach.allowAttachSelf=true",
        "--add-opens",
        "a/b=ALL-UNNAMED",
        "-Xmx1g",
        "-XX:+UseG1GC",
        "-Djdkmatrix.executor=virtual",
        "-Djdkmatrix.burn.rounds_per_us=812.5",
        "-jar",
        "/cache/wlp/bin/tools/ws-server.jar",
        "matrix",
        "--",
        "--http.port=9123",
        "--application=mp-ping",
    )
    assert made.launch.base_url == "http://127.0.0.1:9123/mp-ping"
    assert made.launch.messages_log == tmp_path / "logs" / "messages.log"


def test_nothing_of_our_environment_is_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx1m")
    monkeypatch.setenv("HTTP_PORT", "80")
    made = layout(tmp_path, "liberty")
    assert set(made.launch.env) == {"WLP_USER_DIR", "WLP_OUTPUT_DIR", "LOG_DIR", "PATH", "LANG"}


def test_written_files_are_copies(tmp_path: Path) -> None:
    made = layout(tmp_path, "cached", feature_set="microProfile-6.1")
    write(made)
    present = {path for path in made.user_dir.rglob("*") if path.is_file()}
    assert present == set(made.files)
    for target, source in made.files.items():
        assert target.read_text() == source.read_text()
    features = made.user_dir / "servers" / "matrix" / "features.xml"
    assert features.read_text() == "microProfile-6.1.xml"
    assert (tmp_path / "logs").is_dir() and made.output_dir.is_dir()


def test_an_unknown_feature_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match=r'"webProfile-10.0" is not a feature set \(allowed: restfulWS-3.1, restful'):
        layout(tmp_path, "liberty", feature_set="webProfile-10.0")


@pytest.mark.parametrize("name", APPLICATIONS)
def test_the_application_is_beside_its_configuration(name: str, tmp_path: Path) -> None:
    required = dict.fromkeys(APPLICATIONS[name].required, "x")
    made = layout(tmp_path, "liberty", application=name, **required)
    (war,) = [path for path in made.files if path.suffix == ".war"]
    assert war == made.user_dir / "servers" / "matrix" / "apps" / f"{name}.war"
    assert made.launch.base_url == f"http://127.0.0.1:9123/{name}"
    assert made.launch.command[-1] == f"--application={name}"
    assert {f"-D{key}=x" for key in required} <= set(made.launch.command)


def test_each_application_has_a_file_of_its_own(tmp_path: Path) -> None:
    made = workloads(tmp_path / "sources")
    assert len({made.file(application.archive) for application in APPLICATIONS.values()}) == len(APPLICATIONS)


def test_a_required_property_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match=r'"banking" needs the system properties jdkmatrix\.remote\.url$'):
        layout(tmp_path, "liberty", application="banking", **{"jdkmatrix.banking.accounts": "2"})


def test_an_unknown_application_is_refused() -> None:
    with pytest.raises(MatrixError, match=r'"bank" is not an application \(allowed: mp-ping, banking, pinning\)'):
        application_of("bank")
