"""The command line in a process of its own, without what runs of a few seconds have no use for."""

from __future__ import annotations

import sys

from jdkmatrix.cli import main as command_line
from jdkmatrix.jdks import availability
from jdkmatrix.probes import jcmd
from jdkmatrix.subjects.served import outside
from tests.support.project import compiled_once


def main() -> None:
    """Run it with a driver compiled once, and short looks from outside: each is a closed loop on all CPUs."""
    sys.argv[0] = "matrix"
    outside.LOOK_S, outside.COUNT_S, outside.ANSWERS_S_MAX = 1.0, 0.5, 1.0
    availability.PROBES_LIMIT_S = 0.5  # of what a run says of JDKs that it does not measure
    jcmd.TIMEOUT_S = 60.0  # a JVM of its own, with other tests beside it
    with compiled_once():
        command_line.main()
