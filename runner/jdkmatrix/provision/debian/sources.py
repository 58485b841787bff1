"""Debian's own archive as this host's apt sources name it: mirror and key. Pure, but for `read_sources`.

Formats: sources.list(5), one-line ("deb [options] URI SUITE COMPONENT…") and deb822 ("Types: …" stanzas).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_ONE_LINE = re.compile(r"^deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>.+)$")
_MAIN_SUITES = frozenset({"stable", "oldstable", "testing", "unstable", "sid"})


@dataclass(frozen=True)
class AptSource:
    """One enabled binary source. `signed_by` is a path, a fingerprint or a whole key block; None: apt's default."""

    uris: tuple[str, ...]
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str | None = None


def debian_archive(sources: Iterable[AptSource], codename: str | None) -> AptSource | None:
    """Return the source that holds Debian itself: its suite is the host's own release, and it has `main`.

    Security and updates have other suites, so they are not taken. Third-party repositories may have the same suite:
    what sets Debian's mirror apart is that updates come from it, too, or else its usual path.
    """
    own, known = _MAIN_SUITES | ({codename} if codename else set()), list(sources)
    updated = {_plain(uri) for s in known if f"{codename}-updates" in s.suites for uri in s.uris}

    def is_other(source: AptSource) -> tuple[bool, bool]:
        uris = set(map(_plain, source.uris))
        return uris.isdisjoint(updated), not any(uri.endswith("/debian") for uri in uris)

    return min((s for s in known if own & set(s.suites) and "main" in s.components), key=is_other, default=None)


def _plain(uri: str) -> str:
    return uri.rstrip("/")


def for_suite(source: AptSource, suite: str) -> str:
    """Return a deb822 stanza for another suite of the same mirror."""
    lines = ["Types: deb", f"URIs: {' '.join(source.uris)}", f"Suites: {suite}", "Components: main"]
    if source.signed_by:
        first, *block = source.signed_by.split("\n")
        lines.append(f"Signed-By: {first}".rstrip())
        lines += [f" {line}" for line in block]
    return "\n".join(lines) + "\n"


def read_sources(etc_apt: Path = Path("/etc/apt")) -> list[AptSource]:
    """Read every source of this host; unreadable files do not count, as they would not for apt."""
    files = [etc_apt / "sources.list", *sorted((etc_apt / "sources.list.d").glob("*"))]
    found: list[AptSource] = []
    for path in files:
        parse = {".list": parse_one_line, ".sources": parse_deb822}.get(path.suffix)
        if parse is None:
            continue
        try:
            found += parse(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
    return found


def parse_one_line(text: str) -> list[AptSource]:
    """Parse the `deb` lines of a *.list file."""
    found = []
    for line in text.splitlines():
        match = _ONE_LINE.match(line.partition("#")[0].strip())
        if match is None:
            continue
        options = dict(o.split("=", 1) for o in (match["options"] or "").split() if "=" in o)
        components = tuple(match["components"].split())
        found.append(AptSource((match["uri"],), (match["suite"],), components, options.get("signed-by")))
    return found


def parse_deb822(text: str) -> list[AptSource]:
    """Parse the enabled `Types: deb` stanzas of a *.sources file."""
    found = []
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", kept):
        fields = _fields(stanza)
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false"):
            continue
        uris, suites, components = (tuple(fields.get(name, "").split()) for name in ("uris", "suites", "components"))
        found.append(AptSource(uris, suites, components, fields.get("signed-by") or None))
    return found


def _fields(stanza: str) -> dict[str, str]:
    """Parse the fields of a stanza, names in lower case; a line that begins with a blank continues the one before."""
    fields: dict[str, str] = {}
    name = ""
    for line in stanza.splitlines():
        if line[:1] in (" ", "\t") and name:
            fields[name] += "\n" + line[1:]
        elif ":" in line:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()
    return fields
