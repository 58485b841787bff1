"""Files of an older schema, one step at a time, as JSON."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_ENVELOPE = (
    *("fork", "position", "sequence", "attempt", "session", "status", "reasons", "started_at", "ended_at"),
    *("remote_command", "clock_speed_after", "limits", "outcomes", "logs"),
)
_CODES = {"pinning": "confinement"}
_OF_SESSION = ("tool_version", "git_commit", "git_dirty", "command", "started_at", "host")


def run_from_1(run: Json) -> Json:
    """Several servers are one list; what is told of a session is told there alone."""
    servers = [*([run["server"]] if run.get("server") else []), *run.get("other_servers", ())]
    told = {name: run[name] for name in _OF_SESSION}
    only = {
        "number": 1,
        "ended_at": run["ended_at"],
        "status": run["status"],
        "boot_id": None,
        "confinement": None,
        **told,
    }
    dropped = {"server", "other_servers", *_OF_SESSION}
    return {
        "promised_precision": None,
        "provenance": None,
        **{name: value for name, value in run.items() if name not in dropped},
        "schema_version": 2,
        "servers": servers,
        "sessions": [_session_from_1(session) for session in run.get("sessions", ())] or [only],
    }


def _session_from_1(session: Json) -> Json:
    return {**{name: value for name, value in session.items() if name != "pinning"}, "confinement": session["pinning"]}


def cell_from_1(cell: Json) -> Json:
    """Cells with a server and those without are of one kind; what is measured inside a fork has a place of its own."""
    served = "parameters" not in cell
    table = (cell["identity"]["inputs"].get("workload") or {}) if served else cell["parameters"]
    fork_from_1 = _served_from_1 if served else _experiment_from_1
    return {
        **cell,
        "schema_version": 2,
        "parameters": {name: value for name, value in table.items() if value is not None},
        "forks": [fork_from_1(fork) for fork in cell["forks"]],
        "attempts": [fork_from_1(fork) for fork in cell.get("attempts", ())],
    }


def _served_from_1(fork: Json) -> Json:
    inside = {name: value for name, value in fork.items() if name not in (*_ENVELOPE, "pinning", "sut_command")}
    return {**_envelope(fork), "command": fork["sut_command"], "measured": {"kind": "served", **inside}}


def _experiment_from_1(fork: Json) -> Json:
    inside = {name: value for name, value in fork.items() if name not in (*_ENVELOPE, "pinning", "command")}
    return {**_envelope(fork), "command": fork["command"], "measured": {"kind": "experiment", **inside}}


def _envelope(fork: Json) -> Json:
    kept = {name: fork[name] for name in _ENVELOPE if name in fork}
    reasons = [{**reason, "code": _CODES.get(reason["code"], reason["code"])} for reason in fork["reasons"]]
    return {**kept, "reasons": reasons, "confinement": fork["pinning"]}
