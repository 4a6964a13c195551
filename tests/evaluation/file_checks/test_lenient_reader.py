"""Detection and lenient reading of files."""

import gzip

import pytest

from searchlab.evaluation.file_checks.lenient_reader import detect_kind, read_leniently
from tests.evaluation.file_checks.sample_files import LETOR, QRELS, RUN, TOPICS


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (TOPICS, "topics"),
        (QRELS, "judgments"),
        ("query-id\tcorpus-id\tscore\n1\td1\t1\n", "judgments"),
        ("1 d1 1\n1 d2 0\n", "judgments"),
        ("1\td1\t0\t0\n1\td2\t0\t0.000000\n", "judgments"),
        ("1 d1 0 0.000000\n1 d2 0 0.000000\n", "judgments"),
        ("1\tflu 1918\n2\tflu 1957\n", "topics"),
        (RUN, "run"),
        (RUN + "1 Q0 broken\n", "run"),
        ("\n" * 1000 + RUN, "run"),
        ("\n" * 1000, "topics"),
        (LETOR, "features"),
        ("# names: a b\n" + LETOR, "features"),
        ('{"qid": "1", "text": "word"}\n', "topics"),
        ("<top>\n<num> Number: 1\n<title> words\n</top>\n", "topics"),
        ("1\tdeath toll 1918\n2\tflu\n3\tmany more words than four here\n", "topics"),
    ],
)
def test_the_kind_of_a_file_is_detected_from_its_content(text, kind):
    assert detect_kind(text) == kind


def test_judgments_that_list_only_relevant_documents_have_grade_1(tmp_path):
    (tmp_path / "cisi.rel").write_text("1 28 0 0.000000\n1 35 0 0.000000\n2 29 0 0\n")
    assert read_leniently(tmp_path / "cisi.rel").grades == {"1": {"28": 1, "35": 1}, "2": {"29": 1}}


def test_compressed_files_are_read(tmp_path):
    with gzip.open(tmp_path / "r.run.gz", "wt") as file:
        file.write(RUN)
    assert (read_leniently(tmp_path / "r.run.gz").kind, read_leniently(tmp_path / "r.run.gz").qids) == (
        "run",
        {"1", "2", "3"},
    )
