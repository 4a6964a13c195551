"""Records of reference managers and databases, exported and read again, are the same records."""

import csv
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import searchlab
from searchlab.corpus import read_documents
from searchlab.corpus.export.bibtex_writer import escape_bibtex, write_bibtex
from searchlab.corpus.export.csv_writer import write_csv
from searchlab.corpus.export.export_formats import EXPORT_FORMATS, export_format
from searchlab.corpus.export.ris_writer import write_ris
from searchlab.corpus.formats.bibliography.latex import plain_latex
from searchlab.corpus.parsing.bibliographic_fields import LISTS, TEXTS
from searchlab.corpus.parsing.publication_types import PUBLICATION_TYPES, find_type
from searchlab.errors import SettingError
from searchlab.records import Document
from tests.hypothesis_profiles import examples

FILES = {
    "zotero.ris": """TY  - JOUR
TI  - Wings & “lift”: 5 % of {all} $x_1$ -- a_b's ''best'' #1
AU  - Ting, Yi Li
AU  - Wing Group
AU  - Smith and Sons
T2  - Journal of Aeroscience
J2  - J. Ae.
AB  - The flow \\emph{of} air ~ 3^2.
DA  - 2008/05/12/
PY  - 2008
DP  - DOI.org (Crossref)
VL  - 7
IS  - 2
SP  - 11
EP  - 19
LA  - en
SN  - 1234-5678
SN  - 8765-432X
DO  - 10.1002/(SICI)1097-0258(19980815)17:15/16<1661::AID-SIM968>3.0.CO;2-2
UR  - http://x.org/a_b?c=%20&d={e}
UR  - http://y.org/~z
L1  - files/1/a.pdf
Y2  - 2020/01/01/10:00:00
KW  - wing
KW  - Neoplasms, Second Primary
N1  - A note; with a semicolon
N1  - <p>Another</p>
ID  - ting2008
ER  - 

TY  - THES
TI  - Heat
AU  - Doe, Jo
PB  - University
CY  - Rome
M3  - PhD Thesis
PY  - in press
KW  - one, with a comma
ID  - doe
ER  - 
""",
    "endnote.ris": """TY  - CHAP
A2  - Roe, R.
A4  - Poe, E.
AU  - Ting, Y.
AD  - Athens; Greece
AD  - Rome
AN  - 18481234
CY  - Berlin
PB  - Press
T2  - All of Wings
T3  - Lecture Notes
TI  - Wings
DA  - Jan-Feb
DB  - Embase
ET  - 2nd
PY  - 2008
SP  - 11-9, 20
SN  - 978-1-4028-9462-6
C2  - PMC99
ID  - 1
ER  - 
""",
    "pubmed.nbib": """PMID- 11
TI  - Wings in slipstreams.
LID - 10.1/x_y [doi]
AB  - An abstract.
FAU - Ting, Yi Li
FAU - Doe, J
CN  - Wing Group
AD  - Institute of Wings, Athens; Greece.
MH  - Humans
MH  - *Wings/physiology
OT  - flow
DP  - 1958 Jan-Feb
TA  - J Ae Scs
JT  - Journal of Aeroscience
PT  - Review
PT  - Journal Article
IS  - 1234-5678 (Print)
VI  - 7
IP  - 2 Pt 1
PG  - 11-9
PMC - PMC99
LA  - eng
PL  - Greece

PMID- 18481234
TI  - Heat.
PT  - Randomized Controlled Trial
DP  - 2008 May 12
""",
}


@pytest.fixture(params=FILES)
def records(request, tmp_path):
    """The records of a file, as they were indexed, and a search for all of them."""
    path = tmp_path / request.param
    path.write_text(FILES[request.param])
    searchlab.index(path, tmp_path / "index", jobs=1)
    with searchlab.open(tmp_path / "index") as engine:
        hits = engine.search("wings heat", k=None)
        assert len(hits) == len(list(read_documents(path)))
        yield hits


