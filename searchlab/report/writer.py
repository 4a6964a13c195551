"""Writing a report to a folder.

    report.html    one self-contained file: no network, no scripts
    report.md      for GitHub and similar sites
    report.tex     for a paper
    NAME.csv       each table with all digits
    NAME.svg       each figure

Files are written atomically. The same report gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path

from searchlab.atomic_file import make_folders, open_atomic
from searchlab.csv_text import to_csv
from searchlab.errors import WriteFailed
from searchlab.report.content import Figure, Report, Table
from searchlab.report.escaping import printable_line
from searchlab.report.html_page import render_html
from searchlab.report.latex_page import render_latex
from searchlab.report.markdown_page import render_markdown
from searchlab.report.svg import standalone_svg


def write_report(report: Report, folder: str | Path) -> list[Path]:
    """Write all files of a report into a folder, which is created if needed; the paths, the HTML page first."""
    folder = Path(folder)
    # Everything is rendered before anything is written: an invalid figure leaves no incomplete report.
    texts = {
        "report.html": render_html(report),
        "report.md": render_markdown(report),
        "report.tex": render_latex(report),
    }
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                texts[f"{block.name}.csv"] = table_to_csv(block)
            elif isinstance(block, Figure):
                texts[f"{block.name}.svg"] = standalone_svg(block.svg, name=block.name, alt=block.alt)
    try:
        make_folders(folder)
    except OSError as error:
        raise WriteFailed(f"{folder}: cannot be created ({error.strerror})") from None
    for name, text in texts.items():
        with open_atomic(folder / name) as file:
            file.write(text)
    return [folder / name for name in texts]


def table_to_csv(table: Table) -> str:
    """A heading and a line for each row; numbers have all digits, None is empty, marks are left out."""
    rows = (table.columns, *table.rows)
    return to_csv([printable_line(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
