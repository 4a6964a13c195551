"""The tables of the database of judgments, in each layout.

    topics           the topics of topic sets, in the order in which they were added
    acts             a judge gave a document a grade for a topic (NULL: withdrew the grade), with a note
    undone           acts that were undone
    last             the last act of each judge on each document that was not undone: the current judgments
    queries          past queries, for suggestions
    seals            the ends of hash chains over the tables whose rows are only added (see `integrity`)
    changes          imports, and changes of topics and sets, each as a whole: it can be undone
    versions         a topic after a change: its set, qid, text, criteria, words to highlight, whether it is deleted
    current_topics   the last version of each topic that is not deleted, or else the topic as it was added
    redone           acts that were undone and done again, by a new act

Rows of topics, acts, undone, changes, versions and redone are only added, never changed. Triggers keep `last` and
`current_topics` up to date; deriving them for each read would take several times as long.

Layout 1 has no seals, layout 2 no changes; the first write adds what is missing.
"""

from __future__ import annotations

from searchlab.judgments.storage.integrity import SEALS_SCHEMA

SCHEMA_VERSION = 3
FIRST_SEALED_VERSION = 2
FIRST_CHANGEABLE_VERSION = 3

_FIRST = """
CREATE TABLE topics (
    id INTEGER PRIMARY KEY AUTOINCREMENT, set_name TEXT NOT NULL, qid TEXT NOT NULL, text TEXT NOT NULL,
    folded TEXT NOT NULL, UNIQUE (set_name, qid)
);

CREATE INDEX topics_by_text ON topics (folded);

CREATE TABLE acts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, topic INTEGER NOT NULL REFERENCES topics, docno TEXT NOT NULL,
    judge TEXT NOT NULL, grade INTEGER, note TEXT NOT NULL, made TEXT NOT NULL, imported INTEGER NOT NULL
);

CREATE INDEX acts_by_document ON acts (topic, judge, docno, id);

CREATE INDEX acts_by_judge ON acts (judge, id);

CREATE TABLE undone (
    id INTEGER PRIMARY KEY AUTOINCREMENT, act INTEGER NOT NULL UNIQUE REFERENCES acts, made TEXT NOT NULL
);

CREATE TABLE last (
    topic INTEGER NOT NULL, judge TEXT NOT NULL, docno TEXT NOT NULL, grade INTEGER,
    act INTEGER NOT NULL REFERENCES acts, PRIMARY KEY (topic, judge, docno)
) WITHOUT ROWID;

CREATE TRIGGER done AFTER INSERT ON acts BEGIN
    INSERT OR REPLACE INTO last VALUES (new.topic, new.judge, new.docno, new.grade, new.id);
END;

CREATE TRIGGER taken_back AFTER INSERT ON undone BEGIN
    DELETE FROM last WHERE (topic, judge, docno) = (SELECT topic, judge, docno FROM acts WHERE id = new.act);
    INSERT INTO last
        SELECT topic, judge, docno, grade, id FROM acts
        WHERE (topic, judge, docno) = (SELECT topic, judge, docno FROM acts WHERE id = new.act)
        AND id NOT IN (SELECT act FROM undone) ORDER BY id DESC LIMIT 1;
END;

CREATE TABLE queries (id INTEGER PRIMARY KEY AUTOINCREMENT, folded TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
"""
_CHANGES = """
CREATE TABLE changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, what TEXT NOT NULL, judge TEXT NOT NULL,
    made TEXT NOT NULL, first_act INTEGER NOT NULL, last_act INTEGER NOT NULL, first_topic INTEGER NOT NULL,
    last_topic INTEGER NOT NULL, undoes INTEGER UNIQUE REFERENCES changes
);

CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, change INTEGER NOT NULL REFERENCES changes,
    topic INTEGER NOT NULL REFERENCES topics, set_name TEXT NOT NULL, qid TEXT NOT NULL, text TEXT NOT NULL,
    folded TEXT NOT NULL, criteria TEXT NOT NULL, highlight TEXT NOT NULL, deleted INTEGER NOT NULL
);

CREATE INDEX versions_by_topic ON versions (topic, id);

CREATE TABLE current_topics (
    topic INTEGER PRIMARY KEY REFERENCES topics, set_name TEXT NOT NULL, qid TEXT NOT NULL, text TEXT NOT NULL,
    folded TEXT NOT NULL, criteria TEXT NOT NULL, highlight TEXT NOT NULL, UNIQUE (set_name, qid)
);

CREATE INDEX current_topics_by_text ON current_topics (folded);

CREATE TRIGGER topic_added AFTER INSERT ON topics BEGIN
    INSERT INTO current_topics VALUES (new.id, new.set_name, new.qid, new.text, new.folded, '', '');
END;

CREATE TRIGGER topic_changed AFTER INSERT ON versions BEGIN
    DELETE FROM current_topics WHERE topic = new.topic;
    INSERT INTO current_topics
        SELECT new.topic, new.set_name, new.qid, new.text, new.folded, new.criteria, new.highlight
        WHERE NOT new.deleted;
END;

CREATE TABLE redone (
    id INTEGER PRIMARY KEY AUTOINCREMENT, undone INTEGER NOT NULL UNIQUE REFERENCES undone,
    act INTEGER NOT NULL UNIQUE REFERENCES acts
);
"""


def _statements(text: str) -> tuple[str, ...]:
    return tuple(text.strip().split("\n\n"))


# The statements that create each layout; each begins with those of the layout before it.
LAYOUTS = {
    1: _statements(_FIRST),
    2: (*_statements(_FIRST), SEALS_SCHEMA),
    3: (*_statements(_FIRST), SEALS_SCHEMA, *_statements(_CHANGES)),
}
# What fills the tables of layout 3 from those of an earlier one.
UPGRADE = "INSERT INTO current_topics SELECT id, set_name, qid, text, folded, '', '' FROM topics"
# What earlier layouts have in place of tables, while they are read.
_EARLIER = {
    "current_topics": "SELECT id AS topic, set_name, qid, text, folded, '' AS criteria, '' AS highlight"
    " FROM main.topics",
    "versions": "SELECT 0 AS id WHERE FALSE",
    "changes": "SELECT 0 AS id, '' AS kind, '' AS what, '' AS judge, '' AS made, NULL AS undoes WHERE FALSE",
}
EARLIER_VIEWS = tuple(f"CREATE TEMP VIEW IF NOT EXISTS {name} AS {select}" for name, select in _EARLIER.items())
DROPPED_VIEWS = tuple(f"DROP VIEW IF EXISTS temp.{name}" for name in _EARLIER)
