"""The systems to choose from in forms, in plain words; the options of a menu are made once for a state of the index."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from searchlab.web.pages.plain_words import plain_system
from searchlab.web.pages.rendering import render
from searchlab.web.pages.template_compiler import as_markup
from searchlab.web.state.open_index import MAX_CACHED_SYSTEMS, OpenIndex


def system_context(index: OpenIndex) -> dict[str, Any]:
    """The variables of templates about systems: `systems`, and `system_options`, a function of the chosen one."""
    systems = index.cached("systems in words", lambda: _systems_in_words(index))
    return {
        "systems": systems,
        "system_options": index.cached("system options", lambda: _make_system_options(systems, index.default_system)),
    }


def _systems_in_words(index: OpenIndex) -> list[dict[str, str]]:
    """The systems on offer, each with its name, label and kind, and in plain words."""
    return [
        {"name": name, "label": label, "kind": kind, "words": plain_system(name, label, kind)}
        for name, label, kind in index.systems
    ]


def _make_system_options(systems: list[dict[str, str]], default_system: str) -> Callable[[str], Markup]:
    """A function that makes the options of a menu of systems; those of the last few chosen ones are kept."""
    context = {"systems": systems, "default_system": default_system}

    @lru_cache(MAX_CACHED_SYSTEMS)
    def make_options(chosen: str) -> Markup:
        return as_markup(render("system_options.html", context | {"chosen": chosen}))

    return make_options