@pytest.mark.parametrize("suffix", [name for name in EXPORT_FORMATS if name != "run"])
def test_what_is_exported_is_read_again(records, tmp_path, suffix):
    path = tmp_path / f"results.{suffix}"
    records.export(path)
    expected = [hit.document for hit in records]
    found = list(read_documents(path))
    if suffix == "bib":
        # Tags of RIS are no names in BibTeX, and braces in a URL are encoded.
        expected = [replace(document, fields=without_tags(document.fields)) for document in expected]
    if suffix == "csv":
        ranked = [{"rank": str(hit.rank), "score": repr(hit.score)} for hit in records]
        expected = [
            replace(document, fields=with_commas(document.fields) | more)
            for document, more in zip(expected, ranked, strict=True)
        ]
    assert found == expected


def without_tags(fields):
    kept = {name: value for name, value in fields.items() if name in (*LISTS, *TEXTS)}
    if "urls" in kept:
        kept["urls"] = [url.replace("{", "%7B").replace("}", "%7D") for url in kept["urls"]]
    return kept


def with_commas(fields):
    return {
        name: [item.replace(";", ",") for item in value] if isinstance(value, list) else value
        for name, value in fields.items()
    }


def test_the_files_use_every_bibliographic_field(tmp_path):
    used = set()
    for name, content in FILES.items():
        path = tmp_path / name
        path.write_text(content)
        used |= {field for document in read_documents(path) for field in document.fields}
    assert {*LISTS, *TEXTS} <= used


def test_every_type_survives_ris_and_bibtex(tmp_path):
    documents = [
        Document(f"d{number}", "t", "", {"types": [kind.name, "Review"]})
        for number, kind in enumerate(PUBLICATION_TYPES)
    ]
    for suffix, write in {"ris": write_ris, "bib": write_bibtex}.items():
        path = tmp_path / f"a.{suffix}"
        path.write_text("".join(write(documents)))
        assert list(read_documents(path)) == documents
    # An entry of BibTeX is of the type that writes it.
    codes = [kind.bibtex for kind in PUBLICATION_TYPES if kind.bibtex]
    assert len(codes) > 20
    assert all(find_type(kind.bibtex) is kind for kind in PUBLICATION_TYPES if kind.bibtex)


@given(st.text(st.sampled_from("\\{}$&%#_~^-'`\"a b<>@=é"), max_size=12))
@settings(max_examples=examples(300), deadline=None)
def test_escaped_text_is_what_latex_prints(text):
    assert plain_latex(escape_bibtex(text)) == text
    # Braces match, so that no text can end the value that it is in.
    depth = 0
    for before, sign in zip("x" + escape_bibtex(text), escape_bibtex(text), strict=False):
        depth += 0 if before == "\\" else {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0


def test_a_spreadsheet_runs_nothing_and_programs_find_the_table(tmp_path):
    document = Document("=cmd", "+A1", "@x", {"keywords": ["=a;b", "c"], "n": 3, "deep": {"a": [1]}, "rank": "9"})
    path = tmp_path / "a.csv"
    path.write_text("".join(write_csv([(document, -1.5)])), encoding="utf-8")
    with path.open(encoding="utf-8-sig", newline="") as file:
        [row] = csv.DictReader(file)
    assert row == {
        "rank": "1",
        "docno": "'=cmd",
        "title": "'+A1",
        "body": "'@x",
        "keywords": "'=a,b; c",
        "n": "3",
        "deep": '{"a": [1]}',
        "score": "-1.5",
    }


def test_keys_of_bibtex_are_distinct_and_cannot_end_an_entry():
    keys = [entry.split("{")[1].split(",")[0] for entry in write_bibtex([Document("a{b"), Document("a}b")])]
    assert [key.strip("\n}") for key in keys] == ["a_b", "a_b_2"]


def test_no_document_can_forge_a_record_of_ris():
    [record] = write_ris([Document("d", "t\nER  - \nTY  - BOOK", "b\r\nTI  - x", {"notes": ["n\nTI  - y"]})])
    assert [line[:2] for line in record.splitlines()] == ["TY", "ID", "TI", "N1", "AB", "ER", ""]


def test_a_file_of_no_known_format_is_refused():
    with pytest.raises(SettingError, match=r"cannot export to 'a.xls', expected a name that ends in .ris, .csv, .bib"):
        export_format("a.xls")
