"""Routes of search: results, documents, comparison, explanation, saved searches, uploads."""

from __future__ import annotations

from searchlab.web.api import uploads
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.parameters import (
    DOCNO,
    FACET,
    FILTER,
    GROUP,
    HISTOGRAM,
    INDEX,
    JUDGE,
    PAGE,
    QUERY,
    SMALL_K,
    SORT,
    SYNONYMS,
    SYSTEM,
    VALUES_OF,
    K,
)
from searchlab.web.api.search import compare, explain, export_results, saved_searches, search, search_batch
from searchlab.web.pages import taken_back
from searchlab.web.pages.page import BACK, Form, Page
from searchlab.web.pages.search import search_pages, searches_page, years
from searchlab.web.pages.search.upload_page import delete_form, index_form, upload_page

SAVED_SEARCH = (QUERY, INDEX, SYSTEM, FILTER, SORT, GROUP, SYNONYMS, SMALL_K, saved_searches.NAME)

ENDPOINTS = (
    Endpoint("GET", "/api/indexes", search.describe_indexes, "All indexes, with their fields and systems"),
    Endpoint(
        "GET",
        "/api/search",
        search.search_documents,
        "The best documents for a query",
        (QUERY, INDEX, SYSTEM, K, PAGE, FILTER, SORT, FACET, VALUES_OF, HISTOGRAM, GROUP, SYNONYMS, JUDGE),
        brief=True,
    ),
    Endpoint(
        "POST",
        "/api/search/batch",
        search_batch.search_batch,
        "The best documents for each of several queries; changes nothing",
        (search_batch.QUERIES, INDEX, SYSTEM, K, FILTER, JUDGE),
        slow=True,
    ),
    Endpoint(
        "GET",
        "/api/export/results",
        export_results.export_results,
        "The best documents for a query, or some of them, as a file: RIS, CSV, BibTeX, JSON lines or a TREC run",
        (
            *(QUERY, export_results.FORMAT, INDEX, SYSTEM, FILTER, SORT, SYNONYMS, GROUP),
            *(export_results.SELECTED, export_results.N_EXPORTED),
        ),
        is_text=True,
        attachment=export_results.results_file,
        media_types=export_results.MEDIA_TYPES,
        heavy=True,
    ),
    Endpoint(
        "GET",
        "/api/similar",
        search.find_similar,
        "Documents similar to one",
        (DOCNO, INDEX, SYSTEM, SMALL_K, PAGE),
        brief=True,
    ),
    Endpoint(
        "GET",
        "/api/document",
        search.get_document,
        "A whole document, or a part of its text",
        (DOCNO, INDEX, search.MARKED_QUERY, SYSTEM, SYNONYMS, search.START, search.LENGTH),
    ),
    Endpoint(
        "GET",
        "/api/suggest",
        search.suggest_queries,
        "Completions of a partial query",
        (search.PARTIAL_QUERY, INDEX),
        brief=True,
    ),
    Endpoint(
        "GET",
        "/api/compare",
        compare.compare_systems,
        "The rankings of two systems side by side",
        (QUERY, compare.LEFT, compare.RIGHT, INDEX, SMALL_K, FILTER, SYNONYMS, JUDGE),
        heavy=True,
    ),
    Endpoint(
        "GET",
        "/api/explain",
        explain.explain_score,
        "The parts of a document's score, or its differences from another document",
        (QUERY, DOCNO, INDEX, SYSTEM, explain.AGAINST, FILTER, SYNONYMS),
    ),
    Endpoint(
        "GET",
        "/api/searches",
        saved_searches.list_searches,
        "The saved searches of a judge and those of all, and past queries",
        (INDEX, JUDGE),
        personal=True,
    ),
    Endpoint(
        "POST",
        "/api/searches",
        saved_searches.save_search,
        "Save a search under a name, which is numbered if the judge has another search of this name",
        (*SAVED_SEARCH, JUDGE),
    ),
    Endpoint(
        "POST",
        "/api/searches/restore",
        saved_searches.restore_search,
        "Save a search again that was deleted",
        (INDEX, saved_searches.SAVED_NAME, JUDGE),
    ),
    Endpoint(
        "DELETE",
        "/api/searches",
        saved_searches.delete_search,
        "Delete a saved search of a judge, or one of all",
        (INDEX, saved_searches.SAVED_NAME, JUDGE),
    ),
    Endpoint("DELETE", "/api/history", saved_searches.delete_history, "Delete all past queries", (INDEX,)),
    Endpoint("POST", "/api/uploads", uploads.start_upload, "Begin an upload of documents", (uploads.NAME,)),
    Endpoint(
        "POST",
        "/api/uploads/file",
        uploads.upload_file,
        "Send a file of an upload, as the body (application/octet-stream)",
        (uploads.NAME, uploads.PATH),
        takes_file=True,
    ),
    Endpoint("POST", "/api/uploads/index", uploads.index_upload, "Index an upload, in the background", (uploads.NAME,)),
    Endpoint("GET", "/api/uploads", uploads.get_upload, "How far an upload is, and what was read", (uploads.NAME,)),
    Endpoint("GET", "/api/uploads/all", uploads.list_uploads, "All uploads, with what was read"),
    Endpoint("DELETE", "/api/uploads", uploads.delete_upload, "Delete the files of an upload", (uploads.NAME,)),
)

PAGES = (
    Page(
        "/",
        "search.html",
        "search",
        search_pages.search_page,
        (
            *(search_pages.ANY_QUERY, INDEX, SYSTEM, SMALL_K, PAGE, FILTER, SORT, GROUP, SYNONYMS),
            *(years.YEAR_FROM, years.YEAR_TO, *taken_back.PARAMETERS, searches_page.SAVED),
            VALUES_OF,
        ),
        prepare=years.filter_years,
        brief=True,
    ),
    Page(
        "/similar",
        "search.html",
        "search",
        search_pages.similar_page,
        (DOCNO, INDEX, SYSTEM, SMALL_K, PAGE),
        brief=True,
    ),
    Page(
        "/document",
        "document.html",
        "search",
        search_pages.document_page,
        (
            *(DOCNO, INDEX, search.MARKED_QUERY, SYSTEM, FILTER, SMALL_K, PAGE, SYNONYMS, search.START),
            *taken_back.PARAMETERS,
        ),
    ),
    Page(
        "/compare",
        "compare.html",
        "compare",
        search_pages.compare_page,
        (search_pages.ANY_QUERY, compare.LEFT, search_pages.ANY_RIGHT, INDEX, SYSTEM, SMALL_K, FILTER, SYNONYMS),
        heavy=True,
    ),
    Page(
        "/explain",
        "explain.html",
        "search",
        search_pages.explain_page,
        (QUERY, DOCNO, INDEX, SYSTEM, explain.AGAINST, FILTER, SMALL_K, PAGE, SYNONYMS),
    ),
    Page("/upload", "upload.html", "search", upload_page, (INDEX,), needs_index=False),
    Page("/searches", "searches.html", "search", searches_page.searches_page, (INDEX, searches_page.DELETED)),
)

FORMS = (
    Form("/save-search", searches_page.save_form, (*SAVED_SEARCH, BACK), field="name"),
    Form("/delete-search", searches_page.delete_form, (INDEX, saved_searches.SAVED_NAME)),
    Form("/restore-search", searches_page.restore_form, (INDEX, saved_searches.SAVED_NAME)),
    Form("/uploads/index", index_form, (INDEX, uploads.NAME), field="name"),
    Form("/uploads/delete", delete_form, (INDEX, uploads.NAME), field="name"),
    Form("/clear-history", searches_page.clear_history_form, (INDEX,)),
)
