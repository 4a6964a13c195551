"""The option --external: features with scores that another program has computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.messages import warn
from searchlab.cli.search_options import pairs
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.features.user_defined.external_features import ExternalFeature

ExternalOption = Annotated[
    list[str] | None,
    typer.Option(
        "--external",
        metavar="NAME=FILE",
        help="A feature external.NAME, computed elsewhere: a file with qid, docno and score, or a run; repeatable",
    ),
]


def read_external(given: list[str] | None) -> list[ExternalFeature]:
    """The features of the option, each with the scores of its file."""
    if not given:
        return []
    from searchlab.features.user_defined.external_features import external_feature

    files = list(pairs(given, "--external", "neural=scores.tsv"))
    names = [name for name, _ in files]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"--external {name} is given {names.count(name)} times, expected once")
    return [external_feature(name, file) for name, file in files]


def warn_of_missing_scores(missing: Mapping[str, int], n_rows: int) -> None:
    """Warn of candidates that have no score."""
    from searchlab.features.user_defined.external_features import describe_missing_scores

    for remark in describe_missing_scores(missing, n_rows):
        warn(remark)
