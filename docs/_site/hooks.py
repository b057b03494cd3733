"""What the site has beside the pages of docs/: the changelog and HACKING.md, and links that lead out of docs/."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
BESIDE = {"CHANGELOG.md": "changelog.md", "HACKING.md": "hacking.md"}
"""Pages that lie at the repository's top, by where the site has them."""
_LINK = re.compile(r"\[([^\]\n]+)\]\((?!https?://|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, page in BESIDE.items():
        text = _within((ROOT / name).read_text(encoding="utf-8"), ROOT, name)
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if page.file.generated_by:
        return markdown
    return _within(markdown, Path(config.docs_dir, page.file.src_uri).parent, page.file.src_uri)


def _within(markdown: str, folder: Path, page: str) -> str:
    """The same with each link to a file outside docs/ as the page that the site has of it, or as its words alone."""
    docs = ROOT / "docs"

    def led(found: re.Match[str]) -> str:
        text, path, anchor = found[1], found[2], found[3] or ""
        target = (folder / path).resolve()
        if not target.exists():
            raise PluginError(f"{page}: there is no {path}")
        if target.is_relative_to(docs):
            return f"[{text}]({target.relative_to(docs)}{anchor})" if folder == ROOT else found[0]
        beside = BESIDE.get(str(target.relative_to(ROOT)))
        return f"[{text}]({'../' * page.count('/')}{beside}{anchor})" if beside else text

    return _LINK.sub(led, markdown)
