"""confdiff fit, predict, evaluate, export, show: own data, from a file of comparisons to a trusted model."""

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column, Table

from confdiff.cli.console import messages, results, say, say_files

if TYPE_CHECKING:
    from confdiff.tabular.fitting import FitOptions
    from confdiff.tabular.model.agreement import Agreement
    from confdiff.tabular.model.evaluation import Evaluation
    from confdiff.tabular.model.model import ComparisonModel
    from confdiff.tabular.scales import Scale

Items = Annotated[
    Path, typer.Argument(help="Items: .csv, .tsv, .parquet or .jsonl; an id and features a row.", show_default=False)
]
PairsFile = Annotated[Path, typer.Argument(help="Judged pairs: left, right and difference a row.", show_default=False)]
Model = Annotated[Path, typer.Argument(help="The folder that `confdiff fit` wrote.", show_default=False)]
Id = Annotated[str | None, typer.Option(help="Column of the ids of the items; if not given, one that is called so.")]
Left = Annotated[str | None, typer.Option(help="Column of the first item of a pair; recognised if not given.")]
Right = Annotated[str | None, typer.Option(help="Column of the second item of a pair.")]
Difference = Annotated[
    str | None, typer.Option(help="Column that says how much higher the second item is than the first.")
]
Weight = Annotated[str | None, typer.Option(help="Column that says how much a pair counts.")]
Group = Annotated[str | None, typer.Option(help="Column of the group (topic, user) that a pair lies in.")]
ScaleText = Annotated[
    str | None, typer.Option("--scale", help="LOW,HIGH of the differences, such as 1,7; recognised if not given.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def fit(
    items: Items,
    pairs: PairsFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the model.")] = Path("model"),
    method: Annotated[str, typer.Option(help="A method of `confdiff methods`.")] = "confdiff-regression",
    prior: Annotated[
        str | None, typer.Option(help="Share of positives, such as 0.3, or `estimate`; if not given, what pairs tell.")
    ] = None,
    model: Annotated[str, typer.Option(help="`mlp`, `linear` or `authors-mlp`.")] = "mlp",
    valid: Annotated[
        float, typer.Option(help="Share of the pairs to hold out, with their items: half to stop by, half to judge by.")
    ] = 0.2,
    valid_by_group: Annotated[bool, typer.Option("--valid-by-group", help="Hold out whole groups.")] = False,
    with_id: Annotated[
        bool,
        typer.Option(
            "--with-id",
            help="Let the model know items by their id: better for these very items, no use for new ones.",
        ),
    ] = False,
    id: Id = None,
    left: Left = None,
    right: Right = None,
    difference: Difference = None,
    weight: Weight = None,
    group: Group = None,
    scale: ScaleText = None,
    labels: Annotated[
        str | None, typer.Option(help="Column of the items with a few labels (0/1), which tell the prior.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Column of the items to leave out; may be repeated.")] = None,
    number: Annotated[list[str] | None, typer.Option(help="Column to take as a number; may be repeated.")] = None,
    category: Annotated[list[str] | None, typer.Option(help="Column to take as a category; may be repeated.")] = None,
    text: Annotated[list[str] | None, typer.Option(help="Column to take as text; may be repeated.")] = None,
    words: Annotated[int, typer.Option(min=1, help="How many words of a text are used at most.")] = 2000,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Passes over the pairs; if not given, 20, more where pairs are few.")
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Pairs a step.")] = 256,
    learning_rate: Annotated[float | None, typer.Option(help="If not given, .003, and .1 for `linear`.")] = None,
    weight_decay: Annotated[
        str,
        typer.Option(
            help="Penalty on large weights; `auto` keeps the one of eight that explains most in four folds, "
            "`auto-order` the one that has most pairs in order; takes some 20 times as long: worth it for texts."
        ),
    ] = "1e-5",
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Pairs are Parquet, a file or a folder of files, and need not fit in memory."),
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a model that is there already.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Decides everything that is drawn by chance.")] = 0,
) -> None:
    """Learn to score items from judged pairs, and write a model with a card that says how good it is.

    Columns are recognised: numbers are scaled, categories one-hot encoded, texts weighted by their words. Ctrl-C keeps
    what was learned so far beside the model; --resume goes on from there to the same model.
    """
    with messages.status("loading PyTorch"):
        from confdiff.io.atomic import check_new_folder
        from confdiff.tabular.fitting import FitOptions, fit_comparisons
        from confdiff.tabular.streaming import fit_streamed
    kinds = {
        name: kind
        for kind, names in (("number", number), ("category", category), ("text", text))
        for name in names or []
    }
    options = FitOptions(
        method=method, model=model, prior=_prior(prior), valid=valid, valid_by_group=valid_by_group, with_id=with_id,
        epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, weight_decay=_weight_decay(weight_decay),
        kinds=kinds, most_words=words, seed=seed,
    )  # fmt: skip
    check_new_folder(output, overwrite=overwrite or resume)
    checkpoint = output.with_name(output.name + ".checkpoint")
    _check_checkpoint(checkpoint, resume, overwrite)
    columns = {"left": left, "right": right, "difference": difference, "weight": weight, "group": group}
    warnings.simplefilter("ignore", UserWarning)  # they stand in what is printed of the model
    try:
        known: dict[str, Any] = {
            "id": id, "ignore": tuple(ignore or ()), "scale": _scale(scale), "columns": columns,
            "checkpoint": checkpoint, "verbose": 1,
        }  # fmt: skip
        if stream or pairs.is_dir():
            _check_stream(labels, options)
            work = output.with_name(output.name + ".work")
            learned = fit_streamed(items, pairs, options, work=work, **known)
        else:
            learned = fit_comparisons(items, pairs, options, labels=labels, **known)
    except KeyboardInterrupt:
        if checkpoint.exists():
            say(f"stopped; {checkpoint} keeps what was learned. The same command with --resume goes on.")
        raise
    learned.save(output, overwrite=overwrite or resume)
    checkpoint.unlink(missing_ok=True)
    _print_model(learned)
    say_files({"model": output, "card": output / "card.html"})


def _check_stream(labels: str | None, options: "FitOptions") -> None:
    flags = {
        "--labels": labels is not None,
        "--valid-by-group": options.valid_by_group,
        "--with-id": options.with_id,
        f"--weight-decay {options.weight_decay}": isinstance(options.weight_decay, str),
    }
    for flag in (flag for flag, used in flags.items() if used):
        raise ValueError(f"{flag} needs all pairs in memory, and these are streamed: leave it out, or take a sample.")


def _check_checkpoint(path: Path, resume: bool, overwrite: bool) -> None:
    if path.exists() and not resume:
        if not overwrite:
            raise FileExistsError(
                f"{path} is left from a run that was stopped: --resume goes on, --overwrite starts anew."
            )
        path.unlink()


def _prior(text: str | None) -> float | str | None:
    if text is None or text == "estimate":
        return text
    try:
        return float(text)
    except ValueError as error:
        raise ValueError(f"--prior must be a share, such as 0.3, or `estimate`; got {text!r}.") from error


def _weight_decay(text: str) -> float | str:
    from confdiff.tabular.weight_decay import CRITERIA

    try:
        return text if text in CRITERIA else float(text)
    except ValueError as error:
        raise ValueError(
            f"--weight-decay must be a number, such as 1e-3, `auto` or `auto-order`; got {text!r}."
        ) from error


def _scale(text: str | None) -> "Scale | None":
    from confdiff.tabular.scales import parse_scale

    return None if text is None else parse_scale(text)


def predict(
    model: Model,
    items: Items,
    output: Annotated[Path, typer.Option("-o", "--output", help="Table to write.")] = Path("scores.csv"),
    id: Id = None,
    target_prior: Annotated[
        float | None, typer.Option(help="Share of positives among these items, if it is another than in training.")
    ] = None,
) -> None:
    """Score a file of items of any size: id, probability, and whether it is at least one half."""
    with messages.status("loading PyTorch"):
        from confdiff.io.batches import count_rows
        from confdiff.io.tables import check_table_name
        from confdiff.tabular.model.model import load_model
        from confdiff.tabular.model.scoring import predict_file
    check_table_name(output)
    if output.is_dir():
        raise IsADirectoryError(f"{output} is a folder; the table of that name cannot be written.")
    learned = load_model(model)
    if target_prior is not None:
        learned.classifier.set_params(target_prior=target_prior)
    from rich.progress import Progress

    with Progress(console=messages, transient=True) as bar:
        task = bar.add_task("scoring", total=count_rows(items) if items.is_file() else None)
        count = predict_file(learned, items, output, id=id, done=lambda n: bar.update(task, completed=n))
    say(f"{count:,} items scored")
    say_files({"scores": output})


def evaluate(
    model: Model,
    items: Items,
    labels: Annotated[str | None, typer.Option(help="Column of the items with their labels, 0/1 or -1/1.")] = None,
    pairs: Annotated[Path | None, typer.Option(help="Judged pairs of these items, in place of labels.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder for a page and JSON.")] = None,
    id: Id = None,
    left: Left = None,
    right: Right = None,
    difference: Difference = None,
    scale: ScaleText = None,
    as_json: AsJson = False,
) -> None:
    """Measure a model by labels of items (accuracy, AUC, Brier, calibration) or by judged pairs it has not seen."""
    if (labels is None) == (pairs is None):
        raise ValueError("evaluate needs either --labels COLUMN or --pairs FILE.")
    if pairs is not None and output is not None:
        raise ValueError(
            "-o writes a page about labels; judged pairs are measured in a few numbers, printed or --json."
        )
    with messages.status("loading PyTorch"):
        from confdiff.tabular.model.evaluation import evaluate_labels, evaluate_pairs, write_evaluation
        from confdiff.tabular.model.model import load_model
    learned = load_model(model)
    found: Evaluation | Agreement
    with messages.status("scoring"):
        if pairs is not None:
            columns = {"left": left, "right": right, "difference": difference}
            found = evaluate_pairs(learned, items, pairs, id=id, scale=_scale(scale), **columns)
        else:
            assert labels is not None
            found = evaluate_labels(learned, items, labels, id=id)
            files = {} if output is None else write_evaluation(found, output, f"{model.name} on {items.name}")
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=1))
        return
    _print_numbers(found.as_dict())
    if pairs is None:
        say_files(files)


