"""The usual server, installed as a run installs it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jdkmatrix.provision.project import find_project
from jdkmatrix.provision.workloads import Workloads, build_workloads
from jdkmatrix.servers.base import InstalledServer
from jdkmatrix.servers.instance import Instance
from jdkmatrix.servers.kinds import install
from tests.support.project import C1_ALONE
from tests.support.shipped import MATRIX

RULES = MATRIX.server.model_copy(update={"first_response_timeout_s": 90})


@cache
def liberty() -> InstalledServer:
    root, name = find_project().root, "open-liberty"
    return install(root, name, MATRIX.servers[name], build_workloads(root, say=print), None, say=print)


def on_liberty(workloads: Workloads, java: Path, **changes: Any) -> Instance:
    usual = {
        "application": "mp-ping", "vm": "hotspot", "feature_set": "restfulWS-3.1", "executor": "virtual",
        "jvm_options": ("-Xmx256m", "-XX:+UseSerialGC", C1_ALONE), "rounds_per_us": 500, "properties": {},
    }  # fmt: skip
    return Instance(server=liberty(), workloads=workloads, java=java, **{**usual, **changes})
