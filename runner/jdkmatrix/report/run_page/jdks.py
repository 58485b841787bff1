"""The JDKs of a run, with what became of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from jdkmatrix.claims.address import web
from jdkmatrix.records.run import JdkRecord
from jdkmatrix.report.blocks.inline import badge, folded, joined, link, paragraphs, pre
from jdkmatrix.report.blocks.kinds import Disclosure, Fact, PageBlock, Pre, Section
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns

_COLUMNS = columns("JDK", "Vendor", "VM", "Version~", "Source", "State", "Remark=")


def jdks_section(jdks: Sequence[JdkRecord]) -> Section:
    """Those that were selected, and the others of the catalogue below them."""
    selected, others = ([jdk for jdk in jdks if jdk.selected is wanted] for wanted in (True, False))
    blocks: list[PageBlock] = [_table(selected, "Table of JDKs")]
    if others:
        summary = f"{len(others)} more of the catalogue, not selected here"
        blocks.append(Disclosure(summary, (_table(others, "Table of JDKs that were not selected"),)))
    return Section("jdks", "JDKs", blocks)


def jdk_facts(jdk: JdkRecord) -> tuple[Fact, ...]:
    """In short, for the page of a cell."""
    words = f"{jdk.id}: {jdk.vendor}, {_vm(jdk)}, {_version(jdk)}; from: {jdk.source or '–'}"
    return (Fact("JDK", words), *(Fact("Known bug", f"{bug.id}: {bug.summary}") for bug in jdk.known_bugs))


def reports_of_itself(jdk: JdkRecord) -> tuple[str, ...]:
    """The output of `java -version`, and its file `release`."""
    release = "\n".join(f"{key}={value}" for key, value in sorted(jdk.release.items()))
    return tuple(filter(None, (jdk.version_output, release)))


def jdk_details(jdk: JdkRecord) -> tuple[Disclosure, ...]:
    reports = reports_of_itself(jdk)
    return (Disclosure("What the JDK reports about itself", tuple(map(Pre, reports))),) if reports else ()


def _table(jdks: Sequence[JdkRecord], label: str) -> DataTable:
    return DataTable(label, _COLUMNS, tuple(map(jdk_row, jdks)), "stack", sortable=True)


def jdk_row(jdk: JdkRecord) -> tuple[Cell, ...]:
    """Known bugs and what it reports are folded below the remark."""
    if jdk.available:
        state, css = ("measured", "ok") if jdk.selected else ("available, not selected", "none")
    else:
        state, css = "not available here", "failed" if jdk.selected else "none"
    remark: list[str] = [(jdk.notice if jdk.available else jdk.reason) or ""]
    if jdk.known_bugs:
        bugs = tuple(joined(link(bug.id, web(bug.url)), f": {bug.summary}") for bug in jdk.known_bugs)
        names = ", ".join(bug.id for bug in jdk.known_bugs)
        remark.append(folded(f"Known bugs: {names}", paragraphs(bugs), css="bugs"))
    if reports := reports_of_itself(jdk):
        remark.append(folded("What it reports about itself", *map(pre, reports)))
    return (jdk.id, jdk.vendor, _vm(jdk), _version(jdk), jdk.source or "–", badge(state, css), joined(*remark))


def _vm(jdk: JdkRecord) -> str:
    return {"hotspot": "HotSpot", "openj9": "OpenJ9"}[jdk.vm]


def _version(jdk: JdkRecord) -> str:
    return jdk.version or f"{jdk.catalogue_version} (catalogue)"
