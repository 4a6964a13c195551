"""Routes of judging: topic sets and topics, judgments, pools, imports and exports."""

from __future__ import annotations

from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.judging import import_tables, judge, judgment_batch, pool, topics
from searchlab.web.api.measuring.topic_rankings import SYSTEMS
from searchlab.web.api.parameters import (
    DOCNO,
    INDEX,
    JUDGE,
    TOPIC_SET,
)
from searchlab.web.pages import taken_back
from searchlab.web.pages.judging import judge_page, judging_forms, pool_page, topic_page
from searchlab.web.pages.page import BACK, Form, Page

JUDGE_PAGE = (
    *(INDEX, judge.ANY_TOPIC_SET, SYSTEMS, pool.POOL_DEPTH),
    *(judge_page.ANY_LEFT, judge_page.ANY_RIGHT, judge_page.ALL_TOPICS),
    *(judge_page.WORDS, judge_page.ORDER, topic_page.ANY_CHANGE),
)
POOL_FORM = (INDEX, judge.ANY_TOPIC_SET, judge.ANY_QID, SYSTEMS, pool.POOL_DEPTH)
TAKEN_BACK_FORM = (*POOL_FORM, judging_forms.SEARCHED_QUERY, BACK)

ENDPOINTS = (
    Endpoint("GET", "/api/topic-sets", judge.list_topic_sets, "All topic sets, with their progress", (INDEX,)),
    Endpoint("GET", "/api/topics", judge.list_set_topics, "The topics of a set", (INDEX, TOPIC_SET)),
    Endpoint(
        "POST",
        "/api/topics",
        judge.create_topic,
        "Add a topic to a set",
        (INDEX, TOPIC_SET, judge.TOPIC_TEXT, judge.NEW_QID),
    ),
    Endpoint("GET", "/api/topic", topics.get_topic, "A topic with its criteria", (INDEX, TOPIC_SET, pool.QID)),
    Endpoint(
        "POST",
        "/api/topic/edit",
        topics.edit_topic,
        "Change the text of a topic, what counts as relevant, or the words to highlight",
        (INDEX, TOPIC_SET, pool.QID, topics.NEW_TEXT, topics.CRITERIA, topics.HIGHLIGHT, JUDGE),
    ),
    Endpoint(
        "DELETE",
        "/api/topics",
        topics.delete_topics,
        "Delete topics of a set, with their judgments; can be undone",
        (INDEX, TOPIC_SET, topics.QIDS, JUDGE),
    ),
    Endpoint(
        "POST",
        "/api/topics/merge",
        topics.merge_topics,
        "Merge topics into one of their set; can be undone",
        (INDEX, TOPIC_SET, topics.QIDS, topics.INTO, JUDGE),
    ),
    Endpoint(
        "POST",
        "/api/topic-sets/rename",
        topics.rename_topic_set,
        "Rename a topic set, or merge it into another one; can be undone",
        (INDEX, TOPIC_SET, topics.NEW_SET_NAME, JUDGE),
    ),
    Endpoint(
        "DELETE",
        "/api/topic-sets",
        topics.delete_topic_set,
        "Delete a topic set, with its topics and judgments; can be undone",
        (INDEX, TOPIC_SET, JUDGE),
    ),
    Endpoint(
        "GET",
        "/api/changes",
        topics.list_changes,
        "The last imports, batches and changes of topics",
        (INDEX,),
    ),
    Endpoint(
        "POST",
        "/api/changes/undo",
        topics.undo_change,
        "Undo an import, a batch of judgments or a change of topics",
        (INDEX, topics.CHANGE, JUDGE),
    ),
    Endpoint(
        "POST",
        "/api/changes/redo",
        topics.redo_change,
        "Make a change again that was undone",
        (INDEX, topics.CHANGE, JUDGE),
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
        "Grade several documents for one topic or query: all or none; undone as a whole",
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
        "Undo the last judgment of a judge, or those made together: for a topic, a query, a set, or of all",
        (INDEX, JUDGE, judge.ANY_TOPIC_SET, judge.ANY_QID, judge.JUDGED_QUERY),
    ),
    Endpoint(
        "POST",
        "/api/judgments/redo",
        judge.redo_judgment,
        "Do again what was undone last",
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
        media_types=(import_tables.JUDGMENTS_TYPE,),
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
)

PAGES = (
    Page("/judge", "judge.html", "judge", judge_page.judge_page, JUDGE_PAGE),
    Page("/next", "judge.html", "judge", judge_page.next_page, JUDGE_PAGE, slow=True),
    Page(
        "/pool",
        "pool.html",
        "judge",
        pool_page.pool_page,
        (
            INDEX,
            TOPIC_SET,
            pool.QID,
            SYSTEMS,
            pool.POOL_DEPTH,
            pool_page.POOLED_DOCNO,
            taken_back.DID,
            taken_back.TOGETHER,
        ),
        heavy=True,
    ),
    Page("/topic", "topic.html", "judge", topic_page.topic_page, (INDEX, TOPIC_SET, pool.QID)),
)

FORMS = (
    Form(
        "/judge",
        judging_forms.judge_form,
        (
            *(*POOL_FORM, judging_forms.SEARCHED_QUERY, DOCNO),
            *(judging_forms.GRADE, judging_forms.UNCHANGED_GRADE, judge.NOTE, judging_forms.NEXT_DOCNO),
        ),
    ),
    Form("/undo", judging_forms.undo_form, TAKEN_BACK_FORM),
    Form("/redo", judging_forms.redo_form, TAKEN_BACK_FORM),
    Form("/topic", judging_forms.topic_form, (INDEX, TOPIC_SET, judging_forms.TOPIC_LINES), field="text"),
    Form(
        "/topic/edit",
        topic_page.edit_form,
        (
            *(INDEX, TOPIC_SET, pool.QID, judge.TOPIC_TEXT, topic_page.ANY_CRITERIA, topic_page.ANY_HIGHLIGHT),
            *topic_page.FORMER_TEXTS,
        ),
        field="text",
    ),
    Form("/topics/delete", topic_page.delete_form, (INDEX, TOPIC_SET, topics.QIDS), field="qids"),
    Form("/topics/merge", topic_page.merge_form, (INDEX, TOPIC_SET, topics.QIDS, topics.INTO), field="into"),
    Form("/set/rename", topic_page.rename_set_form, (INDEX, TOPIC_SET, topics.NEW_SET_NAME), field="new_name"),
    Form("/set/delete", topic_page.delete_set_form, (INDEX, TOPIC_SET)),
    Form("/change/undo", topic_page.undo_change_form, (INDEX, judge.ANY_TOPIC_SET, topic_page.ANY_CHANGE)),
    Form("/change/redo", topic_page.redo_change_form, (INDEX, judge.ANY_TOPIC_SET, topic_page.ANY_CHANGE)),
    Form("/import-collection", judging_forms.import_form, (INDEX, judging_forms.NEXT_PATH), slow=True),
)
