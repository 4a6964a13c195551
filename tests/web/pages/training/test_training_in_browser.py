"""Retraining and the learning curve in a browser: both verdicts, which model is used, how many judgments would do."""

import json
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from searchlab.corpus.values.conversion import make_qrels, make_topics
from searchlab.rankers.bundle import load_bundle
from searchlab.rankers.model_store.model_files import list_model_files

MEDICAL = Path(__file__).parents[4] / "corpora" / "medical"
# Training has low priority.
TRAINING_SECONDS = 240
PAGES = ["/train", "/model?name=again", "/models", "/models?verdict=helps"]


@pytest.fixture(scope="module")
def address(serve, medical):
    return serve(medical)


def get(address, path):
    with urlopen(address + path) as answer:
        return json.load(answer)


def send(address, path, **values):
    request = Request(address + path, json.dumps(values).encode(), {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        return json.load(answer)


def import_topics(address, first, last):
    """Import some of the topics of the collection, with their judgments."""
    topics, qrels = make_topics(MEDICAL / "topics.tsv")[first:last], make_qrels(MEDICAL / "qrels.txt")
    lines = "".join(f"{topic.qid}\t{topic.text}\n" for topic in topics)
    judged = "".join(
        f"{topic.qid} 0 {docno} {grade}\n" for topic in topics for docno, grade in qrels[topic.qid].items()
    )
    send(address, "/api/import", topic_set="medical", topics=lines, qrels=judged, judge="me")


def find_model(address, name="again"):
    return next(each for each in get(address, "/api/models")["models"] if each["name"] == name)


@pytest.fixture
def trained(browser, find):
    """Wait until the model that is being trained is there; returns the card of the job."""

    def until():
        from selenium.webdriver.support.ui import WebDriverWait

        ended = "return document.querySelector('[data-job][data-state=done]') !== null"
        WebDriverWait(browser, TRAINING_SECONDS, poll_frequency=0.1).until(lambda driver: driver.execute_script(ended))
        return find(".job")

    return until


@pytest.fixture(scope="module")
def first_model(address):
    """A model of the first 13 topics; then the other 13 are judged."""
    import_topics(address, 0, 13)
    send(address, "/api/train", topic_set="medical", ranker="maxent", features="table1", name="again")


def texts(card, selector):
    return [each.text for each in card.find_elements("css selector", selector)]


def test_a_model_that_is_no_better_leaves_the_former_one_in_use_until_the_user_decides(
    show, find, wait, trained, address, first_model
):
    show("/train")
    assert not trained().find_elements("css selector", ".verdicts-compared")
    send(address, "/api/models/use", system="model:again", judge="me")
    import_topics(address, 13, 26)
    show("/train")
    assert "The judgments of medical have changed since. Retrain" in texts(find("#main"), ".model .notice")
    find(".model .notice a").click()
    wait("location.pathname === '/model'")
    assert "It stays until a new one is better on the same topics." in find(".notice.warn").text
    find(".notice.warn .button").click()
    wait("location.pathname === '/train' && document.querySelector('[data-job]:not([data-job=\"1\"])')")
    card = trained()
    # It was trained with the settings of the former one, on the judgments of today; both verdicts are side by side.
    compared = get(address, "/api/jobs")["jobs"][0]["comparison"]
    assert (compared["kind"], compared["n_topics"], compared["is_better"]) == ("new topics", 13, False)
    assert texts(card, ".compared") == [compared["sentence"]]
    assert "on 13 topics that neither has learnt from" in compared["sentence"]
    assert texts(card, ".verdicts-compared h3") == ["Former, 13 topics stays", "New, 26 topics"]
    former, new = texts(card, ".verdicts-compared .sentence")
    assert ("on 13 held-out topics" in former, "on 26 held-out topics" in new) == (True, True)
    drawn = [row.split() for row in texts(card, ".chart:first-of-type .means .part")[:2]]
    assert [row[:3] for row in drawn] == [["the", "new", "model"], ["the", "former", "model"]]
    means = [f"{mean:.3f}" for mean in compared["means"].values()]
    assert [row[3] for row in drawn] == means
    # The former model is used, until the new one is wanted all the same; to retrain it again would find the same.
    assert find_model(address)["n_topics"] == 13
    assert [each for each in texts(find("#main"), ".model .notice") if "Retrain" in each] == []
    assert "Retrain" not in find(".strip").text
    assert texts(card, 'a[href*="model%3Aagain"]') == []
    card.find_element("css selector", 'form[action="/model/restore"] button').click()
    wait("location.pathname === '/model'")
    assert find_model(address)["n_topics"] == 26
    assert texts(find("#main"), ".compared") == [compared["sentence"]]
    assert get(address, "/api/models")["default_ranker"]["system"] == "model:again"
    show("/train")
    assert "Another version is used since." in find(".job").text
    assert "have changed since" not in find("#main").text


def test_a_better_model_takes_the_place_of_the_former_one_which_can_be_used_again(
    show, find, wait, trained, address, first_model
):
    from selenium.webdriver.support.ui import Select

    show("/train")
    Select(find("#ranker")).select_by_value("softmax")
    Select(find("#features")).select_by_value("table1")
    find("#name").send_keys("again")
    last = len(get(address, "/api/jobs")["jobs"])
    find(".train button").click()
    wait(f"document.querySelector('[data-job=\"{last + 1}\"]')")
    card = trained()
    compared = get(address, "/api/jobs")["jobs"][0]["comparison"]
    assert (compared["kind"], compared["n_topics"], compared["is_better"]) == ("same folds", 26, True)
    assert texts(card, ".compared") == [compared["sentence"]]
    assert texts(card, ".verdicts-compared h3") == ["Former, 26 topics", "New, 26 topics takes over"]
    assert find_model(address)["ranker"] == "softmax"
    card.find_element("css selector", 'form[action="/model/restore"] button').click()
    wait("location.pathname === '/model'")
    assert find_model(address)["ranker"] == "maxent"
    # The list of all models has both, filtered and sorted, and restores the new one.
    show("/models")
    assert texts(find("#main"), ".versions .badge") == ["in use", "in the history", "in the history"]
    for box, value in (("use", "history"), ("order", "oldest")):
        Select(find(f"#{box}")).select_by_value(value)
    find("#words").send_keys("AGAIN")
    find(".narrow-models button").click()
    wait("new URLSearchParams(location.search).get('use') === 'history'")
    assert find("[role=status]").text == "2 of 3 models"
    softmax = [card for card in find(".versions").find_elements("css selector", ".card") if "softmax" in card.text]
    softmax[0].find_element("css selector", "button").click()
    wait("location.pathname === '/model'")
    assert find_model(address)["ranker"] == "softmax"


def test_the_learning_curve_is_drawn_with_the_estimate_how_many_more_judgments_would_do(
    show, browser, find, address, first_model
):
    show("/model?name=again")
    model = find_model(address)
    points = browser.execute_script(
        "const chart = [...document.querySelectorAll('.chart')].find(e => e.textContent.includes('Learning curve'));"
        "chart.id = 'curve';"
        "return [...chart.querySelectorAll('circle')].map(each => each.getBoundingClientRect())"
        ".map(box => [box.x + box.width / 2, box.y + box.height / 2, box.width])"
    )
    drawn = find("#curve")
    assert (drawn.is_displayed(), drawn.size["width"] > 250, min(width for _, _, width in points) > 3) == (True,) * 3
    drawn.find_element("css selector", "summary").click()
    numbers = [tuple(map(float, row.split())) for row in texts(drawn, "tbody tr")]
    assert [n for n, _ in numbers] == [5, 10, 20]
    # Each point is as far to the right, and as high, as its numbers say.
    (x0, y0, _), *others = points
    (n0, mean0), (n1, mean1), *_ = numbers
    for (x, y, _), (n, mean) in zip(others, numbers[1:], strict=True):
        assert (x - x0) / (others[0][0] - x0) == pytest.approx((n - n0) / (n1 - n0), rel=0.01)
        assert (y0 - y) / (y0 - others[0][1]) == pytest.approx((mean - mean0) / (mean1 - mean0), rel=0.1)
    advice = model["advice"]
    assert (advice["kind"], advice["n_more"] > 0) == ("not yet", True)
    notes = texts(drawn, ".note")
    assert notes[0].startswith("Learning from 20 topics instead of 10: nDCG@10 +.")
    assert notes[1] == f"About {advice['n_more']} more topics would probably settle it, if they are like these."


@pytest.mark.parametrize(
    "path", ["/train", "/model?name=again", "/models", "/next?topic_set=medical&left=bm25&right=dirichlet"]
)
def test_measures_are_explained_where_they_stand(show, address, first_model, path):
    shown = show(path)
    for explained in shown.find_elements("css selector", ".meant"):
        explained.find_element("css selector", "summary").click()
    meanings = dict(zip(texts(shown, ".meant dt"), texts(shown, ".meant dd"), strict=True))
    assert meanings["nDCG@10"].startswith("how close the order is to the best possible one")
    if path == "/train":
        assert {"AP", "P@10"} <= set(meanings)
        assert texts(shown, ".job .meant dt") != []


def test_points_of_precision_and_recall_are_where_their_numbers_say(show, browser, address, first_model):
    show("/model?name=again")
    lines, zero, one, left, right = browser.execute_script(
        "const chart = [...document.querySelectorAll('.chart')].find(e => e.textContent.includes('(recall)'));"
        "chart.querySelector('details').open = true; chart.id = 'recall';"
        "const grid = [...chart.querySelectorAll('.grid')].map(each => Number(each.getAttribute('y1')));"
        "const [axis] = chart.querySelectorAll('.grid');"
        "return [[...chart.querySelectorAll('.plot g')].map(g => [...g.querySelectorAll('circle')]"
        ".map(each => [Number(each.getAttribute('cx')), Number(each.getAttribute('cy'))])),"
        " grid[0], grid.at(-1), Number(axis.getAttribute('x1')), Number(axis.getAttribute('x2'))]"
    )
    table = browser.find_element("id", "recall")
    recalls = [float(text) for text in texts(table, "thead .n")]
    rows = [[float(text) for text in texts(row, ".n")] for row in table.find_elements("css selector", "tbody tr")]
    assert (len(rows), len(rows[0])) == (len(lines), 11)
    assert len(rows) >= 2
    for points, precisions in zip(lines, rows, strict=True):
        assert [(x - left) / (right - left) for x, _ in points] == pytest.approx(recalls, abs=0.001)
        assert [(zero - y) / (zero - one) for _, y in points] == pytest.approx(precisions, abs=0.001)
    names = texts(table, ".legend bdi")
    assert names == texts(table, "tbody th")


def test_measure_draws_the_values_of_topics_that_were_held_out(show, medical, address, first_model):
    held_out = load_bundle(list_model_files(medical)["again"]).trial["held_out"]
    model, baseline = (held_out["values"][name] for name in (next(iter(held_out["values"])), "BM25"))
    topics = {topic.qid: topic.text for topic in make_topics(MEDICAL / "topics.tsv")}
    expected = {topics[qid]: value - other for qid, value, other in zip(held_out["qids"], model, baseline, strict=True)}
    shown = show("/measure?topic_set=medical&systems=bm25&systems=model%3Aagain&measures=nDCG%4010")
    rows = shown.find_elements("css selector", ".topics-chart .part")
    drawn = {
        row.find_element("css selector", ".label").text: float(
            row.find_element("css selector", ".n").text.replace("−", "-")
        )
        for row in rows
    }
    assert drawn == pytest.approx(expected, abs=0.0006)
    assert len(set(expected.values())) > 5
    # The bars are as long as their numbers.
    widths = shown.execute_script(
        "return [...document.querySelectorAll('.topics-chart .part')].map(each =>"
        " Number(each.querySelector('rect').getAttribute('width')))"
    )
    amounts = [abs(amount) for amount in drawn.values()]
    longest = max(range(len(amounts)), key=amounts.__getitem__)
    scale = widths[longest] / amounts[longest]
    assert widths == pytest.approx([scale * amount for amount in amounts], abs=scale * 0.001)


def test_a_model_whose_topic_set_was_renamed_leads_to_no_retraining(show, find, address, first_model):
    send(address, "/api/topic-sets/rename", topic_set="medical", new_name="renamed", judge="me")
    try:
        show("/model?name=again")
        assert "The topic set medical, from which it has learnt, is not there any more" in find("#main").text
        assert find("#main").find_elements("css selector", "#retrain, .topics-chart a, a[href^='/measure']") == []
        show("/train")
        assert "have changed since" not in find("#main").text
        assert "Train a model" in find(".strip").text
    finally:
        send(address, "/api/topic-sets/rename", topic_set="renamed", new_name="medical", judge="me")


def test_more_judgments_on_the_same_topics_replace_the_former_model_which_can_be_used_again(
    show, find, wait, trained, address, first_model
):
    import_topics(address, 0, 13)
    send(address, "/api/train", topic_set="medical", ranker="maxent", features="table1", name="grown")
    show("/train")
    trained()
    send(address, "/api/judgments", topic_set="medical", qid="1", docno="med-160", grade=1, judge="me")
    show("/model?name=grown")
    last = len(get(address, "/api/jobs")["jobs"])
    find("#retrain").click()
    wait(f"document.querySelector('[data-job=\"{last + 1}\"]')")
    card = trained()
    job = get(address, "/api/jobs")["jobs"][0]
    compared = job["comparison"]
    assert (compared["kind"], compared["is_better"], job["version"]) == ("not compared", True, None)
    assert texts(card, ".compared") == [compared["sentence"]]
    assert compared["sentence"].endswith(
        "it takes the place of the former one, since it has learnt from the judgments of today."
    )
    assert texts(card, ".verdicts-compared .badge") == ["takes over"]
    grown = find_model(address, "grown")
    assert not [each for each in texts(find("#main"), ".model .notice") if "grown" in each]
    card.find_element("css selector", 'form[action="/model/restore"] button').click()
    wait("location.pathname === '/model'")
    assert (grown["judgments_changed"], find_model(address, "grown")["judgments_changed"]) == (False, True)
    # The later model is in the history, so that to train again is not urged.
    assert "is in the history" in find("[data-live=retrain]").text


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible(check_page, first_model, path):
    check_page(path)
