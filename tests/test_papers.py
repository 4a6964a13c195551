"""The page of the papers names every equation, table and figure, and nothing that does not exist."""

import re
import shlex
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest
import typer.main

from searchlab.cli.app import app
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.measures import parse_measure
from searchlab.features.feature_sets import make_feature_set
from searchlab.mixtures.em import EM
from searchlab.mixtures.mce import MCE
from searchlab.mixtures.setting_checks import change_settings
from searchlab.rankers.ranker_registry import make_ranker
from searchlab.scorers.registry import make_scorer
from searchlab.training.recipe import RECIPES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "papers.md"
TEXT = PAGE.read_text(encoding="utf-8")
VERDICTS = ("faithful", "deviates", "not here")

# What each paper numbers, listed by hand from the papers; Chen's lecture numbers its slides.
EXPECTED: dict[str, dict[str, Sequence[object]]] = {
    "Cao et al.": {"Eq.": range(1, 23), "Table": range(1, 4), "Figure": range(1, 9)},
    "Lwin and Kham": {"Eq.": range(1, 10), "Table": [1], "Figure": [1, 2], "Step": range(1, 7)},
    "Chen": {
        "Slide": [
            *(f"LM {number}/9" for number in range(1, 10)),
            "Vector representations",
            "Support vectors",
            "Algebra 1/2",
            "Algebra 2/2",
            "Algebra 3/3",
            "Nonseparability 1/2",
            "Nonseparability 2/2",
            "Kernel trick 1/2",
            "Kernel trick 2/2",
            "Soft margin 1/2",
            "Soft margin 2/2",
            "Ad-hoc retrieval 1/2",
            "Ad-hoc retrieval 2/2",
            "Ranking SVM 1/2",
            "Ranking SVM 2/2",
        ]
    },
    "Sun et al.": {"Eq.": range(1, 9), "Table": ["I", "II", "III"], "Figure": range(1, 5)},
    "Xu et al.": {"Eq.": range(1, 11), "Table": [1, 2], "Figure": range(1, 6)},
}


def section_of(paper):
    """The text under the heading of a paper."""
    (section,) = re.findall(rf"^## {re.escape(paper)}: [^\n]*\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    return section


def rows_of(section):
    """The rows of the tables of a section: what, where, how faithful."""
    lines = re.findall(r"^\| (.*) \|$", section, re.MULTILINE)
    rows = [re.split(r" (?<!\\)\| ", line) for line in lines]
    return [row for row in rows if row[0] != "what" and not set(row[0]) <= set("-|")]


def numbers_of(row, kind):
    """The numbers of a kind in bold at the start of a row: `**Eq. 3–5, 7**` has 3, 4, 5 and 7."""
    found = []
    for listed in re.findall(rf"\*\*{re.escape(kind)} ([^*]+)\*\*", row[0]):
        for part in listed.split(", "):
            ends = part.split("–")
            if len(ends) == 2:
                found += [str(number) for number in range(int(ends[0]), int(ends[1]) + 1)]
            else:
                found.append(part)
    return found


CODE = re.findall(r"`([^`\n]+)`", TEXT)
COMMANDS = sorted({code for code in CODE if code.startswith("searchlab ")})


@pytest.mark.parametrize("paper", EXPECTED)
def test_every_number_of_a_paper_has_a_row(paper):
    rows = rows_of(section_of(paper))
    for kind, expected in EXPECTED[paper].items():
        found = [number for row in rows for number in numbers_of(row, kind)]
        assert sorted(found) == sorted(map(str, expected)), kind


@pytest.mark.parametrize("paper", EXPECTED)
def test_every_row_has_a_verdict_and_a_reason_where_it_deviates(paper):
    rows = rows_of(section_of(paper))
    assert len(rows) > 10
    for row in rows:
        assert len(row) == 3, row
        verdict = re.match(rf"\*({'|'.join(VERDICTS)})\*", row[2])
        assert verdict, row
        assert verdict[1] == "faithful" or len(row[2]) > len(verdict[0]) + 20, row
        assert verdict[1] == "not here" or "`" in row[1], row


def test_the_summary_counts_the_rows():
    summary = re.findall(r"^\| \[([^\]:]+): [^|]*\| (\d+) \| (\d+) \| (\d+) \|", TEXT, re.MULTILINE)
    assert [paper for paper, *_ in summary] == list(EXPECTED)
    for paper, *counts in summary:
        verdicts = [re.match(r"\*([a-z ]+)\*", row[2])[1] for row in rows_of(section_of(paper))]
        assert [int(count) for count in counts] == [verdicts.count(verdict) for verdict in VERDICTS], paper


def resolve(name):
    """The object of a dotted name inside the package: a module, or what a module or class holds."""
    parts = f"searchlab.{name}".split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise AttributeError(name)


def test_what_the_rows_point_to_exists():
    targets = [
        code for paper in EXPECTED for row in rows_of(section_of(paper)) for code in re.findall("`([^`]+)`", row[1])
    ]
    assert len(targets) > 100
    for target in targets:
        if target.startswith("searchlab "):
            assert target in COMMANDS
        elif "/" in target:
            assert (ROOT / target).exists(), target
        else:
            assert re.fullmatch(r"[a-z_]+(\.\w+)+", target), target
            assert resolve(target) is not None, target


def parse_command(words):
    """The parameters of a command line, parsed as the application does, without running it."""
    command, rest = typer.main.get_command(app), words
    while hasattr(command, "commands"):
        assert rest and rest[0] in command.commands, words
        command, rest = command.commands[rest[0]], rest[1:]
    return command.make_context(words[0], list(rest)).params


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_and_their_settings_exist(line):
    words = shlex.split(line)[1:]
    given = parse_command(words)
    settings = dict(pair.split("=", 1) for pair in given.get("settings") or ())
    if given.get("features"):
        assert [make_feature_set(name) for name in given["features"].split(",")]
    assert given.get("recipe") in (None, *RECIPES)
    if given.get("dialect"):
        assert make_dialect(given["dialect"])
    measures = given.get("measure") or []
    assert all(map(parse_measure, [measures] if isinstance(measures, str) else measures))
    names = (given.get("rankers") or given.get("ranker") or "").split(",")
    if names != [""]:
        assert [make_ranker(name, settings) for name in names]
    elif words[0] in ("train-lm", "topic-model"):
        assert change_settings(EM() if given["method"] == "em" else MCE(), settings)
    else:
        assert not settings or "scorer" in given
    if given.get("scorer"):
        assert make_scorer(given["scorer"], {} if names != [""] else settings)


def test_the_page_has_commands():
    assert len(COMMANDS) > 10
