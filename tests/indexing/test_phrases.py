import numpy as np
import pytest

import searchlab
from searchlab.indexing.phrases import count_phrase, find_phrase


@pytest.mark.parametrize("seed", range(5))
def test_phrases_are_counted_as_by_reading_every_text(tmp_path, seed):
    rng = np.random.default_rng(seed)
    texts = [[" ".join(rng.choice(["xa", "xb", "xc"], size)) for size in rng.integers(0, 12, 2)] for _ in range(30)]
    documents = [{"docno": f"{n:02}", "title": title, "body": body} for n, (title, body) in enumerate(texts)]
    searchlab.index(documents, tmp_path / "it")
    with searchlab.open(tmp_path / "it") as engine:
        columns = engine.snapshot.shards[0].columns
        both = columns.text("both")
        for phrase in (["xa", "xb"], ["xb", "xb"], ["xa", "xb", "xc"]):
            expected = [sum(_count(part.split(), phrase) for part in text) for text in texts]
            docs, counts = count_phrase(both, [columns.terms.find(term) for term in phrase])
            assert dict(zip(docs.tolist(), counts.tolist(), strict=True)) == {
                n: count for n, count in enumerate(expected) if count
            }
            assert find_phrase(both, [columns.terms.find(term) for term in phrase], 1).tolist() == docs.tolist()


def _count(words, phrase):
    return sum(words[n : n + len(phrase)] == phrase for n in range(len(words)))
