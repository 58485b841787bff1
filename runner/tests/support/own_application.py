"""Applications of somebody else: a jar built of OwnApplication.java, and a WAR of OwnServlet.java."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

from jdkmatrix.provision.hosttools import find_jdk

SOURCE = Path(__file__).with_name("OwnApplication.java")
SERVLET = Path(__file__).with_name("OwnServlet.java")


def build_jar(jar: Path) -> Path:
    """Where it says, of a Java release that every JDK here runs."""
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: OwnApplication\n")
        for file in _compiled(SOURCE, jar.parent / "classes"):
            archive.write(file, file.name)
    return jar


def build_war(war: Path, libraries: Path) -> Path:
    """Where it says. `libraries`: a jar with the Servlet API."""
    with zipfile.ZipFile(war, "w") as archive:
        for file in _compiled(SERVLET, war.parent / "classes", "-cp", libraries):
            archive.write(file, f"WEB-INF/classes/{file.name}")
    return war


def _compiled(source: Path, classes: Path, *options: str | Path) -> list[Path]:
    jdk = find_jdk()
    assert jdk is not None
    subprocess.run([jdk.home / "bin" / "javac", "--release", "21", *options, "-d", classes, source], check=True)
    return sorted(classes.glob("*.class"))
