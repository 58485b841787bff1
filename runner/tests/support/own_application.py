"""Applications that are not ours, compiled."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

PATH = "/items?id={random:1:1000}"
SOURCES = Path(__file__).parents[1] / "real"


def compiled(java: Path, source: str, classes: Path, *options: str | Path) -> list[Path]:
    """For a Java release that every JDK here runs."""
    command = [java.with_name("javac"), "--release", "21", *options, "-d", classes, SOURCES / source]
    subprocess.run(command, check=True)
    return sorted(classes.glob("*.class"))


def make_jar(java: Path, folder: Path) -> Path:
    with zipfile.ZipFile(folder / "my.jar", "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: OwnApplication\n")
        for file in compiled(java, "OwnApplication.java", folder / "classes"):
            archive.write(file, file.name)
    return folder / "my.jar"
