"""The forms of training: start and cancel jobs; use, rename, delete and restore models.

They work in browsers without scripts, too: each leads to a page.
"""

from __future__ import annotations

from typing import Any

from searchlab.web.api.training import models, train
from searchlab.web.jobs.job_journal import remove_from_journal
from searchlab.web.pages.page import BrowserSession, page_url
from searchlab.web.state.request_state import RequestState


def train_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Start a training job."""
    train.start_training(state, **values)
    return page_url(state, "/train", topic_set=values["topic_set"])


def dismiss_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> None:
    """Forget a training job that was interrupted."""
    remove_from_journal(state.index.folder, "training", values["name"])


def cancel_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> None:
    """Cancel a training job."""
    train.cancel_job(state, id=values["id"])


def use_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> None:
    """Make a system the default ranker."""
    models.use_ranker(state, system=values["system"], judge=session.judge)


def rename_model_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Rename a model, and show it."""
    renamed = models.rename_model(state, name=values["name"], new_name=values["new_name"])
    return page_url(state, "/model", name=renamed["name"])


def delete_model_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Delete a model, and show that it can be restored."""
    models.delete_model(state, name=values["name"])
    return page_url(state, "/train", deleted=values["name"])


def restore_model_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Make a version of the history the model, and show it."""
    models.restore_model(state, name=values["name"], version=values["version"])
    return page_url(state, "/model", name=values["name"])
