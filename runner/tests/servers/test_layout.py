"""The files, command line and environment of a server process, without starting one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.config.own import OwnApplication
from jdkmatrix.domain.applications import application_of, applications
from jdkmatrix.domain.catalogue import read_server, server_kinds
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.liberty import features
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.servers.base import InstalledServer, Launch, OwnParts, Serving
from jdkmatrix.servers.instance import Instance
from tests.support.project import ROOT

SERVERS = ROOT / "workloads" / "servers"
PLUGS = ("request-executor.jar", "request-executor.mf")
EXECUTORS = {
    "liberty": "liberty", "liberty-virtual": "threads",
    **dict.fromkeys(("virtual", "platform", "cached", "fixed-50"), "plugged"),
}  # fmt: skip


@dataclass(frozen=True)
class Made:
    folder: Path
    launch: Launch
    port: str

    @property
    def files(self) -> dict[str, str]:
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_text() for path in found}


def lay_out(
    folder: Path,
    executor: str,
    feature_set: str = "restfulWS-3.1",
    application: str = "mp-ping",
    server: str = "open-liberty",
    own: Any = None,
    **properties: str,
) -> Made:
    folder.mkdir(exist_ok=True)
    jars = (f"{name}-server.jar" for name in ("jetty", "micronaut", "quarkus"))
    names = (*(f"{name}.war" for name in applications()), *PLUGS, *jars)
    files = {name: folder / name for name in names}
    for name, path in files.items():
        path.write_text(name)
    options = ("--add-opens", "a/b=ALL-UNNAMED")
    instance = Instance(
        server=InstalledServer(server_kinds()[server], "1", "0" * 64, options, Path("/cache/wlp"), "1" * 64),
        workloads=Workloads(files, SERVERS, {}), application=application, java=Path("/jdk/bin/java"), vm="hotspot",
        feature_set=feature_set, executor=executor, jvm_options=("-Xmx1g", "-XX:+UseG1GC"), rounds_per_us=812.5,
        properties=properties, own=own,
    )  # fmt: skip
    launch = instance.lay_out(folder / "server", folder / "logs")
    return Made(folder / "server", launch, launch.base_url.split(":")[2].split("/")[0])


@pytest.mark.parametrize(("executor", "config"), EXECUTORS.items())
def test_every_executor_has_its_configuration(executor: str, config: str, tmp_path: Path) -> None:
    made = lay_out(tmp_path, executor, feature_set="microProfile-6.1")
    liberty = SERVERS / "open-liberty"
    matrix = "usr/servers/matrix"
    assert {name: text for name, text in made.files.items() if name.startswith(matrix)} == {
        f"{matrix}/server.xml": (liberty / "server.xml").read_text(),
        f"{matrix}/bootstrap.properties": (liberty / "bootstrap.properties").read_text(),
        f"{matrix}/features.xml": (liberty / "features" / "microProfile-6.1.xml").read_text(),
        f"{matrix}/executor.xml": (liberty / "executors" / f"{config}.xml").read_text(),
        f"{matrix}/apps/mp-ping.war": "mp-ping.war",
    }
    extension = [name for name in made.files if name.startswith("usr/extension/lib/")]
    assert len(extension) == (0 if executor == "liberty" else 2)
    told = [part for part in made.launch.command if part.startswith(("-Djdkmatrix.executor=", "-Djdkmatrix.threads="))]
    way = {"liberty": [], "threads": [f"-Djdkmatrix.threads={executor}"]}
    assert told == way.get(config, [f"-Djdkmatrix.executor={executor}"])


def test_the_command_is_java_itself_with_the_options_in_order(tmp_path: Path) -> None:
    made = lay_out(tmp_path, "virtual", **{"jdkmatrix.x": "y z"})
    assert made.launch.command == (
        "/jdk/bin/java", "-javaagent:/cache/wlp/bin/tools/ws-javaagent.jar", "-Djava.awt.headless=true",
        "-Djdk.attach.allowAttachSelf=true", "--add-opens", "a/b=ALL-UNNAMED", "-Xmx1g", "-XX:+UseG1GC",
        "-Djdkmatrix.own.platform=liberty=Default Executor-thread-",
        "-Djdkmatrix.own.gauges=WebSphere:type=ThreadPoolStats,name=Default Executor",
        "-Djdkmatrix.executor=virtual", "-Djdkmatrix.executor.bundle=com.ibm.ws.channelfw",
        "-Djdkmatrix.burn.rounds_per_us=812.5", "-Djdkmatrix.x=y z",
        "-jar", "/cache/wlp/bin/tools/ws-server.jar", "matrix",
        "--", f"--http.port={made.port}", "--application=mp-ping",
    )  # fmt: skip
    assert made.launch.base_url == f"http://127.0.0.1:{made.port}/mp-ping"
    assert made.launch.messages_log == tmp_path / "logs" / "messages.log" and (tmp_path / "logs").is_dir()


def test_files_that_a_server_does_not_tidy_up_go_with_its_folder(tmp_path: Path) -> None:
    """Quarkus makes a folder for Vert.x, which a killed server leaves behind."""
    made = lay_out(tmp_path, "quarkus", server="quarkus")
    assert f"-Djava.io.tmpdir={made.folder}" in made.launch.command


def test_so_do_those_of_a_command_of_the_user_who_may_say_otherwise(tmp_path: Path) -> None:
    """Spring Boot likewise makes a folder for Tomcat."""
    own = OwnApplication(command="java -Djava.io.tmpdir=/x -jar my.jar {port}", arms={"pool": ""}, path="/")
    made = lay_out(tmp_path, "pool", server="command", own=OwnParts(own.application, command=own.words("pool")))
    given = [word for word in made.launch.command if word.startswith("-Djava.io.tmpdir=")]
    assert given == [f"-Djava.io.tmpdir={made.folder}", "-Djava.io.tmpdir=/x"], "a JVM takes the last"


def test_a_word_of_the_user_that_is_called_like_a_placeholder_stays(tmp_path: Path) -> None:
    words = "java -jar my.jar --config properties --with jvm_options {port}"
    own = OwnApplication(command=words, arms={"pool": ""}, path="/")
    made = lay_out(tmp_path, "pool", server="command", own=OwnParts(own.application, command=own.words("pool")))
    assert made.launch.command[-5:] == ("--config", "properties", "--with", "jvm_options", made.port)


JETTYS = "jetty=qtp;jetty-no-reserved=own-no-reserved-"


@pytest.mark.parametrize(
    ("server", "executor", "option", "told"),
    [
        ("jetty", "jetty", "own", JETTYS),
        ("jetty", "fixed-50", "fixed-50", JETTYS),
        ("quarkus", "quarkus", "own", "quarkus=executor-thread-"),
        ("quarkus", "quarkus-virtual", "own-virtual", "quarkus=executor-thread-"),
        ("quarkus", "quarkus-fixed-8", "own-8", "quarkus-fixed-8=executor-thread-"),
        ("micronaut", "micronaut-fixed-99999", "own-99999", "micronaut-fixed-99999=io-executor-thread-"),
    ],
)
def test_a_server_of_ours_is_its_jar_and_threads_of_one_name_are_those_of_the_executor_that_is_started(
    server: str, executor: str, option: str, told: str, tmp_path: Path
) -> None:
    made = lay_out(tmp_path, executor, server=server)
    assert made.files == {}
    arguments = ("--port", made.port, "--application", "mp-ping", "--executor", option)
    assert made.launch.command[-8:] == ("-jar", str(tmp_path / f"{server}-server.jar"), *arguments)
    assert f"-Djdkmatrix.own.platform={told}" in made.launch.command


@pytest.mark.parametrize(("server", "told"), [("jetty", "server/my-shop.war"), ("open-liberty", None)])
def test_a_war_of_the_user_is_laid_out_where_the_server_looks(server: str, told: str | None, tmp_path: Path) -> None:
    war = tmp_path / "my shop.war"
    war.write_text("a WAR")
    own = OwnApplication(war=war.name, path="/items")
    made = lay_out(tmp_path, "virtual", server=server, own=OwnParts(own.application, war=war))
    assert made.launch.base_url == f"http://127.0.0.1:{made.port}/my-shop"
    (place,) = (name for name, text in made.files.items() if text == "a WAR")
    if told:
        assert (place, str(tmp_path / told) in made.launch.command) == ("my-shop.war", True)
    else:
        assert (place, made.launch.command[-1]) == ("usr/servers/matrix/apps/my-shop.war", "--application=my-shop")


def test_a_server_that_extends_another_has_all_of_it_but_what_it_says_itself(tmp_path: Path) -> None:
    made = lay_out(tmp_path, "virtual", server="open-liberty-netty")
    netty, liberty, matrix = SERVERS / "open-liberty-netty", SERVERS / "open-liberty", "usr/servers/matrix"
    assert made.files[f"{matrix}/executor.xml"] == (netty / "executors" / "plugged.xml").read_text()
    for name, source in (("server.xml", "server.xml"), ("features.xml", "features/restfulWS-3.1.xml")):
        assert made.files[f"{matrix}/{name}"] == (liberty / source).read_text()
    assert "-Dcom.ibm.ws.beta.edition=true" in made.launch.command
    assert not [part for part in made.launch.command if part.startswith("-Djdkmatrix.executor.bundle=")]
    own = lay_out(tmp_path / "own", "liberty", server="open-liberty-netty")
    assert own.files[f"{matrix}/executor.xml"] == (liberty / "executors" / "liberty.xml").read_text()
    kind = server_kinds()["open-liberty-netty"]
    serving = Serving(application_of("mp-ping"), "restfulWS-3.1", "liberty")
    workloads = Workloads({"mp-ping.war": tmp_path}, SERVERS, {})
    sources = InstalledServer(kind, "1", "0" * 64).sources(workloads, serving)
    assert liberty / "server.xml" in sources and not [source for source in sources if source.suffix == ".toml"]


def test_the_limits_of_spring_boot_hold_for_the_one_before_too() -> None:
    before, today = server_kinds()["spring-boot-3.5"], server_kinds()["spring-boot"]
    *inherited, buffers = before.limits
    assert tuple(inherited) == today.limits and "Jackson 2" in buffers.what


def test_nothing_of_our_environment_is_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx1m")
    monkeypatch.setenv("HTTP_PORT", "80")
    made = lay_out(tmp_path, "liberty")
    assert set(made.launch.env) == {"WLP_USER_DIR", "WLP_OUTPUT_DIR", "LOG_DIR", "PATH", "LANG"}
    assert made.launch.env["WLP_USER_DIR"] == str(tmp_path / "server" / "usr")


def test_an_unknown_feature_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match=r'"webProfile-10.0" is not a feature set of Open Liberty \(allowed: rest'):
        lay_out(tmp_path, "liberty", feature_set="webProfile-10.0")


def test_a_feature_set_that_is_not_xml_is_told(tmp_path: Path) -> None:
    (tmp_path / "features").mkdir()
    (tmp_path / "features" / "odd.xml").write_text("<server><featureManager></server>")
    with pytest.raises(MatrixError, match=r"features/odd\.xml: not valid XML: mismatched tag: line 1"):
        features(tmp_path, ("odd",))


@pytest.mark.parametrize("name", applications())
def test_the_application_is_beside_its_configuration(name: str, tmp_path: Path) -> None:
    required = dict.fromkeys(application_of(name).required, "x")
    made = lay_out(tmp_path, "liberty", application=name, **required)
    assert made.files[f"usr/servers/matrix/apps/{name}.war"] == f"{name}.war"
    assert made.launch.base_url == f"http://127.0.0.1:{made.port}/{name}"
    assert made.launch.command[-1] == f"--application={name}"
    assert {f"-D{key}=x" for key in required} <= set(made.launch.command)


def test_a_required_property_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match=r'"banking" needs the system properties jdkmatrix\.remote\.url$'):
        lay_out(tmp_path, "liberty", application="banking", **{"jdkmatrix.banking.accounts": "2"})


def test_an_unknown_application_is_refused() -> None:
    with pytest.raises(MatrixError, match=r'application: "bank" is not known; did you mean "banking"\?'):
        application_of("bank")


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('title = "Eclipse Jetty"', "", "title: missing"),
        ("differs = ", "# differs = ", "differs: missing"),
        ('title = "Eclipse', "title = 7 #", "not valid TOML|title: found 7; it should be a valid string"),
        ("[plugged]", "[pluged]", r"pluged: .*did you mean \"plugged\""),
        ('"{port}"', '"{prt}"', r"command\[6\]: {prt} is not a placeholder here \(allowed: application, executor"),
        ('own_pool = "jetty"', 'own_pool = "pool"', r"own_pool: there is no \[executors.pool\]"),
        ('own_pool = "jetty"', 'own_pool = "jetty"\nvirtual = "green"', r"virtual: there is no \[executors.green\]"),
        ("version = [", "# version = [", "version: belongs to a server with a module"),
        ('option = "own"', 'option = "own-N"', 'executors.jetty: option: "own-N" ends in -N if the name does'),
        ("[executors.jetty-no-reserved]", "[executors.jetty-N]", 'executors.jetty-N: option: "own-no-reserved" ends'),
        ('option = "own"', 'files = { "a.xml" = "b.xml" }', "files: there is no b.xml beside it"),
        ('title = "Eclipse Jetty"', 'extends = "pier"', r'extends: "pier" is not a server beside this'),
    ],
)
def test_a_fault_of_a_server_is_told_with_file_and_key(right: str, wrong: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "jetty" / "server.toml"
    path.parent.mkdir()
    text = (SERVERS / "jetty" / "server.toml").read_text()
    assert text.count(right) == 1
    path.write_text(text.replace(right, wrong))
    with pytest.raises(MatrixError, match=rf"jetty/server\.toml: (?:{message})"):
        read_server(path)
