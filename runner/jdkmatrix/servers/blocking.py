"""An application that blocks its threads on purpose, told for how long it may."""

from __future__ import annotations

from jdkmatrix.host.http import Connection, HttpError


def block_at_most(connection: Connection, path: str, limit_ms: int | None) -> None:
    """Let no request block for longer from now on; None: each as long as it asks for. `path`: `Application.limit_path`.

    Raises:
        HttpError: no answer, or a refusal.
    """
    query = "" if limit_ms is None else f"?at_most_ms={limit_ms}"
    status, body = connection.post(f"{path}{query}")
    if status != 200:
        raise HttpError(f"POST {path}{query}: status {status}: {body[:200].decode('utf-8', 'replace').strip()}")
