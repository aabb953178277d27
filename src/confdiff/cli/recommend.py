"""confdiff recommend: learn from who had to do with what and how strongly, and recommend."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column, Table

from confdiff.cli.console import messages, results, say, say_files

if TYPE_CHECKING:
    from confdiff.recommender.confidence import Graded
    from confdiff.recommender.interactions import Interactions

app = typer.Typer(help="Recommenders: train on your own interactions, evaluate, recommend.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(help="Interactions: .csv, .tsv or .parquet, a row each.", show_default=False)]
Model = Annotated[Path, typer.Argument(help="What `recommend train` wrote.", show_default=False)]
User = Annotated[str, typer.Option(help="Column of the users.")]
Item = Annotated[str, typer.Option(help="Column of the items.")]
Strength = Annotated[str, typer.Option(help="Column that tells how strongly.")]
Time = Annotated[str | None, typer.Option(help="Column that tells when, as a number; none if not given.")]


@app.command()
def train(
    file: File,
    output: Annotated[Path, typer.Option("-o", "--output", help="File for the model.")] = Path(
        "recommender.safetensors"
    ),
    user: User = "user_id",
    item: Item = "video_id",
    strength: Strength = "watch_ratio",
    time: Time = None,
    confidence: Annotated[
        str, typer.Option(help="`watch-ratio`, `min-max` or `rank`: how strengths become confidences.")
    ] = "watch-ratio",
    threshold: Annotated[
        float | None, typer.Option(help="Strengths above it are positive; if not given, ratio 2 or confidence 1/2.")
    ] = None,
    method: Annotated[str, typer.Option(help="A method of `confdiff methods`.")] = "confdiff-regression",
    model: Annotated[str, typer.Option(help="`neumf`, `gmf`, `ncf-mlp` or `mf`.")] = "neumf",
    prior: Annotated[str, typer.Option(help="`global`, or `user` for each user's own.")] = "global",
    partners: Annotated[int, typer.Option(min=1, help="In how many pairs each interaction stands.")] = 1,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the pairs, at most.")] = 50,
    patience: Annotated[
        int,
        typer.Option(
            min=0,
            help="Keep a tenth of the interactions back, stop when so many epochs did not order them better, and take "
            "the best; 0 for none of that.",
        ),
    ] = 3,
    negatives: Annotated[int, typer.Option(min=1, help="Candidates to be ranked beside a held-out positive.")] = 49,
    everything: Annotated[
        bool,
        typer.Option(
            "--everything",
            help="Hold nothing out and keep nothing back: for use, when it is known how many epochs are good.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Decides everything that is drawn by chance.")] = 0,
) -> None:
    """Learn from pairs of items of one user; the latest positive of each user is held out for `evaluate`."""
    with messages.status("loading PyTorch"):
        import numpy as np

        from confdiff.recommender.learning import Learning, build_recommender, pairs_to_learn, train_recommender
        from confdiff.recommender.protocol import hold_out
        from confdiff.recommender.saved import Recommender
    columns = {"user": user, "item": item, "strength": strength, "time": time}
    told = Learning(
        method, seed, epochs, model, prior, partners, negatives, patience=None if everything else patience or None
    )
    with messages.status(f"reading {file}"):
        graded = _graded(_read(file, columns), confidence, threshold)
        rows = np.arange(len(graded.interactions))
        if not everything:
            rows = hold_out(graded, n_negatives=negatives, seed=seed).train
        pairs, kept_back = pairs_to_learn(graded, rows, told)
    say(f"{graded.interactions}; {len(pairs):,} pairs; {graded.positive.mean():.1%} positive")
    network = build_recommender(model, graded, seed)
    history = train_recommender(network, pairs, told, kept_back=kept_back, progress=True)
    if kept_back is not None:
        best = max(history, key=lambda epoch: epoch["pairwise_accuracy"])
        accuracy = f"pairwise accuracy {best['pairwise_accuracy']:.1%} on the validation pairs"
        say(f"best after epoch {best['epoch']:.0f} of {len(history)}: {accuracy}")
    options = {"columns": columns, "confidence": confidence, "threshold": threshold, "everything": everything}
    options |= asdict(told)
    data = graded.interactions
    Recommender(network, model, data.user_ids, data.item_ids, options).save(output)
    say_files({"model": output})


@app.command()
def evaluate(
    model: Model,
    file: File,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Rank what `train` held out of the same file: among sampled candidates, as in the paper, and among all items."""
    with messages.status("loading PyTorch"):
        from confdiff.recommender.learning import scores_of
        from confdiff.recommender.protocol import evaluate as measure
        from confdiff.recommender.protocol import hold_out, item_means
        from confdiff.recommender.saved import Recommender
    saved = Recommender.load(model)
    options = saved.options
    if options["everything"]:
        raise ValueError(f"{model} was trained on everything: nothing is held out. Train it without --everything.")
    with messages.status("ranking"):
        graded = _graded(_read(file, options["columns"]), options["confidence"], options["threshold"])
        data = graded.interactions
        if data.user_ids.tolist() != saved.user_ids.tolist() or data.item_ids.tolist() != saved.item_ids.tolist():
            raise ValueError(f"{file} has other users or items than {model} was trained on; pass the same file.")
        split = hold_out(graded, n_negatives=options["n_negatives"], seed=options["seed"])
        found = measure(lambda cells: scores_of(saved.network, cells), split)
        plain = measure(item_means(graded, split.train), split)
    candidates = int(split.candidates.shape[1])
    if as_json:
        counts = {"evaluated": len(split.users), "candidates": candidates}
        typer.echo(json.dumps(found | {"item means": plain} | counts, indent=2))
        return
    table = Table("ranking", *(Column(name, justify="right") for name in ("", "HR@10", "NDCG@10")))
    for among, full in ((f"among {candidates} candidates", ""), ("among all items not seen", "full ")):
        for who, values in (("model", found), ("items' means", plain)):
            table.add_row(among, who, f"{values[f'{full}hr@10']:.3f}", f"{values[f'{full}ndcg@10']:.3f}")
    results.print(table)
    say("items' means: an order for all users alike, by the mean confidence of each item in training")
    say(f"{len(split.users):,} users evaluated; chance has HR@10 {split.chance:.3f} among the candidates")


