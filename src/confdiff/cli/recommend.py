"""confdiff recommend: train a recommender on interactions, evaluate it, and recommend items."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from confdiff.cli.console import is_quiet, name_column, number_column, results, say, say_files, status
from confdiff.cli.messages import translated
from confdiff.cli.options import (
    COLUMNS,
    TABLE_ENDINGS,
    DeviceOption,
    EncodingOption,
    EscapeOption,
    JsonOption,
    OverwriteOption,
    SeedOption,
    argument,
    option,
    output_option,
    switch,
)
from confdiff.io.table_formats.encodings import takes_encoding

if TYPE_CHECKING:
    from confdiff.recommender.fitting import HeldOutRanking

_Interactions = Annotated[
    Path, argument(metavar="FILE", help=f"Table of interactions ({TABLE_ENDINGS}): one row per interaction.")
]
_Recommender = Annotated[Path, argument(metavar="MODEL", help="File that `confdiff recommend train` wrote.")]
_Output = Annotated[Path, output_option("File for the model.", metavar="FILE")]
_RECOGNISED = "Recognised if omitted."
_User = Annotated[str | None, option(metavar="COLUMN", panel=COLUMNS, help=f"Users. {_RECOGNISED}")]
_Item = Annotated[str | None, option(metavar="COLUMN", panel=COLUMNS, help=f"Items. {_RECOGNISED}")]
_Strength = Annotated[
    str | None, option(metavar="COLUMN", panel=COLUMNS, help=f"Strength of an interaction. {_RECOGNISED}")
]
_Time = Annotated[str | None, option(metavar="COLUMN", panel=COLUMNS, help=f"Time of an interaction. {_RECOGNISED}")]
_Confidence = Annotated[
    str | None,
    option(
        metavar="NAME",
        help="Conversion of strengths to confidences: `watch-ratio`, `rating`, `click`, `count`, `min-max` or `rank`. "
        + _RECOGNISED,
    ),
]
_Threshold = Annotated[
    float | None,
    option(
        metavar="NUMBER",
        help="Strengths above it are positive. If omitted, a watch ratio of 2, or a confidence of 1/2.",
    ),
]
_Method = Annotated[str, option(metavar="NAME", help="Method, as `confdiff methods` names it.")]
_Model = Annotated[str, option(metavar="NAME", help="Network: `neumf`, `gmf`, `ncf-mlp` or `mf`.")]
_Prior = Annotated[str, option(metavar="NAME", help="Class prior: `global`, or `user` for one prior per user.")]
_Partners = Annotated[
    int | None,
    option(
        min=1,
        metavar="N",
        help="Number of pairs per interaction. If omitted, 1 to 16: more for fewer interactions.",
    ),
]
_Epochs = Annotated[int, option(min=1, metavar="N", help="Maximum number of passes over the pairs.")]
_Patience = Annotated[
    int | None,
    option(
        min=0,
        metavar="N",
        help="Early stopping: epochs without a better pairwise accuracy on a tenth of the interactions. "
        "If omitted, 3. 0 trains for all epochs on all of them.",
    ),
]
_PATIENCE = 3
_NNegatives = Annotated[
    int, option(min=1, metavar="N", help="Candidates to rank together with each held-out positive.")
]
_NoHoldout = Annotated[
    bool,
    switch(
        "--no-holdout",
        help="Train on all interactions, without test and validation sets, once the number of epochs is known.",
    ),
]


@takes_encoding
def train_command(
    file: _Interactions,
    output: _Output = Path("recommender.safetensors"),
    user: _User = None,
    item: _Item = None,
    strength: _Strength = None,
    time: _Time = None,
    confidence: _Confidence = None,
    threshold: _Threshold = None,
    method: _Method = "confdiff-regression",
    model: _Model = "neumf",
    prior: _Prior = "global",
    partners: _Partners = None,
    epochs: _Epochs = 50,
    patience: _Patience = None,
    n_negatives: _NNegatives = 49,
    no_holdout: _NoHoldout = False,
    encoding: EncodingOption = None,
    device: DeviceOption = "auto",
    overwrite: OverwriteOption = False,
    seed: SeedOption = 0,
) -> None:
    """Train a recommender on pairs of items of one user.

    The latest positive interaction of each user is held out for `confdiff recommend evaluate`.

    Example:
        confdiff recommend train likes.csv --user who --item what --strength liked
    """
    with status("loading PyTorch"):
        from confdiff.io.outputs import check_new_file
        from confdiff.recommender.fitting import fit_recommender, grade_file
        from confdiff.recommender.learning import Learning, partners_for
    if no_holdout and patience:
        raise ValueError(f"--patience {patience} would not be used: --no-holdout leaves no validation set. Omit one.")
    check_new_file(output, inputs=[file], overwrite=overwrite)
    learning = Learning(
        method=method,
        seed=seed,
        epochs=epochs,
        model=model,
        prior=prior,
        partners=partners or 1,
        n_negatives=n_negatives,
        patience=None if no_holdout else _PATIENCE if patience is None else patience or None,
    )
    columns = {"user": user, "item": item, "strength": strength, "time": time}
    with status(f"reading {file}"):
        table = grade_file(file, columns=columns, confidence=confidence, threshold=threshold)
    graded = table.graded
    if partners is None:
        learning = replace(learning, partners=partners_for(graded))
    for note in table.notes:
        say(note)
    say(f"{graded.interactions}; {graded.positive.mean():.1%} positive")
    options = {
        "columns": table.columns,
        "confidence": table.confidence,
        "threshold": threshold,
        "everything": no_holdout,
    }
    fitted = fit_recommender(
        graded, learning, options=options, holdout=not no_holdout, device=device, progress=not is_quiet()
    )
    say(f"{fitted.n_pairs:,} pairs, {learning.partners} per interaction")
    if fitted.best is not None:
        accuracy = f"pairwise accuracy {fitted.best['pairwise_accuracy']:.1%} on the validation pairs"
        say(f"best epoch: {fitted.best['epoch']:.0f} of {len(fitted.history)}, {accuracy}")
    if fitted.warning is not None:
        say(f"warning: {translated(fitted.warning)}")
    fitted.recommender.save(output, overwrite=overwrite)
    say_files({"model": output})


@takes_encoding
def evaluate_recommender(
    model: _Recommender, file: _Interactions, encoding: EncodingOption = None, as_json: JsonOption = False
) -> None:
    """Rank the held-out positives among sampled candidates, as in the paper, and among all items.

    FILE must be the table on which the model was trained.

    Example:
        confdiff recommend evaluate recommender.safetensors likes.csv
    """
    with status("loading PyTorch"):
        from confdiff.recommender.fitting import evaluate_held_out
        from confdiff.recommender.protocol import CUTOFF
        from confdiff.recommender.saved import Recommender
    saved = Recommender.load(model)
    if saved.table_options["everything"]:
        raise ValueError(f"{model} was trained with --no-holdout: nothing is held out. Train it without --no-holdout.")
    with status("ranking"):
        ranking = evaluate_held_out(saved, file)
    if as_json:
        typer.echo(json.dumps(_as_json(ranking), indent=2))
        return
    metrics = ("hr", "ndcg")
    numbers = [number_column(f"{metric.upper()}@{CUTOFF}") for metric in metrics]
    table = Table(name_column("ranking"), name_column("scores"), *numbers)
    for title, prefix in ((f"among {ranking.n_candidates} candidates", ""), ("among all unseen items", "full ")):
        for scorer, values in (
            ("model", ranking.model),
            ("item means", ranking.item_means),
            ("popularity", ranking.popularity),
        ):
            table.add_row(title, scorer, *(f"{values[f'{prefix}{metric}@{CUTOFF}']:.3f}" for metric in metrics))
    results.print(table)
    say("item means, popularity: one ranking for all users, by the mean confidence or the positives of each item")
    say(f"{ranking.n_users:,} users evaluated; HR@{CUTOFF} of random scores among the candidates: {ranking.chance:.3f}")
    say(f"warning: {ranking.verdict}" if ranking.losses else ranking.verdict)


def _as_json(ranking: "HeldOutRanking") -> dict[str, Any]:
    return {
        **ranking.model,
        "item means": ranking.item_means,
        "popularity": ranking.popularity,
        "chance": ranking.chance,
        "evaluated": ranking.n_users,
        "candidates": ranking.n_candidates,
        "beats the baselines": not ranking.losses,
        "verdict": ranking.verdict,
    }


@takes_encoding
def recommend_items(
    model: _Recommender,
    user: Annotated[
        str | None, option(metavar="NAMES", help="Users, separated by commas. If omitted, all.", show_default=False)
    ] = None,
    k: Annotated[int, option("-k", min=1, metavar="N", help="Number of items per user.")] = 10,
    seen: Annotated[
        Path | None,
        option(
            metavar="FILE",
            help="Interactions whose items are not recommended again to their users, such as the training table.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option(f"Table to write ({TABLE_ENDINGS}). If omitted, it is printed.", metavar="FILE"),
    ] = None,
    encoding: EncodingOption = None,
    escape: EscapeOption = True,
    overwrite: OverwriteOption = False,
) -> None:
    """List the best items of users, best first.

    Example:
        confdiff recommend topk recommender.safetensors --user u03,u07 -k 5 --seen likes.csv
    """
    with status("loading PyTorch"):
        from confdiff.datasets.interactions import read_interactions
        from confdiff.io.outputs import check_new_file
        from confdiff.io.tables import check_table_name, write_table
        from confdiff.recommender.saved import Recommender
    if output is not None:
        inputs = [model] if seen is None else [model, seen]
        check_new_file(check_table_name(output), inputs=inputs, overwrite=overwrite)
    saved = Recommender.load(model)
    interactions = None if seen is None else read_interactions(seen, **saved.table_options["columns"])
    users = saved.user_ids if user is None else user.split(",")
    columns = saved.top(users, k, interactions)
    if output is not None:
        write_table(output, columns, escape=escape)
        say_files({"recommendations": output})
        return
    table = Table(*map(name_column, columns))
    for *names, score in zip(*columns.values(), strict=True):
        table.add_row(*map(str, names), f"{score:.4f}")
    results.print(table)
