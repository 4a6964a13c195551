"""`searchlab model`: descriptions of trained models, and the default ranker of an index."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from searchlab.cli.app import add_group
from searchlab.cli.options import IndexOption, JsonOption, ModelArgument, choose_index
from searchlab.cli.printing.model_printing import print_model
from searchlab.cli.printing.terminal_text import print_line
from searchlab.errors import SettingError, SourceError

model_app = add_group("model", "Describe a model; choose the default ranker.")


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


@model_app.command("use")
def model_use_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="A model of the index by name, `builtin`, or a scorer such as bm25+rm3; none: print the present one",
        ),
    ] = None,
    index: IndexOption = None,
    remove: Annotated[bool, typer.Option("--remove", help="Search by BM25 again.")] = False,
) -> None:
    """Choose the default ranker of an index.

    Pages search by it; `query`, `run` and `explain` do with --rerank default, Python with `rerank="default"`. Without a
    name, prints which it is.
    """
    import searchlab
    from searchlab.rankers.model_store.default_ranker import (
        read_default_ranker,
        remove_default_ranker,
        write_default_ranker,
    )
    from searchlab.rankers.model_store.model_files import find_model, list_model_files
    from searchlab.rankers.systems import MODEL, make_system

    if remove and name is not None:
        raise SettingError("--remove with a name, expected one of the two")
    folder = choose_index(index)
    if remove:
        removed = remove_default_ranker(folder)
        print_line(f"{folder}: searched by BM25{'' if removed else ', as before'}")
        return
    if name is None:
        default = read_default_ranker(folder)
        chosen = "" if default is None or not default.chosen_by else f", chosen by {default.chosen_by}"
        print_line(f"{folder}: {'BM25, none was chosen' if default is None else default.system}{chosen}")
        return
    with searchlab.open(folder, compiled=False) as engine:
        if name.removeprefix(MODEL) in (*list_model_files(folder), "builtin"):
            from searchlab.rankers.builtin import as_bundle

            as_bundle(find_model(folder, name.removeprefix(MODEL))).check_index(engine)
            name = MODEL + name.removeprefix(MODEL)
        else:
            name = make_system(engine, name).name
    write_default_ranker(folder, name)
    print_line(f"{folder}: ranked by {name} from now on, in pages and with --rerank default")
