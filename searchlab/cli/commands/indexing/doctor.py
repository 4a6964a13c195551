"""`searchlab doctor`: problems of an index, or of judgments, runs, topics and feature files."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.messages import note
from searchlab.cli.options import ClusterOption, IndexOption, choose_index, open_cluster
from searchlab.cli.printing.terminal_text import print_line
from searchlab.cli.progress import stage_bar
from searchlab.evaluation.number_text import format_count


@app.command("doctor")
def doctor_command(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help="Judgments, runs, topics, feature files, or folders of these [default: the index is examined]",
        ),
    ] = None,
    index: IndexOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Examine an index, or files of judgments, runs and topics.

    Prints what is wrong, also with the index's judgments, and what to do about it. Files are compared with each other,
    and, with -i, with an index.
    """
    if files:
        _examine_files(files, index)
    else:
        _examine_index(index, cluster)


def _examine_index(index: str | None, cluster: str | None) -> None:
    from searchlab.features.artefact_checks import examine_artefacts
    from searchlab.judgments.judgment_store import judgments_file
    from searchlab.judgments.storage.judgment_backup import examine_judgments

    folder = choose_index(index)
    with open_cluster(cluster) as connected, stage_bar() as progress:
        diagnosis = searchlab.examine(folder, progress, cluster=connected)
        problems = examine_artefacts(folder) if diagnosis.healthy else []
        if problem := examine_judgments(judgments_file(folder)):
            problems.append(problem)
    for finding in diagnosis.findings:
        print_line(str(finding))
    for problem in problems:
        print_line(str(problem))
    n_problems = len(problems) + sum(finding.serious for finding in diagnosis.findings)
    if n_problems:
        note(f"{folder}: {format_count(n_problems, 'problem')} found")
        raise typer.Exit(1)
    examined = f"{format_count(diagnosis.n_docs, 'document')} in {format_count(diagnosis.n_shards, 'shard')}"
    print_line(f"{folder}: healthy; {examined} examined, language {diagnosis.language}")


def _examine_files(files: list[str], index: str | None) -> None:
    from searchlab.evaluation.file_checks.consistency import check_files
    from searchlab.indexing.snapshot import Snapshot

    docnos, index_name = None, ""
    if index is not None:
        folder = choose_index(index)
        index_name = str(folder)
        with closing(Snapshot(folder)) as snapshot:
            docnos = list(snapshot.docnos())
    with stage_bar() as progress:
        report = check_files(files, docnos, index=index_name, progress=progress)
    for finding in report.findings:
        print_line(f"{'' if finding.problem else 'note: '}{finding}")
    if not report.healthy:
        note(f"{format_count(sum(finding.problem for finding in report.findings), 'problem')} found")
        raise typer.Exit(1)
    print_line(f"no problems in {', '.join(report.examined)}")
