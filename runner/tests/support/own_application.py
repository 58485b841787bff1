"""An application of somebody else, built of OwnApplication.java, and WARs."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

from jdkmatrix.provision.hosttools import find_jdk

SOURCE = Path(__file__).with_name("OwnApplication.java")


def build_jar(jar: Path) -> Path:
    """Where it says, of a Java release that every JDK here runs."""
    jdk = find_jdk()
    assert jdk is not None
    classes = jar.parent / "classes"
    subprocess.run([jdk.home / "bin" / "javac", "--release", "21", "-d", classes, SOURCE], check=True)
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: OwnApplication\n")
        for file in classes.glob("*.class"):
            archive.write(file, file.name)
    return jar


def write_war(war: Path) -> Path:
    """One with a text and no class."""
    with zipfile.ZipFile(war, "w") as archive:
        archive.writestr("items/1.txt", "item 1\n")
    return war
