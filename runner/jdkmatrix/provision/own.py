"""The files of a user's application: no hash pins them, so every run records what they were."""

from __future__ import annotations

import errno
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import pathsep
from pathlib import Path

from jdkmatrix.config.own import JAVA_PATHS, SETTING, OwnApplication
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.seal import sha256_of

# Options of java that contain a file: agents, which may have options of their own after it, and archives.
WITH_FILE = re.compile(r"(-(?:javaagent:|agentpath:|XX:(?:SharedArchiveFile|AOTCache|Flags)=))([^=]+)(.*)", re.DOTALL)


@dataclass(frozen=True)
class OwnFiles:
    """`places`: of the files that its command and its arms, or its WAR, name, by these names; `sha256`: by the same
    names. `folder`: the base of relative names."""

    folder: Path
    places: Mapping[str, Path]
    sha256: Mapping[str, str]

    @property
    def words(self) -> str:
        """A description for a reader, by the names of the files alone."""
        named = (f"{path.name} (sha256 {self.sha256[name][:12]}…)" for name, path in self.places.items())
        return ", ".join(named) or "its command names no file"


def placed(words: Sequence[str], folder: Path) -> list[str]:
    """Return the words of a command with whole paths in place of the names of files, of agents and archives for java,
    and of those entries that exist in each list of files and folders for java."""
    found = []
    for before, word in pairwise(("", *words)):
        if SETTING.fullmatch(word):
            name, _, value = word.partition("=")
            found.append(f"{name}={with_agents(value, folder)}")
            continue
        exists = _is_there if before in JAVA_PATHS else _is_file
        option, names, rest = _names(before, word)
        found.append(option + pathsep.join(str(folder / one) if exists(folder / one) else one for one in names) + rest)
    return found


def with_agents(value: str, folder: Path) -> str:
    """Return the value of a setting, such as JAVA_TOOL_OPTIONS, with the whole path of each agent that exists."""
    return re.sub(r"\S+", lambda part: placed([part[0]], folder)[0] if WITH_FILE.match(part[0]) else part[0], value)


def _names(before: str, word: str) -> tuple[str, list[str], str]:
    """Split a word that comes after `before` in a command into possible names of files, and what stands around them."""
    if before in JAVA_PATHS:
        return "", word.split(pathsep), ""
    agent = WITH_FILE.fullmatch(word)
    return (agent[1], [agent[2]], agent[3]) if agent else ("", [word], "")


def option_files(options: Sequence[str]) -> dict[str, str]:
    """Return the sha256 of each file that a JVM option names by its whole path, by that path.

    Raises:
        MatrixError: one cannot be read.
    """
    named = (Path(found[2]) for option in options if (found := WITH_FILE.fullmatch(option)))
    return _digests({str(path): path for path in named if path.is_absolute() and _is_file(path)})


def find_own(own: OwnApplication, folder: Path) -> OwnFiles:
    """Find the files of an application. `folder`: the base of relative names.

    Raises:
        MatrixError: as check_own_files, or one cannot be read.
    """
    check_own_files(own, folder)
    names = (name for pair in pairwise(("", *own.files())) for name in _names(*pair)[1])
    places = {name: path for name in names if _is_file(path := folder / name)}
    return OwnFiles(folder, places, _digests(places))


def _digests(places: Mapping[str, Path]) -> dict[str, str]:
    try:
        return {name: sha256_of(path) for name, path in places.items()}
    except OSError as error:
        raise MatrixError(f"{error.filename}: cannot be read: {error.strerror}") from None


def check_own_files(own: OwnApplication, folder: Path) -> None:
    """Check its WAR, or what its command has java load: one entry of a list is enough, as it is for java.

    Raises:
        MatrixError: one is not there, cannot be read, or is no archive.
    """
    for option, word in [("", own.war)] if own.war else own.of_java():
        if "{" in word:
            continue
        entries = word.split(pathsep) if option in JAVA_PATHS else [word]
        if not any(_is_there(folder / one) for one in entries):
            raise MatrixError(f"{f'{option} {word}'.lstrip()}: there is no such file (looked for in {folder})")
        if option in JAVA_PATHS:
            continue
        if not os.access(folder / word, os.R_OK):
            raise MatrixError(f"{folder / word}: cannot be read: {os.strerror(errno.EACCES)}")
        if not zipfile.is_zipfile(folder / word):
            raise MatrixError(f"{folder / word}: it is not an archive, as a {'WAR' if own.war else 'jar'} is")


def _is_there(path: Path) -> bool:
    """Return whether an entry of a list for java exists: a file, a folder, or the folder of all its jars."""
    try:
        return (path.parent if path.name == "*" else path).exists()
    except OSError:
        return False


def _is_file(path: Path) -> bool:
    """Return whether it is a file; False, too, for a word that no file can have as its name, or that is too long."""
    try:
        return path.is_file()
    except OSError:
        return False
