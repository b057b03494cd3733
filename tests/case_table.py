"""The table of all cases: each with what is right and what came of it.

`python -m tests.case_table` runs the tests that play the cases and prints the table as Markdown; `--into docs/cases.md`
puts it into that page, between its marks. It ends with 1 where a case is wrong, or has no test.

A case is a file or an entry of tests/data, or a fault that was once met. Its tests are found by its name: in their
parameters, in their own name, or in what they read.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DATA = HERE / "data"
BEGIN, END = "<!-- cases -->\n", "<!-- end of cases -->\n"

FAULTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a paid picture that is not handed out": (
        "its item fails, its tries are counted, the others go on",
        ("handed_out_costs_its_tries", "keeps_a_drawn_picture_back", "there_a_moment_later"),
    ),
    "a refusal by policy, whatever its status and form": (
        "fails its item with the inner reason; the run goes on",
        ("test_a_refusal_is_one_with_any_status",),
    ),
    "a request that is wrong for every item": ("pauses at the first call", ("what_meets_every_item",)),
    "the first paid call": ("goes alone until its request is on the wire for 2 s", ("first_call",)),
    "a ComfyUI profile whose node keeps nothing": (
        "is refused when it is read; cached is what names the node",
        ("a_node_that_keeps_nothing", "every_job_tells_of_its_cache", "also_where_the_graph_was_cached"),
    ),
    "jobs of a run that was stopped": (
        "are counted, and taken up or taken off",
        ("ctrl_c_counts_the_jobs", "ctrl_c_says_where_a_job", "ctrl_c_takes_our_job", "ctrl_c_stops_our_picture"),
    ),
    "jobs of a run that was killed": ("are taken up, not drawn again", ("job_of_a_killed_run", "killed_batch_left")),
    "the hint of an item's error": ("stands wherever the error does", ("hint_of_an_items_error",)),
    "agy without its envelope": (
        "is judged by its file; a permission, a signal and an old version are told apart",
        ("although_the_output_was_lost", "only_an_old_version", "test_cmd_signal", "test_agy_exit0_denied"),
    ),
    "a check that is answered 200 with an error": ("is believed by its body", ("believes_the_body",)),
    "models of Gemini": (
        "are those that answer generateContent",
        ("gemini_requests.py::test_models_are", "size_that_the_pro_model"),
    ),
    "ComfyUI: a missing node, a restart, a large seed": (
        "each told with what helps, and a restart waited for",
        ("refused_workflow_says", "restarts_is_waited_for", "finds_missing_model_files"),
    ),
    "new reasons and models that were shut down": (
        "are known by what they are",
        ("reasons_of_gemini", "however_it_is_labelled", "shut_down_is_told"),
    ),
    "a restricted key, a suspended project": ("are told as that, never as a private list", ("a_blocked_key_is_told",)),
    "a row that is told twice": ("is one item, and no part moves", ("pages_that_overlap", "pages_in_another_order")),
    "the grey stand-in": ("is no thumbnail", ("what_is_no_picture_is_told",)),
    "an answer that trickles": (
        "is given up when its time is over",
        ("drops_do_not_stretch", "source_that_trickles", "list_without_an_end", "no_answer_hangs", "data_api_hangs"),
    ),
    "titles in another language": (
        "are asked for, and never taken over all at once",
        ("titles_that_all_change", "titles_come_in_the_language", "titles_are_asked_for_in_a_language"),
    ),
    "an address of a tab, of Studio, of a queue": (
        "is fetched as what it names, or refused with a word",
        ("a_target_may_also_be", "page_of_a_channel_that_is_no_list", "old_custom_name", "nobody_can_read_is_refused"),
    ),
    "tabs of one channel": ("are lists of their own, by whatever source", ("one_id_whoever_tells",)),
    "a cell of several lines, a quote that is not closed": (
        "told with the line where it begins",
        ("row_of_several_lines",),
    ),
    "a CSV as spreadsheets and Takeout write it": (
        "is read, or says what to do",
        ("as_spreadsheets_save_it", "list_without_titles"),
    ),
    "titles and parts that differ": ("one warning with its command", ("badge_that_disagrees",)),
    "files that yt-dlp writes when it is asked otherwise": (
        "are told as what they are",
        ("what_ytdlp_was_asked_for", "answer_200_keeps_its_reason"),
    ),
    "what OpenAI's and Google's clients send": ("is what we send, field by field", ("test_sdk_requests.py",)),
}
"""Each with what is right, and parts of the names of its tests."""


PLAYED = {
    "yt_403_not_accessible.http": "test_each_failure_is_told_apart[private",
    "yt_404_playlist.http": "test_each_failure_is_told_apart[absent",
    "yt_500_page2.http": "test_each_failure_is_told_apart[broken",
    "api_51_page2.json": "api_51_page{n}",
}
"""Files that their tests name otherwise."""


@dataclass
class Case:
    area: str
    name: str
    right: str
    marks: tuple[str, ...]
    tests: set[str] = field(default_factory=set)
    wrong: set[str] = field(default_factory=set)

    @property
    def got(self) -> str:
        if self.wrong:
            return f"wrong: {', '.join(sorted(self.wrong))}"
        if not self.tests:
            return "no test"
        return f"right ({len(self.tests)} {'test' if len(self.tests) == 1 else 'tests'})"

    @property
    def ok(self) -> bool:
        return bool(self.tests) and not self.wrong


def cases() -> Iterator[Case]:
    for name, (right, marks) in FAULTS.items():
        yield Case("faults once met", name, right, marks)
    for name, told in read("responses/index.json").items():
        yield Case("answers of services", name, told["right"], (PLAYED.get(name, name),))
    for folder, name in (
        ("playlists/responses", "YouTube's answers"),
        ("recorded/comfyui", "ComfyUI 0.3.64, recorded"),
    ):
        for path in sorted((DATA / folder).iterdir()):
            marks = (PLAYED.get(path.name, path.name), f'"{path.stem}"', f"[{path.stem}")
            yield Case(name, path.name, "read for what it is", marks)
    for path in sorted((DATA / "recorded/ytdlp").iterdir()):
        yield Case("yt-dlp 2026.10.26, recorded", path.name, "read, or told what it is", (f"[{path.name}]",))
    for client in ("openai", "gemini"):
        for each in read(f"recorded/{client}/errors.json")["answers"]:
            right = f"status {each['status']}" + (
                f", their {each['raised'].rpartition('.')[2]}" if each["raised"] else ""
            )
            yield Case(f"read by {client}'s client", each["what"], right, (f"[{client}-{each['what']}]",))
    for told in read("responses/commands.json"):
        yield Case("programs", told["id"], told["right"], (f"test_{told['id']}",))
    for name, told in read("images/manifest.json")["files"].items():
        yield Case("pictures", name, told["expect"], (f"-{name}]", f"[{name}]"))
    for name, told in read("playlists/expect.json").items():
        yield Case("lists", name, told["about"], (PLAYED.get(name, name),))
    for line in (DATA / "titles.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            key, _, tags = line.split("\t")
            yield Case("titles", key, f"drawn whole: {tags}", (f"[{key}]", f"[{key}-", f"-{key}]", f"-{key}-"))


def read(name: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return found


FILES = (
    "batch", "reading", "openai", "openai_requests", "gemini", "gemini_requests", "comfyui", "comfyui_workflow",
    "antigravity", "command", "command_argv", "sdwebui", "http_edge",
)  # fmt: skip
OTHERS = (
    "complaints", "comfyui_recorded", "comfyui_server", "sdk_requests", "sdk_errors", "sources_api", "sources_contract",
    "sources_files", "sources_links", "fetch_api", "fetch_files", "fetch_thumbnails", "imaging_cases", "imaging_text",
    "runs_brake", "wire_storms", "ytdlp_recorded",
)  # fmt: skip


class Watch:
    """Notes which tests belong to which case, and how they end."""

    def __init__(self, found: list[Case]) -> None:
        self.found = found
        self.of: dict[str, list[Case]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            function = getattr(item, "function", None)
            said = f"{item.nodeid}\n{inspect.getsource(function) if function else ''}"
            self.of[item.nodeid] = [case for case in self.found if any(mark in said for mark in case.marks)]
        items[:] = [item for item in items if self.of[item.nodeid]]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for case in self.of.get(report.nodeid, ()):
            if report.when == "call" and report.passed:
                case.tests.add(report.nodeid)
            if report.failed:
                case.wrong.add(re.sub(r".*::", "", report.nodeid))


def table(found: list[Case]) -> str:
    areas = dict.fromkeys(case.area for case in found)
    sums = [(area, [case for case in found if case.area == area]) for area in areas]
    lines = ["| cases | right | of |", "|---|---|---|"]
    lines += [f"| {area} | {sum(case.ok for case in each)} | {len(each)} |" for area, each in sums]
    lines += [f"| **all** | **{sum(case.ok for case in found)}** | **{len(found)}** |"]
    for area, each in sums:
        lines += ["", f"## {area[0].upper()}{area[1:]}", "", "| case | expected | got |", "|---|---|---|"]
        lines += [f"| `{plain(case.name)}` | {plain(case.right)} | {plain(case.got)} |" for case in each]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.case_table")
    parser.add_argument("--into", type=Path, metavar="PAGE", help="also put the table into this page")
    options = parser.parse_args()
    found = list(cases())
    files = [f"tests/test_providers_{name}.py" for name in FILES] + [f"tests/test_{name}.py" for name in OTHERS]
    pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *files], plugins=[Watch(found)])
    made = table(found)
    sys.stdout.write(made)
    if options.into:
        before, _, rest = options.into.read_text(encoding="utf-8").partition(BEGIN)
        options.into.write_text(f"{before}{BEGIN}{made}{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0 if all(case.ok for case in found) else 1


if __name__ == "__main__":
    sys.exit(main())
