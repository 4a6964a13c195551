"""The formats of reference managers: MEDLINE (nbib), RIS and BibTeX."""

import pytest

from searchlab.corpus import read_documents
from searchlab.corpus.formats import bibtex
from searchlab.corpus.parsing.latex import plain_latex
from searchlab.errors import RecordError
from searchlab.records import Document

NBIB = """
PMID- 11
OWN - NLM
TI  - Wings in
      slipstreams.
LID - S1 [pii]
LID - 10.1/x [doi]
AB  - An abstract
      of two lines.
FAU - Ting, Yi Li
AU  - Ting YL
FAU - Doe, J
MH  - Humans
MH  - *Wings/physiology
OT  - flow
DP  - 1958 Jan-Feb
TA  - J Ae Scs
JT  - Journal of Aeroscience
PT  - Journal Article

PMID- 12
AU  - Roe R
TA  - Short
DP  - in press
"""


def test_citations_of_medline_are_read_by_their_tags(write):
    path = write("a.nbib", NBIB)
    first, second = read_documents(path)
    assert first == Document(
        "11",
        "Wings in slipstreams.",
        "An abstract of two lines.",
        {
            "authors": ["Ting, Yi Li", "Doe, J"],
            "keywords": ["flow"],
            "mesh": ["Humans", "*Wings/physiology"],
            "types": ["Journal Article"],
            "journal": "Journal of Aeroscience",
            "year": 1958,
            "doi": "10.1/x",
        },
    )
    assert second == Document("12", fields={"authors": ["Roe R"], "journal": "Short", "year": "in press"})
    assert (first.location, second.location) == (f"{path}:2", f"{path}:21")


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        ("TI  - x", 1, "expected a line 'PMID- …', found 'TI  - x'"),
        ("PMID- 1\nwords", 2, "expected a line such as 'TI  - …', found 'words'"),
        ("PMID- 1\nPMID-", 2, "expected a docno, found an empty one"),
        ("PMID- 1 2", 1, "expected a docno without blanks, found '1 2'"),
    ],
)
def test_a_malformed_citation_of_medline_is_named_with_its_line(write, message, content, line, complaint):
    path = write("a", content)
    assert message(RecordError, read_documents, path, format="nbib") == f"{path}:{line}: {complaint}"


RIS = """TY  - JOUR
ID  - with blanks
AN  - acc:1
TI  - Wings
T1  - not this
N2  - An abstract
that goes on.
AU  - Ting, Y.
AU  - Doe, J.
PY  - 1958/01/02/
T2  - Aeroscience
KW  - wing
KW  - flow
DO  - 10.1/x
ER  - 

TY - BOOK
T1  - Heat
A1  - Roe, R.
Y1  - spring 1960
ER  -
"""


def test_references_of_ris_are_read_by_their_tags(write):
    path = write("a.ris", RIS)
    first, second = read_documents(path)
    assert first == Document(
        "acc:1",
        "Wings",
        "An abstract that goes on.",
        {
            "authors": ["Ting, Y.", "Doe, J."],
            "keywords": ["wing", "flow"],
            "types": ["JOUR"],
            "journal": "Aeroscience",
            "year": 1958,
            "doi": "10.1/x",
        },
    )
    assert second == Document("a.ris#ris-2", "Heat", "", {"authors": ["Roe, R."], "types": ["BOOK"], "year": 1960})
    assert (first.location, second.location) == (f"{path}:1", f"{path}:17")


def test_counts_of_an_export_of_ris_are_no_ids_of_papers(write, tmp_path):
    # By hand: a count gives way to a DOI, and without one carries the path of its file; an accession number stays.
    write("one.ris", "TY  - A\nID  - 1\nTI  - x\nER  - \nTY  - A\nID  - 2\nDO  - 10.1/x\nER  - \n")
    write("in/two b.ris", "TY  - A\nID  - 1\nTI  - y\nER  - \nTY  - A\nID  - 1234567\nER  - \nTY  - A\nER  - \n")
    docnos = [document.docno for document in read_documents(tmp_path)]
    assert docnos == ["in/two_b.ris#1", "1234567", "in/two_b.ris#ris-3", "one.ris#1", "10.1/x"]


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        ("\nTI  - x", 2, "expected a line 'TY  - …', found 'TI  - x'"),
        ("TY  - A\nTY  - B\nER  - ", 1, "expected ER, found another TY at line 2"),
        ("TY  - A\nTI  - x", 1, "expected ER, found the end of the file"),
    ],
)
def test_a_malformed_reference_of_ris_is_named_with_its_line(write, message, content, line, complaint):
    path = write("a", content)
    assert message(RecordError, read_documents, path, format="ris") == f"{path}:{line}: {complaint}"


