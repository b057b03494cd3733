"""A ComfyUI workflow in API format: checked when the profile is read, filled in for each call.

Two ways say where a value goes, and both may be used: a placeholder in an input's text (`"{prompt}, film grain"`), or
`inputs: {seed: "3.seed"}` with a node's id or title before the last dot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from thumbforge.web.answers import at, list_at, text_at

FIELDS = {
    "prompt": "prompt",
    "negative_prompt": "negative_prompt",
    "reference": "reference",
    "seed": "seed",
    "width": "",
    "height": "",
    "prefix": "",
}
"""Each value that can be filled in, with the field of the request that it reads. The size is the profile's."""
SAVES = ("SaveImage", "Image Save", "SaveImageExtended")
KEEPS_NOTHING = {
    "SaveImageWebsocket": "sends its picture over the web socket alone",
    "PreviewImage": "saves its picture for the page alone",
}
"""Nodes whose job ends well and leaves no picture that could be fetched."""
_FOUND = re.compile(r"\{([a-z_]+)\}")
Graph = Mapping[str, Any]


class Workflow:
    """`graph` as it is in the profile; `inputs` maps a value's name to "node.input"; `output` names the node whose
    picture is wanted, by id or title."""

    def __init__(self, graph: Graph, inputs: Mapping[str, Any], output: str) -> None:
        self.graph = graph
        self.places = {name: _place(graph, str(where)) for name, where in inputs.items()}
        self.output = _node(graph, output) if output else _only_save(graph)

    @property
    def reads(self) -> frozenset[str]:
        used = {*self.places, *(name for _, _, text in _texts(self.graph) for name in _FOUND.findall(text))}
        return frozenset(FIELDS[name] for name in used if name in FIELDS) - {""}

    def filled(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """A copy with these values. An input that is nothing but a placeholder gets the value in its own type.

        The saving node's prefix is always set: a server answers a graph that it has seen with nothing.
        """
        graph: dict[str, Any] = deepcopy(dict(self.graph))
        for node, name, text in _texts(self.graph):
            graph[node]["inputs"][name] = _substituted(text, values)
        for name, place in self.places.items():
            if place:
                graph[place[0]]["inputs"][place[1]] = values[name]
        saves = graph[self.output]["inputs"] if self.output else {}
        if "filename_prefix" in saves and isinstance(saves["filename_prefix"], str):
            saves["filename_prefix"] = values["prefix"]
        return graph

    def title(self, node: str) -> str:
        """A node as a person knows it: its title and its id."""
        entry = self.graph.get(node, {})
        meta = entry.get("_meta") if isinstance(entry, Mapping) else None
        name = (meta.get("title") if isinstance(meta, Mapping) else None) or entry.get("class_type", "")
        return f"{name} (node {node})" if name else f"node {node}"

    def saved(self, job: Any) -> list[Any]:
        """What the wanted node saved by this record of a job; previews are of type temp and do not count."""
        entries = list_at(job, "outputs", self.output or "", "images")
        return [each for each in entries if text_at(each, "type") == "output" and text_at(each, "filename")]

    def is_seed(self, node: str, name: str) -> bool:
        """Whether the seed goes into this input."""
        return self.places.get("seed") == (node, name) or at(self.graph, node, "inputs", name) == "{seed}"

    def fixed_texts(self) -> Iterator[tuple[str, str, str]]:
        """(node, input, text) for each text that every job has as it stands: names of files, samplers and the like."""
        filled = set(self.places.values())
        for node, name, text in _texts(self.graph):
            if (node, name) not in filled and not _FOUND.search(text):
                yield node, name, text

    def class_of(self, node: str) -> str:
        return str(self.graph[node]["class_type"])

    def classes(self) -> tuple[str, ...]:
        return tuple(sorted({entry["class_type"] for entry in self.graph.values()}))


def problems(graph: Any, inputs: Mapping[str, Any], output: str) -> Iterator[str]:
    """What keeps a workflow from being used, each thing in one text."""
    if not graph:
        yield "workflow is missing: paste a workflow in API format into the profile"
        return
    if "nodes" in graph and "links" in graph:
        yield "workflow is in the format of the editor; export it again with Export (API)"
        return
    broken = [node for node, entry in graph.items() if not _is_node(entry)]
    if broken:
        yield f"workflow: no node with class_type and inputs: {', '.join(broken[:5])}"
        return
    yield from _wrong_places(graph, inputs)
    used = {*inputs, *(name for _, _, text in _texts(graph) for name in _FOUND.findall(text))}
    for name in sorted(used - FIELDS.keys()):
        yield f"workflow: unknown placeholder {{{name}}}; there are {', '.join(f'{{{n}}}' for n in FIELDS)}"
    for name in ("prompt", "seed"):
        if name not in used:
            yield f"workflow has no place for the {name}: write {{{name}}} into an input, or name it in `inputs`"
    yield from _wrong_output(graph, output)


def _wrong_places(graph: Graph, inputs: Mapping[str, Any]) -> Iterator[str]:
    for name, where in inputs.items():
        place = _place(graph, str(where))
        if place is None:
            yield f"inputs: {name}: {where!r} is no input of the workflow, such as 3.seed"
        elif isinstance(graph[place[0]]["inputs"][place[1]], (list, tuple)):
            yield f"inputs: {name}: {where!r} is a link from another node; setting it would cut the wire"


def _wrong_output(graph: Graph, output: str) -> Iterator[str]:
    node = _node(graph, output) if output else _only_save(graph)
    if output and node is None:
        yield f"output {output!r} is no node of the workflow, by id or title"
    if node is not None and (why := KEEPS_NOTHING.get(graph[node]["class_type"])):
        yield f"output {output!r} is a {graph[node]['class_type']}, which {why}: put a SaveImage behind it"
    if not output and node is None:
        useless = sorted({entry["class_type"] for entry in graph.values()} & KEEPS_NOTHING.keys())
        why = "".join(f" ({name} {KEEPS_NOTHING[name]})" for name in useless)
        yield f"workflow has no or several nodes that save a picture{why}: name the wanted one as `output`"


def _is_node(entry: Any) -> bool:
    return (
        isinstance(entry, Mapping)
        and isinstance(entry.get("class_type"), str)
        and isinstance(entry.get("inputs"), Mapping)
    )


def _texts(graph: Graph) -> Iterator[tuple[str, str, str]]:
    """(node, input, text) for each input that is a text."""
    for node, entry in graph.items():
        for name, value in entry["inputs"].items():
            if isinstance(value, str):
                yield node, name, value


def _substituted(text: str, values: Mapping[str, Any]) -> Any:
    whole = _FOUND.fullmatch(text)
    if whole:
        return values[whole[1]]
    return _FOUND.sub(lambda found: str(values[found[1]]), text)


def _place(graph: Graph, where: str) -> tuple[str, str] | None:
    """Node id and input of "<id or title>.<input>"."""
    name, _, field = where.rpartition(".")
    node = _node(graph, name)
    return (node, field) if node is not None and field in graph[node]["inputs"] else None


def _node(graph: Graph, name: str) -> str | None:
    """The node with this id, else the only one with this title."""
    if name in graph:
        return name
    titled = [node for node, entry in graph.items() if isinstance(entry.get("_meta"), Mapping)]
    found = [node for node in titled if graph[node]["_meta"].get("title") == name]
    return found[0] if len(found) == 1 else None


def _only_save(graph: Graph) -> str | None:
    found = [node for node, entry in graph.items() if entry["class_type"] in SAVES]
    return found[0] if len(found) == 1 else None
