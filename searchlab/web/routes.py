"""All HTTP routes: the API, the pages, their forms, and a few others (`make_routes`).

`/login` alone is not here: it belongs to the security middleware.
"""

from __future__ import annotations

from starlette.routing import Route

from searchlab.web.api import uploads
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.judging import import_tables, judge, judgment_batch, pool
from searchlab.web.api.measuring import measure
from searchlab.web.api.measuring.topic_rankings import SYSTEMS
from searchlab.web.api.parameters import (
    DOCNO,
    FACET,
    FILTER,
    GROUP,
    INDEX,
    JUDGE,
    PAGE,
    QUERY,
    SMALL_K,
    SORT,
    SYNONYMS,
    SYSTEM,
    TOPIC_SET,
    K,
)
from searchlab.web.api.search import compare, explain, export_results, saved_searches, search, search_batch
from searchlab.web.api.training import models, train
from searchlab.web.handlers import (
    api_handler,
    form_handler,
    judge_name_handler,
    openapi_handler,
    page_handler,
    report_handler,
    static_handler,
)
from searchlab.web.jobs.thread_pools import ThreadPools
from searchlab.web.pages import forms, judge_page, measure_page, pool_page, search_pages, searches_page, topic_page
from searchlab.web.pages.api_page import api_page
from searchlab.web.pages.model_page import model_page
from searchlab.web.pages.page import Form, Page
from searchlab.web.pages.train_page import DELETED_MODEL, train_page
from searchlab.web.pages.upload_page import upload_page
from searchlab.web.state.app_state import AppState

TRAINING = (
    INDEX,
    TOPIC_SET,
    train.RANKER,
    train.RECIPE,
    train.PRIOR,
    train.FEATURES,
    train.MODEL_NAME,
    train.CANDIDATES,
)
JUDGE_PAGE = (
    *(INDEX, judge.ANY_TOPIC_SET, SYSTEMS, pool.POOL_DEPTH),
    *(judge_page.ANY_LEFT, judge_page.ANY_RIGHT, judge_page.ALL_TOPICS),
    *(judge_page.WORDS, judge_page.ORDER, topic_page.CHANGE),
)
POOL_FORM = (INDEX, judge.ANY_TOPIC_SET, judge.ANY_QID, SYSTEMS, pool.POOL_DEPTH)

