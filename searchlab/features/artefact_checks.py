"""Checks of what was learnt from an index and is kept in it: the semantic space and the topic models."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from searchlab.errors import IndexMissing, StoreError
from searchlab.features.latent_semantics.semantic_space import SemanticSpace
from searchlab.indexing.snapshot import Snapshot
from searchlab.topic_models.topic_model_store import list_topic_models, open_topic_model


def examine_artefacts(folder: Path) -> list[str]:
    """The problems of the semantic space and the topic models of an index, as far as it has any."""
    problems = []
    with closing(Snapshot(folder)) as snapshot:
        checks: list[Callable[[], object]] = [partial(SemanticSpace.open, snapshot, verify=True)]
        checks += [partial(open_topic_model, snapshot, name, verify=True) for name in list_topic_models(folder)]
        for check in checks:
            try:
                check()
            except IndexMissing:
                continue
            except StoreError as error:
                problems.append(str(error))
    return problems
