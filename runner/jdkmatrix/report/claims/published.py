"""Published claims and what came of them, as blocks of a page. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from markupsafe import Markup

from jdkmatrix.claims.address import web
from jdkmatrix.claims.words import amount, of_whom, without_figures
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import MISSING
from jdkmatrix.records.claims import ClaimRecord, ClaimSource, PublishedFigure
from jdkmatrix.report.blocks.inline import badge, cell_page, element, joined, link, small, strong
from jdkmatrix.report.blocks.kinds import Container, Disclosure, PageBlock, Prose
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.claims.evidence import not_steady_words, seen_words
from jdkmatrix.report.claims.verdicts import VERDICT_CLASS, ClaimVerdict, JudgedCell, JudgedCheck, JudgedClaim
from jdkmatrix.report.words.sentences import cell_words

# A claim's verdict as a badge, and what it came to.
CameTo = tuple[Markup, Iterable[PageBlock]]


def published_blocks(
    claims: Iterable[ClaimRecord], came_to: Callable[[ClaimRecord], CameTo], *, folded: bool = False
) -> Iterator[PageBlock]:
    """List every source once, in the order of its first claim, with its claims. `folded`: these open one by one."""
    for source, of_it in grouped((claim.source, claim) for claim in claims).items():
        yield from _source(source)
        yield Container([_claim(claim, *came_to(claim), folded=folded) for claim in of_it], "claims")


def verdict_badge(verdict: ClaimVerdict) -> Markup:
    return badge(verdict.value, VERDICT_CLASS[verdict])


def _source(source: ClaimSource) -> Iterator[PageBlock]:
    about = ", ".join(filter(None, (source.by, source.date)))
    yield Prose(heading=joined(link(source.title, web(source.url)), *([" ", small(about)] if about else [])))
    if source.no_url:
        yield Prose(f"No address: {source.no_url}")
    if source.conditions:
        yield Prose(source.conditions)
    yield from _inference(source.inference)


def _inference(text: str | None) -> Iterator[PageBlock]:
    """Show this project's conclusion, which no source states."""
    return behind("Our inference:", text, "inference")


def behind(head: str, text: str | None, css: str = "sub") -> Iterator[PageBlock]:
    """Show a text after the words that say what it is, where there is one."""
    if text:
        yield Prose(joined(strong(head), f" {text}"), css=css)


def _claim(claim: ClaimRecord, verdict: Markup, told: Iterable[PageBlock], *, folded: bool) -> PageBlock:
    anchor, name = f"claim-{claim.id}", joined(claim.id, " ", verdict)
    body = tuple(_body(claim, told))
    if folded:
        return Disclosure(joined(name, f" {claim.published}"), (Container(body, id=anchor),), "claim")
    return Container((Prose(claim.published, name, level=4, css=""), *body), "claim", anchor)


def _body(claim: ClaimRecord, told: Iterable[PageBlock]) -> Iterator[PageBlock]:
    yield Prose(claim.condition)
    if claim.figures:
        heads = columns("Figure", "Of", "Published")
        yield DataTable(f"Figures of {claim.id}", heads, [_figure(one) for one in claim.figures], "stack")
    if instead := without_figures(claim):
        yield Prose(instead)
    yield from behind("Note.", claim.note)
    yield from _inference(claim.inference)
    yield from told
    yield from behind("Not repeated.", claim.not_repeated)


def _figure(one: PublishedFigure) -> tuple[Cell, ...]:
    """Return its quantity, whose it is, and its amount, with this project's reading of it."""
    ours = element("small", strong("Our inference:"), f" {one.inference}", css="inference") if one.inference else ""
    return (
        joined(one.quantity, *([" ", small(one.condition)] if one.condition else [])),
        of_whom(one) or MISSING,
        joined(amount(one), " ", small(f"({one.as_printed})"), ours),
    )


def claim_in_run(one: JudgedClaim, earlier: ClaimVerdict | None) -> CameTo:
    """Show a claim by one run alone. `earlier`: the verdict by the checks that the run recorded, where it differs."""
    then = f"the claim had other checks, by which this run came to: {earlier.value}." if earlier else None
    found = (
        block for check in one.asked for block in check_blocks(check, one.claim.id, lambda cell: cell_page(cell.key))
    )
    alone = (" ", small("by this run alone")) if one.decided else ()
    verdict = joined(verdict_badge(one.verdict), *alone)
    return verdict, (*behind("When it was measured,", then), *behind("Not checked.", one.why), *found)


def check_blocks(one: JudgedCheck, of: str, page: Callable[[JudgedCell], str | None]) -> Iterator[PageBlock]:
    """Show the finding of one check. `of`: the id of its claim; `page`: the address of a cell that has an estimate."""
    check = one.check
    rule = joined(f" {check.says}; {one.band_words} would reproduce it (", element("em", one.origin), "). ")
    yield Prose(joined(strong("Measured here:"), rule, verdict_badge(one.verdict), f" {one.why}." if one.why else ""))
    if one.cells:
        heads = columns("Cell", "Measured|95 % interval#", "Verdict=")
        alike = grouped((cell.key, cell) for cell in one.cells)
        rows = [_cell(cell, alike[cell.key], one.unit, page) for cell in one.cells]
        yield DataTable(f"Cells that speak to {of}: {check.says}", heads, rows, "stack judged")
    yield from _inference(check.inference)


def _cell(
    one: JudgedCell, alike: Sequence[JudgedCell], unit: str, page: Callable[[JudgedCell], str | None]
) -> tuple[Cell, ...]:
    """Build a row. `alike`: the same cell, by other drivers, protocols or builds of the JDK, or with other settings."""
    words = one.remark(unit)
    seen = (part for text in (*seen_words(one.seen), *not_steady_words([one])) for part in (" ", small(text)))
    release = small(f" {one.release}") if one.release and one.release not in one.key.server else ""
    return (
        joined(link(cell_words(one.key), page(one) if one.estimate else None), release, *_told_apart(one, alike)),
        one.measured(unit),
        joined(verdict_badge(one.verdict), f" {words}" if words else "", *seen),
    )


def _told_apart(one: JudgedCell, alike: Sequence[JudgedCell]) -> Iterator[Markup]:
    """Yield what distinguishes it from others of `alike`."""
    words = {
        "build": f"JDK {one.build}",
        "driver": f"by {one.driver}",
        "protocol": one.protocol,
        "settings": f"settings {', '.join(digest[:8] for digest in (one.settings or '').split())}",
    }
    differing = {name for name in words if len({getattr(cell, name) for cell in alike}) > 1}
    yield from (small(f" {told}") for name, told in words.items() if name in differing and getattr(one, name))
