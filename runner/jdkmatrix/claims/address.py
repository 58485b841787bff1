"""The addresses of sources that may become links. Pure."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_web_address(text: str) -> bool:
    """Return whether a browser that follows `text` goes to a host by https or http: no "javascript:", no local path."""
    if not text.isprintable() or " " in text:
        return False  # browsers drop line breaks and tabs from addresses: "java\\nscript:" would be one
    try:
        parts = urlsplit(text)
        return parts.scheme in ("https", "http") and bool(parts.hostname)
    except ValueError:
        return False


def web(url: str | None) -> str | None:
    """Return `url` if it is http or https: only these become links; a record may hold any text, "javascript:" too."""
    return url if url and is_web_address(url) else None