def export(
    model: Model,
    onnx: Annotated[Path, typer.Option(help="File to write, such as model.onnx.", show_default=False)],
) -> None:
    """Write a model as ONNX; what is done to the columns first is inside where all of them are numbers."""
    with messages.status("loading PyTorch"):
        from confdiff.tabular.model.model import load_model
        from confdiff.tabular.model.onnx import export_onnx, input_columns, is_numeric
    if onnx.is_dir():
        raise IsADirectoryError(f"{onnx} is a folder; the file of that name cannot be written.")
    learned = load_model(model)
    with messages.status("exporting"):
        export_onnx(learned, onnx)
    columns = input_columns(learned)
    what = "raw numbers" if is_numeric(learned) else "encoded features, as ItemFeatures gives them"
    say(f"input `items`: {len(columns):,} columns, {what}; output `probability`")
    say_files({"onnx": onnx})


def show(model: Model, as_json: AsJson = False) -> None:
    """Show what a model was learned from and how good it is."""
    with messages.status("loading PyTorch"):
        from confdiff.tabular.model.model import load_model
    learned = load_model(model)
    if as_json:
        typer.echo(json.dumps(learned.about | {"prior": learned.classifier.prior_}, indent=1))
        return
    _print_model(learned)
    say_files({"card": model / "card.html"})


