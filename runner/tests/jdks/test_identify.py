"""How JDKs describe themselves, in their own words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.jdks.identify import (
    VersionOutput,
    build_order,
    describe_release,
    is_build,
    parse_release,
    parse_version_output,
    signed_by,
)
from tests.support.project import RECORDED

SAMPLES = RECORDED / "jdks"


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ("temurin-21.0.8", VersionOutput("21.0.8+9-LTS", "Eclipse Adoptium", "hotspot", "Temurin-21.0.8+9")),
        ("temurin-25.0.4.1", VersionOutput("25.0.4.1+1-LTS", "Eclipse Adoptium", "hotspot", "Temurin-25.0.4.1+1")),
        ("debian-28-ea", VersionOutput("28-ea+18-1-Debian", "Debian", "hotspot")),
        ("debian-27.0.1", VersionOutput("27.0.1.0.3+1-1-Debian", "Debian", "hotspot")),
        ("debian-17", VersionOutput("17.0.15+6-Debian-1deb12u1", "Debian", "hotspot")),
        ("sapmachine-23.0.2", VersionOutput("23.0.2+7", "SAP SapMachine", "hotspot", "SapMachine")),
        ("redhat-22-ea", VersionOutput("22-ea+36", None, "hotspot", "(Red_Hat-22.0.0.0.36-1)")),
        ("ubuntu-22-ea", VersionOutput("22-ea+16-Ubuntu-1", None, "hotspot")),
        ("oracle-22-ea", VersionOutput("22-ea+27-2262", None, "hotspot")),
        ("oracle-22", VersionOutput("22+36-2370", None, "hotspot")),
        ("semeru-21.0.4-windows", VersionOutput("21.0.4+7-LTS", "IBM Semeru", "openj9", "21.0.4.0", "0.46.0")),
        ("semeru-21.0.7-certified", VersionOutput("21.0.7+6-LTS", "IBM Semeru", "openj9", "21.0.7.0", "0.51.0")),
        ("semeru-26.0.2.10", VersionOutput("26.0.2.1+1", "IBM Semeru", "openj9", "26.0.2.10", "0.61.0")),
        ("semeru-21.0.8", VersionOutput("21.0.8+9-LTS", "IBM Semeru", "openj9", "21.0.8.0", "0.53.0")),
        ("semeru-25.0.0", VersionOutput("25+36-LTS", "IBM Semeru", "openj9", "25.0.0.0", "0.55.0")),
        ("semeru-25.0.2-certified", VersionOutput("25.0.2+10", "IBM Semeru", "openj9", "25.0.2.0", "0.57.0")),
    ],
)
def test_version_outputs(sample: str, expected: VersionOutput) -> None:
    assert parse_version_output((SAMPLES / f"{sample}.version").read_text()) == expected


def test_a_build_for_debugging_says_so() -> None:
    text = (SAMPLES / "oracle-22-ea.version").read_text()
    found = parse_version_output(text.replace("(build", "(fastdebug build", 1))
    assert found == replace(parse_version_output(text), level="fastdebug")


def test_lines_that_java_prints_before_do_not_count() -> None:
    text = (SAMPLES / "temurin-21.0.8.version").read_text()
    assert parse_version_output("Picked up JAVA_TOOL_OPTIONS: -Dx=y\n" + text) == parse_version_output(text)


@pytest.mark.parametrize("text", ["", "bash: java: command not found", 'openjdk version "21.0.8" 2025-07-15 LTS'])
def test_other_output_is_refused(text: str) -> None:
    with pytest.raises(MatrixError, match=r"not the output of `java -version`: found '.*'; expected"):
        parse_version_output(text)


def test_release_files() -> None:
    temurin = parse_release((SAMPLES / "temurin-25.0.3.release").read_text())
    assert temurin["IMPLEMENTOR"] == "Eclipse Adoptium"
    assert temurin["SOURCE"] == ".:git:cda0a1776184"
    assert describe_release(temurin) == VersionOutput("25.0.3+9-LTS", "Eclipse Adoptium", "hotspot", "Temurin-25.0.3+9")
    debian = parse_release((SAMPLES / "debian-28-ea.release").read_text())
    assert describe_release(debian) == VersionOutput("28-ea+18-1-Debian", "Debian", "hotspot")
    oracle = parse_release((SAMPLES / "oracle-26.0.1.release").read_text())
    assert describe_release(oracle) == VersionOutput("26.0.1+8-34", "Oracle OpenJDK", "hotspot")
    semeru = parse_release((SAMPLES / "semeru-16.0.2.release").read_text())
    assert describe_release(semeru) == VersionOutput("16.0.2+7", "IBM Semeru", "openj9", "16.0.2.0", "0.27.0")


def test_a_jlinked_image_does_not_say_which_build_it_is() -> None:
    release = parse_release((SAMPLES / "temurin-25.0.4.1-jlinked.release").read_text())
    assert release["JAVA_VERSION"] == "25.0.4.1"
    assert describe_release(release) is None


def test_a_broken_release_file_is_only_empty() -> None:
    assert parse_release("\x00garbage\n=\nKEY\n") == {}


def hotspot(version: str) -> VersionOutput:
    return VersionOutput(version, None, "hotspot")


@pytest.mark.parametrize(
    ("said", "catalogue", "same"),
    [
        ("25.0.4.1+1-LTS", "25.0.4.1+1", True),
        ("28-ea+17-1170", "28-ea+17", True),
        ("22-ea+34-2368", "22-ea+34", True),
        ("27+35", "27+35", True),
        ("28-ea+18-1-Debian", "28-ea+18", True),
        ("25.0.4+7-LTS", "25.0.4.1+1", False),
        ("25.0.4.1+2-LTS", "25.0.4.1+1", False),
        ("28+17", "28-ea+17", False),
        ("28-ea+18", "28-ea+17", False),
        ("25.0.4.1+1", "25.0.4.1", False),  # without a build number, the catalogue would mean several
        ("", "25+36", False),
    ],
)
def test_the_same_build_or_another(said: str, catalogue: str, same: bool) -> None:
    assert is_build(hotspot(said), catalogue) is same


def test_semeru_is_known_by_openj9_release_or_by_product_version() -> None:
    semeru = VersionOutput("21.0.10+7-LTS", "IBM Semeru", "openj9", "21.0.10.0", "0.57.0")
    assert is_build(semeru, "21.0.10+7_openj9-0.57.0")
    assert is_build(semeru, "21.0.10.0")
    assert not is_build(semeru, "21.0.10+7_openj9-0.58.0")
    assert not is_build(semeru, "21.0.12.10")
    assert not is_build(VersionOutput("21.0.10+7", "Eclipse Adoptium", "hotspot", "21.0.10.0"), "21.0.10.0")


@pytest.mark.parametrize(
    "oldest_first",
    [
        ["21.0.9+10", "21.0.10+7", "21.0.12+8", "21.0.12.1+1", "21.0.13+1"],
        ["21.0.7+6_openj9-0.51.0", "21.0.10+7_openj9-0.57.0", "21.0.10.1", "21.0.12.0", "21.0.12.10"],
        ["25+36_openj9-0.55.0", "25+36_openj9-0.56.0", "25.0.2+10_openj9-0.57.0", "25.0.4.10"],
        ["28-ea+9", "28-ea+17", "28-ea+100", "28+36", "28.0.1+1"],
    ],
)
def test_builds_in_the_order_of_their_age(oldest_first: list[str]) -> None:
    newest_first = oldest_first[::-1]
    assert sorted(newest_first, key=build_order) == oldest_first
    assert len({build_order(version) for version in oldest_first}) == len(oldest_first)


def test_what_is_no_version_has_no_age() -> None:
    for text in ("", "rolling", "jdk-21", "21.0.x"):
        with pytest.raises(MatrixError, match=r"is not a JDK version; expected one such as"):
            build_order(text)


def test_an_unsigned_build_is_only_oracles() -> None:
    unsigned = hotspot("28-ea+17-1170")
    assert signed_by(unsigned, "Oracle OpenJDK")
    assert not signed_by(unsigned, "Eclipse Adoptium")
    assert not signed_by(unsigned, "Debian")


def test_oracle_s_graalvm_is_not_its_openjdk() -> None:
    """Oracle signs both, but GraalVM has a name of its own, and another compiler."""
    build, name = "25.0.1+8-LTS-jvmci-b01", "Oracle GraalVM 25.0.1+8.1"
    said = f"""java version "25.0.1" 2025-10-21 LTS
Java(TM) SE Runtime Environment {name} (build {build})
Java HotSpot(TM) 64-Bit Server VM {name} (build {build}, mixed mode, sharing)
"""
    assert parse_version_output(said) == VersionOutput(build, None, "hotspot", name)
    assert not signed_by(parse_version_output(said), "Oracle OpenJDK")
    assert not signed_by(parse_version_output((SAMPLES / "redhat-22-ea.version").read_text()), "Oracle OpenJDK")
    release = {"IMPLEMENTOR": "Oracle Corporation", "JAVA_RUNTIME_VERSION": build, "IMPLEMENTOR_VERSION": name}
    assert describe_release(release) is None
