"""Sorting, facets and words of other fields agree with a plain count over the documents."""

import random
from collections import Counter

import numpy as np
import pytest

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import SettingError
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.fields.facets import parse_fields, suited_fields
from searchlab.retrieval.fields.sorting import SortOrder

JOURNALS = ["Lancet", "Blood", "Ánnals", "Nature", "Zeitschrift"]


def make_documents(n=60, seed=3):
    """Documents of a few words, with fields that some of them lack."""
    chance = random.Random(seed)
    documents = []
    for number in range(n):
        fields = {
            "year": chance.choice([None, 1988, "1990", 2001, "2001-06", "in press"]),
            "journal": chance.choice([None, *JOURNALS]),
            "mesh": chance.sample(["heart", "lung", "skin", "LUNG"], chance.randrange(3)),
        }
        present = {name: value for name, value in fields.items() if value}
        documents.append(Document(f"d{number:02}", "", " ".join(chance.choices("abc", k=3)), present))
    return documents


DOCUMENTS = make_documents()


@pytest.fixture(scope="module", params=[(None, False), (20, False), (20, True)], ids=["one", "several", "compiled"])
def engine(request, build):
    words_per_shard, compiled = request.param
    with SearchEngine(build(DOCUMENTS, words_per_shard=words_per_shard), compiled=compiled) as engine:
        yield engine


def year_of(document):
    """A year as a number, 2001-06 as 2001 and 151 days; None for what is none."""
    year = document.fields.get("year")
    return {None: None, "in press": None, "1990": 1990, "2001-06": 2001 + 151 / 365}.get(year, year)


def journal_of(document):
    return document.fields.get("journal", "").lower().replace("á", "a") or None


@pytest.mark.parametrize(("field", "key"), [("year", year_of), ("journal", journal_of)])
@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("k", [3, None])
def test_sorted_hits_are_all_hits_in_the_order_of_a_field(engine, field, key, direction, k):
    by_docno = {document.docno: document for document in DOCUMENTS}
    ranked = engine.search("a", k=None).docnos
    keys = {docno: key(by_docno[docno]) for docno in ranked}
    assert 0 < sum(value is None for value in keys.values()) < len(keys)
    with_value = [docno for docno in ranked if keys[docno] is not None]
    # The sort is stable, also if it is reversed: equal values keep the order of ranks.
    expected = sorted(with_value, key=lambda docno: keys[docno], reverse=direction == "desc")
    expected += [docno for docno in ranked if keys[docno] is None]
    hits = engine.search("a", k=k, sort=f"{field}:{direction}")
    assert hits.docnos == expected[:k]
    assert hits.n_matches == len(ranked)
    scores = dict(zip(ranked, engine.search("a", k=None).scores.tolist(), strict=True))
    assert hits.scores.tolist() == [scores[docno] for docno in hits.docnos]
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


@pytest.mark.parametrize("pipeline", ["plain", "expanded", "cut", "fused"])
def test_every_pipeline_sorts_and_counts_what_it_finds(engine, pipeline):
    bm25, title = engine.retriever("bm25"), engine.retriever("dirichlet")
    made = {"plain": bm25, "expanded": bm25 >> RM3(), "cut": bm25 % 7, "fused": (bm25 % 5) | title}[pipeline]
    everything = made.search("a", k=None)
    hits = made.search("a", k=4, sort="year:desc")
    assert hits.docnos == everything.sorted_by("year:desc").docnos[:4]
    assert hits.search.pipeline is made
    years = [engine.document(docno).fields.get("year") for docno in everything.docnos]
    assert sum(each.n_docs for each in hits.facets("year")["year"].values) == sum(year is not None for year in years)


def test_an_order_is_written_with_its_direction():
    assert SortOrder.parse("year") == SortOrder.parse("year:asc") == SortOrder("year")
    assert SortOrder.parse(" year:desc ") == SortOrder("year", descending=True)
    assert str(SortOrder("a:b", descending=True)) == "a:b:desc"
    assert SortOrder.parse("a:b") == SortOrder("a:b")


@pytest.mark.parametrize("sort", ["", 3, "colour:desc", "title"])
def test_an_order_by_what_is_no_field_is_refused(engine, sort):
    for search in (engine.search, engine.retriever().search):
        with pytest.raises(SettingError, match=r"expected|unknown field"):
            search("a", sort=sort)


# --- facets


