import gzip
import time
import tracemalloc

import pytest

from searchlab.corpus import ReadingNotes, read_documents
from searchlab.errors import RecordError
from searchlab.records import Document

ARTICLES = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle" "https://dtd.nlm.nih.gov/pubmed.dtd">
<PubmedArticleSet>
<PubmedArticle>
  <MedlineCitation Status="MEDLINE">
    <PMID Version="1">11</PMID>
    <DateCompleted><Year>1888</Year></DateCompleted>
    <Article>
      <Journal><ISSN IssnType="Print">1234-5678</ISSN>
        <JournalIssue><Volume>7</Volume><Issue>2</Issue><PubDate><Year>1958</Year><Month>Jan</Month></PubDate></JournalIssue>
        <Title>Journal of Aeroscience</Title><ISOAbbreviation>J Ae</ISOAbbreviation></Journal>
      <Pagination><StartPage>11</StartPage><MedlinePgn>11-9</MedlinePgn></Pagination><Language>eng</Language>
      <ArticleTitle>Wings of <i>Culex</i> &amp;
        H<sub>2</sub>O.</ArticleTitle>
      <ELocationID EIdType="pii">S1</ELocationID><ELocationID EIdType="doi">10.1/x</ELocationID>
      <Abstract><AbstractText Label="METHODS">We looked.</AbstractText>
        <AbstractText>We &#233;at.</AbstractText><CopyrightInformation>no</CopyrightInformation></Abstract>
      <AuthorList>
        <Author><LastName>Ting</LastName><ForeName>Yi Li</ForeName><Initials>YL</Initials>
          <AffiliationInfo><Affiliation>Athens.</Affiliation></AffiliationInfo></Author>
        <Author><LastName>Doe</LastName><Initials>J</Initials></Author>
        <Author><CollectiveName>Wing Group</CollectiveName></Author>
      </AuthorList>
      <PublicationTypeList><PublicationType UI="D1">Journal Article</PublicationType></PublicationTypeList>
    </Article>
    <CommentsCorrectionsList><CommentsCorrections><PMID>99</PMID></CommentsCorrections></CommentsCorrectionsList>
    <MeshHeadingList>
      <MeshHeading><DescriptorName>Wings</DescriptorName><QualifierName>physiology</QualifierName></MeshHeading>
      <MeshHeading><DescriptorName>Humans</DescriptorName></MeshHeading>
    </MeshHeadingList>
    <KeywordList><Keyword>flow</Keyword></KeywordList>
    <MedlineJournalInfo><Country>Greece</Country></MedlineJournalInfo>
    <OtherAbstract><AbstractText>no</AbstractText></OtherAbstract>
  </MedlineCitation>
  <PubmedData><ArticleIdList><ArticleId IdType="pmc">PMC99</ArticleId></ArticleIdList>
    <ReferenceList><Reference><ArticleIdList><ArticleId IdType="pmc">PMC1</ArticleId></ArticleIdList></Reference>
    </ReferenceList></PubmedData>
</PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>12</PMID><Article><Journal><JournalIssue><PubDate>
  <MedlineDate>1998 Dec-1999 Jan</MedlineDate></PubDate></JournalIssue></Journal></Article></MedlineCitation>
</PubmedArticle>
<PubmedBookArticle><BookDocument><PMID>13</PMID><Book><BookTitle>Genes</BookTitle></Book>
  <ArticleTitle>A chapter</ArticleTitle></BookDocument></PubmedBookArticle>
</PubmedArticleSet>
"""
ARTICLE = "<PubmedArticle><MedlineCitation><PMID>%d</PMID></MedlineCitation></PubmedArticle>\n"


def test_articles_are_read_by_the_names_of_their_elements(write):
    path = write("pubmed.xml.gz", ARTICLES)
    first, second, third = read_documents(path)
    assert first == Document(
        "11",
        "Wings of Culex & H2O.",
        "METHODS: We looked. We éat.",
        {
            "authors": ["Ting, Yi Li", "Doe, J", "Wing Group"],
            "keywords": ["flow"],
            "mesh": ["Wings", "Humans"],
            "types": ["journal article"],
            "issn": ["1234-5678"],
            "affiliations": ["Athens."],
            "journal": "Journal of Aeroscience",
            "journal_abbreviation": "J Ae",
            "year": 1958,
            "date": "1958-01",
            "volume": "7",
            "issue": "2",
            "pages": "11-9",
            "doi": "10.1/x",
            "pmid": "11",
            "pmcid": "PMC99",
            "language": "eng",
            "place": "Greece",
        },
    )
    assert second == Document("12", fields={"year": 1998, "date": "1998 Dec-1999 Jan", "pmid": "12"})
    assert third == Document("13", "A chapter", "", {"journal": "Genes", "pmid": "13"})
    assert [document.location for document in (first, second, third)] == [f"{path}:4", f"{path}:39", f"{path}:42"]


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        ("<PubmedArticleSet>\n<PubmedArticle/>", 2, "expected a <PMID> in the article, found none"),
        (f"<PubmedArticleSet>{ARTICLE % 1}", 2, "expected well-formed XML, found no element found"),
        ("<PubmedArticleSet>\n<a></b>", 2, "expected well-formed XML, found mismatched tag"),
        ("<PubmedArticleSet>&nbsp;", 1, "expected well-formed XML, found undefined entity"),
        ("<PubmedArticleSet>\n\xff", 2, "expected well-formed XML, found not well-formed (invalid token)"),
        (
            "<?xml version='1.0' encoding='no-such'?><PubmedArticleSet/>",
            1,
            "expected XML in a known encoding, found unknown encoding: no-such",
        ),
    ],
)
def test_malformed_xml_is_named_with_its_line(write, message, content, line, complaint):
    path = write("a.xml", content.encode("latin-1"))
    assert message(RecordError, read_documents, path) == f"{path}:{line}: {complaint}"


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "x"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "http://localhost/x.dtd"> %a;',
    ],
)
def test_entity_declarations_are_refused(write, message, declaration):
    path = write("a.xml", f"<!DOCTYPE PubmedArticleSet [\n{declaration}\n]>\n<PubmedArticleSet>&b;</PubmedArticleSet>")
    assert message(RecordError, read_documents, path) == f"{path}:2: entity declarations are not allowed"


def test_the_articles_before_a_mistake_are_read(write):
    path = write("a.xml", "<PubmedArticleSet>" + ARTICLE % 1 + ARTICLE % 2 + "<oops")
    notes = ReadingNotes()
    assert [document.docno for document in read_documents(path, notes=notes, strict=False)] == ["1", "2"]
    assert notes.n_bad == 1


def test_a_long_file_is_read_in_constant_memory(tmp_path):
    path = tmp_path / "a.xml.gz"
    article = ARTICLE.replace("</PMID>", "</PMID><x>" + "words " * 300 + "</x>") % 1
    path.write_bytes(gzip.compress(("<PubmedArticleSet>" + article * 5000 + "</PubmedArticleSet>").encode(), 1))
    tracemalloc.start()
    n_documents = sum(1 for _ in read_documents(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The file unpacks to nine megabytes.
    assert n_documents == 5000
    assert peak < 2_000_000


@pytest.mark.parametrize("inside", ["<a>" * 300_000, "<!--" + "x" * 20_000_000, "<a b='" + "x" * 20_000_000])
def test_hostile_xml_costs_no_more_than_linear_time(write, inside):
    path = write("a.xml", f"<PubmedArticleSet>{ARTICLE % 1}{inside}")
    began = time.process_time()
    assert len(list(read_documents(path, strict=False))) == 1
    assert time.process_time() - began < 3
