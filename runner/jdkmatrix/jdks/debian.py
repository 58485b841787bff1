"""The newest OpenJDK of a rolling Debian suite, unpacked beside the libc it was built for."""

from __future__ import annotations

import shutil
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.cache import Cached, Delivery, Progress, install
from jdkmatrix.jdks.catalogue import DebianSource, JdkEntry
from jdkmatrix.provision.debian import apt, elf


def fetch(entry: JdkEntry, source: DebianSource, progress: Progress) -> Cached:
    """Get the newest build; if the cache already has it, return that as it is.

    Raises:
        MatrixError: in one line why not; nothing is left behind then.
    """
    elf.patchelf()
    jre = source.packages[0]
    progress(f"{entry.id}: asking Debian {source.suite} for the newest")
    with apt.suite(source.suite) as suite:
        newest = suite.newest(jre)

        def make(staging: Path, final: Path) -> Delivery:
            progress(f"{entry.id}: Debian {source.suite}, {jre} {newest}")
            # Not deep: a headless JVM loads no library that only another library needs.
            packages = [*source.packages, *suite.libraries(jre, deep=False)]
            return _make(source, suite.unpack(packages, staging), staging, final)

        return install(entry, newest, make)


def _make(source: DebianSource, versions: dict[str, str], staging: Path, final: Path) -> Delivery:
    homes = [p for p in sorted((staging / "usr" / "lib" / "jvm").iterdir()) if not p.is_symlink()]
    homes = [home for home in homes if (home / "bin" / "java").is_file()]
    if len(homes) != 1:
        raise MatrixError(f"{source.packages[0]} holds usr/lib/jvm/*/bin/java {len(homes)} times; expected one")
    shutil.rmtree(homes[0] / "jmods", ignore_errors=True)  # jlink's input, a fifth of the whole
    elf.relocate(elf.files(homes[0]), staging, final)
    return Delivery(
        source="registry",
        java_home=str(homes[0].relative_to(staging)),
        origin={"kind": "debian", "suite": source.suite, "package": source.packages[0]},
        packages=versions,
        libc=f"glibc {versions['libc6']}",
    )
