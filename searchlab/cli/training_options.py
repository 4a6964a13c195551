"""Options of the commands that train rankers, and the recipe that they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from searchlab.training.recipe import Recipe

_RECIPE = "paper: the source's system as it is; tuned: with what we found better"
RecipeOption = Annotated[str, typer.Option("--recipe", metavar="paper|tuned", help=_RECIPE)]
RecipesOption = Annotated[
    str | None, typer.Option("--recipe", metavar="paper|tuned", help=f"{_RECIPE} [default: both, side by side]")
]
RankerSettingsOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the ranker, such as C=0.01")
]
MeasureOption = Annotated[
    str | None,
    typer.Option(
        "-m",
        "--measure",
        metavar="NAME",
        help="The measure to choose settings by [default: AP; from an index nDCG@10]",
    ),
]
TrainingDialectOption = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        metavar="trec|letor3|letor4|paper",
        help="The evaluation tool whose rules are followed [default: letor3; from an index trec]",
    ),
]
ImputeOption = Annotated[
    str | None,
    typer.Option(
        "--impute",
        metavar="NAME",
        help="How undefined values are filled: indicator, letor, none, query-minimum or zero "
        "[default: query-minimum; from an index letor]",
    ),
]
NormaliseOption = Annotated[
    str | None,
    typer.Option(
        "--normalise",
        metavar="NAME",
        help="How features are scaled: none, query-minmax, query-rank, query-zscore or standard "
        "[default: query-minmax]",
    ),
]
PowersOption = Annotated[
    bool | None,
    typer.Option(
        "--powers/--no-powers",
        help="Whether the square and the root of each feature are added [default: the recipe's]",
    ),
]
BestOption = Annotated[
    int | None,
    typer.Option(
        "--n-best",
        metavar="N",
        help="How many of the best values of the tuned setting are averaged, if models can be [default: the recipe's]",
    ),
]
PriorOption = Annotated[
    str | None,
    typer.Option(
        "--prior",
        metavar="builtin|none|MODEL",
        help="The model that learning starts from [default: none; from an index builtin where it fits]",
    ),
]
RepeatsOption = Annotated[
    int | None,
    typer.Option(
        "--repeats",
        metavar="N",
        help="How often the cross-validation is repeated with other folds [default: 5 for fast rankers, fewer for "
        "many topics, 1 for slow ones]",
    ),
]


def make_training_recipe(settings: list[str] | None, usual: Mapping[str, Any], **given: Any) -> Recipe:
    """The recipe with the values `given` on the command line, and `usual` ones where they are None."""
    from searchlab.cli.search_options import pairs
    from searchlab.training.recipe import Recipe

    chosen = {name: value for name, value in given.items() if value is not None}
    return Recipe(settings=dict(pairs(settings or (), "--set", "C=0.01")), **{**usual, **chosen})
