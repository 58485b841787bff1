"""The files that the command of a user's application names."""

from __future__ import annotations

import shlex
import zipfile
from pathlib import Path

import pytest

from jdkmatrix.config.own import OwnApplication
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.own import check_own_files, find_own, placed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lib").mkdir()
    with zipfile.ZipFile(tmp_path / "my.jar", "w") as made:
        made.writestr("any", "")
    return tmp_path


def own(command: str, **arms: str) -> OwnApplication:
    return OwnApplication.model_validate({"command": command, "arms": {"pool": "", **arms}, "path": "/"})


def test_a_list_for_java_is_seen_from_its_folder(folder: Path) -> None:
    """This holds for the command that is started and for what is recorded."""
    words = placed(shlex.split("java -cp my.jar:lib:lib/*:gone.jar Main my.jar lib {port}"), folder)
    entries = f"{folder}/my.jar:{folder}/lib:{folder}/lib/*:gone.jar"
    assert words == ["java", "-cp", entries, "Main", f"{folder}/my.jar", "lib", "{port}"]
    assert set(find_own(own("java -cp lib/*:my.jar Main {port}"), folder).sha256) == {"my.jar"}


def test_what_arms_and_agents_load_is_recorded(folder: Path) -> None:
    """Each arm may have a build of its own; -cp at the end of a command does not reach into the arms."""
    found = own("java {jvm_options} {arm} {port} -cp", pool="-jar my.jar", virtual="-jar lib/virtual.jar")
    (folder / "lib" / "virtual.jar").write_bytes((folder / "my.jar").read_bytes())
    assert set(find_own(found, folder).sha256) == {"my.jar", "lib/virtual.jar"}
    for agent in ("-javaagent:my.jar=a=b", "-agentpath:my.jar"):
        words = placed(shlex.split(f"java {agent} -jar my.jar {{port}}"), folder)
        assert words[1] == agent.replace("my.jar", f"{folder}/my.jar")
        assert set(find_own(own(f"java {agent} Main {{port}}"), folder).sha256) == {"my.jar"}
        setting = f"JAVA_TOOL_OPTIONS='-Dx=y {agent}'"
        assert set(find_own(own(f"{setting} java Main {{port}}"), folder).sha256) == {"my.jar"}
        assert placed(shlex.split(setting), folder) == [f"JAVA_TOOL_OPTIONS=-Dx=y {words[1]}"]


@pytest.mark.parametrize(
    "command",
    [
        "java -jar my.jar {port}",
        "java -Dx=y --add-opens a/b=ALL-UNNAMED {arm} -jar my.jar -jar no.jar {port}",
        "java -cp no.jar:my.jar Main {port}",
        "java -p lib -m x/y {port}",
        "java -cp my.jar Main -cp no.jar {port}",
        "java -jar {folder}/made.jar {port}",
        "./start {java} {jvm_options} -jar made.jar {port}",
        'sh -c \'exec "$0" "$@"\' {java} {jvm_options} -jar made.jar {port}',
    ],
)
def test_what_java_may_find_is_not_refused(command: str, folder: Path) -> None:
    check_own_files(own(command), folder)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("java -jar no.jar {port}", "-jar no.jar: there is no such file"),
        ("A=1 java {jvm_options} -XX:+UseCompactObjectHeaders -jar no.jar {port}", "-jar no.jar: there is no"),
        ("java --add-modules a,b -cp no.jar Main {port}", "-cp no.jar: there is no such file"),
        ("java -jar lib {port}", "lib: it is not an archive"),
    ],
)
def test_what_java_will_not_find_is_told(command: str, told: str, folder: Path) -> None:
    with pytest.raises(MatrixError, match=told):
        check_own_files(own(command), folder)
