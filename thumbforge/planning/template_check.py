"""What is wrong with a template, beyond what its model refuses: each problem with its file and line. Reads only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge.errors import NotFound, Problem, SpecError, ThumbforgeError
from thumbforge.models import Layout
from thumbforge.named import elsewhere
from thumbforge.planning.layout_check import layout_problems, unknown_faces
from thumbforge.planning.preview import on_sample, on_texts, wanted_on
from thumbforge.planning.project import Project
from thumbforge.planning.spec_lines import chain_of, placed_at, placed_text, template_file
from thumbforge.planning.wanted import places
from thumbforge.specs.catalog import BUILTIN, SUFFIXES, Catalog
from thumbforge.specs.prompts import worded
from thumbforge.specs.yaml_file import HINT, Document, Problems, shown
from thumbforge.store.world import template_versions

if TYPE_CHECKING:
    from thumbforge.layers import AnyLayout, AnyTemplate
    from thumbforge.store.database import Database

RAISE_VERSION = (
    "pictures were made with this version, so it stays what it was: raise `version`, or take the change back"
)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a template's own text is. `extends` is "" for one that stands alone, or that cannot be read."""

    name: str
    path: Path
    extends: str = ""

    @property
    def is_built_in(self) -> bool:
        return self.path.parent == BUILTIN / "templates"


def sources(catalog: Catalog) -> list[Source]:
    return [source(catalog, name) for name in catalog.template_names()]


def source(catalog: Catalog, name: str) -> Source:
    """Raises NotFound, with the nearest names, for a template that there is not."""
    if name not in catalog.template_names():
        catalog.template(name)
    path = template_file(catalog, name)
    document = Problems().read(path)
    return Source(name, path, str(document.data.get("extends", "")) if document else "")


def find(project: Project, word: str) -> Path:
    """The file of the template that `word` names, by name or by a path that counts from where the user stands."""
    if word in project.catalog.template_names():
        return template_file(project.catalog, word)
    path = project.cwd / word
    if path.is_file():
        return path
    if "/" in word or path.suffix in SUFFIXES:
        raise NotFound(f"there is no file {word}", hint=elsewhere(word, project.cwd))
    return source(project.catalog, word).path


def check_unused(project: Project, path: Path) -> None:
    """Raises SpecError for what a batch with the template in this file would refuse, whether one uses it or not."""
    _checked(project, path, {}, None)


@dataclass(frozen=True, slots=True)
class Checked:
    """A template that can be used, and what its rules warn of on texts of all kinds."""

    template: AnyTemplate
    warnings: tuple[str, ...] = ()


def check_all(project: Project, paths: Iterable[Path], given: Mapping[str, Any]) -> list[Checked]:
    """The templates in these files, drawn on the shortest, the longest and a right-to-left text; one SpecError with all
    problems of all of them, a version among them whose number was used with other content: a batch takes that, whoever
    writes templates wants to know."""
    found: list[Checked] = []
    problems: dict[Problem, None] = {}
    with project.reading() as database:
        for path in paths:
            try:
                found.append(_drawn(project, path, _checked(project, path, given, database), given))
            except SpecError as error:
                document = Problems(project.root).read(path)
                problems.update(dict.fromkeys((*error.problems, *(unknown_faces(document) if document else ()))))
    if problems:
        only_versions = all(problem.where == "version" for problem in problems)
        raise SpecError(problems, hint=RAISE_VERSION if only_versions else HINT)
    return found


def _drawn(project: Project, path: Path, template: AnyTemplate, given: Mapping[str, Any]) -> Checked:
    """SpecError, at the element, for each rule that is broken on one of the texts."""
    warnings: dict[str, None] = {}
    wrong: dict[tuple[str, ...], str] = {}
    vars_ = {**_given_in_specs(project.catalog, template.name), **given}
    for what, report in on_texts(on_sample(project, template, vars_)):
        warnings.update(dict.fromkeys(f"{what}: {warning}" for warning in report.warnings))
        for violation in report.violations:
            wrong.setdefault(_element(template.layout, violation.partition(".")[0]), f"{what}: {violation}")
    if wrong:
        chain = chain_of(project.catalog, path)
        raise SpecError([placed_at(chain, where, message) for where, message in wrong.items()])
    return Checked(template, tuple(warnings))


