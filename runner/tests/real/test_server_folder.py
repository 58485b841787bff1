"""Another server is a folder, and nothing else names it: in a copy of the tree, a fork of it is measured."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jdkmatrix.provision.workloads import build_workloads
from jdkmatrix.store.runs import RunStore
from tests.support.project import ROOT, SHORT, make_project, matrix, rewrite
from tests.support.records import in_whole
from tests.support.waiting import one_run_on_this_host

pytestmark = pytest.mark.real


def test_a_server_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its build in another checkout makes the same bytes of all other artefacts, and needs no network."""
    monkeypatch.setenv("MAVEN_ARGS", "--offline")
    home = make_project(tmp_path / "project")
    for shared in (".build", "workloads"):
        (home / shared).unlink()
    ignored = shutil.ignore_patterns("target")
    shutil.copytree(ROOT / "workloads", home / "workloads", ignore=ignored)
    pier = home / "workloads" / "servers" / "pier"
    shutil.copytree(ROOT / "workloads" / "servers" / "jetty", pier, ignore=ignored)
    rewrite(pier / "pom.xml", ("<artifactId>jetty-server<", "<artifactId>pier-server<"))
    rewrite(
        pier / "server.toml",
        ('"Eclipse Jetty"', '"Pier"'),
        ('own_pool = "jetty"', 'own_pool = "pier"'),
        ("[executors.jetty]", "[executors.pier]"),
    )
    rewrite(home / "matrix.toml", (SHORT, SHORT.replace('"jetty"', '"pier"')))  # what a user chooses to measure
    here, there = (build_workloads(root, say=print).sha256 for root in (ROOT, home))
    # Quarkus numbers some constants across steps that run side by side.
    same = here.keys() - {"quarkus-server.jar"}
    assert {name: there[name] for name in same} == {name: here[name] for name in same}
    with one_run_on_this_host():
        done = matrix(home, "run", "--profile", "short", "--run", str(tmp_path / "run"))
    assert done.returncode in (0, 3), done.stdout + done.stderr
    loaded = in_whole(RunStore(tmp_path / "run").load())
    proofs = {cell.key.executor: cell.forks[0].proof for cell in loaded.cells}
    assert {name: (proof.executor, proof.virtual) for name, proof in proofs.items() if proof} == {
        "pier": ("pier", False),
        "virtual": ("virtual", True),
    }
    (server,) = loaded.run.servers
    assert (server.id, server.name) == ("pier", "Pier")
    page = (home / "site" / "runs" / "run" / "index.html").read_text()
    assert "<dt>Pier</dt>" in page
