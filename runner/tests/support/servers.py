"""The usual server, got as a run gets it."""

from __future__ import annotations

from functools import cache

from jdkmatrix.provision.project import find_project
from jdkmatrix.provision.workloads import build_workloads
from jdkmatrix.servers.base import InstalledServer
from jdkmatrix.servers.kinds import install
from tests.support.shipped import MATRIX


@cache
def liberty() -> InstalledServer:
    root, name = find_project().root, "open-liberty"
    return install(root, name, MATRIX.servers[name], build_workloads(root, say=print), None, say=print)
