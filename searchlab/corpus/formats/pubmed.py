"""PubMed XML documents.

An article is a <PubmedArticle> in a <PubmedArticleSet>, and its PMID is the docno. Elements are identified by their
name and that of the enclosing element, since corrections have a PMID too and every date has a Year. Markup within a
text (<i>, <sub>) is removed and its words are kept; the sections of an abstract keep their labels ("METHODS: …").

expat reads the file piece by piece, so that one article is in memory at a time. It never fetches anything, and entity
declarations are rejected, since a few of them can stand for gigabytes of text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from searchlab.corpus.parsing.bibliographic_fields import bibliographic_fields
from searchlab.corpus.parsing.identifiers import check_name
from searchlab.corpus.source_files import HEAD_BYTES, OpenedFile
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.errors import RecordError
from searchlab.records import Document

if TYPE_CHECKING:
    from xml.parsers.expat import XMLParserType

# Elements within elements; PubMed has about ten.
MAX_NESTING_DEPTH = 1_000
ARTICLES = frozenset({"PubmedArticle", "PubmedBookArticle"})
# (enclosing element, element): the name under which its text is collected.
WANTED = {
    ("MedlineCitation", "PMID"): "pmid",
    ("BookDocument", "PMID"): "pmid",
    ("Article", "ArticleTitle"): "title",
    ("BookDocument", "ArticleTitle"): "title",
    ("Book", "BookTitle"): "journal",
    ("Journal", "Title"): "journal",
    ("PubDate", "Year"): "year",
    ("PubDate", "MedlineDate"): "year",
    ("Abstract", "AbstractText"): "abstract",
    ("Author", "LastName"): "last name",
    ("Author", "ForeName"): "fore name",
    ("Author", "Initials"): "initials",
    ("Author", "CollectiveName"): "last name",
    ("MeshHeading", "DescriptorName"): "mesh",
    ("KeywordList", "Keyword"): "keyword",
    ("PublicationTypeList", "PublicationType"): "type",
    ("BookDocument", "PublicationType"): "type",
    ("Article", "ELocationID"): "location",
}
AUTHOR = "Author"

_HEAD = re.compile(r"<Pubmed(?:Book)?Article(?:Set)?[\s>/]")


@dataclass(slots=True)
class _Article:
    location: str
    texts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    authors: list[str] = field(default_factory=list)
    doi: str = ""
    length: int = 0

    def text(self, name: str) -> str:
        return next(iter(self.texts[name]), "")


def is_pubmed(opened: OpenedFile) -> bool:
    """Whether the file begins with markup and has an element of PubMed in its head."""
    return opened.head.lstrip().startswith("<") and _HEAD.search(opened.head) is not None


def read_pubmed_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file, up to the first mistake in the XML."""
    return opened.reading.parse_each(_document, _read_articles(opened))


def _read_articles(opened: OpenedFile) -> Iterator[_Article]:
    from xml.parsers.expat import ExpatError, ParserCreate

    parser = ParserCreate()
    parser.buffer_text = True
    collector = _ArticleCollector(opened, parser)
    mistake: RecordError | None = None
    size = HEAD_BYTES
    n_unfinished = 0
    more = True
    while more and mistake is None:
        data = opened.stream.read(size)
        more = bool(data)
        reached = parser.CurrentByteIndex
        try:
            parser.Parse(data, not more)
        except ExpatError as error:
            reason = str(error).partition(":")[0]
            mistake = RecordError(opened.location(error.lineno), f"expected well-formed XML, found {reason}")
        except (LookupError, ValueError) as error:
            location = opened.location(parser.CurrentLineNumber)
            mistake = RecordError(location, f"expected XML in a known encoding, found {on_one_line(str(error))}")
        except RecordError as error:
            mistake = error
        yield from collector.take()
        # expat parses an unfinished token again with every piece: a tag of megabytes in small pieces would take hours.
        if parser.CurrentByteIndex == reached:
            n_unfinished += len(data)
            size *= 2
        else:
            n_unfinished, size = 0, HEAD_BYTES
        if mistake is None and n_unfinished > max(opened.reading.max_record_length, HEAD_BYTES):
            mistake = opened.reading.too_long(opened.location(parser.CurrentLineNumber))
    if mistake is not None:
        opened.reading.reject(mistake)


