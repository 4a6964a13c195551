"""Templates are compiled to shorter code than Jinja's, which outputs the same."""

import pytest
from jinja2 import DictLoader, Environment, UndefinedError
from markupsafe import Markup, escape

from searchlab.web.pages.rendering import environment
from searchlab.web.pages.template_compiler import TemplateEnvironment


@pytest.mark.parametrize("fields", [{"year": 1988}, {"items": "hostile", "keys": 1, "year": 1988}])
def test_keys_of_a_dict_do_not_hide_its_methods(fields):
    template = environment().from_string(
        "{{ fields.year }} {{ fields.items() | length }} {{ fields.month is defined }}"
    )
    assert template.render(fields=fields) == f"1988 {len(fields)} False"


def test_calls_in_templates_reach_functions_macros_and_blocks_as_jinja_calls_them():
    source = (
        "{% macro twice(text) %}{{ text }}{{ text }}{% endmacro %}"
        "{% macro around() %}({{ caller() }}){% endmacro %}"
        "{% block part %}{% for each in [1, 2] %}{{ plain(each) }} {{ twice('<') }}{% endfor %}{% endblock %}"
        "{% call around() %}c{% endcall %}"
    )
    expected = Environment(autoescape=True).from_string(source).render(plain=str)
    assert environment().from_string(source).render(plain=str) == expected == "1 &lt;&lt;2 &lt;&lt;(c)"


class Html:
    def __html__(self):
        return "<hr>"


class Text(str):
    pass


@pytest.mark.parametrize(
    "value",
    [
        "plain",
        "a & b",
        "<b>",
        '"',
        "'",
        "",
        "é\n",
        7,
        0.5,
        None,
        True,
        [1, "<"],
        Markup("<i>&amp;</i>"),
        Html(),
        Text("<"),
    ],
)
def test_templates_output_what_markupsafe_escapes(value):
    jinja = environment()
    template = jinja.from_string("{{ value }}|{% macro m() %}{{ value }}{% endmacro %}{{ m() }}|{{ [value] | first }}")
    assert template.render(value=value) == "|".join([str(escape(value))] * 3)


TEMPLATES = {
    "base.html": "[{% block title %}base{% endblock %}|{% set found = self.part() %}{{ found }}|"
    "{% for n in [1, 2] %}{% block part scoped %}{{ n | default('none') }}{% endblock %};{% endfor %}"
    "{% include 'end.html' %}]",
    "child.html": "{% extends 'base.html' %}{% from 'macros.html' import link, pair with context %}"
    "{% set shown = q %}{% block title %}{{ super() }} {{ shown }}{% endblock %}"
    "{% block part %}{% for each in rows %}{{ loop.index }}{% if not loop.last %} < {{ loop.nextitem.a.b }}{% endif %}"
    "{{ link(each.a.b) }}{{ pair('x', second=each.c) }}{{ pair(each.c) }}{% else %}nothing{% endfor %}{% endblock %}",
    "macros.html": "{% macro link(text) %}<a href='{{ q }}'>{{ text }}</a>{% endmacro %}"
    "{% macro pair(first, second='-') -%} ({{ first }}, {{ second }}) {%- endmacro %}",
    "end.html": "{% filter upper %}end of {{ q }}{% endfilter %}",
}


@pytest.mark.parametrize("rows", [[], [{"a": {"b": "<1>"}, "c": 0.5}, {"a": {"b": Markup("<b>")}, "c": None}]])
def test_pages_of_blocks_macros_and_loops_are_those_of_jinja(rows):
    pages = [
        kind(loader=DictLoader(TEMPLATES), autoescape=True).get_template("child.html").render(q="a & b", rows=rows)
        for kind in (Environment, TemplateEnvironment)
    ]
    assert pages[0] == pages[1]
    assert pages[0].startswith("[base a &amp; b|") and pages[0].endswith("END OF A &AMP; B]")


def test_an_attribute_of_a_value_is_that_of_a_dict_or_of_an_object():
    source = "{{ make().a }} {{ rows[0].a.b }} {{ 'x'.upper() }} {{ (row or none).a }} {{ rows[0].missing is defined }}"
    values = {"make": lambda: {"a": 1}, "rows": [{"a": {"b": 2}}], "row": {"a": 3}}
    assert environment().from_string(source).render(values) == "1 2 X 3 False"


def test_a_macro_with_too_many_arguments_is_an_error():
    with pytest.raises(TypeError, match="takes not more than 1 argument"):
        environment().from_string("{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}").render()


@pytest.mark.parametrize("source", ["{{ nothing }}", "{{ {}.nothing }}", "{{ [1][0].nothing }}"])
def test_a_name_that_is_not_there_is_an_error(source):
    with pytest.raises(UndefinedError):
        environment().from_string(source).render()
