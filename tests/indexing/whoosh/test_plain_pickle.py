"""The reader of plain pickles: equal to Python's for plain values, and nothing runs for anything else."""

import io
import pickle
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whoosh import columns

from searchlab.indexing.whoosh.plain_pickle import NotPlain, load, loads, plain_pickles

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(st.characters()), st.binary()
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(st.one_of(st.text(), st.integers()), inner)
    ),
    max_leaves=20,
)


@given(values, st.sampled_from([4, 5]))
def test_plain_values_are_read_as_by_python(value, protocol):
    assert loads(pickle.dumps(value, protocol)) == value


@given(st.recursive(st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1), st.text()), st.lists, max_leaves=20))
def test_values_of_the_older_protocol_are_read_too(value):
    assert loads(pickle.dumps(value, 2)) == value


def test_a_file_is_left_after_the_pickle():
    file = io.BytesIO(pickle.dumps((1, "a"), 4) + b"rest")
    assert load(file) == (1, "a")
    assert file.read() == b"rest"


class Hostile:
    def __reduce__(self):
        return (open, ("ran", "w"))


def test_code_in_a_pickle_is_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for protocol in range(6):
        with pytest.raises(NotPlain):
            loads(pickle.dumps([Hostile()], protocol))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b".",
        b"N",
        b"\x80\x09N.",
        pickle.BINBYTES + struct.pack("<I", 2**32 - 1) + b"x.",
        pickle.LONG_BINGET + struct.pack("<I", 2**32 - 1) + b".",
        b"a.",
        b"Na.",
        b"t.",
        b"NNNs.",
        b"(u.",
        b"}(NNNu.",
        b"}(]Nu.",
        b"cos\nsystem\n.",
        b"K\x01K\x02\x93.",
    ],
)
def test_a_damaged_pickle_is_an_error(data):
    with pytest.raises(NotPlain):
        loads(data)


def test_a_number_far_beyond_the_pickle_takes_no_memory():
    assert loads(pickle.NONE + pickle.LONG_BINPUT + struct.pack("<I", 2**32 - 1) + pickle.STOP) is None


@given(st.binary(max_size=60))
def test_random_bytes_are_a_value_or_an_error(data):
    with suppress(NotPlain):
        loads(data)


def test_whoosh_reads_by_it_only_within_the_context():
    before = columns.loads
    with plain_pickles():
        assert columns.loads is loads
    assert columns.loads is before
