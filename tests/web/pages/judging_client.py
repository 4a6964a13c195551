"""Documents to judge, and functions to read the pages of judging, training and measuring without a browser."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

from searchlab.records import Document

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \"'> </main> {{ 7*7 }} lymphoma"
DOCUMENTS = [
    Document("d1", "Lymphoma of T cells", "Lymphomas of T cells in mice. " * 3, {"year": 1988}),
    Document("d2", "Cells", "Cells divide, and cells die.", {"keywords": ["growth", "death"]}),
    Document("d3", "", "Mice with a lymphoma, fed on cells.", {}),
    Document("d4<b>", HOSTILE, HOSTILE, {"note": HOSTILE}),
    Document("d5", "A long story", "lymphoma and so on, " * 2000, {}),
    *(Document(f"w{number:02}", "Wings", f"Heat flow over wings {number}.") for number in range(12)),
]
RUNNING = {
    "id": "7",
    "index": "it",
    "topic_set": "mine",
    "ranker": "rsvm",
    "recipe": "tuned",
    "features": "table1",
    "name": "mine-rsvm",
    "state": "running",
    "stage": "cross-validating",
    "done": 2,
    "total": 5,
    "seconds": 12.3,
    "advice": None,
    "verdict": None,
    "helps": None,
    "means": None,
    "n_topics": None,
    "former": None,
    "comparison": None,
    "version": None,
    "former_version": None,
    "error": None,
}
MEANS = {"rsvm": {"nDCG@10": 0.7, "AP": 0.4}, "BM25": {"nDCG@10": 0.6, "AP": 0.5}}


def page(client, path, status=200, **parameters):
    answer = client.get(path, params=parameters)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("text/html")
    return answer.text


def words(html):
    """The text of the content of a page."""
    content = re.search(r"<main.*</main>", html, re.DOTALL).group()
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", content)).split())


def send(client, path, status=303, **fields):
    """Send a form; returns the URL of the next page."""
    csrf = re.search(r'name="csrf" value="(\w+)"', client.get("/train").text).group(1)
    answer = client.post(path, data={"csrf": csrf, "back": "/judge"} | fields)
    assert answer.status_code == status, answer.text
    return answer.headers["location"] if status == 303 else answer.text


def split_url(url):
    """The path of a URL, and its parameters."""
    parts = urlsplit(url)
    return parts.path, parse_qs(parts.query)


def topic(store, text="lymphoma cells", topic_set="mine"):
    return store.add_topic(topic_set, text).qid


def pool(client, qid, status=200, topic_set="mine", systems=("bm25", "bm25f"), **further):
    return page(client, "/pool", status, topic_set=topic_set, qid=qid, systems=list(systems), **further)


def dots(html):
    """The documents of the pool in their order, with their grades."""
    found = re.findall(r'<a class="dot" href="([^"]*)"( data-grade="\d")?', html)
    return {split_url(unescape(url))[1]["docno"][0]: grade[13:-1] for url, grade in found}


def current(html):
    return unescape(re.search(r'id="judging"[^>]*data-docno="([^"]*)"', html).group(1))
