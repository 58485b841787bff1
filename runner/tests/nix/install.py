"""Real Nix for the tests: that of the host's Debian release and Debian's newest, side by side.

Both are Debian packages, unpacked into the tool's cache with all their libraries, libc among them. Each has a store,
state, configuration and home of its own in the cache. So neither /nix and /etc/nix nor the user's own Nix is read or
written, and root and an ordinary user can do the same.

    CACHE/nix/SUITE.json             what a Debian suite had when last looked at
    CACHE/nix/SUITE-VERSION/         the packages
    CACHE/nix/var/SUITE-VERSION/     store, state, log, configuration, home, temporary files

The environment variables are those that Nix's own tests set for a store in a folder (tests/functional/common/vars.sh).
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from jdkmatrix.domain.record import Record
from jdkmatrix.errors import MatrixError
from jdkmatrix.host.launch import ask
from jdkmatrix.jdks.cache import path_safe
from jdkmatrix.provision.cache import atomic_dir, cache_dir, locked
from jdkmatrix.provision.debian import apt, elf

PACKAGE = "nix-bin"
NEWEST_SUITE = "sid"
LOOK_AGAIN_AFTER_S = 24 * 3600.0
_RUN_LIMIT_S = 900.0
_SHOWN_LINES = 40

# No sandbox and no users for builds: both need rights that an ordinary user or a container may lack.
# The evaluation cache would answer from an earlier test.
_NIX_CONF = """\
experimental-features = nix-command flakes
sandbox = false
build-users-group =
substituters =
builders =
flake-registry = {folder}/etc/registry.json
eval-cache = false
gc-reserved-space = 0
fsync-metadata = false
max-jobs = auto
"""


class Installed(Record):
    """A suite as it was looked at: Debian's version of Nix and Nix's own, and every package with its version."""

    suite: str
    package_version: str
    version: str
    packages: dict[str, str]
    looked_at_s: float  # Unix time

    @property
    def name(self) -> str:
        return _name(self.suite, self.package_version)


@dataclass(frozen=True)
class Nix:
    """A Nix that writes only into `folder` and where it is told to. `version` is the one that it reports: "2.8.0"."""

    program: Path
    version: str
    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def run(
        self, arguments: Sequence[str | Path], cwd: Path, *, check: bool = True, tool: str = "nix"
    ) -> subprocess.CompletedProcess[str]:
        """Run `tool` ("nix", "nix-instantiate", …) in `cwd`, in an environment of its own.

        Raises:
            MatrixError: `check`, and it ended with another status than 0; it did not start, or not end in time.
        """
        command = [str(self.program.with_name(tool)), *map(str, arguments)]
        try:
            done = ask(command, cwd=cwd, env=environment(self.program, self.folder), timeout_s=_RUN_LIMIT_S)
        except OSError as error:
            raise MatrixError(f"{command[0]} does not start: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise MatrixError(f"{' '.join(command)} did not end within {_RUN_LIMIT_S:g} s") from None
        if check and done.returncode != 0:
            tail = "\n".join(done.stderr.strip().splitlines()[-_SHOWN_LINES:])
            raise MatrixError(f"{' '.join(command)} ended with status {done.returncode}:\n{tail}")
        return done


def nix_of_host_release() -> Nix:
    """Return the Nix of the host's Debian release.

    Raises:
        MatrixError: this is no Debian, its mirror does not answer, or what it delivers does not run.
    """
    return _installed(platform.freedesktop_os_release().get("VERSION_CODENAME", NEWEST_SUITE))


def newest_nix() -> Nix:
    """Return the newest Nix that Debian has, or had up to a day ago.

    Raises:
        MatrixError: as `nix_of_host_release`.
    """
    return _installed(NEWEST_SUITE)


def environment(program: Path, folder: Path) -> dict[str, str]:
    """Return all variables that a Nix with its own `folder` runs with; only PATH is this host's, for git and the like.

    NIX_REMOTE keeps it from the daemon of an installed Nix, NIX_USER_CONF_FILES from the user's settings. Nix before
    2.10 looks for its build hook in NIX_LIBEXEC_DIR, later ones call the nix in NIX_BIN_DIR.
    """
    return {
        "PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "NO_COLOR": "1", "TERM": "dumb",
        "HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), "NIX_REMOTE": "local",
        "NIX_STORE_DIR": str(folder / "store"), "NIX_STATE_DIR": str(folder / "state"),
        "NIX_LOG_DIR": str(folder / "log"), "NIX_CONF_DIR": str(folder / "etc"), "NIX_USER_CONF_FILES": os.devnull,
        "NIX_BIN_DIR": str(program.parent), "NIX_LIBEXEC_DIR": str(program.parent.parent / "libexec"),
    }  # fmt: skip


def _installed(suite: str) -> Nix:
    # Nix refuses a store whose path leads through a link.
    root = cache_dir().resolve() / "nix"
    record = root / f"{suite}.json"
    with locked(record):
        known = _read(record, root)
        if known is None or not 0 <= time.time() - known.looked_at_s < LOOK_AGAIN_AFTER_S:
            known = _look(suite, root, known)
            _write(record, known.model_dump_json(indent=2) + "\n")
        nix = Nix(program_of(root, known.name), known.version, prepared(root / "var" / known.name))
        if not (nix.folder / "state" / "db" / "db.sqlite").exists():
            nix.run(["--init"], nix.folder, tool="nix-store")  # two at a time trip over each other
    return nix


def _look(suite: str, root: Path, known: Installed | None) -> Installed:
    """Return the newest of the suite; if it cannot be asked, keep what is known, with a warning."""
    try:
        return _get(suite, root, known)
    except MatrixError as error:
        if known is None:
            raise MatrixError(f"Nix of Debian {suite} cannot be had: {error}") from None
        warnings.warn(f"Nix {known.version} of Debian {suite} may not be its newest: {error}", stacklevel=2)
        return known


def _get(suite: str, root: Path, known: Installed | None) -> Installed:
    elf.patchelf()
    with apt.suite(suite) as debian:
        newest = debian.newest(PACKAGE)
        if known is not None and known.package_version == newest:
            return known.model_copy(update={"looked_at_s": time.time()})
        name = _name(suite, newest)
        final = root / name
        shutil.rmtree(final, ignore_errors=True)  # left by a process that ended before it had written the record
        with atomic_dir(final) as staging:
            packages = debian.unpack([PACKAGE, *debian.libraries(PACKAGE, deep=True)], staging)
            _bind(staging, final)
    try:
        version = _own_version(Nix(program_of(root, name), "", prepared(root / "var" / name)))
    except MatrixError:
        shutil.rmtree(final, ignore_errors=True)
        raise
    return Installed(suite=suite, package_version=newest, version=version, packages=packages, looked_at_s=time.time())


def _bind(staging: Path, final: Path) -> None:
    """Bind Nix, whose tools are one program under many names, and libraries whose search paths would leave Nix's."""
    program = staging / "usr" / "bin" / "nix"
    if not program.is_file():
        raise MatrixError(f"{PACKAGE} holds no usr/bin/nix")
    asked = [elf.patchelf(), "--print-rpath"]
    libraries = [file for file in elf.files(staging / "usr" / "lib") if subprocess.check_output([*asked, file]).strip()]
    elf.relocate([program, *libraries], staging, final)
    hook = staging / "usr" / "libexec" / "nix" / "build-remote"
    if not hook.exists():
        hook.parent.mkdir(parents=True, exist_ok=True)
        hook.symlink_to("../../bin/nix")


def _own_version(nix: Nix) -> str:
    said = nix.run(["--version"], nix.folder).stdout
    version = re.search(r"^nix \(Nix\) (\d+(?:\.\d+)+)", said, re.MULTILINE)
    if version is None:
        raise MatrixError(f"{nix.program} --version says {said.strip()!r}; expected nix (Nix) and a version")
    return version.group(1)


def prepared(folder: Path) -> Path:
    for part in ("etc", "home", "log", "state", "store", "tmp"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    texts = {"nix.conf": _NIX_CONF.format(folder=folder), "registry.json": '{"version": 2, "flakes": []}\n'}
    for name, text in texts.items():
        path = folder / "etc" / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            _write(path, text)
    return folder


def _name(suite: str, package_version: str) -> str:
    return f"{suite}-{path_safe(package_version)}"


def program_of(root: Path, name: str) -> Path:
    return root / name / "usr" / "bin" / "nix"


def _read(record: Path, root: Path) -> Installed | None:
    """Read the record; None: there is none, or what it describes is gone."""
    try:
        known = Installed.model_validate_json(record.read_bytes())
    except (OSError, ValidationError):
        return None
    return known if program_of(root, known.name).is_file() else None


def _write(path: Path, text: str) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.rename(path)
