"""Record the origin of the parts of this run, and the revision of the source."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from jdkmatrix.drivers.handover import Wrk2Driver
from jdkmatrix.jdks.resolve import Available
from jdkmatrix.provision.nix_parts import NixParts
from jdkmatrix.provision.postgres import Postgres
from jdkmatrix.records.provenance import PartOrigin, Provenance
from jdkmatrix.subjects.parts import Parts

Origin = Literal["nix", "hash", "host"]  # as of PartOrigin
_FLAKE = "built by the flake"
# They decide what is measured: a file that is not committed is a change here, and a user's note elsewhere.
_SOURCES = ("matrix.toml", "profiles", "published", "workloads", "jdks.json", "toolchain.lock.json", "runner/jdkmatrix")


def origins(parts: Parts, handed: NixParts | None) -> Provenance:
    """Return the origin of every part that a run with `parts` uses; `handed`: what Nix handed over, if it did."""
    found = (PartOrigin(part=part, origin=origin, detail=detail) for part, origin, detail in _parts(parts, handed))
    return Provenance(inputs=handed.inputs if handed else (), parts=tuple(found))


def source_revision(root: Path, handed: NixParts | None) -> tuple[str | None, bool | None]:
    """Return the commit, and whether the source differs from it; None where nobody knows."""
    if handed:
        return handed.source.rev, handed.source.dirty if handed.source.rev else None
    found = _git(root, "rev-parse", "HEAD", "HEAD:./matrix.toml")
    if found is None:  # no repository, or one that holds an unpacked archive which it does not track
        return None, None
    changes = _git(root, "status", "--porcelain", "--untracked-files=no", "--", ".")
    added = _git(root, "ls-files", "--others", "--exclude-standard", "--", *_SOURCES)
    return found.split()[0], None if changes is None or added is None else bool(changes or added)


def _parts(parts: Parts, handed: NixParts | None) -> Iterator[tuple[str, Origin, str]]:
    """Yield each part, where it comes from, and details of that."""
    if handed:
        yield "tool", "nix", _FLAKE
        yield "workloads and loadgen", "nix", _FLAKE
    else:
        yield "tool", "host", f"on the host's Python {platform.python_version()}, its packages by hash"
        libraries = "compiled by a JDK of the host; Maven, its plugins and the libraries by hash"
        yield "workloads and loadgen", "host", libraries
    for name, server in parts.servers.items():
        if server.home is None:
            continue  # it is one of the workloads, or comes with one
        ours = handed is not None and any(given.home == server.home for given in handed.servers.values())
        cut = "cut down here from a release fetched by its sha256"
        yield name, "nix" if ours else "hash", _FLAKE if ours else cut
    for workload, files in parts.own.items():
        yield workload, "host", f"an application of the user: {files.words}"
    for jdk_id, jdk in parts.jdks.items():
        if isinstance(jdk, Available):
            yield jdk_id, *_of_jdk(jdk)
    if isinstance(parts.postgres, Postgres):
        ours = handed is not None and parts.postgres.home == handed.postgres
        detail = _FLAKE if ours else "a release of its programs, fetched by its sha256"
        yield "postgresql", "nix" if ours else "hash", f"{parts.postgres.version}, {detail}"
    for wrk2 in {id(one): one for one in parts.drivers.values() if isinstance(one, Wrk2Driver)}.values():
        ours = handed is not None and wrk2.wrk2.binary == handed.wrk2
        yield "wrk2", "nix" if ours else "host", _FLAKE if ours else "found on the host"


def _of_jdk(jdk: Available) -> tuple[Origin, str]:
    if jdk.source == "own":
        return "host", "a folder of the user, which no hash pins"
    if jdk.source == "nix":
        return "nix", "its archive by sha256, from the flake"
    if jdk.source == "host":
        rolling = "a rolling entry; this build was found on the host, and no newer one was looked for"
        return "host", rolling if jdk.entry.rolling else "the same build, found on the host"
    if jdk.entry.rolling:
        return "host", f"a rolling entry; {jdk.version}, the newest when it was fetched"
    return "hash", "fetched from its vendor or a registry by sha256"


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
