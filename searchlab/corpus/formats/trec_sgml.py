"""Documents and topics of TREC in SGML.

A document is `<DOC> <DOCNO> X </DOCNO> … </DOC>`; collections differ in its other elements, which are recognised by
name. The body is the content of TEXT (or a lead paragraph); without these it is everything but the docno, the title and
known metadata.

A topic is `<top> <num> Number: 301 <title> … <desc> Description: … <narr> Narrative: … </top>`; a part ends where the
next one begins, since most files have no end tags.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from searchlab.corpus.parsing.identifiers import check_name
from searchlab.corpus.parsing.sgml import TAG, Element, begins_with, find_elements, plain_text, read_records
from searchlab.corpus.parsing.topic_parts import TopicParts
from searchlab.corpus.source_files import OpenedFile
from searchlab.errors import RecordError
from searchlab.records import Document

BODY_ELEMENTS = frozenset({"TEXT", "LP", "LEADPARA"})
TITLE_ELEMENTS = frozenset({"TITLE", "HEADLINE", "TTL", "HEAD", "HL", "H3"})
METADATA_ELEMENTS = frozenset(
    {"DOCID", "DOCHDR", "FILEID", "PARENT", "URL", "DATE", "DATE1", "DATETIME", "DATELINE"}
    | {"AUTHOR", "AUTHORS", "BYLINE", "BIBLIO"}
)
MAX_FIELD_LENGTH = 200
_NOT_METADATA = BODY_ELEMENTS | TITLE_ELEMENTS | {"DOCNO"}
_PARAGRAPH_TAGS = frozenset({"P", "BR"})

# The parts of a topic, from TREC-1 on, with the label that follows their tag.
TOPIC_PARTS = {
    "num": "Number",
    "title": "Topic",
    "desc": "Description",
    "narr": "Narrative",
    "head": "Tipster Topic Description",
    "dom": "Domain",
    "smry": "Summary",
    "con": "Concept(s)",
    "fac": "Factor(s)",
    "nat": "Nationality",
    "time": "Time",
    "def": "Definition(s)",
}

is_trec_documents = begins_with("DOC")
is_trec_topics = begins_with("top")


def read_trec_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file."""
    return opened.reading.parse_each(_document, read_records(opened, "DOC"))


def read_trec_topics(opened: OpenedFile) -> Iterator[TopicParts]:
    """The topics of the file."""
    return opened.reading.parse_each(_topic, read_records(opened, "top"))


def _topic(record: tuple[str, str]) -> TopicParts:
    location, content = record
    parts = _topic_parts(content)
    if "num" not in parts:
        raise RecordError(location, "expected a <num> in the topic, found none")
    return TopicParts(check_name("qid", parts.pop("num"), location), parts, "title", location)


def _document(record: tuple[str, str]) -> Document:
    location, content = record
    elements = list(find_elements(content, _is_known))
    docno = _first(elements, frozenset({"DOCNO"}))
    if docno is None:
        raise RecordError(location, "expected a <DOCNO> in the document, found none")
    title = _first(elements, TITLE_ELEMENTS)
    texts = [element for element in elements if element.name in BODY_ELEMENTS]
    metadata = [element for element in elements if _is_metadata(element, bool(texts))]
    if texts:
        body = " ".join(element.inner for element in texts)
    else:
        body = _without([docno, *([title] if title else []), *metadata], content)
    return Document(
        check_name("docno", plain_text(docno.inner), location),
        plain_text(title.inner) if title else "",
        plain_text(body),
        _fields(metadata),
        location,
    )


def _is_known(element: Element) -> bool:
    if element.name == "HEAD":
        # In newswire a headline, but in a web page a container with the title somewhere inside.
        return _is_short(element)
    return element.name in _NOT_METADATA or element.name in METADATA_ELEMENTS or _is_short(element)


def _is_short(element: Element) -> bool:
    """Whether an element has a few words and no other elements than paragraphs."""
    if element.length > MAX_FIELD_LENGTH or element.name in _PARAGRAPH_TAGS:
        return False
    return all(tag["name"].upper() in _PARAGRAPH_TAGS for tag in TAG.finditer(element.inner))


def _is_metadata(element: Element, has_text: bool) -> bool:
    """Whether an element is metadata. An unknown one is if there is a TEXT; otherwise it may be part of the body."""
    return element.name in METADATA_ELEMENTS or (has_text and element.name not in _NOT_METADATA)


def _first(elements: Sequence[Element], names: frozenset[str]) -> Element | None:
    return next((element for element in elements if element.name in names), None)


def _without(elements: Sequence[Element], content: str) -> str:
    apart = sorted(elements, key=lambda element: element.start)
    ends = [0, *(element.end for element in apart)]
    starts = [*(element.start for element in apart), len(content)]
    return " ".join(content[end:start] for end, start in zip(ends, starts, strict=True))


def _fields(metadata: Sequence[Element]) -> dict[str, str]:
    times = Counter(element.name for element in metadata)
    single = [element for element in metadata if times[element.name] == 1 and _is_short(element)]
    texts = {element.name.lower(): plain_text(element.inner) for element in single}
    return {name: text for name, text in texts.items() if text}


def _topic_parts(content: str) -> dict[str, str]:
    starts = [tag for tag in TAG.finditer(content) if not tag["end"] and tag["name"].lower() in TOPIC_PARTS]
    bounds = [*(tag.start() for tag in starts), len(content)]
    parts: dict[str, str] = {}
    for tag, end in zip(starts, bounds[1:], strict=True):
        name = tag["name"].lower()
        text = _without_label(plain_text(content[tag.end() : end]), TOPIC_PARTS[name])
        parts[name] = f"{parts[name]} {text}" if name in parts else text
    return parts


def _without_label(text: str, label: str) -> str:
    before, colon, after = text.partition(":")
    return after.strip() if colon and before.strip().lower() == label.lower() else text
