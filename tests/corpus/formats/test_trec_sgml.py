import pytest

from searchlab.corpus import read_documents, read_topics
from searchlab.errors import RecordError
from searchlab.records import Document, Topic

NEWSWIRE = """<?xml version="1.0"?>
<!DOCTYPE news
  SYSTEM "news.dtd">
<!-- two articles -->
<ROOT>
<DOC>
<DOCNO> AP-1 </DOCNO>
<DATE><P>June 1, 1990</P></DATE>
<HEADER><H2>Reports</H2> of the day
<HEADLINE> Wings
  &amp; slipstreams </HEADLINE></HEADER>
<BYLINE>By J. Doe</BYLINE>
<TEXT><P>AT&T said p < 0.05 &lt;b&gt;</P><!-- PAGE 2 -->
<P>Fine.</P></TEXT>
<TEXT>Second text.</TEXT>
</DOC>
<doc id="2"><docno>AP-2</docno><ttl>Short</ttl> Bare words <b>here</b>. <date>1991</date></doc><DOC>
<DOCNO>AP-3</DOCNO></DOC>
</ROOT>
"""


def test_documents_of_newswire_are_read_by_the_names_of_their_elements(write):
    path = write("news", NEWSWIRE)
    first, second, third = read_documents([path])
    assert first == Document(
        "AP-1",
        "Wings & slipstreams",
        "AT&T said p < 0.05 <b> Fine. Second text.",
        {"date": "June 1, 1990", "h2": "Reports", "byline": "By J. Doe"},
    )
    assert second == Document("AP-2", "Short", "Bare words here .", {"date": "1991"})
    assert third == Document("AP-3")
    assert [document.location for document in (first, second, third)] == [
        f"{path}:6",
        f"{path}:17",
        f"{path}:17",
    ]


def test_a_title_inside_the_text_belongs_to_the_text(write):
    path = write("d", "<DOC><DOCNO>1</DOCNO><TEXT><TITLE>in</TITLE> text</TEXT><HEAD>Out</HEAD></DOC>")
    assert list(read_documents([path])) == [Document("1", "Out", "in text")]


def test_only_the_first_title_is_the_title_and_the_others_stay_in_a_body_without_text(write):
    path = write("d", "<DOC><DOCNO>1</DOCNO><TITLE>One</TITLE><TITLE>Two</TITLE> rest</DOC>")
    assert list(read_documents([path])) == [Document("1", "One", "Two rest")]


def test_the_head_of_a_web_page_is_looked_into_for_its_title(write):
    path = write(
        "page",
        "<DOC><DOCNO>G1</DOCNO><DOCHDR>http://x\nServer: y</DOCHDR>"
        "<html><head><title>Page</title><meta a=b></head><body>Hello</body></html></DOC>",
    )
    assert list(read_documents([path])) == [Document("G1", "Page", "Hello", {"dochdr": "http://x Server: y"})]


def test_elements_that_are_long_or_repeated_are_not_fields(write):
    path = write("d", f"<DOC><DOCNO>1</DOCNO><A>x</A><A>y</A><B>{'z' * 201}</B><C>c</C><TEXT>t</TEXT></DOC>")
    assert list(read_documents([path])) == [Document("1", "", "t", {"c": "c"})]


def test_an_unclosed_text_does_not_lose_the_words(write):
    path = write("d", "<DOC><DOCNO>1</DOCNO><TEXT>all of it</DOC>")
    assert list(read_documents([path])) == [Document("1", "", "all of it")]


def test_an_absurd_character_number_stays_as_it_is(write):
    reference = "&#" + "9" * 5000 + ";"
    path = write("d", f"<DOC><DOCNO>1</DOCNO>{reference}</DOC>")
    assert list(read_documents([path])) == [Document("1", "", reference)]


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        ("<DOC>\n<TEXT>x</TEXT>\n</DOC>", 2, "expected a <DOCNO> in the document, found none"),
        ("<DOC>\n<DOCNO> </DOCNO></DOC>", 2, "expected a docno, found an empty one"),
        ("<DOC>\n<DOCNO>a b</DOCNO></DOC>", 2, "expected a docno without blanks, found 'a b'"),
        ("<DOC>\nx\n<DOC>\n", 2, "expected </DOC>, found another <DOC> at line 4"),
        ("<DOC>\n<DOCNO>1</DOCNO>\n", 2, "expected </DOC>, found the end of the file"),
        ("</DOC>", 2, "expected <DOC>, found </DOC>"),
        ("\nstray words\n<DOC>", 3, "expected <DOC>, found 'stray words'"),
        ("stray <DOC><DOCNO>1</DOCNO></DOC>", 2, "expected <DOC>, found 'stray'"),
        ("<!-- not\nclosed\nhere --> stray", 4, "expected <DOC>, found 'stray'"),
    ],
)
def test_a_malformed_document_is_named_with_the_line_where_it_began(write, message, content, line, complaint):
    path = write("d", "<DOC><DOCNO>0</DOCNO></DOC>\n" + content)
    assert message(RecordError, read_documents, [path]) == f"{path}:{line}: {complaint}"


TOPICS = """
<top>
<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that
participate: in crime.

<narr> Narrative:
A relevant document must <b>name</b> one.
</top>
<top><head> Tipster Topic Description <num> Number: 051 </num> <title> Topic: Airbus &amp; Co </title>
<con> Concept(s): subsidies </con></top>
"""


def test_topics_are_read_with_or_without_end_tags_and_labels(write):
    path = write("topics", TOPICS)
    first, second = read_topics(path)
    assert first == Topic(
        "301",
        "International Organized Crime",
        {
            "desc": "Identify organizations that participate: in crime.",
            "narr": "A relevant document must name one.",
        },
    )
    assert second == Topic("051", "Airbus & Co", {"head": "Tipster Topic Description", "con": "subsidies"})
    assert (first.location, second.location) == (f"{path}:2", f"{path}:13")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("no tags at all </top>", "expected a <num> in the topic, found none"),
        ("<title> x </top>", "expected a <num> in the topic, found none"),
        ("<num> Number: <title> x </top>", "expected a qid, found an empty one"),
        ("<num> 3 4 <title> x </top>", "expected a qid without blanks, found '3 4'"),
        ("<num> 3 <desc> only this </top>", "expected a text for topic 3, found only desc"),
        ("<num> 3 </top>", "expected a text for topic 3, found none"),
        ("<num> 3 <title> x", "expected </top>, found the end of the file"),
    ],
)
def test_a_malformed_topic_is_named_with_the_line_where_it_began(write, message, content, complaint):
    path = write("topics", f"<top><num>1<title>t</top>\n<top>\n{content}")
    assert message(RecordError, read_topics, path) == f"{path}:2: {complaint}"
