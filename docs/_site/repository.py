"""Links that are right in the repository are right on the site: results of benches have pages of their own here."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Files of the repository outside of docs/ (or folders of it), and the page that shows them.
RESULTS = re.compile(r"benches/RESULTS(?:-(?P<topic>[a-z-]+))?\.md$")
PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "docs/decisions": "decisions/index.md"}


def setup(app: Sphinx) -> dict[str, bool]:
    """Change links while pages are read."""
    app.connect("source-read", lambda _app, page, source: _on_site(page, source))
    # The page that is named here is that of the event only by its last part.
    app.connect("include-read", lambda app, path, _page, source: _on_site(app.env.docname, source, str(path)))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def page_of(path: str) -> str | None:
    """The page, from docs/, that shows a file of the repository; None if there is none."""
    found = RESULTS.match(path)
    if found:
        return f"benchmarks/{found['topic'] or 'comparison'}.md"
    return PAGES.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)


def _on_site(page: str, source: list[str], included: str | None = None) -> None:
    """Links of an included file start at its own folder, not at that of the page that includes it."""
    if included is None:
        folder = posixpath.dirname(f"docs/{page}")
    else:
        folder = posixpath.normpath(posixpath.join("docs", posixpath.dirname(included)))

    def moved(link: re.Match[str]) -> str:
        target, hash_sign, anchor = link["target"].partition("#")
        to = page_of(posixpath.normpath(posixpath.join(folder, target)))
        if to is None:
            return link[0]
        return f"]({posixpath.relpath(to, posixpath.dirname(page) or '.')}{hash_sign}{anchor})"

    source[0] = re.sub(r"\]\((?P<target>(?!\w+:|#)[^)\s]+)\)", moved, source[0])
