import numpy as np
import pytest

import searchlab
from searchlab.indexing import phrases
from searchlab.indexing.phrases import count_phrase, find_phrase
from searchlab.indexing.storage import streams, term_positions
from searchlab.indexing.storage.streams import PassageRanges

READINGS = ["positions", "marked positions", "few positions at once", "some positions"]


@pytest.fixture(params=[*READINGS, "at once", "in small pieces", "one by one"])
def reading(request, monkeypatch):
    """How texts are read: they are so short that all their words have positions, and that all would be read at once."""
    monkeypatch.setattr(phrases, "MARKED_AMONG", 1 << 40 if request.param == "marked positions" else 0)
    if request.param == "few positions at once":
        # Windows that are shorter than a phrase.
        monkeypatch.setattr(phrases, "WINDOW_TOKENS", 3)
        monkeypatch.setattr(term_positions, "UNITS_AT_ONCE", 2)
        monkeypatch.setattr(term_positions, "TOKENS_AT_ONCE", 5)
    if request.param == "some positions":
        # Of three words equally frequent, those of which there are a few more.
        monkeypatch.setattr(term_positions, "FREQUENT_AMONG", 3)
    elif "positions" not in request.param:
        monkeypatch.setattr(term_positions, "FREQUENT_AMONG", 0)
    if request.param in ("in small pieces", "one by one"):
        monkeypatch.setattr(phrases, "PIECE_TOKENS", 7)
    if request.param == "one by one":
        monkeypatch.setattr(streams, "SCAN_RATIO", 0)
    return request.param


@pytest.mark.parametrize("seed", range(3))
def test_phrases_are_counted_as_by_reading_every_text(tmp_path, seed, reading):
    rng = np.random.default_rng(seed)
    texts = [[" ".join(rng.choice(["xa", "xb", "xc"], size)) for size in rng.integers(0, 12, 2)] for _ in range(30)]
    documents = [{"docno": f"{n:02}", "title": title, "body": body} for n, (title, body) in enumerate(texts)]
    searchlab.index(documents, tmp_path / "it")
    with searchlab.open(tmp_path / "it") as engine:
        columns = engine.snapshot.shards[0].columns
        both = columns.text("both")
        assert (len(columns.positions.terms) > 0) == ("positions" in reading)
        for phrase in (["xa", "xb"], ["xb", "xb"], ["xa", "xb", "xc"], ["xc", "xa", "xc", "xc"]):
            expected = [sum(_count(part.split(), phrase) for part in text) for text in texts]
            docs, counts = count_phrase(both, [columns.terms.find(term) for term in phrase])
            assert dict(zip(docs.tolist(), counts.tolist(), strict=True)) == {
                n: count for n, count in enumerate(expected) if count
            }
            assert find_phrase(both, [columns.terms.find(term) for term in phrase], 1).tolist() == docs.tolist()
            near = [n for n, text in enumerate(texts) if any(_is_near(part.split(), phrase, 2) for part in text)]
            assert find_phrase(both, [columns.terms.find(term) for term in phrase], 2).tolist() == near


@pytest.mark.parametrize("slop", [1, 2])
def test_words_that_no_document_has_together_are_no_phrase(tmp_path, slop, reading):
    texts = [("xa xb", ""), ("xc xc", "xd"), ("xa", "xd")]
    documents = [{"docno": f"{n}", "title": title, "body": body} for n, (title, body) in enumerate(texts)]
    searchlab.index(documents, tmp_path / "it")
    with searchlab.open(tmp_path / "it") as engine:
        columns = engine.snapshot.shards[0].columns
        for words in (["xa", "xc"], ["xb", "xd"], ["xa", "xd"]):
            numbers = [columns.terms.find(word) for word in words]
            assert find_phrase(columns.text("both"), numbers, slop).tolist() == []


def _count(words, phrase):
    return sum(words[n : n + len(phrase)] == phrase for n in range(len(words)))


def _is_near(words, phrase, slop, at=None):
    """Whether each word of the phrase follows the one before it at most `slop` words later."""
    begins = range(len(words)) if at is None else range(at + 1, min(at + slop + 1, len(words)))
    return not phrase or any(words[n] == phrase[0] and _is_near(words, phrase[1:], slop, n) for n in begins)


@pytest.mark.parametrize(("starts", "ends"), [([0, 2], [3, 4]), ([4, 0], [5, 2]), ([3], [2])])
def test_passages_that_overlap_or_go_back_are_damage(starts, ends):
    with pytest.raises(IndexError, match="overlap or go back"):
        PassageRanges(np.arange(len(starts)), np.array(starts), np.array(ends))
