"""Which job the card of a page shows."""

import pytest

from searchlab.web.pages.job_cards import choose_shown_job


@pytest.mark.parametrize(
    ("states", "shown", "waiting", "cancelled"),  # the latest first, each with its place as its name
    [
        ((), None, [], None),
        (("done", "done"), 0, [], None),
        (("cancelled", "done"), 1, [], 0),
        (("cancelled", "failed", "done"), 1, [], 0),
        (("cancelled", "cancelled"), 0, [], None),
        (("done", "cancelled"), 0, [], None),
        (("waiting", "running", "done"), 1, [0], None),
        (("waiting", "waiting"), 1, [0], None),
        (("cancelled", "running"), 1, [], 0),
    ],
)
def test_what_finished_is_shown_rather_than_what_was_cancelled(states, shown, waiting, cancelled):
    jobs = [{"name": place, "state": state} for place, state in enumerate(states)]
    card = choose_shown_job(jobs)
    names = [None if job is None else job["name"] for job in (card.shown, card.cancelled)]
    assert (names, [job["name"] for job in card.waiting]) == ([shown, cancelled], waiting)
