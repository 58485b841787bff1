"""Compiled applications that are not ours."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

from jdkmatrix.provision.workloads import Workloads

PATH = "/items?id={random:1:1000}"


def compiled(java: Path, source: str, classes: Path, *options: str | Path) -> list[Path]:
    """Compile for a Java release that every JDK here runs."""
    file = Path(__file__).with_name(source)
    subprocess.run([java.with_name("javac"), "--release", "21", *options, "-d", classes, file], check=True)
    return sorted(classes.glob("*.class"))


def make_war(java: Path, workloads: Workloads, war: Path) -> Path:
    with zipfile.ZipFile(war, "w") as archive:
        for file in compiled(
            java, "OwnServlet.java", war.parent / "classes", "-cp", workloads.file("tomcat-server.jar")
        ):
            archive.write(file, f"WEB-INF/classes/{file.name}")
    return war


def make_jar(java: Path, folder: Path) -> Path:
    with zipfile.ZipFile(folder / "my.jar", "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: OwnApplication\n")
        for file in compiled(java, "OwnApplication.java", folder / "classes"):
            archive.write(file, file.name)
    return folder / "my.jar"