ENDPOINTS = (
    # Search
    Endpoint("GET", "/api/indexes", search.describe_indexes, "All indexes, with their fields and systems"),
    Endpoint(
        "GET",
        "/api/search",
        search.search_documents,
        "The best documents for a query",
        (QUERY, INDEX, SYSTEM, K, PAGE, FILTER, SORT, FACET, GROUP, SYNONYMS, JUDGE),
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
            *(QUERY, export_results.FORMAT, INDEX, SYSTEM, FILTER, SORT, SYNONYMS),
            *(export_results.SELECTED, export_results.N_EXPORTED),
        ),
        is_text=True,
        attachment=export_results.results_file,
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
    Endpoint("GET", "/api/searches", saved_searches.list_searches, "Saved searches, and past queries", (INDEX,)),
    Endpoint(
        "POST",
        "/api/searches",
        saved_searches.save_search,
        "Save a search under a name",
        (QUERY, INDEX, SYSTEM, FILTER, SORT, saved_searches.NAME, JUDGE),
    ),
    Endpoint(
        "DELETE",
        "/api/searches",
        saved_searches.delete_search,
        "Delete a saved search",
        (INDEX, saved_searches.SAVED_NAME),
    ),
    Endpoint("DELETE", "/api/history", saved_searches.delete_history, "Delete all past queries", (INDEX,)),
    # Add documents
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
    Endpoint("DELETE", "/api/uploads", uploads.delete_upload, "Delete the files of an upload", (uploads.NAME,)),
    # Judge
    Endpoint("GET", "/api/topic-sets", judge.list_topic_sets, "All topic sets, with their progress", (INDEX,)),
    Endpoint("GET", "/api/topics", judge.list_set_topics, "The topics of a set", (INDEX, TOPIC_SET)),
    Endpoint(
        "POST",
        "/api/topics",
        judge.create_topic,
        "Add a topic to a set",
        (INDEX, TOPIC_SET, judge.TOPIC_TEXT, judge.NEW_QID),
    ),
    Endpoint(
        "GET",
        "/api/judgments",
        judge.list_judgments,
        "The judgments of a topic set",
        (INDEX, TOPIC_SET, judge.ANY_QID, JUDGE),
    ),
    Endpoint(
        "POST",
        "/api/judgments",
        judge.judge_document,
        "Grade a document for a topic or a query",
        (
            *(INDEX, DOCNO, judge.GRADE, JUDGE, judge.NOTE),
            *(judge.ANY_TOPIC_SET, judge.ANY_QID, judge.JUDGED_QUERY),
        ),
    ),
    Endpoint(
        "POST",
        "/api/judgments/batch",
        judgment_batch.judge_batch,
        "Grade several documents for one topic or query",
        (INDEX, judgment_batch.JUDGMENTS, JUDGE, judge.ANY_TOPIC_SET, judge.ANY_QID, judgment_batch.BATCH_QUERY),
    ),
    Endpoint(
        "DELETE",
        "/api/judgments",
        judgment_batch.withdraw_grade,
        "Withdraw the grade of a document",
        (INDEX, TOPIC_SET, pool.QID, DOCNO, JUDGE),
    ),
    Endpoint(
        "POST",
        "/api/judgments/undo",
        judge.undo_judgment,
        "Undo the last judgment of a judge: for a topic, for a query, or of all",
        (INDEX, JUDGE, judge.ANY_TOPIC_SET, judge.ANY_QID, judge.JUDGED_QUERY),
    ),
    Endpoint(
        "POST",
        "/api/judgments/redo",
        judge.redo_judgment,
        "Do the judgment again that was undone last",
        (INDEX, JUDGE, judge.ANY_TOPIC_SET, judge.ANY_QID, judge.JUDGED_QUERY),
    ),
    Endpoint("GET", "/api/agreement", judge.agreement, "The agreement of judges", (INDEX, TOPIC_SET)),
    Endpoint(
        "GET",
        "/api/export/qrels",
        judge.export_qrels,
        "The judgments of a topic set as TREC qrels",
        (INDEX, TOPIC_SET, JUDGE),
        is_text=True,
    ),
    Endpoint(
        "GET",
        "/api/export/topics",
        judge.export_topics,
        "The topics of a set: qid, tab, text",
        (INDEX, TOPIC_SET),
        is_text=True,
    ),
    Endpoint(
        "POST",
        "/api/import",
        judge.import_judgments,
        "Import topics and judgments: all of them or, after an error, none",
        (INDEX, TOPIC_SET, judge.TOPICS, judge.QRELS, JUDGE, judge.FROM_COLLECTION),
        slow=True,
    ),
    Endpoint(
        "POST",
        "/api/import/preview",
        import_tables.preview_import,
        "What would be imported from a table, a list of queries or a RIS file; changes nothing",
        (INDEX, TOPIC_SET, import_tables.CONTENT, import_tables.TEXT),
        slow=True,
    ),
    Endpoint(
        "POST",
        "/api/import/table",
        import_tables.import_table,
        "Import topics and judgments from a table (CSV, XLSX), a list of queries, TREC qrels or a RIS file with notes",
        (INDEX, TOPIC_SET, JUDGE, import_tables.CONTENT, import_tables.TEXT),
        slow=True,
    ),
    Endpoint(
        "GET",
        "/api/export/judgments",
        import_tables.export_judgments,
        "The judgments of a topic set as a table: query, docid, rating, qid, judge, note, when",
        (INDEX, TOPIC_SET),
        is_text=True,
        attachment=import_tables.judgments_attachment,
    ),
    Endpoint(
        "GET",
        "/api/pool",
        pool.build_pool,
        "The documents to judge for a topic, in an order that does not reveal which system found them",
        (INDEX, TOPIC_SET, pool.QID, SYSTEMS, pool.POOL_DEPTH, JUDGE),
        heavy=True,
    ),
    Endpoint(
        "GET",
        "/api/next",
        pool.list_next_documents,
        "The unjudged documents whose judgments could change the comparison of two systems most",
        (INDEX, TOPIC_SET, pool.LEFT_SYSTEM, pool.RIGHT_SYSTEM, pool.MEASURE, pool.POOL_DEPTH, pool.N_DOCUMENTS),
        slow=True,
    ),
    # Train
    Endpoint("GET", "/api/models", models.list_models, "The models of an index, and how well they do", (INDEX,)),
    Endpoint(
        "POST",
        "/api/models/use",
        models.use_ranker,
        "Make a system the default ranker of the index, or BM25 again",
        (INDEX, models.RANKER_IN_USE, JUDGE),
    ),
    Endpoint(
        "POST", "/api/models/rename", models.rename_model, "Rename a model", (INDEX, models.NAME, models.NEW_NAME)
    ),
    Endpoint("POST", "/api/models/delete", models.delete_model, "Move a model to the history", (INDEX, models.NAME)),
    Endpoint(
        "POST",
        "/api/models/restore",
        models.restore_model,
        "Make a version of a model's history the model again",
        (INDEX, models.NAME, models.VERSION),
    ),
    Endpoint(
        "GET",
        "/api/readiness",
        train.check_readiness,
        "Whether a topic set has enough judgments to train on",
        (INDEX, TOPIC_SET),
    ),
    Endpoint("POST", "/api/train", train.start_training, "Train a model on judgments, in the background", TRAINING),
    Endpoint("GET", "/api/jobs", train.list_jobs, "All training jobs"),
    Endpoint("GET", "/api/jobs/{id}", train.get_job, "The progress of a training job", (train.JOB_ID,)),
    Endpoint("POST", "/api/jobs/cancel", train.cancel_job, "Stop a training job", (train.JOB_ID,)),
    # Measure
    Endpoint(
        "GET",
        "/api/measure",
        measure.measure_systems,
        "Measures of systems on the judged topics of a set, and comparisons with a baseline",
        (INDEX, TOPIC_SET, SYSTEMS, measure.MEASURES, JUDGE, measure.AGAINST_SYSTEM),
        slow=True,
    ),
)

