"""The group `searchlab reproduce`, and the writing of its reports.

    letor        every ranker on folds of features: the experiments of RSVM-IR and OrdRank
    ohsumed      BM25, LMIR and Ranking SVMs on the judged documents of a collection: the main experiment of RSVM-IR
    simulation   cost-sensitive against plain Ranking SVM on three Gaussians
    retrieval    searches, language models and re-rankers on collections with judgments

With -o each writes a report with the figures and tables of the papers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from searchlab.cli.app import add_group
from searchlab.cli.messages import note
from searchlab.cli.output import STANDARD_OUTPUT, open_output
from searchlab.cli.printing.terminal_text import pluralize

if TYPE_CHECKING:
    from searchlab.report.content import Report

reproduce_app = add_group("reproduce", "Run the experiments of the papers.")


def write_report_folder(report: Report, output: str) -> None:
    """Write a report into a folder, and name its first file."""
    from searchlab.report.writer import write_report

    first, *others = write_report(report, output)
    note(f"report → {first}, and {pluralize(len(others), 'file')} next to it")


def write_json_results(record: Mapping[str, Any], json_file: str) -> None:
    """Write results as JSON, and name the file."""
    with open_output(json_file) as file:
        file.write(json.dumps(record, ensure_ascii=False, indent=2) + "\n")
    if json_file != STANDARD_OUTPUT:
        note(f"results → {json_file}")
