"""Which names are ours: by shape and place, whatever a file or a database says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge.errors import AssetDamaged, StoreError
from thumbforge.pixels import picture
from thumbforge.store import names
from thumbforge.store.assets import AssetStore
from thumbforge.store.deletion import unlink_ours

SHA = "ab" * 32
ID = "0b7a4c3e-5a7d-5c1e-9d55-3d0f0f7f2a11"
OURS = {
    f"assets/ab/{SHA}.jpg": "asset",
    f"keys/{SHA}.json": "manifest",
    f"keys/{SHA[:32]}.json": "manifest",
    f"keys/art/{SHA}.json": "record",
    f"staging/{ID}": "staged",
    "staging/tmp-0123456789abcdef.jpg": "temporary",
    "staging/tmp-0123456789abcdef.answer": "temporary",
    f"staging/call-{ID}": "scratch",
}
FOREIGN = (
    "assets/logo.svg", f"assets/{SHA}.jpg", f"assets/cd/{SHA}.jpg", f"assets/ab/{SHA}.exe", f"assets/ab/{SHA}",
    f"assets/ab/{SHA.upper()}.jpg", f"assets/ab/{SHA}.jpg.bak", f"assets/ab/x/{SHA}.jpg", "keys/id_rsa",
    f"keys/{SHA}.pem", f"keys/{SHA[:31]}.json", f"keys/old/{SHA}.json", "staging/draft.md", "staging/tmp-0.jpg",
    f"staging/sub/{ID}", f"{SHA}.jpg", "ledger.sqlite3", "logs/thumbforge.jsonl", ID,
)  # fmt: skip
# What a row of a ledger from elsewhere may hold where a hash, a key or an id belongs.
HOSTILE = st.one_of(
    st.text(max_size=80),
    st.sampled_from(["/etc/passwd", "../../x", "", ".", "..", f"{SHA}/../../x", f"{SHA}\n", f"{SHA}\0", SHA.upper()]),
)


@pytest.mark.parametrize("path", OURS)
def test_what_is_ours(path: str) -> None:
    """Each form that the store writes is known by its name and place."""
    assert names.kind_of(Path(path).parts) == OURS[path]


@pytest.mark.parametrize("path", FOREIGN)
def test_what_is_not_ours(path: str) -> None:
    """Another place, another ending, another length: it is somebody else's."""
    assert names.kind_of(Path(path).parts) is None


@given(HOSTILE)
def test_text_that_is_no_hash_becomes_no_path(text: str) -> None:
    """The store makes paths of hashes, keys and ids alone; anything else is AssetDamaged, and is not there."""
    store = AssetStore(Path("/nowhere"))
    for make in (lambda: store.path(text, ".jpg"), lambda: store.manifest_path(text), lambda: store.staged(text)):
        with pytest.raises(AssetDamaged, match="is not the name of a stored file"):
            make()
    with pytest.raises(AssetDamaged):
        store.path(SHA, f".jpg{text or '/'}")
    assert store.look(text, ".jpg", 1, None).is_gone
    assert store.manifest(text) is None


@given(st.text(st.sampled_from("ab./\\\0\n")))
def test_an_export_lies_in_a_folder_of_out(text: str) -> None:
    """Two plain components, or it is no export: nothing outside out/ is ever named."""
    try:
        path = names.export_path(Path("/project/out"), text)
    except StoreError:
        return
    assert Path("/project/out") in path.resolve().parents
    assert len(path.relative_to("/project/out").parts) == 2
    assert not any(part.startswith(".") for part in path.relative_to("/project/out").parts)


def test_every_picture_that_can_be_kept_has_a_name_of_ours() -> None:
    """What a provider or a hero may be stored as, and a playlist's frozen list."""
    kinds = {suffix for _, suffix in picture._FORMATS.values()}
    assert kinds | {".json"} == names.SUFFIXES


def test_only_what_is_ours_is_unlinked(tmp_path: Path) -> None:
    """By name and place; neither a link nor what lies behind one."""
    for path in (*OURS, *FOREIGN):
        if not (tmp_path / "home" / path).exists():
            (tmp_path / "home" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "home" / path).write_bytes(b"x")
    assert [p for p in FOREIGN if unlink_ours(tmp_path / "home", tmp_path / "home" / p)] == []
    assert all((tmp_path / "home" / path).exists() for path in FOREIGN)
    (tmp_path / "home" / f"staging/call-{ID}").unlink()
    (tmp_path / "home" / f"staging/call-{ID}/deep").mkdir(parents=True)
    assert [p for p in OURS if not unlink_ours(tmp_path / "home", tmp_path / "home" / p)] == []


@pytest.mark.parametrize("folder", ["assets", "assets/ab"])
def test_nothing_is_unlinked_behind_a_link(tmp_path: Path, folder: str) -> None:
    """Also where everything behind it looks like ours."""
    (tmp_path / "elsewhere" / "ab").mkdir(parents=True)
    inside = tmp_path / "elsewhere" / ("ab" if folder == "assets" else "") / f"{SHA}.jpg"
    inside.write_bytes(b"precious")
    link = tmp_path / "home" / folder
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "elsewhere")
    assert not unlink_ours(tmp_path / "home", tmp_path / "home/assets/ab" / f"{SHA}.jpg")
    assert inside.exists()
