"""Pictures of specs/heroes by name: `hero=pandas` is `specs/heroes/pandas.jpg`."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from thumbforge.errors import UsageError
from thumbforge.named import as_written, elsewhere
from thumbforge.text import nearest

MASK_SUFFIX = ".mask.png"
FOLDER = Path("specs", "heroes")
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp"})


def hero_files(root: Path) -> list[Path]:
    """The pictures of specs/heroes in order of their names; masks are none."""
    folder = root / FOLDER
    if not folder.is_dir():
        return []
    found = (path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and not path.name.startswith("."))
    return sorted(path for path in found if not path.name.endswith(MASK_SUFFIX))


def hero_file(word: str, base: Path, root: Path) -> Path | None:
    """The file that `word` is: a path from `base`, or the name of a picture in specs/heroes with or without its suffix.
    None where it is neither. UsageError where two pictures have the name."""
    try:
        path = as_written(base / word)
        if path.is_file():
            return path
    except (OSError, ValueError):  # too long for a name, or with a NUL byte
        return None
    if "/" in word:
        return None
    named = _composed(word)
    found = [path for path in hero_files(root) if named in {_composed(path.name), _composed(path.stem)}]
    if len(found) > 1:
        both = " or ".join(str(path.relative_to(root)) for path in found)
        raise UsageError(f"{len(found)} heroes are called {word}", hint=f"hero={both}")
    return found[0] if found else None


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def other_heroes(word: str, base: Path, root: Path) -> str:
    """The hint for a word that names no hero: the nearest, or what there is."""
    known = {path.stem: path.name for path in hero_files(root)}
    if near := nearest(word, (*known, *known.values())):
        return f"did you mean hero={near[0]}? (paths count from {base})"
    if (hint := elsewhere(word, base)).startswith("did you mean"):
        return hint
    have = f"there {'is' if len(known) == 1 else 'are'} {', '.join(sorted(known)[:10])}; " if known else ""
    return f"{have}a picture file, a run id or an iteration id will do; paths count from {base}"
