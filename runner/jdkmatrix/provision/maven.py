"""The pinned Maven, and builds of the workloads with it.

`python -m jdkmatrix.provision.maven GOAL…` runs it on the workloads. Every jar and pom that such a build uses, plugins
included, is compared with workloads/.mvn/checksums/checksums.sha256 (maven.config beside it switches that on). After a
change of versions, `python -m jdkmatrix.provision.maven --record` writes that file anew, for review.
"""

from __future__ import annotations

import os
import signal
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision import artefacts
from jdkmatrix.provision.cache import kept
from jdkmatrix.provision.command import building_jdk, run_logged, started
from jdkmatrix.provision.hosttools import find_maven
from jdkmatrix.provision.project import find_project
from jdkmatrix.store.atomic import write_atomic

_MODULES = Path("servers", "modules.sh")
CHECKSUMS = Path(".mvn", "checksums", "checksums.sha256")
# It runs for seconds: the code of its second compiler is not worth the time it takes.
_JVM_OPTIONS = "-XX:TieredStopAtLevel=1"
_COLLECTOR = "-XX:+UseSerialGC"
_OPTIONS_OF_OTHERS = ("MAVEN_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
_RECORD = "-Daether.artifactResolver.postProcessor.trustedChecksums.record=true"
_BASE = "-Daether.trustedChecksumsSource.summaryFile.basedir"
_OTHER_BYTES = "trusted checksum mismatch"


def provision_maven(root: Path) -> Path:
    """Return the pinned Maven's mvn program, unpacking it into the cache if it is not there.

    Raises:
        MatrixError: fetching, verifying or unpacking failed; the cache is as before.
    """
    lock = artefacts.load_lock(root)
    artefact = lock.artefact("maven")
    target = artefact.kept_at("maven")

    def make(folder: Path) -> None:
        with tarfile.open(artefacts.fetch(lock, "maven")) as file:
            artefacts.unpack_tar(file, folder)

    kept(target, make, say=print)
    return target / f"apache-maven-{artefact.version}" / "bin" / "mvn"


def maven_command(root: Path, arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return command line and environment of the pinned Maven on the workloads.

    Raises:
        MatrixError: there is no suitable JDK, or Maven cannot be had.
    """
    jdk = building_jdk()
    maven, sources, host = provision_maven(root), root / "workloads", find_maven()
    run_logged(["/bin/sh", str(sources / _MODULES)], what="listing the servers", cwd=sources)
    command = [
        str(maven),
        "--batch-mode",
        "--no-transfer-progress",
        "--threads=1C",
        # Try again what an earlier call did not find: Maven remembers failures for a day.
        "--update-snapshots",
        "-Dstyle.color=never",
        f"-Dmaven.repo.local={artefacts.maven_repository()}",
        # A company's mirrors and proxies, as the host's Maven uses them.
        *([f"--global-settings={host.settings}"] if host and host.settings.is_file() else []),
        *arguments,
    ]
    # A JVM that is told of two collectors does not start.
    collector = "" if any("GC" in os.environ.get(name, "") for name in _OPTIONS_OF_OTHERS) else _COLLECTOR
    options = f"{_JVM_OPTIONS} {collector} {os.environ.get('MAVEN_OPTS', '')}"
    # Tests read system messages in its locale. ~/.mavenrc is skipped: it may name another JDK, for example.
    return command, {
        **os.environ, **artefacts.UTF8_LOCALE, "JAVA_HOME": str(jdk.home), "MAVEN_OPTS": options, "MAVEN_SKIP_RC": "1"
    }  # fmt: skip


def build(root: Path, arguments: Sequence[str]) -> None:
    """Run Maven on the workloads with `arguments` (options, then goals); show its output only if it fails.

    Raises:
        MatrixError: with the end of Maven's output.
    """
    command, env = maven_command(root, ["--quiet", *arguments])
    try:
        with artefacts.told_of_proxies():
            run_logged(command, what="building the workloads", cwd=root / "workloads", env=env)
    except MatrixError as error:
        if _OTHER_BYTES not in str(error):
            raise
        raise MatrixError(
            f"{error}\nMaven has kept a file other than the one that {CHECKSUMS} pins: unless you have changed that, "
            f"remove the file's folder below {artefacts.maven_repository()}, and try again"
        ) from None


def record_checksums(root: Path) -> None:
    """Write the checksum file from what a build of everything, tests included, uses now.

    Raises:
        MatrixError: with the end of Maven's output. Whatever ends it, the file is as before.
    """
    file = root / "workloads" / CHECKSUMS
    with TemporaryDirectory() as folder:
        build(root, [_RECORD, f"{_BASE}={folder}", "clean", "verify"])
        write_atomic(file, Path(folder, file.name).read_text(encoding="utf-8"))


def main(arguments: Sequence[str], root: Path | None = None) -> int:
    """Run Maven with its output on ours; return its exit status, or 2 with one message where it could not run. `root`:
    of the project; None: the one here."""
    try:
        root = root or find_project().root
        if list(arguments) == ["--record"]:
            record_checksums(root)
            return 0
        command, env = maven_command(root, arguments)
        with started(command, cwd=root / "workloads", env=env) as process:
            return process.wait()
    except MatrixError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