BIBTEX = r"""% A comment, with mail from @me.
@string{ae = "Aero" # {science}}
@preamble{"\newcommand{\x}{y}"}
@comment{
  @article{not, title = {this}}
}
Words outside of entries are comments.
@Article{ting:58,
  title = {Of {W}ings   in {\"O}l \& G{\'e}l},
  author = "Ting, Yi Li and {Barnes
            and Noble} and M{\"u}ller, K. AND others",
  journal = ae # " Letters",
  abstract = "He said {"}wings{"} {nested {deep}}.",
  keywords = {wing; flow, heat},
  year = 1958, month = jan, doi = {10.1/x_y},
  title = {Not this},
}
@misc{roe} @book{doe, date={2001-05}, booktitle = undefined}
"""


def test_entries_of_bibtex_are_read_by_their_names(write):
    path = write("a.bib", BIBTEX)
    first, second, third = read_documents(path)
    assert first == Document(
        "ting:58",
        "Of Wings in Öl & Gél",
        'He said "wings" nested deep.',
        {
            "authors": ["Ting, Yi Li", "Barnes and Noble", "Müller, K."],
            "keywords": ["wing", "flow", "heat"],
            "types": ["article"],
            "journal": "Aeroscience Letters",
            "year": 1958,
            "doi": "10.1/x_y",
        },
    )
    assert second == Document("roe", fields={"types": ["misc"]})
    assert third == Document("doe", fields={"types": ["book"], "journal": "undefined", "year": 2001})
    assert [document.location for document in (first, second, third)] == [f"{path}:8", f"{path}:18", f"{path}:18"]


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ("@a{, title = {x}}", "expected a docno, found an empty one"),
        ("@a{k, title}", "expected 'name = value' in the entry, found 'title'"),
        ("@a{k, title = }", "expected a value in braces or quotes, found none"),
        ("@a{k, title = , x = 1}", "expected a value in braces or quotes, found ', x = 1'"),
        ("@a{k, title = {x} # }", "expected a value in braces or quotes, found none"),
        ('@a{k, title = "x}', "expected a closing quote, found the end of the entry"),
        ("@a{k, title = {x}", "expected a closing brace, found the end of the file"),
        ("@a{k, title = {x}\n@a{l}", "expected a closing brace, found another entry at line 3"),
        ("@a(k, title = {x})", "expected an entry in braces, found '@a(k,'"),
    ],
)
def test_a_malformed_entry_is_named_with_the_line_where_it_begins(write, message, entry, complaint):
    path = write("a.bib", f"@a{{0, title = {{x}}}}\n{entry}\n")
    assert message(RecordError, read_documents, path) == f"{path}:2: {complaint}"


def test_definitions_cannot_be_joined_to_make_a_text_of_any_length(write, message):
    path = write("a.bib", "@string{a0 = {" + "x" * 900 + "}}\n@string{a1 = a0 # a0}\n@misc{k}")
    complaint = "expected at most 1,000 characters, found 1,800 for 'a1'"
    assert message(RecordError, read_documents, path) == f"{path}:2: {complaint}"
    path = write("b.bib", "@string{a = {" + "x" * 900 + "}}\n@misc{k, title = " + " # ".join("a" * 1000) + "}")
    complaint = f"expected a joined value of at most {bibtex.MAX_JOINED_LENGTH:,} characters, found a longer one"
    assert message(RecordError, read_documents, path) == f"{path}:2: {complaint}"


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (r"G\"odel, G{\"o}del, G\"{o}del, {G\" odel}", "Gödel, Gödel, Gödel, Gödel"),
        (r"caf\'e, {\`a}, \^{e}, ma\~nana, \=a, \.z", "café, à, ê, mañana, ā, ż"),
        (r"\c{c} \c c \v{s} \H{o} \r{a} \k{a} \u{g} \d{s}", "ç ç š ő å ą ğ ṣ"),
        (r"\'{\i} \'\i {\i}", "í í ı"),
        (r"Stra{\ss}e, \O re, {\L}\'od\'z, {\ae}", "Straße, Øre, Łódź, æ"),
        (r"\emph{a} \textbf{b} {\it c} $\alpha$-helix \cite{x}", "a b c alpha-helix citex"),
        (r"5\% \& \$1 \_ \# \{x\} a~b ``q'' 1--2 --- \\ e\-f", '5% & $1 _ # {x} a b "q" 1–2 —   ef'),
        ("plain \\", "plain \\"),
    ],
)
def test_latex_becomes_what_it_prints(written, printed):
    assert plain_latex(written) == printed
