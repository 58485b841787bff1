"""The files of an application of the user: no hash pins them, so that every run records what they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.config.own import OwnApplication
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.artefacts import sha256_of


@dataclass(frozen=True)
class OwnFiles:
    """`places`: of each word of its command, or of its WAR, that is the name of a file; `sha256`: by such a word."""

    places: Mapping[str, Path]
    sha256: Mapping[str, str]

    @property
    def words(self) -> str:
        """For a reader, by the names of the files alone."""
        named = (f"{path.name} (sha256 {self.sha256[word][:12]}…)" for word, path in self.places.items())
        return ", ".join(named) or "its command names no file"


def is_file(path: Path) -> bool:
    """Of a word that need not be the name of a file, and may be longer than one can be: a class path."""
    try:
        return path.is_file()
    except OSError:
        return False


def find_own(own: OwnApplication, folder: Path) -> OwnFiles:
    """`folder`: from which relative names are seen.

    Raises:
        MatrixError: there is no such WAR, or it cannot be read.
    """
    places = {word: path for word in own.files() if is_file(path := folder / word)}
    if own.war and not places:
        raise MatrixError(f"{folder / own.war}: there is no such WAR")
    try:
        return OwnFiles(places, {word: sha256_of(path) for word, path in places.items()})
    except OSError as error:
        raise MatrixError(f"{error.filename}: cannot be read: {error.strerror}") from None