def _element(layout: AnyLayout, rule: str) -> tuple[str, ...]:
    """The element that a rule of this name judges."""
    name = "title" if rule == "text" else rule
    if isinstance(layout, Layout):
        return ("layout", name)
    return ("layout", "texts" if name in layout.texts else "images", name)


class _WithFile(Catalog):
    """The project's specs and one template more, wherever its file is."""

    def __init__(self, root: Path, path: Path) -> None:
        super().__init__(root)
        self._own = path

    def _listing(self, kind: str) -> dict[str, Path]:
        found = super()._listing(kind)
        return {**found, self._own.stem: self._own} if kind == "templates" else found


def _checked(project: Project, path: Path, given: Mapping[str, Any], database: Database | None) -> AnyTemplate:
    is_listed = path.stem in project.catalog.template_names() and template_file(project.catalog, path.stem) == path
    catalog = project.catalog if is_listed else _WithFile(project.root, path)
    template = catalog.template(path.stem)
    chain = chain_of(catalog, path)
    problems = [
        *_text_problems(project, template, {**_given_in_specs(catalog, template.name), **given}, chain),
        *layout_problems(template, chain),
        *_version_problems(template, chain, database),
    ]
    if problems:
        raise SpecError(problems)
    return template


def _text_problems(
    project: Project, template: AnyTemplate, given: Mapping[str, Any], chain: list[Document]
) -> Iterator[Problem]:
    """Each text is rendered by itself, so that a fault in one does not hide that of the next."""
    series = on_sample(project, template, given)
    [at] = places(series)
    for name in ("prompt", "negative_prompt", *(f"layout.{slot}.text" for slot, _ in worded(template.layout))):
        try:
            wanted_on(replace(series, template=_alone(template, name)), at)
        except SpecError as error:
            for problem in error.problems:
                yield placed_text(problem, error.hint, chain)


def _alone(template: AnyTemplate, name: str) -> AnyTemplate:
    """The template with plain words for all texts but one."""
    return template.model_copy(
        update={
            "prompt": template.prompt if name == "prompt" else "-",
            "negative_prompt": template.negative_prompt if name == "negative_prompt" else None,
            "layout": _with_one(template.layout, name),
        }
    )


def _with_one(layout: AnyLayout, name: str) -> AnyLayout:
    def text(slot: str, style: Any) -> Any:
        return style.model_copy(update={"text": style.text if name == f"layout.{slot}.text" else "-"})

    if isinstance(layout, Layout):
        return layout.model_copy(update={slot: text(slot, getattr(layout, slot)) for slot, _ in worded(layout)})
    texts = {own: text(f"texts.{own}", style) for own, style in layout.texts.items()}
    return layout.model_copy(update={"texts": texts})


def _given_in_specs(catalog: Catalog, template: str) -> dict[str, Any]:
    """Variables that a series with this template, or an item of its playlist, gives. What is wrong with those specs is
    told where they are used."""
    found: dict[str, Any] = {}
    with suppress(ThumbforgeError):
        for name in catalog.series_names():
            with suppress(ThumbforgeError):
                spec = catalog.series(name)
                if spec.template.partition("@")[0] != template:
                    continue
                found |= spec.vars
                if hit := catalog.find_playlist(spec.playlist):
                    items = catalog.load_playlist(hit[1]).spec.items
                    found |= {var: value for item in items for var, value in item.vars.items()}
    return found


def _version_problems(template: AnyTemplate, chain: list[Document], database: Database | None) -> Iterator[Problem]:
    if database is None:
        return
    used = template_versions(database, template.name)
    known = {spec_hash for version, spec_hash in used if version == template.version}
    if not known or template.spec_hash in known:
        return
    following = max(version for version, _ in used) + 1
    message = f"version {template.version} of {template.name} was used with other content; raise it to {following}"
    yield replace(placed_at(chain[:1], ("version",), message), where="version")


def file_of(project: Project, path: Path) -> str:
    """As messages and JSON show it; a built-in template is shown by its place in the package."""
    if path.is_relative_to(BUILTIN):
        return f"builtin/{path.relative_to(BUILTIN).as_posix()}"
    return shown(path, project.root)
