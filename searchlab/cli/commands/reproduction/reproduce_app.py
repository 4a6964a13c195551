"""The group `searchlab reproduce`, and the writing of its reports.

    letor        every ranker on folds of features: the experiments of RSVM-IR and OrdRank
    simulation   cost-sensitive against plain Ranking SVM on three Gaussians
    retrieval    searches, language models and re-rankers on collections with judgments

With -o each writes a report with the figures and tables of the papers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from searchlab.cli.app import add_group
from searchlab.cli.messages import note
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.report.content import Report

reproduce_app = add_group("reproduce", "Run the experiments of the papers.")


def write_report_folder(report: Report, output: str) -> None:
    """Write a report into a folder, and name its first file."""
    from searchlab.report.writer import write_report

    first, *others = write_report(report, output)
    note(f"report → {first}, and {format_count(len(others), 'file')} next to it")
