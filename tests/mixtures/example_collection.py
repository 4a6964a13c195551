"""A small collection with topics and judgments, to train mixtures with."""

from searchlab.records import Document, Topic

DOCS = [
    Document("a", "heat flow", "heat transfer in laminar flow over wings"),
    Document("b", "wings", "lift of wings in flow"),
    Document("c", "", "prison cells and heat"),
    Document("d", "lift", "flow around bodies"),
    Document("e", "heat", "cells"),
]
TOPICS = [Topic("1", "heat flow"), Topic("2", "lift of wings"), Topic("3", "unheard"), Topic("4", "cells")]
QRELS = {"1": {"a": 2, "c": 0, "gone": 1}, "2": {"b": 1, "d": 1}, "3": {"a": 1}, "4": {"b": 0}}
