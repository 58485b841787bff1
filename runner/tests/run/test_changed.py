"""Files that change while they are measured."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

from jdkmatrix.config.own import OwnApplication
from jdkmatrix.provision.own import find_own, option_files
from jdkmatrix.provision.seal import files_sha256, sha256_of
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.run.changed import changed_jdks, changed_options, changed_own, changed_servers
from jdkmatrix.subjects.served.measurement import ServedCell
from tests.support.builders import key
from tests.support.fork_setups import usual
from tests.support.shipped import MATRIX

PARTS: dict[str, Any] = {"driver": None, "instance": None, "mix": None}


def test_files_that_are_built_anew_meanwhile_are_seen(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "my.war", "w") as archive:
        archive.writestr("a", "file")
    own = OwnApplication.model_validate({"war": "my.war", "path": "/"})
    inputs = {"own_files": dict(find_own(own, tmp_path).sha256)}
    mine = usual(inputs=inputs, workload=MATRIX.workloads["mp-ping"].model_copy(update={"own": own}))
    setups = {key(workload="mine"): ServedCell(**mine, **PARTS), key(): ServedCell(**usual(), **PARTS)}
    assert changed_own(setups, tmp_path) == []
    with zipfile.ZipFile(tmp_path / "my.war", "a") as archive:
        archive.writestr("another", "file")
    assert changed_own(setups, tmp_path) == ["mine"]
    (tmp_path / "my.war").write_text("half")
    assert changed_own(setups, tmp_path) == ["mine"]


def test_a_jdk_of_the_user_or_the_host_that_is_built_anew_meanwhile_is_seen(tmp_path: Path) -> None:
    home = tmp_path / "images" / "jdk"
    home.mkdir(parents=True)
    (home / "release").write_text("first")
    own = ServedCell(**usual(unpinned_jdks={home: files_sha256(home)}), **PARTS)
    setups = {key(jdk="own-jdk"): own, key(): ServedCell(**usual(), **PARTS)}
    assert changed_jdks(setups) == []
    (home / "release").write_text("second")
    assert changed_jdks(setups) == [str(home)]
    home.rename(tmp_path / "images" / "being-built")
    assert changed_jdks(setups) == [str(home)]


def test_an_agent_of_an_arm_that_is_built_anew_meanwhile_is_seen(tmp_path: Path) -> None:
    agent = tmp_path / "x.jar"
    agent.write_text("first")
    files = option_files([f"-javaagent:{agent}=port=1", "-Xmx1g", "-javaagent:relative.jar", "-agentpath:/no/such"])
    assert files == {str(agent): sha256_of(agent)}
    tuned = ServedCell(**usual(inputs={"option_files": files}), **PARTS)
    setups = {key(): ServedCell(**usual(), **PARTS), key("virtual+x"): tuned}
    assert changed_options(setups) == []
    agent.write_text("second")
    assert changed_options(setups) == [str(agent)]
    agent.unlink()
    assert changed_options(setups) == [str(agent)]


def test_configuration_of_a_server_that_is_edited_meanwhile_is_seen(tmp_path: Path) -> None:
    """The jars lie in a folder of their own; these files are copied from the sources for every fork."""
    for name in ("server.xml", "features.xml", "other.xml", "server.jar"):
        (tmp_path / name).write_text(name)
    sha256 = {path.name: sha256_of(path) for path in tmp_path.iterdir()}
    workloads = Workloads({"server.jar": tmp_path / "server.jar"}, servers=tmp_path, sha256=sha256)
    parts = {**PARTS, "instance": mock.Mock(workloads=workloads)}
    inputs = {"artefacts": {name: digest for name, digest in sha256.items() if name != "other.xml"}}
    setups = {key(executor): ServedCell(**usual(inputs=inputs), **parts) for executor in ("liberty", "virtual")}
    assert changed_servers(setups) == []
    (tmp_path / "server.jar").write_text("built anew elsewhere")
    (tmp_path / "other.xml").write_text("of a server that is not measured")
    (tmp_path / "server.xml").write_text("by git pull")
    (tmp_path / "features.xml").unlink()
    assert changed_servers(setups) == ["features.xml", "server.xml"]
