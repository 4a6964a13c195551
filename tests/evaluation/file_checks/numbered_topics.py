"""Topics that a file numbers with gaps and its judgments by their order, as Cranfield does, and a run of them."""

from searchlab.records import Ranking

# The numbers in the file of topics: the third topic is number 4, the last one number 12.
WRITTEN = ["001", "002", "004", "008", "009", "010", "012"]
N_TOPICS = len(WRITTEN)


def make_judgments():
    """Two relevant documents for each topic, and one that is not, by the order of the topics."""
    return {str(order): {f"d{order}": 2, f"e{order}": 1, f"x{order}": 0} for order in range(1, N_TOPICS + 1)}


def make_rankings(qids):
    """A good run: the first and the third document of each topic are relevant."""
    return {
        qid: Ranking(qid, (f"d{order}", f"x{order}", f"e{order}", "y", "z"), (5.0, 4.0, 3.0, 2.0, 1.0))
        for order, qid in enumerate(qids, start=1)
    }


def write_run(rankings):
    """The lines of a run."""
    return "".join(
        f"{qid} Q0 {docno} {rank} {score} good\n"
        for qid, ranking in rankings.items()
        for rank, (docno, score) in enumerate(zip(ranking.docnos, ranking.scores, strict=True), start=1)
    )


def write_qrels(qrels):
    """The lines of judgments."""
    return "".join(f"{qid} 0 {docno} {grade}\n" for qid, judged in qrels.items() for docno, grade in judged.items())


def write_topics():
    """A file of topics in the format of SMART; each topic has a word of its own."""
    return "".join(f".I {qid}\n.W\nword{order}\n" for order, qid in enumerate(WRITTEN, start=1))
