"""Terms of documents in a vocabulary: offsets that cannot be are damage."""

from types import SimpleNamespace

import numpy as np
import pytest

from searchlab.errors import IndexCorrupt
from searchlab.indexing.vocabulary import Vocabulary


@pytest.mark.parametrize("offsets", [[0, 5, 2], [0, 2, 9], [-1, 2, 5], [0, -3, 5]])
def test_offsets_that_cannot_be_are_damage(tmp_path, offsets):
    columns = SimpleNamespace(token_offsets=np.array(offsets), tokens=np.arange(5))
    shard = SimpleNamespace(columns=columns, folder=tmp_path)
    with pytest.raises(IndexCorrupt, match="tokens are damaged"):
        Vocabulary.tokens(None, shard, np.arange(2), np.arange(9))


def test_tokens_of_documents_are_concatenated(tmp_path):
    columns = SimpleNamespace(token_offsets=np.array([0, 2, 5]), tokens=np.array([3, 1, 4, 0, 2]))
    shard = SimpleNamespace(columns=columns, folder=tmp_path)
    terms, bounds = Vocabulary.tokens(None, shard, np.array([1, 0]), np.array([10, -1, 12, 13, 14]))
    assert terms.tolist() == [14, 10, 12, 13]  # document 1, then document 0, without term 1
    assert bounds.tolist() == [0, 3, 4]
