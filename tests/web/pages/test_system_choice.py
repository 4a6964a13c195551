"""The menu of systems."""

import pytest

from searchlab.web.pages.system_choice import system_context
from searchlab.web.state.open_index import MAX_CACHED_SYSTEMS
from searchlab.web.state.open_indexes import OpenIndexes

OPTION = '<option value="{}" selected>'


@pytest.mark.parametrize("system", ["bm25", "dirichlet", "bm25:k1=0.9"])
def test_the_menu_selects_the_system_that_ranks(client, system):
    for _ in range(2):  # made, and kept
        page = client.get("/", params={"q": "heart", "system": system}).text
        menu = page[page.index('<select name="system"') : page.index("</select>")]
        assert OPTION.format(system) in menu
        assert menu.count(" selected>") == 1
        assert menu.count("<option ") == menu.count("</option>") >= 9


def test_only_the_last_few_menus_are_kept(folder):
    index = OpenIndexes([folder]).get()
    options = system_context(index)["system_options"]
    for number in range(MAX_CACHED_SYSTEMS + 10):
        name = f"bm25:b=0.{number}"
        assert OPTION.format(name) in options(name)
    assert options.cache_info().currsize == MAX_CACHED_SYSTEMS
    assert system_context(index)["system_options"] is options
