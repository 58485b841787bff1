"""Safe assembly of a page: its content policy, its data, its templates.

A page may load nothing from anywhere: the policy allows only the scripts and the style whose hashes it names (and on
pages with charts the site's one library file), no evaluation of text as code (Vega interprets its expressions), no
request, no frame, no form. Text from results is escaped by Jinja; data for scripts is JSON without a character that
could end the element it stands in.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, UndefinedError, select_autoescape
from markupsafe import Markup

from jdkmatrix.domain.applications import applications
from jdkmatrix.domain.catalogue import catalogue, server_kinds
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.seal import digest_of_files
from jdkmatrix.reading import read_toml
from jdkmatrix.report.blocks.inline import METHOD_PAGE, Wording
from jdkmatrix.report.blocks.kinds import SITE_MENU, TAIL_LINES, PageBlock, WebPage
from jdkmatrix.report.charts.shapes import on_a_page
from jdkmatrix.report.html.method import COMPARED, PROVOKED, read_tried
from jdkmatrix.report.words.sentences import State

DRAWS = "vega.js"  # Vega, Vega-Lite and Vega-Embed, which give the page `vegaEmbed` and no other name
LIBRARY = f"assets/{DRAWS}"  # relative to the site's root
_PARTS = (
    *("page.html.j2", "blocks.html.j2", "reading.html.j2", "words.toml", COMPARED, *PROVOKED),
    *("report.css", "report.js", "home.js", DRAWS),
)


def as_script(source: str) -> str:
    """Keep JavaScript from ending its own <script> element: in its strings, both spellings mean the same."""
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def as_json(data: Any) -> Markup:
    """Write JSON for a <script type="application/json">, with no character that HTML interprets. NaN is an error."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


@lru_cache
def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def policy(scripts: list[str], style: str, *, library_beside: bool) -> str:
    """Build the content policy. `library_beside`: allow scripts of the page's own origin too. Browsers differ in
    whether 'self' means anything for a page opened as a file; `file:` covers those where it does not."""
    allowed = [*(["'self'", "file:"] if library_beside else []), *map(_hash, scripts)]
    return (
        f"default-src 'none'; script-src {' '.join(allowed)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def pages_of(templates: Path) -> Pages:
    """Compile the templates once, and again when a file of the folder has changed.

    Raises:
        MatrixError: a template is missing, or does not parse.
    """
    return _pages(templates.resolve(), digest_of_templates(templates))


def digest_of_templates(templates: Path) -> str:
    """Return a digest of everything that pages are made of besides results and code, including the facts about servers,
    executors and applications."""
    files = digest_of_files(templates, sorted(path for path in templates.glob("*") if path.is_file()))
    return hashlib.sha256(f"{files}{catalogue()}{server_kinds()}{applications()}".encode()).hexdigest()


@lru_cache(maxsize=1)
def _pages(templates: Path, digest: str) -> Pages:
    return Pages(templates)


class Pages:
    """The templates of one folder.

    Raises:
        MatrixError: a file of it is missing or does not parse.
    """

    def __init__(self, templates: Path) -> None:
        missing = [name for name in _PARTS if not (templates / name).is_file()]
        if missing:
            raise MatrixError(f"{templates}: {', '.join(missing)} missing; this folder holds the report's templates")
        environment = Environment(
            loader=FileSystemLoader(templates),
            autoescape=select_autoescape(default=True, default_for_string=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.globals.update(
            show=self._show,
            say=self._say,
            words=self._in_words,
            statuses=tuple((state.value, state.meaning) for state in State),
            tail_lines=TAIL_LINES,
            site_menu=SITE_MENU,
            method_page=METHOD_PAGE,
            catalogue=catalogue(),
            servers=tuple(server_kinds().values()),
        )
        try:
            self._macros = environment.get_template("blocks.html.j2").module
            texts = read_toml(templates / "words.toml")
            if odd := [name for name, text in texts.items() if not isinstance(text, str)]:
                raise MatrixError(f"{templates / 'words.toml'}: no text: {', '.join(odd)}")
            self._words = {name: environment.from_string(text) for name, text in texts.items()}
            self._page = environment.get_template("page.html.j2")
        except TemplateError as error:
            raise MatrixError(f"{templates}: {error}") from None
        self.tried = read_tried(templates)
        self._css = (templates / "report.css").read_text("utf-8")
        self._scripts = {name: as_script((templates / name).read_text("utf-8")) for name in ("report.js", "home.js")}

    def _show(self, blocks: Iterable[PageBlock]) -> Markup:
        return Markup("\n").join([getattr(self._macros, type(one).__name__.lower())(one) for one in blocks])

    def _say(self, text: str | Wording) -> str:
        return text if isinstance(text, str) else self._in_words(text.name, **text.values)

    def _in_words(self, name: str, **values: object) -> Markup:
        if name not in self._words:
            raise UndefinedError(f"words.toml has no {name}")
        return Markup(self._words[name].render(values))

    def render(self, page: WebPage, *, data: Any = None, scripts: tuple[str, ...] = ("report.js",)) -> str:
        """Render a page. `data`: for its `scripts`."""
        sources = [self._scripts[name] for name in scripts]
        css = "" if page.plain else self._css
        charts = on_a_page(page.charts)
        try:
            return self._page.render(
                page=page,
                csp=policy(sources, css, library_beside=charts is not None),
                css=Markup(css),
                scripts=tuple(map(Markup, sources)),
                library=f"{page.root or ''}{LIBRARY}",
                charts=None if charts is None else as_json(charts),
                data=None if data is None else as_json(data),
            )
        except TemplateError as error:
            raise MatrixError(f"page {page.title}: {error}") from None
