"""Record the origin of the parts of this run, and the revision of the source."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path

from jdkmatrix.drivers.handover import Wrk2Driver
from jdkmatrix.jdks.resolve import Available
from jdkmatrix.provision.nix_parts import NixParts
from jdkmatrix.provision.postgres import Postgres
from jdkmatrix.records.provenance import PartOrigin, Provenance
from jdkmatrix.subjects.parts import Parts


def origins(parts: Parts, handed: NixParts | None) -> Provenance:
    """The origin of every part that a run with `parts` uses; `handed`: what Nix handed over, if it did."""
    return Provenance(inputs=handed.inputs if handed else (), parts=tuple(_parts(parts, handed)))


def source_revision(root: Path, handed: NixParts | None) -> tuple[str | None, bool | None]:
    """Commit, and whether the source differs from it; None where nobody knows."""
    if handed:
        return handed.source.rev, handed.source.dirty if handed.source.rev else None
    commit = _git(root, "rev-parse", "HEAD")
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    return commit, None if changes is None else bool(changes)


def _parts(parts: Parts, handed: NixParts | None) -> Iterator[PartOrigin]:
    if handed:
        yield PartOrigin(part="tool", origin="nix", detail="built by the flake")
        yield PartOrigin(part="workloads and loadgen", origin="nix", detail="built by the flake")
    else:
        yield PartOrigin(
            part="tool", origin="host", detail=f"on the host's Python {platform.python_version()}, its packages by hash"
        )
        yield PartOrigin(
            part="workloads and loadgen",
            origin="host",
            detail="compiled by a JDK of the host; Maven, its plugins and the libraries by hash",
        )
    for name, server in parts.servers.items():
        if server.home is None:
            continue  # it is one of the workloads, or comes with one
        if handed and any(given.home == server.home for given in handed.servers.values()):
            yield PartOrigin(part=name, origin="nix", detail="built by the flake")
        else:
            yield PartOrigin(part=name, origin="hash", detail="cut down here from a release that was got by its sha256")
    for workload, files in parts.own.items():
        yield PartOrigin(part=workload, origin="host", detail=f"an application of the user: {files.words}")
    for jdk_id, jdk in parts.jdks.items():
        if isinstance(jdk, Available):
            yield _of_jdk(jdk_id, jdk)
    if isinstance(parts.postgres, Postgres):
        ours = handed is not None and parts.postgres.home == handed.postgres
        detail = "built by the flake" if ours else "a release of its programs, got by its sha256"
        yield PartOrigin(
            part="postgresql", origin="nix" if ours else "hash", detail=f"{parts.postgres.version}, {detail}"
        )
    for wrk2 in {id(one): one for one in parts.drivers.values() if isinstance(one, Wrk2Driver)}.values():
        ours = handed is not None and wrk2.wrk2.binary == handed.wrk2
        yield PartOrigin(
            part="wrk2", origin="nix" if ours else "host", detail="built by the flake" if ours else "of the host"
        )


def _of_jdk(jdk_id: str, jdk: Available) -> PartOrigin:
    if jdk.source == "own":
        return PartOrigin(part=jdk_id, origin="host", detail="a folder of the user, which no hash pins")
    if jdk.source == "nix":
        return PartOrigin(part=jdk_id, origin="nix", detail="its archive by sha256, from the flake")
    if jdk.entry.rolling:
        return PartOrigin(part=jdk_id, origin="host", detail=f"a rolling entry; {jdk.version} was the newest")
    if jdk.source == "host":
        return PartOrigin(part=jdk_id, origin="host", detail="the same build, found on the host")
    return PartOrigin(part=jdk_id, origin="hash", detail="got from its vendor or a registry by sha256")


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
