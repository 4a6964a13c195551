import pytest

from searchlab.corpus import ReadingNotes, read_documents
from searchlab.corpus.reading_notes import MADE_DOCNO
from searchlab.errors import RecordError
from searchlab.records import Document

RECORDS = """<?xml version="1.0" encoding="UTF-8" ?><xml><records>
<record><database name="My.enl">My.enl</database><rec-number>5</rec-number>
<ref-type name="Journal Article">17</ref-type>
<contributors><authors><author><style face="normal">Ting, Yi Li</style></author><author>Doe, J.</author></authors>
<secondary-authors><author>Roe, R.</author></secondary-authors></contributors>
<titles><title><style face="normal">Wings of </style><style face="italic">Culex</style></title>
<secondary-title>Journal of Aeroscience</secondary-title></titles>
<periodical><full-title>Journal of Aeroscience</full-title><abbr-1>J Ae</abbr-1></periodical>
<pages>11-19</pages><volume>7</volume><number>2</number>
<keywords><keyword>wing</keyword><keyword>flow</keyword></keywords>
<dates><year>2008</year><pub-dates><date>May 12</date></pub-dates></dates>
<isbn>1234-5678 (Print)&#13;8765-4321 (Electronic)</isbn><accession-num>18481234</accession-num>
<abstract>Flow &amp; heat.</abstract><notes>A note</notes><label>L</label>
<urls><related-urls><url>http://x.org</url></related-urls></urls><custom2>PMC99</custom2>
<electronic-resource-num>10.1/x</electronic-resource-num><remote-database-provider>NLM</remote-database-provider>
<language>eng</language></record>
<record><rec-number>6</rec-number><ref-type name="Book">6</ref-type><titles><title>Heat</title></titles></record>
</records></xml>
"""


def test_records_of_endnote_are_read_by_the_names_of_their_elements(write):
    path = write("my library.xml", RECORDS)
    notes = ReadingNotes()
    first, second = read_documents(path, notes=notes)
    assert first == Document(
        "18481234",
        "Wings of Culex",
        "Flow & heat.",
        {
            "authors": ["Ting, Yi Li", "Doe, J."],
            "editors": ["Roe, R."],
            "keywords": ["wing", "flow"],
            "types": ["journal article"],
            "issn": ["1234-5678", "8765-4321"],
            "urls": ["http://x.org"],
            "notes": ["A note"],
            "journal": "Journal of Aeroscience",
            "journal_abbreviation": "J Ae",
            "year": 2008,
            "date": "2008-05-12",
            "volume": "7",
            "issue": "2",
            "pages": "11-19",
            "doi": "10.1/x",
            "pmid": "18481234",
            "pmcid": "PMC99",
            "accession": "18481234",
            "language": "eng",
            "label": "L",
            "custom2": "PMC99",
        },
    )
    assert second == Document("my_library.xml#6", "Heat", "", {"types": ["book"]})
    assert (first.location, second.location) == (f"{path}:2", f"{path}:17")
    assert notes.n_events[MADE_DOCNO] == 1


@pytest.mark.parametrize("declaration", ['<!ENTITY a "x">', '<!ENTITY a SYSTEM "file:///etc/passwd">'])
def test_entity_declarations_are_refused(write, message, declaration):
    path = write("a.xml", f"<!DOCTYPE xml [\n{declaration}\n]>\n<xml><records><record>&a;</record></records></xml>")
    assert message(RecordError, read_documents, path) == f"{path}:2: entity declarations are not allowed"
