import pytest

from searchlab.indexing.deduplication.text_list import GROUP, TextList


def test_a_list_gives_back_every_text():
    texts = ["", "a", "ß\udcff\x00", "\xff", "", *(f"text {n}" * (n % 5) for n in range(3 * GROUP))]
    listed = TextList()
    for number, text in enumerate(texts):
        assert len(listed) == number
        listed.append(text)
        assert [listed[n] for n in range(number + 1)] == texts[: number + 1]


@pytest.mark.parametrize("number", [-1, 2])
def test_a_number_that_no_text_has_is_an_error(number):
    listed = TextList()
    listed.append("a")
    listed.append("b")
    with pytest.raises(IndexError, match=f"text {number} of 2"):
        listed[number]
