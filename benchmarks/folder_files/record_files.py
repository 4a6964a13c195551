"""Small text files with several records, one function for each format; a record is a docno, a title and a text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import NamedTuple
from xml.sax.saxutils import escape


class Record(NamedTuple):
    """A record to write; no part of it has characters that a format would have to escape."""

    docno: str
    title: str
    text: str


def json_lines(records: Iterable[Record]) -> str:
    """A JSON object a line."""
    return "\n".join(json.dumps({"docno": docno, "title": title, "body": text}) for docno, title, text in records)


def json_array(records: Iterable[Record]) -> str:
    """A JSON array of objects."""
    return json.dumps([{"id": docno, "title": title, "text": text} for docno, title, text in records], indent=1)


def csl_json(records: Iterable[Record]) -> str:
    """CSL-JSON, as Zotero exports it."""
    names = [{"family": "Ting", "given": "Yi Li"}]
    return json.dumps(
        [
            {"id": docno, "type": "article-journal", "title": title, "abstract": text, "author": names}
            | {"issued": {"date-parts": [[2008, 5, 12]]}, "container-title": "J Ae"}
            for docno, title, text in records
        ]
    )


def table(records: Iterable[Record], separator: str) -> str:
    """A table with a header."""
    return "\n".join(separator.join(row) for row in [("id", "title", "text"), *records])


def ris(records: Iterable[Record]) -> str:
    """RIS, as reference managers exchange it."""
    return "\n".join(
        f"TY  - JOUR\nAN  - {docno}\nAU  - Ting, Y\nTI  - {title}\nPY  - 2008\nAB  - {text}\nER  - "
        for docno, title, text in records
    )


def web_of_science(records: Iterable[Record]) -> str:
    """The tagged export of Web of Science."""
    written = (
        f"PT J\nAU Ting, Y\n   Doe, J\nTI {title}\nAB {text}\nPY 2008\nUT WOS:{docno}\nER\n"
        for docno, title, text in records
    )
    return "FN Clarivate Analytics Web of Science\nVR 1.0\n" + "\n".join(written) + "\nEF\n"


def medline(records: Iterable[Record]) -> str:
    """MEDLINE, as PubMed exports it; PMIDs are the numbers of the docnos."""
    return "\n".join(
        f"PMID- {_number(docno)}\nDP  - 2008 May\nTI  - {title}\nAB  - {text}\nFAU - Ting, Yi Li\n"
        for docno, title, text in records
    )


def embase(records: Iterable[Record]) -> str:
    """The CSV export of Embase with a field a row."""
    return "\n".join(
        f'"TITLE","{title}"\n"AUTHOR NAMES","Ting Y.","Doe J."\n"ABSTRACT","{text}"\n"PUI","L{_number(docno)}"\n'
        for docno, title, text in records
    )


def endnote(records: Iterable[Record]) -> str:
    """The XML of EndNote."""
    written = "".join(
        f'<record><ref-type name="Journal Article">17</ref-type><titles><title><style face="normal">{escape(title)}'
        f"</style></title></titles><dates><year>2008</year></dates><accession-num>{docno}</accession-num>"
        f"<abstract>{escape(text)}</abstract></record>"
        for docno, title, text in records
    )
    return f'<?xml version="1.0" encoding="UTF-8" ?><xml><records>{written}</records></xml>'


def pubmed(records: Iterable[Record]) -> str:
    """The XML of PubMed; PMIDs are the numbers of the docnos."""
    written = "\n".join(
        f"<PubmedArticle><MedlineCitation><PMID>{_number(docno)}</PMID><Article><ArticleTitle>{escape(title)}"
        f"</ArticleTitle><Abstract><AbstractText>{escape(text)}</AbstractText></Abstract></Article></MedlineCitation>"
        "</PubmedArticle>"
        for docno, title, text in records
    )
    return f'<?xml version="1.0" ?><PubmedArticleSet>{written}</PubmedArticleSet>'


def bibtex(records: Iterable[Record]) -> str:
    """BibTeX."""
    return "\n".join(
        f"@article{{{docno}, title = {{{title}}}, abstract = {{{text}}}, year = 2008}}"
        for docno, title, text in records
    )


def trec(records: Iterable[Record]) -> str:
    """The SGML of TREC."""
    return "\n".join(
        f"<DOC><DOCNO>{docno}</DOCNO><TITLE>{title}</TITLE><TEXT>{text}</TEXT></DOC>" for docno, title, text in records
    )


def smart(records: Iterable[Record]) -> str:
    """The format of SMART's collections."""
    return "".join(f".I {_number(docno)}\n.T\n{title}\n.W\n{text}\n" for docno, title, text in records)


def ohsumed(records: Iterable[Record]) -> str:
    """The format of OHSUMED; docnos are the numbers in `.U`."""
    return "".join(
        f".I {number}\n.U\n{_number(record.docno)}\n.T\n{record.title}\n.W\n{record.text}\n"
        for number, record in enumerate(records, start=1)
    )


# The formats by the names that `searchlab index --format` has for them, with the suffixes of their files.
RECORD_FILES: dict[str, tuple[str, Callable[[Iterable[Record]], str]]] = {
    "jsonl": (".jsonl", json_lines),
    "json": (".json", json_array),
    "csl": (".json", csl_json),
    "csv": (".csv", lambda records: table(records, ",")),
    "tsv": (".tsv", lambda records: table(records, "\t")),
    "ris": (".ris", ris),
    "wos": (".txt", web_of_science),
    "nbib": (".nbib", medline),
    "embase": (".csv", embase),
    "endnote": (".xml", endnote),
    "pubmed": (".xml", pubmed),
    "bibtex": (".bib", bibtex),
    "trec": (".trec", trec),
    "smart": (".all", smart),
    "ohsumed": (".87", ohsumed),
}


def _number(docno: str) -> str:
    """The number at the end of a docno."""
    return docno.rpartition("-")[2]