def test_facets_count_all_documents_that_are_found(engine):
    found = [engine.document(docno) for docno in engine.search("a b", k=None, filters=["year=[1980 TO 2001]"]).docnos]
    facets = engine.search("a b", k=1, filters=["year=[1980 TO 2001]"]).facets("journal", "mesh", "year", n=3)
    assert list(facets) == ["journal", "mesh", "year"]
    journals = Counter(document.fields["journal"] for document in found if "journal" in document.fields)
    expected = sorted(journals.items(), key=lambda item: (-item[1], item[0].replace("Á", "A")))
    assert [(each.value, each.n_docs) for each in facets["journal"].values] == expected[:3]
    assert facets["journal"].n_values == len(journals)
    assert facets["journal"].n_without == len(found) - journals.total()
    # A document that has a value twice, in two spellings, counts once.
    lungs = sum(any(each.lower() == "lung" for each in document.fields.get("mesh", ())) for document in found)
    assert [each.n_docs for each in facets["mesh"].values if each.value.lower() == "lung"] == [lungs]
    assert facets["mesh"].n_without == sum("mesh" not in document.fields for document in found)


def test_facets_of_numbers_are_in_their_order(engine):
    facet = engine.search("a b c").facets("year")["year"]
    assert [each.value for each in facet.values] == ["1988", "1990", "2001", "2001-06", "in press"]
    assert facet.to_json()["values"][0] == {"value": "1988", "n_docs": facet.values[0].n_docs}


def test_a_value_of_a_facet_as_a_filter_finds_its_documents(engine):
    hits = engine.search("a", k=2)
    for field, facet in hits.facets("journal", "mesh", "year").items():
        assert facet.values
        for each in facet.values:
            assert engine.search("a", k=1, filters=[f"{field}={each.value}"]).n_matches == each.n_docs


def test_deleted_documents_and_empty_results_are_not_counted(build):
    folder = build(DOCUMENTS, words_per_shard=20)
    gone = [document.docno for document in DOCUMENTS if document.fields.get("journal") == "Lancet"]
    searchlab.delete(folder, gone)
    with SearchEngine(folder) as engine:
        facet = engine.search("a b c", k=1).facets("journal")["journal"]
        assert {each.value for each in facet.values} == set(JOURNALS) - {"Lancet"}
        nothing = engine.search("unheard").facets("journal")["journal"]
        assert (nothing.values, nothing.n_values, nothing.n_without) == ((), 0, 0)


@pytest.mark.parametrize("words_per_shard", [None, 1])
def test_a_value_is_shown_as_the_first_live_document_of_the_index_writes_it(build, words_per_shard):
    written = {"d0": "LUNG", "d1": "Lung", "d2": "lung"}
    documents = [Document(docno, "", f"a {docno}", {"mesh": ["heart", value]}) for docno, value in written.items()]
    folder = build(documents, words_per_shard=words_per_shard)
    for first in written:
        with SearchEngine(folder) as engine:
            # Whatever is searched, and was searched before.
            for query in ("a", "d2", "a"):
                values = engine.search(query).facets("mesh")["mesh"].values
                assert [each.value for each in values] == ["heart", written[first]]
        searchlab.delete(folder, [first])


def test_a_facet_of_what_is_no_field_is_refused(engine):
    with pytest.raises(SettingError, match="unknown field 'colour'"):
        engine.search("a").facets("colour")
    with pytest.raises(SettingError, match="n is 0, expected"):
        engine.search("a").facets("year", n=0)
    with pytest.raises(SettingError, match=r"field is \['year'\], expected"):
        engine.search("a").facets(["year"])


def test_names_of_fields_are_split_at_commas():
    assert parse_fields(["year, journal", "mesh,year"]) == ["year", "journal", "mesh"]


def test_fields_are_suited_for_facets_if_documents_share_values(build):
    documents = [Document(f"d{n}", "", "a", {"id": f"x{n}", "year": n % 3, "kind": "one"}) for n in range(9)]
    with SearchEngine(build(documents)) as engine:
        assert suited_fields(engine.snapshot, 5) == ["year"]


# --- words in other fields

BOOKS = [
    Document("d1", "Lymphoma", "cells", {"journal": "Lymph nodes", "authors": ["Ann Smith", "Bo Li"], "year": 1990}),
    Document("d2", "Cells", "of skin", {"journal": "Lymph nodes today", "authors": ["Smith"], "year": 1991}),
    Document("d3", "Skin", "and smith", {"journal": "Skin", "authors": ["Cy Smith"], "year": 1990}),
]


