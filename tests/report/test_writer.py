"""Writing reports: all files, deterministic and complete, and CSV tables."""

import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SettingError, WriteFailed
from searchlab.report.content import Figure, Report, Section, Table
from searchlab.report.escaping import printable_line
from searchlab.report.writer import table_to_csv, write_report


def local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def test_all_files_are_written(hostile_report, tmp_path):
    written = write_report(hostile_report, tmp_path / "new" / "folder")
    names = ["report.html", "report.md", "report.tex", "main.csv", "means.svg", "lines.svg", "wide.csv", "long.csv"]
    assert [path.name for path in written] == names
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(names)
    for name in ("means.svg", "lines.svg"):
        assert local(ElementTree.parse(tmp_path / "new" / "folder" / name).getroot()) == "svg"


def test_the_same_report_gives_the_same_bytes(hostile_report, tmp_path):
    first, second = (write_report(hostile_report, tmp_path / name) for name in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    write_report(hostile_report, tmp_path / "a")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_an_invalid_drawing_leaves_no_files(tmp_path, small_table):
    bad = Figure("bad", "", "bad", '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')
    with pytest.raises(SettingError, match="figure bad"):
        write_report(Report("", "", (Section("", (small_table, bad)),)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WriteFailed, match="file: cannot be created"):
        write_report(Report("", "", ()), tmp_path / "file")


def test_an_empty_report_can_be_written(tmp_path):
    written = write_report(Report("", "", ()), tmp_path)
    assert [path.name for path in written] == ["report.html", "report.md", "report.tex"]


@given(st.lists(st.tuples(st.floats() | st.none(), st.integers(), st.booleans()), max_size=5), st.integers(0, 12))
def test_csv_preserves_all_digits(rows, digits):
    table = Table("t", "", ("x", "n", "yes"), tuple(rows), digits=digits)
    heading, *lines = csv.reader(table_to_csv(table).splitlines())
    assert heading == ["x", "n", "yes"]
    assert [(repr(float(x)) if x else None, int(n), flag) for x, n, flag in lines] == [
        (None if x is None else repr(x), n, str(flag)) for x, n, flag in rows
    ]


def test_csv_of_hostile_texts_has_all_rows_and_cells(hostile_report, tmp_path):
    write_report(hostile_report, tmp_path)
    with Path(tmp_path / "main.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert [len(row) for row in rows] == [4, 4, 4, 4]
    assert rows[1] == [printable_line(hostile_report.title), "0.25", "", "106"]
