"""The entries of a form in which people write: what they wrote is given back by every page of an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Of what was written in a field, a page of an error keeps so much: the longest that a field of a form allows.
MAX_KEPT_CHARACTERS = 20_000

# The fields of each form that are written in, with the words above them in its page.
WRITTEN_FIELDS: dict[str, dict[str, str]] = {
    "/topic": {"text": "What a searcher wants to know, one topic a line", "topic_set": "Topic set"},
    "/topic/edit": {
        "text": "What a searcher wants to know",
        "criteria": "What counts as relevant",
        "highlight": "Words to highlight",
    },
    "/set/rename": {"new_name": "New name of the topic set"},
    "/judge": {"note": "Note"},
    "/train": {"name": "Name of the model"},
    "/model/rename": {"new_name": "Name of the model"},
    "/experiments": {"title": "Title"},
    "/save-search": {"name": "Name of the search"},
    "/name": {"judge": "Your name"},
}


def written_entries(path: str, fields: Mapping[str, Any]) -> list[dict[str, str]]:
    """What was written in the fields of the form that was sent to `path`, each with its name and label."""
    return [
        {"name": name, "label": label, "text": text[:MAX_KEPT_CHARACTERS]}
        for name, label in WRITTEN_FIELDS.get(path, {}).items()
        if (text := str(fields.get(name, ""))).strip()
    ]
