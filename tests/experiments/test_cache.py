"""Keys of cached results change with all that they depend on."""

import pytest

from searchlab import extensions
from searchlab.experiments.cache import fingerprint


@pytest.mark.usefixtures("registered_here")
def test_a_key_changes_with_its_parts_and_with_the_source_of_an_extension():
    keys = [fingerprint("index", {"k1": 1}), fingerprint("index", {"k1": 2})]
    for digest in ("a" * 16, "b" * 16):
        extensions.ORIGINS["scorer", "mine"] = extensions.Origin("my_scorers", digest)
        keys.append(fingerprint("index", {"k1": 1}))
    assert len(set(keys)) == 4
    del extensions.ORIGINS["scorer", "mine"]
    assert fingerprint("index", {"k1": 1}) == keys[0]
