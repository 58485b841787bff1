"""Command-line options by VM family, the flags that a JVM ends up with, the system properties that it knows, and how it
identifies itself."""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from jdkmatrix.domain.tables import Jvm
from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.host import launch
from jdkmatrix.jdks.identify import VersionOutput, Vm, parse_version_output

_VERSION_TIMEOUT_S = 60
_FLAGS_TIMEOUT_S = 30
# With this, HotSpot lists its flags, and OpenJ9 refuses unknown options that begin with -XX:, which it would otherwise
# ignore silently (eclipse.dev/openj9/docs/xxignoreunrecognizedxxcolonoptions).
_TELL: Mapping[Vm, str] = {"hotspot": "-XX:+PrintFlagsFinal", "openj9": "-XX:-IgnoreUnrecognizedXXColonOptions"}
_XMX = re.compile(r"-Xmx(?P<number>\d+)(?P<unit>[kKmMgG]?)")
_SHIFTS = {"": 0, "k": 10, "m": 20, "g": 30}
# "   size_t MaxHeapSize   = 1073741824   {product} {command line}"; JDK 8 and the like are too old for this tool.
_FLAG = re.compile(r"^\s*\S+\s+(?P<name>\w+)\s+:?= *(?P<value>.*?)\s*\{[^}]*\} \{(?P<origin>[^}]*)\}\s*$")

# Names and first versions: JEP 444 and java.lang.VirtualThread of each version. `jdk.unparker.maxPoolSize` was seen to
# make as many "VirtualThread-unparker" threads as asked on 21.0.8; on 25.0.3 nothing reads it, since timed waits are in
# the ForkJoinPool's own delay scheduler (JDK-8351927). The names of the pollers were looked up in the classes of 21.0.8
# and 25.0.2. 22 to 24 were not examined, so they count as lacking what only one of the two has.
_FIRST = {
    "jdk.virtualThreadScheduler.parallelism": 21,
    "jdk.virtualThreadScheduler.maxPoolSize": 21,
    "jdk.virtualThreadScheduler.minRunnable": 21,
    "jdk.unparker.maxPoolSize": 21,
    "jdk.readPollers": 21,
    "jdk.writePollers": 21,
    "jdk.pollerMode": 25,
}
_LAST = {"jdk.unparker.maxPoolSize": 21}
_FIRST_WITH = {("jdk.pollerMode", "3"): 27}  # values that came later than their property


def java_version(home: Path) -> tuple[str, VersionOutput]:
    """Run `home`/bin/java -version; return its output, as text and parsed.

    Raises:
        MatrixError: it does not start, or prints something else.
    """
    java = home / "bin" / "java"
    try:
        environment = launch.clean_environment()
        done = launch.ask([java, "-version"], timeout_s=_VERSION_TIMEOUT_S, env=environment, stderr=subprocess.STDOUT)
    except OSError as error:
        raise MatrixError(f"{java} does not start: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise MatrixError(f"{java} -version gave no answer within {_VERSION_TIMEOUT_S} s") from None
    output = done.stdout.strip()
    if done.returncode != 0:
        last = output.splitlines()[-1] if output else "it printed nothing"
        raise MatrixError(f"{java} -version ended with status {done.returncode}: {last}")
    with refused(f"{java} -version", of=MatrixError):
        return output, parse_version_output(output)


def options_of(jvm: Jvm, vm: Vm) -> tuple[str, ...]:
    """Return matrix.toml's options for that family."""
    return jvm.hotspot.options if vm == "hotspot" else jvm.openj9.options


def read_flags(
    java: Path, vm: Vm, options: Sequence[str], *, cpus: Sequence[int], cgroups: Sequence[Path] = ()
) -> dict[str, str]:
    """Read the flags that are not at their default, as ergonomics sets them on exactly these CPUs and in those cgroups,
    where the JVM looks for its limits.

    A JVM of its own is asked, before the measurement. OpenJ9 has no such listing: an empty dictionary.

    Raises:
        MatrixError: the JVM does not start with these options, or does not know one.
    """
    process = launch.spawn(
        [str(java), *options, _TELL[vm], "-version"],
        cpus=cpus,
        cgroups=cgroups,
        env=launch.clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        output, errors = process.communicate(timeout=_FLAGS_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise MatrixError(f"{java} {_TELL[vm]}: no answer within {_FLAGS_TIMEOUT_S} s") from None
    finally:
        launch.terminate(process, grace_s=1)
    if process.returncode != 0:
        said = (errors or output).decode("utf-8", "replace").strip()
        raise MatrixError(f"{java} does not start with {' '.join(options)}: {said}")
    return parse_flags(output.decode("utf-8", "replace"))


def heap_bytes(flags: Mapping[str, str], options: Iterable[str]) -> int:
    """Return the maximum size of the heap, as the JVM itself says or by the last -Xmx; 0 where neither says."""
    if "MaxHeapSize" in flags:
        return int(flags["MaxHeapSize"])
    sizes = [match for option in options if (match := _XMX.fullmatch(option))]
    return int(sizes[-1]["number"]) << _SHIFTS[sizes[-1]["unit"].lower()] if sizes else 0


def parse_flags(text: str) -> dict[str, str]:
    """Parse the lines of -XX:+PrintFlagsFinal whose origin is not "default"."""
    matches = (_FLAG.match(line) for line in text.splitlines())
    return {m["name"]: m["value"] for m in matches if m and m["origin"] != "default"}


def unknown_properties(properties: Mapping[str, str], vm: Vm, feature_version: int) -> list[str]:
    """Return a sentence for each property of the scheduler and the pollers of virtual threads that this JDK lacks, or
    lacks with this value: it would change nothing, and a cell that measured it would show a tuning that was none. Pure.
    """
    found = []
    for name, value in properties.items():
        if not _FIRST.get(name, math.inf) <= feature_version <= _LAST.get(name, math.inf):
            found.append(name)
        elif feature_version < _FIRST_WITH.get((name, value), 0):
            found.append(f"{name}={value}")
    return [f"JDK {feature_version} ({vm}) is not known to have {what}" for what in found]
