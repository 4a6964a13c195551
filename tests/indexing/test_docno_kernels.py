from hypothesis import given
from hypothesis import strategies as st

from searchlab.indexing.docno_kernels import find_docnos
from searchlab.indexing.storage.arrays.string_table import Strings


@given(st.sets(st.text(max_size=3)), st.lists(st.text(max_size=3), max_size=5))
def test_the_compiled_search_finds_what_bisection_finds(known, wanted):
    strings = Strings.of(sorted(known, key=str.encode))
    wanted += sorted(known)[:2]
    assert find_docnos(strings, wanted).tolist() == [strings.find(docno) for docno in wanted]