def _print_model(learned: "ComparisonModel") -> None:
    about, data = learned.about, learned.about["data"]
    say(f"{data['pairs']:,} pairs of {data['compared items']:,} items, {data['features']:,} features; {data['scale']}")
    say("columns: " + ", ".join(f"{name} ({kind})" for name, kind in data["columns"].items()))
    fitted = learned.classifier
    say(f"{fitted.method}, {fitted.model}, {fitted.n_iter_} epochs, prior {fitted.prior_:.3f}")
    if about.get("weight decays"):
        _print_weight_decays(about)
    for warning in about["warnings"]:
        say(f"mind: {warning}")
    if about["validation"] is None:
        say("nothing was held out, so nothing is known about how good it is")
        return
    table = Table(
        "held-out pairs", *(Column(name, justify="right") for name in ("pairs", "order right", "explained", "error"))
    )
    judged = "with a new item" if data.get("id") is None else "of items known by their id"
    for name, title in (("judged", judged), ("both items new", "both items new")):
        if name in about["validation"]:
            row = about["validation"][name]
            table.add_row(title, f"{row['pairs']:,}", *(_digits(row[key]) for key in ("order", "explained", "error")))
    results.print(table)


def _print_weight_decays(about: dict[str, Any]) -> None:
    tried = ", ".join(f"{decay:g} {value:.3f}" for decay, value in about["weight decays"])
    say(f"weight decay {about['options']['weight_decay']:g}, chosen by {about['weight decay by']}: {tried}")


def _digits(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _print_numbers(found: dict[str, Any]) -> None:
    table = Table("measure", Column("value", justify="right"))
    for name, value in found.items():
        if isinstance(value, int | float) or value is None:
            table.add_row(name.replace("_", " "), f"{value:,}" if isinstance(value, int) else _digits(value))
    results.print(table)
    if "confusion" in found:
        (tn, fp), (fn, tp) = found["confusion"]
        say(f"at one half: {tp:,} true and {fp:,} false positives, {tn:,} true and {fn:,} false negatives")