@app.command()
def topk(
    model: Model,
    user: Annotated[
        str | None, typer.Option(help="Users, separated by commas; all if not given.", show_default=False)
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many items for each.")] = 10,
    seen: Annotated[
        Path | None, typer.Option(help="Interactions whose items are not recommended again, such as the training file.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Table to write, .csv, .tsv or .parquet; else they are printed."),
    ] = None,
) -> None:
    """The best items of users, best first."""
    with messages.status("loading PyTorch"):
        import numpy as np

        from confdiff.io.tables import write_table
        from confdiff.recommender.saved import Recommender
    saved = Recommender.load(model)
    shown = _read(seen, saved.options["columns"]) if seen is not None else None
    wanted = saved.user_ids if user is None else np.array(user.split(","))
    if user is not None and saved.user_ids.dtype.kind in "iu":
        wanted = _whole_numbers(wanted.tolist())
    columns = saved.top(wanted, k, shown)
    if output is not None:
        write_table(output, columns)
        say_files({"recommendations": output})
        return
    table = Table(*columns)
    for row in zip(*columns.values(), strict=True):
        table.add_row(
            *(f"{value:.4f}" if name == "score" else str(value) for name, value in zip(columns, row, strict=True))
        )
    results.print(table)


def _whole_numbers(names: list[str]) -> Any:
    import numpy as np

    try:
        return np.array([int(name) for name in names])
    except ValueError as error:
        raise ValueError(f"--user must be whole numbers, as the users of this model are; got {names}.") from error


def _read(file: Path, columns: dict[str, Any]) -> "Interactions":
    from confdiff.recommender.interactions import read_interactions

    return read_interactions(file, **columns)


def _graded(interactions: "Interactions", confidence: str, threshold: float | None) -> "Graded":
    from confdiff.recommender.confidence import grade_interactions

    return grade_interactions(interactions, confidence, threshold)