class _ArticleCollector:
    """The handlers of expat: collects the wanted texts of the article that is being read."""

    def __init__(self, opened: OpenedFile, parser: XMLParserType) -> None:
        self._opened = opened
        self._parser = parser
        self._enclosing: list[str] = []
        self._article: _Article | None = None
        self._author: dict[str, str] = {}
        # The text that is being collected, and the number of elements that enclose it.
        self._pieces: list[str] = []
        self._wanted = ""
        self._depth = 0
        self._attributes: dict[str, str] = {}
        self._finished: list[_Article] = []
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._refuse_entity

    def take(self) -> list[_Article]:
        """The articles that were completed since the last call."""
        taken, self._finished = self._finished, []
        return taken

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name in ARTICLES:
            self._article = _Article(self._opened.location(self._parser.CurrentLineNumber))
        elif name == AUTHOR:
            self._author = {}
        if self._article is not None:
            self._lengthen(self._article, len(name) + sum(map(len, attributes.values())))
        enclosing = self._enclosing[-1] if self._enclosing else ""
        if self._article is not None and not self._wanted and (enclosing, name) in WANTED:
            self._wanted, self._depth, self._pieces = WANTED[enclosing, name], len(self._enclosing), []
            self._attributes = attributes
        self._enclosing.append(name)
        if len(self._enclosing) > MAX_NESTING_DEPTH:
            location = self._opened.location(self._parser.CurrentLineNumber)
            raise RecordError(location, f"expected at most {MAX_NESTING_DEPTH:,} elements in each other, found more")

    def _text(self, text: str) -> None:
        if self._wanted and self._article is not None:
            self._lengthen(self._article, len(text))
            self._pieces.append(text)

    def _lengthen(self, article: _Article, n_characters: int) -> None:
        """Count characters of an article, and refuse it if they are too many."""
        article.length += n_characters
        if article.length > self._opened.reading.max_record_length:
            self._opened.reading.reject(self._opened.reading.too_long(article.location))
            self._article, self._wanted, self._pieces = None, "", []

    def _end(self, name: str) -> None:
        self._enclosing.pop()
        if self._article is None:
            return
        if self._wanted and len(self._enclosing) == self._depth:
            self._keep(self._article, on_one_line("".join(self._pieces)))
            self._wanted = ""
        elif name == AUTHOR:
            first_name = self._author.get("fore name") or self._author.get("initials", "")
            self._article.authors.append(", ".join(filter(None, [self._author.get("last name", ""), first_name])))
        elif name in ARTICLES:
            self._finished.append(self._article)
            self._article = None

    def _keep(self, article: _Article, text: str) -> None:
        enclosing = self._enclosing[-1] if self._enclosing else ""
        if enclosing == AUTHOR:
            self._author[self._wanted] = text
        elif self._wanted == "location":
            if self._attributes.get("EIdType") == "doi":
                article.doi = article.doi or text
        elif text:
            label = on_one_line(self._attributes.get("Label", ""))
            article.texts[self._wanted].append(f"{label}: {text}" if label else text)

    def _refuse_entity(self, *declaration: object) -> NoReturn:
        location = self._opened.location(self._parser.CurrentLineNumber)
        raise RecordError(location, "entity declarations are not allowed")


def _document(article: _Article) -> Document:
    if not article.texts["pmid"]:
        raise RecordError(article.location, "expected a <PMID> in the article, found none")
    fields = bibliographic_fields(
        authors=article.authors,
        keywords=article.texts["keyword"],
        mesh=article.texts["mesh"],
        types=article.texts["type"],
        journal=article.text("journal"),
        year=article.text("year"),
        doi=article.doi,
    )
    docno = check_name("docno", article.text("pmid"), article.location)
    return Document(docno, article.text("title"), " ".join(article.texts["abstract"]), fields, article.location)
