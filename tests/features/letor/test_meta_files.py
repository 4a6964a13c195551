"""Meta files of LETOR: counts as they are written, and errors that name the file."""

import numpy as np
import pytest

from searchlab.errors import SourceError
from searchlab.features.letor.meta_files import has_meta_files, read_meta_files

STREAM = "<stream><streamfrequency>{df}</streamfrequency><streamtermfrequency>{cf}</streamtermfrequency></stream>"


def write_meta(folder, qids=("2", "10"), n_streams=3):
    """Two terms in two documents; title, body and both have the lengths 3, 4 and 7."""
    meta = folder / "Meta"
    meta.mkdir(parents=True)
    sizes = "".join(f"<stream><totaltermnum>{size}</totaltermnum></stream>" for size in (30, 70, 100))
    (meta / "collectioninfo.xml").write_text(f"<collectioninfo><docnum>9</docnum>{sizes}</collectioninfo>")
    terms = "".join(
        f"<term><word>{word}</word>{''.join(STREAM.format(df=df, cf=df + place) for place in range(n_streams))}</term>"
        for word, df in (("lipid", 2), ("serum", 4))
    )
    documents = "".join(
        f"<doc><docid>{docno}</docid>"
        + "".join(
            f"<stream><length>{length}</length><uniquelength>2</uniquelength>"
            f"<term><termfrequency>{first}</termfrequency></term><term><termfrequency>1</termfrequency></term></stream>"
            for length in (3, 4, 7)
        )
        + "</doc>"
        for docno, first in (("a", 5), ("b", 0))
    )
    for qid in qids:
        text = f"<query><id>{qid}</id><terminfo>{terms}</terminfo><docinfo>{documents}</docinfo></query>"
        (meta / f"query-{qid}.xml").write_text(text)
    return meta


def test_counts_are_read_as_they_are_written(tmp_path):
    assert not has_meta_files(tmp_path)
    write_meta(tmp_path)
    assert has_meta_files(tmp_path)
    found = read_meta_files(tmp_path)
    assert found.n_docs == 9
    # By number, not by name.
    assert [query.qid for query in found.queries] == ["2", "10"]
    query = found.queries[0]
    assert query.docnos == ("a", "b")
    assert query.counts.terms == ("lipid", "serum")
    both = query.counts.streams["both"]
    assert np.array_equal(both.tf, [[5, 0], [1, 1]])
    assert both.lengths.tolist() == [7, 7]
    assert [(term.n_docs, term.n_tokens, term.doc_freq, term.term_count) for term in both.stats] == [
        (9, 100, 2, 4),
        (9, 100, 4, 6),
    ]
    assert query.counts.streams["title"].stats[0].n_tokens == 30


def test_wrong_files_are_named(tmp_path):
    meta = write_meta(tmp_path / "one")
    query = meta / "query-2.xml"
    good = query.read_text()
    for bad, message in [
        (good.replace("</query>", ""), r"query-2.xml: not an XML file"),
        (good.replace("<id>2</id>", ""), "expected id in query, found none"),
        (good.replace("<length>3</length>", "<length>x</length>"), "length is 'x', expected a whole number"),
        (
            good.replace("<term><termfrequency>5</termfrequency></term>", "", 1),
            "expected 2 terms in each stream of a document",
        ),
    ]:
        query.write_text(bad)
        with pytest.raises(SourceError, match=message):
            read_meta_files(tmp_path / "one")
    write_meta(tmp_path / "two", n_streams=2)
    with pytest.raises(SourceError, match="expected 3 streams, found 2"):
        read_meta_files(tmp_path / "two")
    write_meta(tmp_path / "three", qids=())
    with pytest.raises(SourceError, match=r"expected files query-1.xml, query-2.xml, …, found none"):
        read_meta_files(tmp_path / "three")
