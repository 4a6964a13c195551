import pytest

from searchlab.corpus import read_documents
from searchlab.errors import SourceError
from searchlab.records import Document


@pytest.mark.parametrize(
    ("content", "title", "body"),
    [
        ("\n\nTitle \n\nBody one.\nBody two.\n", "Title", "Body one.\nBody two."),
        ("Only one line\n\n", "", "Only one line"),
        ("t" * 200 + "\nbody", "t" * 200, "body"),
        ("t" * 201 + "\nbody", "", "t" * 201 + "\nbody"),
    ],
)
def test_a_short_first_line_with_text_after_it_is_the_title(write, content, title, body):
    path = write("a.txt", content)
    [document] = read_documents([path])
    assert document == Document("a.txt", title, body)
    assert document.location == str(path)


def test_the_docno_is_the_path_below_the_folder_without_blanks(write, tmp_path):
    write("deep/in here/a b.txt", "x")
    assert [document.docno for document in read_documents([tmp_path])] == ["deep/in_here/a_b.txt"]


def test_asking_for_text_reads_every_file_of_a_folder(write, tmp_path):
    write("a.md", "# Heading")
    write("b.jsonl", "{}")
    write("c.txt", "")
    write(".hidden.txt", "no")
    documents = list(read_documents([tmp_path], format="text"))
    assert documents == [Document("a.md", "", "# Heading"), Document("b.jsonl", "", "{}")]


def test_a_blank_file_holds_no_document(write, message):
    path = write("a.txt", " \n\n")
    assert message(SourceError, read_documents, [path]) == f"{path}: holds no documents"
    assert message(SourceError, read_documents, [path], format="text") == f"{path}: holds no documents"
