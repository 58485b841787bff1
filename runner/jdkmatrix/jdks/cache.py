"""JDKs in the tool's own cache: `CACHE/jdks/ID/BUILD/`, with `matrix-jdk.json` beside the JDK.

The seal of both is written last, and a folder counts only with it: a process that dies before leaves a folder without a
seal, which is no JDK and is cleared away by the next process that wants the same build. So is one changed since then.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from jdkmatrix.domain.record import Record
from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.jdks.catalogue import JdkEntry, PypiSource, for_this_system, this_system
from jdkmatrix.jdks.identify import VersionOutput, feature_version, is_build, parse_release, signed_by
from jdkmatrix.jdks.jvm import java_version
from jdkmatrix.provision.cache import atomic_dir, cache_dir, clear, locked
from jdkmatrix.provision.seal import changed, is_sealed, seal
from jdkmatrix.store.atomic import write_atomic

Progress = Callable[[str], None]
FACTS_FILE = "matrix-jdk.json"


class Delivery(Record):
    """A download in the folder that its source was given; `java_home` is relative to that folder."""

    source: Literal["archive", "registry"]
    java_home: str
    origin: dict[str, str]
    packages: dict[str, str] = {}
    libc: str | None = None  # its own, where it does not use the host's


class Facts(Delivery):
    """The facts of a cached JDK, with its own account of its version. `got_at` is UTC; `system`, `folder`: where it was
    made, and with a libc of its own it runs nowhere else. None: not recorded yet."""

    schema_version: Literal[1] = 1
    id: str
    catalogue_version: str
    version: str
    version_output: str
    release: dict[str, str]
    got_at: str
    system: str | None = None
    folder: str | None = None


@dataclass(frozen=True)
class Cached:
    folder: Path
    facts: Facts

    @property
    def home(self) -> Path:
        return self.folder / self.facts.java_home

    @property
    def problem(self) -> str | None:
        """The reason why the JDK is no longer as it was downloaded; None: it is. Reads every file.

        Raises:
            MatrixError: it cannot be read.
        """
        return changed(self.folder)


def find(entry: JdkEntry) -> Cached | None:
    """Find the cached build of `entry`; of a rolling one, the one that was fetched last."""
    builds = [cached for path in sorted(_folder(entry).glob("[!.]*")) if (cached := _read(path)) is not None]
    found = [cached for cached in builds if _is_for(entry, cached)]
    return max(found, key=lambda c: c.facts.got_at, default=None)


def install(entry: JdkEntry, build: str, make: Callable[[Path, Path], Delivery]) -> Cached:
    """Have `make(staging, final)` fill a folder, move it into place, run the JDK once, and only then count it.

    `build` names the folder. A build that is already there is returned, even if another process made it meanwhile.

    Raises:
        MatrixError: from `make`, or because java is not what the catalogue says; nothing is left behind then.
    """
    final = _folder(entry) / path_safe(build)
    with refused(f"cache folder {final} cannot be written"), locked(final):
        cached = _read(final)
        if cached is not None and _is_for(entry, cached) and cached.problem is None:
            return cached
        clear(final)
        with atomic_dir(final) as staging:
            delivery = make(staging, final)
        try:
            return _count(entry, final, delivery)
        except BaseException:
            shutil.rmtree(final, ignore_errors=True)
            raise


def path_safe(text: str) -> str:
    """Replace characters that a URL, a shell or a Java class path may read in its own way."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)


def other_build(entry: JdkEntry, build: VersionOutput, where: str) -> str | None:
    """Say how `build`, found at `where`, differs from what the catalogue says of `entry`; None: it does not."""
    if build.vm != entry.vm:
        return f'{where} runs on {build.vm}; the catalogue says "{entry.vm}" for {entry.id}'
    if not signed_by(build, entry.vendor):
        found = build.vendor or build.product or "nobody"
        return f'{where} is signed by {found}; the catalogue says "{entry.vendor}" for {entry.id}'
    if not entry.rolling and not is_build(build, entry.version):
        return f'{where} says {build.version}; the catalogue says "{entry.version}" for {entry.id}'
    if entry.rolling and feature_version(build.version) != entry.feature_version:
        return f"{where} says {build.version}; the catalogue says JDK {entry.feature_version} for {entry.id}"
    return None


def run_as(entry: JdkEntry, home: Path, where: str) -> tuple[str, VersionOutput]:
    """Return `java_version` of the JDK in `home`.

    Raises:
        MatrixError: it does not run, or is another build than `entry`.
    """
    output, build = java_version(home)
    if problem := other_build(entry, build, where):
        raise MatrixError(problem)
    return output, build


def _count(entry: JdkEntry, final: Path, delivery: Delivery) -> Cached:
    home = final / delivery.java_home
    output, build = run_as(entry, home, f"what came from the {delivery.source}")
    release = home / "release"
    facts = Facts(
        **delivery.model_dump(),
        id=entry.id,
        catalogue_version=entry.version,
        version=build.version,
        version_output=output,
        release=parse_release(release.read_text(encoding="utf-8")) if release.is_file() else {},
        got_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        system=this_system(),
        folder=str(final),
    )
    write_atomic(final / FACTS_FILE, json.dumps(facts.model_dump(), indent=2, sort_keys=True) + "\n")
    seal(final)
    return Cached(final, facts)


def _is_for(entry: JdkEntry, cached: Cached) -> bool:
    """Return whether it was made from a file that the catalogue pins today for this system; for a rolling entry, from
    its registry. A cache may be moved, or be on a disk that systems share."""
    facts = cached.facts
    if facts.catalogue_version != entry.version or facts.system not in (None, this_system()):
        return False
    if facts.libc is not None and facts.folder not in (None, str(cached.folder)):
        return False
    if entry.rolling:
        return facts.source == "registry"
    wheels = entry.registry.wheels if isinstance(entry.registry, PypiSource) else {}
    pins = {pin.sha256 for pin in (for_this_system(entry.archives), for_this_system(wheels)) if pin}
    return facts.origin.get("sha256") in pins


def _folder(entry: JdkEntry) -> Path:
    return cache_dir() / "jdks" / entry.id


def _read(folder: Path) -> Cached | None:
    try:
        facts = Facts.model_validate_json((folder / FACTS_FILE).read_bytes())
    except (OSError, ValidationError):
        return None
    return Cached(folder, facts) if is_sealed(folder) else None
