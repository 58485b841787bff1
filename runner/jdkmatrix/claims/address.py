"""Which addresses of sources may become links. Pure."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_web_address(text: str) -> bool:
    """Does a browser that follows `text` go to a host by https or http; not "javascript:", no path of this site?"""
    if not text.isprintable() or " " in text:
        return False  # browsers drop line breaks and tabs from addresses: "java\\nscript:" would be one
    try:
        parts = urlsplit(text)
        return parts.scheme in ("https", "http") and bool(parts.hostname)
    except ValueError:
        return False


def web(url: str | None) -> str | None:
    """Only http and https become links; a record may hold any text, "javascript:" too."""
    return url if url and is_web_address(url) else None
