"""Three documents, for tests in which it matters which ranker is used but not what it finds."""

from searchlab.records import Document

DOCUMENTS = [
    Document("both", "alpha beta", "alpha beta gamma"),
    Document("often", "", "alpha alpha alpha delta"),
    Document("gamma", "", "gamma delta beta"),
]