@pytest.fixture(scope="module", params=[None, 3], ids=["one-shard", "several-shards"])
def books(request, build):
    with SearchEngine(build(BOOKS, settings=AnalysisSettings(), words_per_shard=request.param)) as engine:
        yield engine


def offered(hits):
    return [(each.query, each.n_docs) for each in hits.other_fields]


def test_a_word_that_only_other_fields_have_is_offered(books):
    hits = books.search("lymph")
    assert len(hits) == 0
    assert offered(hits) == [("journal:lymph", 2)]
    assert books.search("journal:lymph", syntax="full").n_matches == 2


def test_documents_that_are_found_already_are_not_offered(books):
    # d3 has smith in its text, too.
    assert offered(books.search("smith")) == [("authors:smith", 2)]
    assert offered(books.search("skin")) == []


def test_all_words_in_one_field_and_unknown_words_are_offered(books):
    assert offered(books.search("ann smith", k=1)) == [("authors:ann AND authors:smith", 1), ("authors:ann", 1)]
    assert offered(books.search("lymphoma nodes")) == [("journal:nodes", 1)]


def test_filters_hold_for_what_is_offered(books):
    assert offered(books.search("lymph", filters=["year=1991"])) == [("journal:lymph", 1)]


def test_queries_with_syntax_and_numbers_are_not_offered(books):
    assert offered(books.search("journal:lymph", syntax="full")) == offered(books.search("1990")) == []
    assert offered(books.search(" ".join(f"x{n}" for n in range(11)))) == []


@pytest.mark.parametrize("query", ["lymph", "smith", "ann smith", "skin nodes", "li"])
def test_what_is_offered_finds_as_many_more_documents_as_it_says(books, query):
    hits = books.search(query)
    for each in hits.other_fields:
        more = books.search(each.query, syntax="full")
        assert len(set(more.docnos) - set(hits.docnos)) == each.n_docs > 0
    pipeline = books.retriever().search(query, k=1)
    assert pipeline.other_fields == hits.other_fields


def test_marks_are_those_of_all_matches(engine):
    hits = engine.search("a", k=2)
    marked = [int(np.count_nonzero(each)) for each in hits.matching]
    assert sum(marked) == hits.n_matches == len(engine.search("a", k=None))


# --- histograms


def test_a_histogram_counts_the_years_of_all_documents_that_are_found(engine):
    found = engine.search("a b", k=None).docnos
    written = [str(engine.document(docno).fields.get("year", "")) for docno in found]
    years = Counter(int(year[:4]) for year in written if year[:4].isdigit())
    bins = engine.search("a b", k=1).histogram("year")
    assert [(each.first, each.last) for each in bins] == [(year, year) for year in range(1988, 2002)]
    assert {each.first: each.n_docs for each in bins if each.n_docs} == years
    # Wider bins begin at multiples of their width.
    by_decades = engine.search("a b").histogram("year", n=3)
    assert [(each.first, each.last) for each in by_decades] == [(1980, 1989), (1990, 1999), (2000, 2009)]
    assert [each.n_docs for each in by_decades] == [years[1988], years[1990], years[2001]]
    assert engine.search("zzz").histogram("year") == engine.search("a").histogram("journal") == ()
    with pytest.raises(SettingError, match="2 or more"):
        engine.search("a").histogram("year", n=1)


@pytest.mark.parametrize("expansion", [None, "rm3"])
def test_a_histogram_of_all_years_says_how_many_of_them_pass_the_filter(engine, expansion):
    everything = engine.search("a b", k=1, expansion=expansion)
    some = engine.search("a b", k=1, filters=["year=[1990 TO 2000]"], expansion=expansion)
    bins = some.histogram("year", unfiltered=everything)
    assert [(each.first, each.n_docs) for each in bins] == [
        (each.first, each.n_docs) for each in everything.histogram("year")
    ]
    assert [each.n_found for each in bins] == [each.n_docs * (1990 <= each.first <= 2000) for each in bins]
    assert 0 < sum(each.n_found for each in bins) < sum(each.n_docs for each in bins)
    assert all(each.n_found == each.n_docs for each in everything.histogram("year"))


def test_numbers_that_are_no_years_leave_room_for_the_others(build):
    years = [1999, 2001, 20011231, -5, 1e300]
    documents = [Document(f"d{number}", "", "a", {"year": year}) for number, year in enumerate(years)]
    with SearchEngine(build(documents)) as engine:
        bins = engine.search("a").histogram("year", n=40)
    assert (bins[0].first, bins[-1].last) == (-100, 2099)
    assert [each.n_docs for each in bins if each.n_docs] == [1, 1, 1]
