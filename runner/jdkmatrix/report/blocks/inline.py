"""Links, code and emphasis inside text: Markup in which everything given is escaped; plain text is just a string,
which templates escape. Also where links of the site lead."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.report.charts.shapes import dash_of


@dataclass(frozen=True)
class Wording:
    """A text of words.toml, by its name, and the values to fill in."""

    name: str
    values: Mapping[str, object]


def say(name: str, **values: object) -> Wording:
    return Wording(name, values)


def joined(*parts: str) -> Markup:
    """Join parts; plain text among them is escaped."""
    return Markup("").join(parts)


def element(name: str, *content: str, css: str | None = None, **attributes: str | None) -> Markup:
    """Make an element. Attributes without a value are left out; `data_x` becomes `data-x`."""
    given = {"class": css, **attributes}
    told = "".join(f' {key.replace("_", "-")}="{escape(value)}"' for key, value in given.items() if value)
    return Markup(f"<{name}{told}>{joined(*content)}</{name}>")


def strong(text: str, css: str | None = None) -> Markup:
    return element("b", text, css=css)


def small(*content: str, css: str | None = None) -> Markup:
    return element("small", *content, css=css)


def code(text: str) -> Markup:
    return element("code", text)


def link(text: str, href: str | None) -> Markup:
    """Make a link, or only the text where `href` is None. A link to another site does not tell it where a reader comes
    from."""
    if href is None:
        return escape(text)
    outside = "noopener noreferrer" if href.startswith(("http://", "https://")) else None
    return element("a", text, href=href, rel=outside)


def badge(text: str, css: str, title: str | None = None) -> Markup:
    return element("span", text, css=f"badge {css}", title=title)


def folded(summary: str, *content: str, css: str | None = None) -> Markup:
    return element("details", element("summary", summary), *content, css=css)


def paragraphs(texts: tuple[str, ...], css: str | None = None) -> Markup:
    return joined(*(element("p", text, css=css) for text in texts))


def pre(text: str) -> Markup:
    return element("pre", text, tabindex="0")


def swatch(slot: int) -> Markup:
    """Draw a key of the palette: a line in the executor's colour and dash, as in the charts."""
    dashes = " ".join(map(str, dash_of(slot)))
    return Markup(
        f'<svg class="swatch e{slot % 8}" width="26" height="10" viewBox="0 0 26 10" aria-hidden="true">'
        f'<line x1="1" y1="5" x2="25" y2="5" stroke-width="4" stroke-dasharray="{dashes}"/></svg> '
    )


def fill(colour: str) -> Markup:
    """Draw a swatch in the colour of an area or a bar."""
    return Markup(
        f'<svg class="swatch {escape(colour)}" width="14" height="10" viewBox="0 0 14 10" aria-hidden="true">'
        '<rect width="14" height="10" rx="2"/></svg> '
    )


_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,180}")
METHOD_PAGE = "method.html"  # of every run, beside its index
_UNSAFE_RUN = re.compile(r"[^A-Za-z0-9._+-]+")


def file_stem(name: str) -> str:
    """Return `name` if it is safe as a file name and in a link, else its safe letters and a hash that keeps it unique.

    Result files may come from elsewhere, so an id may hold anything.
    """
    if _SAFE.fullmatch(name) and ".." not in name:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:10]
    letters = re.sub(r"\.\.+", ".", _UNSAFE_RUN.sub("-", name)).strip("._+-")[:100]
    return f"{letters or 'x'}-{digest}"


def cell_page(key: CellKey) -> str:
    """Return the address of the cell's page, relative to the index."""
    return f"cells/{file_stem(key.cell_id)}.html"
