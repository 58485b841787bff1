"""How a page is put together safely: its content policy, its data, its templates.

A page may load nothing from anywhere: the policy allows only the scripts and the style whose hashes it names (and on
pages with charts the site's one library file), no evaluation of text as code (Vega interprets its expressions), no
request, no frame, no form. Text from results is escaped by Jinja; data for scripts is JSON without a character that
could end the element it stands in.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, select_autoescape
from markupsafe import Markup

from jdkmatrix.errors import MatrixError
from jdkmatrix.report.html.drivers import COMPARED
from jdkmatrix.report.html.method import PROVOKED, read_tried

DRAWS = "vega.js"  # Vega, Vega-Lite and Vega-Embed, which give the page `vegaEmbed` and no other name
_PARTS = (
    "base.html.j2",
    "home.html.j2",
    "claims.html.j2",
    "history.html.j2",
    "by.html.j2",
    "compare.html.j2",
    "by-axis.html.j2",
    "run.html.j2",
    "reading.html.j2",
    "cell.html.j2",
    "cell-served.html.j2",
    "cell-experiment.html.j2",
    "cell-brief.html.j2",
    "experiments.html.j2",
    "macros.html.j2",
    "method.html.j2",
    COMPARED,
    PROVOKED,
    "report.css",
    "report.js",
    "home.js",
    DRAWS,
)


def as_script(source: str) -> str:
    """JavaScript that cannot end the <script> element it stands in: both sequences mean the same in its strings."""
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _script(path: Path) -> str:
    return as_script(path.read_text("utf-8").replace("\r\n", "\n"))


def as_json(data: Any) -> Markup:
    """JSON for a <script type="application/json">; no character in it means anything to HTML. NaN is an error."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def policy(scripts: list[str], style: str, *, library_beside: bool) -> str:
    """`library_beside`: scripts of the page's own origin too. Browsers differ in whether 'self' means anything for
    a page that was opened as a file; `file:` says it for those where it does not."""
    allowed = [*(["'self'", "file:"] if library_beside else []), *map(_hash, scripts)]
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(allowed)}",
            f"style-src {_hash(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


class Pages:
    """The templates of one folder.

    Raises:
        MatrixError: a file of it is missing or does not parse.
    """

    def __init__(self, templates: Path, **shared: Any) -> None:
        missing = [name for name in _PARTS if not (templates / name).is_file()]
        if missing:
            raise MatrixError(f"{templates}: no {', '.join(missing)} there; the folder holds the report's templates")
        self._environment = Environment(
            loader=FileSystemLoader(templates),
            autoescape=select_autoescape(default=True, default_for_string=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(shared)
        self.tried = read_tried(templates)
        self._css = (templates / "report.css").read_text("utf-8").replace("\r\n", "\n")
        self._scripts = {name: _script(templates / name) for name in ("report.js", "home.js")}

    def render(
        self,
        template: str,
        *,
        charts: dict[str, Any] | None = None,
        library: str = "",
        data: Any = None,
        scripts: tuple[str, ...] = ("report.js",),
        **values: Any,
    ) -> str:
        """`library`: where the page finds what draws its `charts`; `data`: for its `scripts`."""
        sources = [self._scripts[name] for name in scripts]
        try:
            return self._environment.get_template(template).render(
                csp=policy(sources, self._css, library_beside=charts is not None),
                css=Markup(self._css),
                scripts=tuple(map(Markup, sources)),
                vega_src=library,
                charts=None if charts is None else as_json(charts),
                data=None if data is None else as_json(data),
                **values,
            )
        except TemplateError as error:
            raise MatrixError(f"template {template}: {error}") from None
