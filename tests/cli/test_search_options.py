import pytest

from searchlab.cli.search_options import pairs
from searchlab.errors import SettingError


def test_settings_are_names_and_values():
    assert list(pairs(["mu=500", " b = 1=2 "], "--set")) == [("mu", "500"), ("b", "1=2")]


@pytest.mark.parametrize("setting", ["b\nc", "b\u2028c", "b\x1cc", "b\x85c"])
def test_a_setting_without_a_value_is_refused_in_one_line(setting):
    with pytest.raises(SettingError) as error:
        list(pairs([setting], "--set"))
    assert str(error.value) == "--set b c: expected NAME=VALUE, such as mu=500"