PAGES = (
    Page(
        "/",
        "search.html",
        "search",
        search_pages.search_page,
        (
            *(search_pages.ANY_QUERY, INDEX, SYSTEM, SMALL_K, PAGE, FILTER, SORT, GROUP, SYNONYMS),
            *(search_pages.YEAR_FROM, search_pages.YEAR_TO),
        ),
        prepare=search_pages.filter_years,
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
        (DOCNO, INDEX, search.MARKED_QUERY, SYSTEM, FILTER, SMALL_K, PAGE, SYNONYMS, search.START),
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
    Page("/api-reference", "api_reference.html", "", api_page(lambda: ENDPOINTS), (INDEX,)),
    Page("/upload", "upload.html", "search", upload_page, (INDEX,)),
    Page("/searches", "searches.html", "search", searches_page.searches_page, (INDEX,)),
    Page("/judge", "judge.html", "judge", judge_page.judge_page, JUDGE_PAGE),
    Page("/next", "judge.html", "judge", judge_page.next_page, JUDGE_PAGE, slow=True),
    Page(
        "/pool",
        "pool.html",
        "judge",
        pool_page.pool_page,
        (INDEX, TOPIC_SET, pool.QID, SYSTEMS, pool.POOL_DEPTH, pool_page.POOLED_DOCNO, pool_page.DID),
        heavy=True,
    ),
    Page("/topic", "topic.html", "judge", topic_page.topic_page, (INDEX, TOPIC_SET, pool.QID)),
    Page("/train", "train.html", "train", train_page, (INDEX, judge.ANY_TOPIC_SET, DELETED_MODEL)),
    Page("/model", "model.html", "train", model_page, (INDEX, models.NAME, models.VERSION)),
    Page(
        "/measure",
        "measure.html",
        "measure",
        measure_page.measure_page,
        (INDEX, judge.ANY_TOPIC_SET, SYSTEMS, measure_page.ANY_MEASURES, measure.AGAINST_SYSTEM),
        slow=True,
    ),
)

FORMS = (
    Form(
        "/judge",
        forms.judge_form,
        (
            *(*POOL_FORM, forms.SEARCHED_QUERY, DOCNO),
            *(forms.GRADE, forms.UNCHANGED_GRADE, judge.NOTE, forms.NEXT_DOCNO),
        ),
    ),
    Form("/undo", forms.undo_form, POOL_FORM),
    Form("/redo", forms.redo_form, POOL_FORM),
    Form("/topic", forms.topic_form, (INDEX, TOPIC_SET, forms.TOPIC_LINES)),
    Form(
        "/topic/edit",
        topic_page.edit_form,
        (INDEX, TOPIC_SET, pool.QID, judge.TOPIC_TEXT, topic_page.CRITERIA, topic_page.HIGHLIGHT),
    ),
    Form("/topics/delete", topic_page.delete_form, (INDEX, TOPIC_SET, topic_page.QIDS)),
    Form("/topics/merge", topic_page.merge_form, (INDEX, TOPIC_SET, topic_page.QIDS, topic_page.INTO)),
    Form("/set/rename", topic_page.rename_set_form, (INDEX, TOPIC_SET, topic_page.NEW_SET_NAME)),
    Form("/set/delete", topic_page.delete_set_form, (INDEX, TOPIC_SET)),
    Form("/change/undo", topic_page.undo_change_form, (INDEX, judge.ANY_TOPIC_SET, topic_page.CHANGE)),
    Form("/import-collection", forms.import_form, (INDEX, forms.NEXT_PATH), slow=True),
    Form("/train", forms.train_form, TRAINING),
    Form("/use", forms.use_form, (INDEX, models.RANKER_IN_USE)),
    Form("/model/rename", forms.rename_model_form, (INDEX, models.NAME, models.NEW_NAME)),
    Form("/model/delete", forms.delete_model_form, (INDEX, models.NAME)),
    Form("/model/restore", forms.restore_model_form, (INDEX, models.NAME, models.VERSION)),
    Form("/dismiss", forms.dismiss_form, (INDEX, models.NAME)),
    Form("/cancel", forms.cancel_form, (train.JOB_ID,)),
    Form("/save-search", searches_page.save_form, (QUERY, INDEX, SYSTEM, FILTER, SORT, saved_searches.NAME)),
    Form("/delete-search", searches_page.delete_form, (INDEX, saved_searches.SAVED_NAME)),
    Form("/clear-history", searches_page.clear_history_form, (INDEX,)),
)


def make_routes(app_state: AppState, pools: ThreadPools) -> list[Route]:
    """The routes of the application, each with its handler."""
    endpoints = [
        Route(endpoint.path, api_handler(app_state, pools, endpoint), methods=[endpoint.method])
        for endpoint in ENDPOINTS
    ]
    pages = [Route(page.path, page_handler(app_state, pools, page), methods=["GET"]) for page in PAGES]
    forms = [Route(form.path, form_handler(app_state, pools, form), methods=["POST"]) for form in FORMS]
    return [
        *endpoints,
        *pages,
        *forms,
        Route("/name", judge_name_handler(app_state), methods=["POST"]),
        Route("/report/{name}/", report_handler(app_state, pools), methods=["GET"]),
        Route("/static/{name}", static_handler(), methods=["GET"]),
        Route("/api/openapi.json", openapi_handler(ENDPOINTS), methods=["GET"]),
    ]
