"""All scorers by their names on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from searchlab.errors import SearchlabError, SettingError, unknown_name
from searchlab.extensions import failure
from searchlab.scorers.absolute_discount import AbsoluteDiscount
from searchlab.scorers.base import Scorer
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.jelinek_mercer import JelinekMercer
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.plsa import PLSA
from searchlab.scorers.tfidf import TFIDF
from searchlab.scorers.two_stage import TwoStage
from searchlab.scorers.word_topic_model import WTM

# The kind of thing in the registry of extensions.
SCORER = "scorer"
SCORERS: dict[str, type[Scorer]] = {
    "absolute": AbsoluteDiscount,
    "bm25": BM25,
    "bm25f": BM25F,
    "dirichlet": Dirichlet,
    "jm": JelinekMercer,
    "mixture": Mixture,
    "plsa": PLSA,
    "tfidf": TFIDF,
    "two-stage": TwoStage,
    "wtm": WTM,
}


def make_scorer(name: str, settings: Mapping[str, str] | None = None) -> Scorer:
    """A scorer by its name, with settings as a user writes them: `make_scorer("dirichlet", {"mu": "500"})`."""
    if name not in SCORERS:
        raise unknown_name("scorer", name, SCORERS, {kind.__name__: own for own, kind in SCORERS.items()})
    scorer = SCORERS[name]
    listed = [field for field in fields(scorer) if field.metadata.get("is_setting", True)]  # type: ignore[arg-type]
    known = {field.name.rstrip("_"): field for field in listed}
    values: dict[str, Any] = {}
    for key, text in (settings or {}).items():
        if key not in known:
            raise unknown_name(f"setting of {name}", key, known)
        field = known[key]
        if field.type in (str, "str"):
            values[field.name] = text
            continue
        try:
            values[field.name] = float(text)
        except ValueError:
            raise SettingError(f"{name}: {key} is {text!r}, expected a number") from None
    try:
        return scorer(**values)
    except SearchlabError:
        raise
    except Exception as error:
        raise failure(f"scorer {name} failed with its settings", scorer, error) from error
