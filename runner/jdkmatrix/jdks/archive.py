"""Download, verify and unpack a vendor's tar.gz."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks import net
from jdkmatrix.jdks.cache import Cached, Delivery, Progress, install
from jdkmatrix.jdks.catalogue import Archive, Catalogue, JdkEntry, for_this_system, this_system
from jdkmatrix.jdks.pins import instead_of, why_fixed

_MIB = 1 << 20


def fetch(entry: JdkEntry, progress: Progress, catalogue: Catalogue | None = None) -> Cached:
    """Get it from its vendor, verify and unpack it. `catalogue`: what to name instead if the vendor no longer has it.

    Raises:
        MatrixError: in one line why not; nothing is left behind then.
    """
    archive = pinned(entry)
    if isinstance(archive, str):
        raise MatrixError(archive)

    def make(staging: Path, _final: Path) -> Delivery:
        packed = staging / "archive.tar.gz"
        try:
            net.download(archive.url, archive.sha256, packed, _Narrator(entry.id, progress))
        except net.GoneError as error:
            raise MatrixError(f"{error}: {_gone(entry, catalogue)}") from None
        progress(f"{entry.id}: sha256 matches; unpacking")
        _unpack(packed, staging)
        packed.unlink()
        origin = {"url": archive.url, "sha256": archive.sha256}
        return Delivery(source="archive", java_home="jdk", origin=origin)

    return install(entry, entry.version, make)


def pinned(entry: JdkEntry) -> Archive | str:
    """Return the archive for this system, or a text that says why there is none that can be tried here."""
    archive = for_this_system(entry.archives)
    if archive is None:
        return f"none for {this_system()} (only {', '.join(sorted(entry.archives))})" if entry.archives else "none"
    return archive if hasattr(tarfile, "data_filter") else "this Python cannot unpack safely; 3.11.4 or newer can"


def _gone(entry: JdkEntry, catalogue: Catalogue | None) -> str:
    """Give advice about an archive that its vendor removed."""
    advice = [f"the vendor no longer has the archive of {entry.id}"]
    if why_fixed(entry) is None:
        advice.append(f"`matrix jdks update {entry.id}` looks for a newer build")
    if catalogue is not None:
        advice.append(instead_of(entry, catalogue))
    return "; ".join(advice)


def _unpack(packed: Path, staging: Path) -> None:
    """Unpack the archive's one JDK as `staging`/jdk: its own folder has a different name in each archive."""
    unpacked = staging / "unpacked"
    try:
        with tarfile.open(packed, "r:gz") as tar:
            tar.extractall(unpacked, filter="data")
    except (tarfile.TarError, EOFError, OSError) as error:
        raise MatrixError(f"the archive cannot be unpacked: {error}") from None
    homes = [java.parent.parent for java in sorted(unpacked.glob("*/bin/java"))]
    if len(homes) != 1:
        raise MatrixError(f"the archive holds */bin/java {len(homes)} times; expected one JDK")
    homes[0].rename(staging / "jdk")
    shutil.rmtree(unpacked)


class _Narrator:
    """A reporter of one line for every tenth of a download."""

    def __init__(self, jdk_id: str, progress: Progress) -> None:
        self._jdk_id, self._progress, self._told = jdk_id, progress, -1

    def __call__(self, done_bytes: int, total_bytes: int | None) -> None:
        step = done_bytes * 10 // total_bytes if total_bytes else done_bytes // (20 * _MIB)
        if step > self._told:
            self._told = step
            total = f" of {total_bytes // _MIB}" if total_bytes else ""
            self._progress(f"{self._jdk_id}: {done_bytes // _MIB}{total} MiB")
