"""`searchlab model`: descriptions of trained models."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from searchlab.cli.app import add_group
from searchlab.cli.options import JsonOption, ModelArgument
from searchlab.cli.printing.model_printing import print_model
from searchlab.errors import SourceError

model_app = add_group("model", "Describe a trained model.")


@model_app.command("show")
def model_show_command(
    model: ModelArgument,
    everything: Annotated[
        bool, typer.Option("--all", help="Print all weights, not only the most influential ones.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print what a model is, how it was trained, and its weights."""
    from searchlab.rankers.builtin import as_bundle

    bundle = as_bundle(model)
    if as_json:
        influences = [{"label": each.label, "weight": each.amount} for each in bundle.influences()]
        print(json.dumps(bundle.to_json() | {"influences": influences}, ensure_ascii=False, indent=2))
        return
    try:
        print_model(bundle, everything=everything)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise SourceError(model, f"malformed model ({type(error).__name__}: {error})") from None
