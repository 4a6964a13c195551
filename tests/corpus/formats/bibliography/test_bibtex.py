import pytest

from searchlab.corpus import read_documents
from searchlab.corpus.formats.bibliography import bibtex, bibtex_fields
from searchlab.corpus.formats.bibliography.latex import plain_latex
from searchlab.errors import RecordError
from searchlab.records import Document

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
            "keywords": ["wing", "flow, heat"],
            "types": ["journal article"],
            "journal": "Aeroscience Letters",
            "year": 1958,
            "date": "1958-01",
            "doi": "10.1/x_y",
        },
    )
    assert second == Document("roe")
    assert third == Document("doe", fields={"types": ["book"], "journal": "undefined", "year": 2001, "date": "2001-05"})
    assert [document.location for document in (first, second, third)] == [f"{path}:8", f"{path}:18", f"{path}:18"]


BIBLATEX = r"""@inproceedings{part, title={Wings}, subtitle={A Review}, crossref={Whole}, date={2008-05-12},
  author={Ludwig van Beethoven and Yi Li Ting and {Wing Group} and M{\"u}ller, Karl},
  url={http://x.org/a\_b}, doi={10.1/a{\_}b}, pages={11--19}, eprint={77}, eprinttype={pubmed},
  keywords={Neoplasms, Second Primary; flow}, number={2}, file={a.pdf}, shortjournal={Proc. W.}, note={One; 1\par two}}
@article{own, journaltitle={Air}, journalsubtitle={A Journal}, location={Rome}, month=5, year=2001, type={Review},
  xdata={press}, issn={12345678}, langid={english}, eid={e5}}
@proceedings{whole, title={All Wings}, editor={Doe, J}, publisher={Press}, year={2007}, isbn={978-1-4028-9462-6},
  doi={10.1/all}}
@xdata{press, publisher={Own Press}}
@inbook{later, title={Heat}, crossref={whole}}
@inbook{lost, title={Lost}, crossref={nowhere}}
"""


def test_entries_of_biblatex_have_the_same_fields_and_inherit_from_others(write):
    documents = {document.docno: document for document in read_documents(write("a.bib", BIBLATEX))}
    # Those that waited for a later entry come last, and data for others is no document.
    assert list(documents) == ["whole", "later", "part", "own", "lost"]
    assert documents["part"] == Document(
        "part",
        "Wings: A Review",
        "",
        {
            "authors": ["van Beethoven, Ludwig", "Ting, Yi Li", "Wing Group", "Müller, Karl"],
            "editors": ["Doe, J"],
            "keywords": ["Neoplasms, Second Primary", "flow"],
            "types": ["conference paper"],
            "isbn": ["978-1-4028-9462-6"],
            "urls": ["http://x.org/a_b"],
            "notes": ["One; 1", "two"],
            "journal": "All Wings",
            "journal_abbreviation": "Proc. W.",
            "year": 2008,
            "date": "2008-05-12",
            "issue": "2",
            "pages": "11-19",
            "doi": "10.1/a_b",
            "pmid": "77",
            "publisher": "Press",
            "eprint": "77",
            "eprinttype": "pubmed",
            "file": "a.pdf",
        },
    )
    assert documents["own"] == Document(
        "own",
        "",
        "",
        {
            "types": ["journal article", "Review"],
            "issn": ["1234-5678"],
            "journal": "Air: A Journal",
            "year": 2001,
            "date": "2001-05",
            "pages": "e5",
            "publisher": "Own Press",
            "place": "Rome",
            "language": "english",
        },
    )
    inherited = {
        "editors": ["Doe, J"],
        "types": ["book section"],
        "isbn": ["978-1-4028-9462-6"],
        "journal": "All Wings",
        "year": 2007,
        "publisher": "Press",
    }
    assert documents["later"] == Document("later", "Heat", "", inherited)
    assert documents["lost"] == Document("lost", "Lost", "", {"types": ["book section"]})


def test_entries_that_wait_for_others_are_bounded(write, monkeypatch):
    monkeypatch.setattr(bibtex_fields, "MAX_REMEMBERED", 20)
    path = write("a.bib", "@inbook{a, title={xxxx}, crossref={c}}\n@inbook{b, crossref={c}}\n@book{c, title={T}}\n")
    # By hand: the first entry has 6 characters and waits, the second 2; the book has 2 and is remembered.
    assert [(document.docno, document.fields.get("journal")) for document in read_documents(path)] == [
        ("c", None),
        ("a", "T"),
        ("b", "T"),
    ]
    monkeypatch.setattr(bibtex_fields, "MAX_REMEMBERED", 5)
    assert [(document.docno, document.fields.get("journal")) for document in read_documents(path)] == [
        ("a", None),
        ("c", None),
        ("b", "T"),
    ]


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
