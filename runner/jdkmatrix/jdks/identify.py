"""Parse a JDK's `release` file and its `java -version`. Pure.

HotSpot and OpenJ9 print different lines, and vendors put their names in different places: all of that is known only
here. Build numbers follow JEP 223 and JEP 322 (`$VNUM-$PRE+$BUILD-$OPT`); IBM Semeru adds a product version
("21.0.10.0") and an OpenJ9 release ("openj9-0.57.0").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from jdkmatrix.errors import MatrixError

Vm = Literal["hotspot", "openj9"]
BuildOrder = tuple[tuple[int, ...], bool, tuple[int, ...], tuple[int, ...]]
VendorName = Literal["Eclipse Adoptium", "IBM Semeru", "Oracle OpenJDK", "SAP SapMachine", "Debian"]

_RELEASE_LINE = re.compile(r'^\s*([A-Za-z_][A-Za-z0-9_]*)="?(.*?)"?\s*$')
_RUNTIME_LINE = re.compile(
    r"^.*?Runtime (?:Environment|Open Edition|Certified Edition)\s*(?P<brand>.*?)\s*"
    r"\((?:(?P<level>\w+) )?build (?P<build>[^)\s]+)\)",
    re.MULTILINE,
)
_VM_LINE = re.compile(r"^.* VM\b.*$", re.MULTILINE)
_OPENJ9 = re.compile(r"openj9-(\d[\w.]*)")
_VERSION = re.compile(
    r"^(?P<numbers>\d+(?:\.\d+)*)(?:-(?P<pre>[A-Za-z0-9]+))?(?:\+(?P<build>\d+(?:\.\d+)*))?(?:-(?P<opt>[-\w.~]+))?$"
)


@dataclass(frozen=True)
class Vendor:
    """The signature of one vendor: IMPLEMENTOR in `release`, and a mark in the runtime line of `java -version`.

    `mark` None: its builds carry no name there (Oracle's OpenJDK builds).
    """

    name: VendorName
    implementors: tuple[str, ...]
    mark: re.Pattern[str] | None


VENDORS: tuple[Vendor, ...] = (
    Vendor("Eclipse Adoptium", ("Eclipse Adoptium",), re.compile(r"Runtime Environment Temurin-")),
    Vendor(
        "IBM Semeru",
        ("IBM Corporation", "International Business Machines Corporation"),
        re.compile(r"IBM Semeru Runtime"),
    ),
    Vendor("SAP SapMachine", ("SAP SE",), re.compile(r"Runtime Environment SapMachine")),
    Vendor("Debian", ("Debian",), re.compile(r"\(build \S*-Debian")),
    Vendor("Oracle OpenJDK", ("Oracle Corporation",), None),
)
_UNMARKED = frozenset(v.name for v in VENDORS if v.mark is None)


@dataclass(frozen=True)
class VersionOutput:
    """One JDK build as it identifies itself.

    `version` is the Java runtime version with build number ("25.0.4.1+1-LTS"); `vendor` is None where it does not sign;
    `product` is the vendor's own number ("Temurin-25.0.4.1+1", "21.0.10.0"); `openj9` is OpenJ9's ("0.57.0"); `level`
    is the debug level of a build that is not for release ("fastdebug").
    """

    version: str
    vendor: VendorName | None
    vm: Vm
    product: str | None = None
    openj9: str | None = None
    level: str | None = None


def parse_release(text: str) -> dict[str, str]:
    """Parse the KEY="value" lines of a `release` file; other lines are ignored."""
    found = (_RELEASE_LINE.match(line) for line in text.splitlines())
    return {m.group(1): m.group(2) for m in found if m}


def parse_version_output(text: str) -> VersionOutput:
    """Parse the output of `java -version` (or `--version`), from either stream.

    Raises:
        MatrixError: this is no such output.
    """
    runtime = _RUNTIME_LINE.search(text)
    vm = _VM_LINE.search(text)
    if runtime is None or vm is None:
        first = next((line for line in text.splitlines() if line.strip()), "nothing")
        raise MatrixError(
            f"this is not the output of `java -version`: found {first[:120]!r}; "
            "expected a line with `Runtime Environment … (build …)` and one with ` VM `"
        )
    openj9 = _OPENJ9.search(vm.group())
    return VersionOutput(
        version=runtime["build"],
        vendor=next((v.name for v in VENDORS if v.mark and v.mark.search(runtime.group())), None),
        vm="openj9" if "OpenJ9" in vm.group() else "hotspot",
        product=runtime["brand"] or None,
        level=runtime["level"],
        openj9=openj9.group(1) if openj9 else None,
    )


def describe_release(release: dict[str, str]) -> VersionOutput | None:
    """Return the build that a `release` file names; None where it names none exactly (jlinked images do not)."""
    versions = (release.get(key, "") for key in ("JAVA_RUNTIME_VERSION", "FULL_VERSION", "SEMANTIC_VERSION"))
    version = next((version for version in versions if "+" in version), None)
    implementor, product = release.get("IMPLEMENTOR"), release.get("IMPLEMENTOR_VERSION")
    vendor = next((v.name for v in VENDORS if implementor in v.implementors and (v.mark or product is None)), None)
    if version is None or vendor is None:
        return None
    openj9 = _OPENJ9.search(release.get("JVM_VERSION", ""))
    is_openj9 = openj9 is not None or release.get("JVM_VARIANT", "").lower() == "openj9"
    return VersionOutput(
        version=version,
        vendor=vendor,
        vm="openj9" if is_openj9 else "hotspot",
        product=product,
        openj9=openj9.group(1) if openj9 else None,
    )


def feature_version(version: str) -> int | None:
    """Return the feature version, 25 for "25.0.4.1+1-LTS"; None where it does not start with a number."""
    match = re.match(r"\d+", version)
    return int(match.group()) if match else None


def signed_by(build: VersionOutput, vendor: VendorName) -> bool:
    """Return whether it is this vendor's. A build without mark or name can only be from a vendor that leaves none."""
    return build.vendor == vendor or (build.vendor is None and build.product is None and vendor in _UNMARKED)


def is_build(build: VersionOutput, version: str) -> bool:
    """Return whether it is exactly the build that the catalogue calls `version`.

    The optional part at the end ("-LTS", "-2368", "-1-Debian") does not count. Semeru entries are written either as
    "21.0.10+7_openj9-0.57.0" or as the product version "21.0.12.10".
    """
    java, _, openj9 = version.partition("_openj9-")
    if openj9 and build.openj9 != openj9:
        return False
    if not openj9 and build.vm == "openj9" and build.product == java:
        return True
    wanted, found = _VERSION.match(java), _VERSION.match(build.version)
    keys = ("numbers", "pre", "build")
    return bool(wanted and found and wanted["build"] and all(wanted[k] == found[k] for k in keys))


def is_early_access(version: str) -> bool:
    """True for "28-ea+17" and "28-ea+18-1-Debian"."""
    match = _VERSION.match(version.partition("_openj9-")[0])
    return match is not None and match["pre"] is not None


def build_order(version: str) -> BuildOrder:
    """Return a key that sorts the builds of one vendor by age, for every way in which the catalogue writes versions.

    Numbers come first, without trailing zeros, so that Semeru's product version "21.0.10.0" and the Java version
    "21.0.10" rank equal; then early access before the release, the build, and OpenJ9's number (JEP 322).

    Raises:
        MatrixError: this is no version of a JDK.
    """
    java, _, openj9 = version.partition("_openj9-")
    match = _VERSION.match(java)
    if match is None:
        raise MatrixError(f'"{version}" is not a JDK version; expected one such as "25.0.4.1+1" or "28-ea+17"')
    numbers = _numbers(match["numbers"])
    while numbers and numbers[-1] == 0:
        numbers = numbers[:-1]
    return numbers, match["pre"] is None, _numbers(match["build"] or ""), _numbers(openj9)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))
