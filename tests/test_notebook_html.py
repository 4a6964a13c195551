"""What notebooks show for values: complete, escaped, without scripts and outside resources."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import searchlab
from searchlab.corpus import Qrels, Run
from searchlab.evaluation.run_evaluation import evaluations_html
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.notebook_html import MAX_ROWS, Markup, html_bar, html_block, html_table, marked_html
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.records import Document
from searchlab.retrieval.results import Contribution, Explanation

HOSTILE = "<script>alert(1)</script><img/src=x onerror=alert(1)>'\"&"
WORD = "<b>onclick=1</b>&amp;"
TAGS = {"div", "style", "p", "table", "thead", "tbody", "tr", "th", "td", "b", "br", "i", "span", "mark"}


class Page(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)
        self.text = " ".join(self.texts)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_data(self, data):
        if self.tags[-1] != "style" or not data.startswith("\n.sl"):
            self.texts.append(data)


@pytest.fixture(scope="module")
def engine(build):
    documents = [Document("a" + WORD, f"Wings {HOSTILE}", f"heat {HOSTILE} flow"), Document("b", "", "heat")]
    return searchlab.open(build(documents))


@pytest.fixture(scope="module")
def values(engine):
    """One value of each kind, made of hostile texts."""
    qrels = Qrels.from_dict({str(q): {WORD: q % 3, "x": 1, "y": 0} for q in range(12)})
    scores = {WORD: 3.0, "x": 2.0, "y": 1.0}
    runs = [Run.from_dict({str(q): scores for q in range(12)}, name=HOSTILE)]
    runs.append(Run.from_dict({str(q): {name: -score for name, score in scores.items()} for q in range(12)}, name="b"))
    evaluations = [searchlab.evaluate_run(qrels, run, ["AP", "P@1"]) for run in runs]
    trial = {"means": {HOSTILE: {"AP": 0.25}}, "verdict": f"Good {HOSTILE}"}
    model = LinearModel(np.ones(1))
    return {
        "hits": engine.search("heat wings"),
        "explanation": Explanation(HOSTILE, 1.0, (Contribution(HOSTILE, 1.5, 2.0), Contribution("b", -0.5))),
        "evaluation": evaluations[0],
        "comparison": searchlab.compare_evaluations(evaluations),
        "run": runs[0],
        "qrels": qrels,
        "bundle": Bundle("linear", {}, model, ("bm25",), Preprocessor.named(), trial=trial),
        "untrained bundle": Bundle("linear", {}, model, ("bm25",), Preprocessor.named()),
    }


KINDS = ["hits", "explanation", "evaluation", "comparison", "run", "qrels", "bundle", "untrained bundle"]


@pytest.mark.parametrize("kind", KINDS)
def test_only_plain_tags_and_no_handlers_are_shown(values, kind):
    page = Page(values[kind]._repr_html_())
    assert "table" in page.tags or kind == "untrained bundle"
    assert set(page.tags) <= TAGS
    assert page.attributes <= {"class", "style"}
    assert not re.search(r"url\(|@import|https?:", values[kind]._repr_html_())


@pytest.mark.parametrize("kind", ["explanation", "evaluation", "comparison", "run", "bundle"])
def test_hostile_names_are_shown_as_they_are(values, kind):
    assert HOSTILE in Page(values[kind]._repr_html_()).text


def test_hits_show_marked_titles_and_snippets(values):
    html = values["hits"]._repr_html_()
    assert "<b><mark>Wings</mark> &lt;script&gt;" in html
    assert "<mark>heat</mark> &lt;script&gt;" in html
    page = Page(html)
    assert "2 documents for “heat wings”" in page.text
    assert "(untitled)" in page.text
    assert f"{values['hits'][0].score:.4f}" in page.text


def test_texts_are_aligned_left_and_numbers_right_in_jupyter(browser, tmp_path):
    # The rule of JupyterLab and nbconvert, which is stronger than one class.
    rule = ":not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td { text-align: right; }"
    value = html_block("caption", html_table(("system", "mean"), [("bm25", 0.5)]))
    page = tmp_path / "notebook.html"
    page.write_text(f'<style>{rule}</style><div class="jp-RenderedHTMLCommon">{value}</div>', "utf-8")
    browser.get(page.as_uri())
    script = "return [...document.querySelectorAll('td')].map(cell => getComputedStyle(cell).textAlign)"
    assert browser.execute_script(script) == ["left", "right"]


def bars(html: str) -> list[tuple[str, float, float]]:
    found = re.findall(r'class="(sl-up|sl-down)" style="left:([\d.]+)%;width:([\d.]+)%"', html)
    return [(kind, float(left), float(left) + float(width)) for kind, left, width in found]


def test_the_bars_of_an_explanation_add_up_to_the_score(values):
    # By hand: 0 to 1.5, back to 1.0, and the score from 0 to 1.0, on an axis to 1.5.
    html = values["explanation"]._repr_html_()
    expected = [("sl-up", 0.0, 100.0), ("sl-down", 66.67, 100.0), ("sl-up", 0.0, 66.67)]
    for found, wanted in zip(bars(html), expected, strict=True):
        assert found[0] == wanted[0]
        assert found[1:] == pytest.approx(wanted[1:], abs=0.02)


def test_the_smallest_contributions_are_added_up():
    parts = tuple(Contribution(f"f{n}", 1.0) for n in range(MAX_ROWS + 3))
    html = Explanation("a", float(len(parts)), parts)._repr_html_()
    page = Page(html)
    assert "3 others" in page.text
    assert "3.0000" in page.text
    assert bars(html)[-2][2] == pytest.approx(100.0, abs=0.02)
    assert "f10" not in page.text


def test_a_comparison_marks_what_is_significant(values):
    comparison = values["comparison"]
    assert [(each.measure, each.significant) for each in comparison.comparisons] == [("AP", True), ("P@1", True)]
    page = Page(comparison._repr_html_())
    assert page.text.count("▼ [") == 2
    assert "Comparison on 12 topics" in page.text
    same = [replace(each, p_corrected=0.05) for each in comparison.comparisons]
    without_marks = Page(replace(comparison, comparisons=tuple(same))._repr_html_()).text
    assert "▼ [" not in without_marks
    # p-values of a single pair are not corrected.
    assert ("corrected" in page.text, "corrected over all pairs" in without_marks) == (False, True)
    better = [replace(each, mean_a=1.0, mean_b=0.5) for each in comparison.comparisons]
    assert Page(replace(comparison, comparisons=tuple(better))._repr_html_()).text.count("▲ [") == 2


def test_a_long_run_is_cut_short(values):
    page = Page(values["run"]._repr_html_())
    assert "… and 2 more topics" in page.text
    assert page.tags.count("tr") == MAX_ROWS + 1
    assert "Run x: 1 topics, 0 documents" in Page(Run.from_dict({"1": {}}, name="x")._repr_html_()).text


def test_judgments_are_counted_by_grade(values):
    # By hand: grade 2 in every third topic; grade 1 in all, and once more in every third; so 4, 12 + 4, 12 + 4.
    cell = "<td[^>]*>(.*?)</td>"
    rows = re.findall(f"<tr>{cell * 3}</tr>", values["qrels"]._repr_html_())
    assert rows == [("2", "4", "4"), ("1", "16", "12"), ("0", "16", "12")]


def test_an_evaluation_shows_means_and_what_is_missing():
    evaluation = searchlab.evaluate_run({"1": {"a": 1}, "2": {"a": 1}}, {"1": {"b": 2.0, "a": 1.0}}, ["AP", "P@1"])
    page = Page(evaluations_html([evaluation]))
    assert "0.5000" in page.text
    assert "run: 1 judged topic missing" in page.text


def test_a_model_without_training_says_so(values):
    assert "Not validated" in Page(values["untrained bundle"]._repr_html_()).text
    assert "0.2500" in Page(values["bundle"]._repr_html_()).text


def test_columns_of_numbers_are_aligned_right():
    html = html_table(("name", "n"), [("a<", 1234), ("b", None)]).html
    head, body = html.split("</thead>")
    assert (head.count("sl-n"), body.count("sl-n")) == (1, 2)
    assert "<td>a&lt;</td>" in body
    assert "1,234" in body


def test_the_parts():
    assert marked_html("a<b>c", [(1, 2), (4, 5)]) == "a<mark>&lt;</mark>b&gt;<mark>c</mark>"
    assert "left:25.00%;width:50.00%" in html_bar(1, 3, 0, 4).html
    assert "sl-down" in html_bar(3, 1, 0, 4).html
    assert "left:0.00%" in html_bar(0, 0, 0, 0).html
    html = html_block("a<b", Markup("<p>x</p>"), note="c<d")
    assert html.count("<p>x</p>") == 1
    assert "a&lt;b" in html
    assert "c&lt;d" in html
