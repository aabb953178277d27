"""confdiff fit: from items and judged pairs to a model."""

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confdiff.cli.console import complain, is_quiet, say, say_files, status
from confdiff.cli.model import print_model
from confdiff.cli.options import (
    COLUMNS,
    AnnotatorModelOption,
    AnnotatorOption,
    CategoryOption,
    ConfigOption,
    DeviceOption,
    DifferenceOption,
    EncodingOption,
    GroupOption,
    IdOption,
    IgnoreOption,
    LeftOption,
    NumberOption,
    OverwriteOption,
    RightOption,
    SameOption,
    ScaleOption,
    SeedOption,
    ShownFirstOption,
    SpacingOption,
    TextOption,
    TieOption,
    WeightOption,
    WinnerOption,
    kinds_of,
    option,
    output_option,
    switch,
)
from confdiff.cli.plugins import takes_plugins
from confdiff.cli.study_tables import ItemsOrStudyArgument, JudgedTables, OptionalPairsArgument, read_item_tables
from confdiff.io.table_formats.encodings import takes_encoding

if TYPE_CHECKING:
    from confdiff.tabular.fit_options import FitOptions
    from confdiff.tabular.model.model import ComparisonModel

_TRAINING = "Training"
_VALIDATION = "Validation"
_MEANING = "What was asked"
_NETWORK = "A single network (with one of these, no models are compared)"
_Output = Annotated[Path, output_option("Folder for the model.")]
_Link = Annotated[
    str,
    option(
        metavar="NAME",
        panel=_MEANING,
        help="What was asked: `probability` (how much likelier positive), `preference` (which is better, how clearly), "
        "`score` (by how many points). `auto` compares them on held-out pairs.",
    ),
]
_Differences = Annotated[
    str,
    option(
        metavar="KIND",
        panel=_MEANING,
        help="`graded`, or `labels` if each judgement is the difference of the labels of two items: -1, 0 or 1.",
    ),
]
_Positives = Annotated[
    str | None,
    option(metavar="WORD", panel=_MEANING, help="With `--differences labels`: positives are `rarer` or `commoner`."),
]
_Method = Annotated[
    str | None,
    option(
        metavar="NAME",
        panel=_NETWORK,
        help="Method, as `confdiff methods` names it. If omitted, the default of the link.",
    ),
]
_Prior = Annotated[
    str | None,
    option(
        metavar="FRACTION",
        panel=_MEANING,
        help="Class prior: the fraction of positives, such as 0.3, or `estimate`. If omitted, from the data.",
    ),
]
_Model = Annotated[
    str | None,
    option(
        metavar="NAME",
        panel=_TRAINING,
        help="`auto`, `linear`, `boosting` or `mlp`. `auto` compares all of them on held-out pairs, the others compare "
        "within the family. If omitted, `auto`, or `mlp` with options of a network or --stream.",
    ),
]
_ValidationFraction = Annotated[
    float,
    option(
        metavar="FRACTION",
        panel=_VALIDATION,
        help="Fraction of the pairs to hold out, with their items: half for the test, half to stop the training of a "
        "single network.",
    ),
]
_HoldOutGroups = Annotated[bool, switch("--hold-out-groups", panel=_VALIDATION, help="Hold out whole groups.")]
_WithId = Annotated[
    bool,
    switch(
        "--with-id",
        panel=_TRAINING,
        help="Use the id as a feature. This improves predictions for the items of the table, not for new items.",
    ),
]
_Labels = Annotated[
    str | None,
    option(metavar="COLUMN", panel=COLUMNS, help="Labels (0/1) of a few items, from which the prior is estimated."),
]
_MaxFeatures = Annotated[
    int | None,
    option(
        min=1,
        metavar="N",
        panel=_TRAINING,
        help="Maximum number of words and pairs of words per text column. If omitted, 50,000, or 2,000 for streams.",
    ),
]
_TextEncoder = Annotated[
    str | None,
    option(
        metavar="FOLDER",
        panel=_TRAINING,
        help="Folder of a model of sentence-transformers, whose vectors of the texts are used in addition to their "
        "words. Needs confdiff[text]; nothing is downloaded.",
    ),
]
_Epochs = Annotated[
    int | None,
    option(min=1, metavar="N", panel=_NETWORK, help="Passes over the pairs. If omitted, chosen by their number."),
]
_BatchSize = Annotated[int | None, option(min=1, metavar="N", panel=_NETWORK, help="Pairs per step. If omitted, 256.")]
_LearningRate = Annotated[
    float | None,
    option(metavar="NUMBER", panel=_NETWORK, help="Learning rate. If omitted, chosen for the network."),
]
_WeightDecay = Annotated[
    float | None,
    option(metavar="NUMBER", panel=_NETWORK, help="Penalty on large weights. If omitted, 0.00001."),
]
_Workers = Annotated[
    int | None,
    option(
        min=1,
        metavar="N",
        panel=_NETWORK,
        help="Processes that train together, with one thread each and a part of every batch. If omitted, 1.",
    ),
]
_Engine = Annotated[
    str | None,
    option(metavar="NAME", panel=_NETWORK, help="Where the workers run. If omitted, `local`: on this machine."),
]
_Address = Annotated[
    str | None,
    option(metavar="ADDRESS", panel=_NETWORK, help="Address of the cluster, for `--engine ray`, such as `auto`."),
]
_Stream = Annotated[
    bool,
    switch("--stream", help="Read the pairs, a Parquet file or a folder of them, without loading them into memory."),
]
_Resume = Annotated[bool, switch("--resume", help="Continue an interrupted run.")]


@takes_plugins
@takes_encoding
def fit_command(
    items: ItemsOrStudyArgument,
    pairs: OptionalPairsArgument = None,
    output: _Output = Path("model"),
    model: _Model = None,
    link: _Link = "auto",
    differences: _Differences = "graded",
    positives: _Positives = None,
    prior: _Prior = None,
    validation_fraction: _ValidationFraction = 0.2,
    hold_out_groups: _HoldOutGroups = False,
    with_id: _WithId = False,
    id: IdOption = None,
    left: LeftOption = None,
    right: RightOption = None,
    difference: DifferenceOption = None,
    same: SameOption = None,
    weight: WeightOption = None,
    group: GroupOption = None,
    winner: WinnerOption = None,
    tie: TieOption = None,
    annotator: AnnotatorOption = None,
    shown_first: ShownFirstOption = None,
    annotator_model: AnnotatorModelOption = "auto",
    scale: ScaleOption = None,
    spacing: SpacingOption = "equal",
    labels: _Labels = None,
    ignore: IgnoreOption = None,
    number: NumberOption = None,
    category: CategoryOption = None,
    text: TextOption = None,
    config: ConfigOption = None,
    max_features: _MaxFeatures = None,
    text_encoder: _TextEncoder = None,
    method: _Method = None,
    epochs: _Epochs = None,
    batch_size: _BatchSize = None,
    learning_rate: _LearningRate = None,
    weight_decay: _WeightDecay = None,
    workers: _Workers = None,
    engine: _Engine = None,
    address: _Address = None,
    stream: _Stream = False,
    encoding: EncodingOption = None,
    device: DeviceOption = "auto",
    resume: _Resume = False,
    overwrite: OverwriteOption = False,
    seed: SeedOption = 0,
) -> None:
    """Fit a model that scores items from judged pairs, and write it with a card of its quality.

    Columns are recognised: numbers and vectors are scaled, categories one-hot encoded, and texts become TF-IDF
    features. A .npy file of embeddings is a table whose ids are its row numbers. Linear
    models, boosted trees and networks are compared on held-out pairs, and so is the meaning of the judgements unless
    --link declares it. The card contains the comparison.

    After Ctrl-C or SIGTERM the same command with --resume continues, and ends with the same model. --overwrite
    replaces only a folder that is a model and holds nothing else.

    Examples:
        confdiff fit items.csv pairs.csv -o model
        confdiff fit items.csv pairs.csv --link preference --model linear
        confdiff fit jokes.db
    """
    with status("loading PyTorch"):
        from confdiff.tabular.fit_options import FitOptions
    options = FitOptions(
        model=model,
        link=link,
        differences=differences,
        positives=positives,
        prior=_parse_prior(prior),
        validation_fraction=validation_fraction,
        hold_out_groups=hold_out_groups,
        with_id=with_id,
        annotator_model=annotator_model,
        method=method,
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        workers=workers,
        engine=engine,
        address=address,
        spacing=spacing,
        kinds=kinds_of(number=number, category=category, text=text),
        max_features=max_features,
        text_encoder=text_encoder,
        device=device,
        seed=seed,
    )
    judged = read_item_tables(items, pairs)
    tables: dict[str, Any] = {
        "items": judged.items,
        "pairs": judged.pairs,
        "id": id,
        "ignore": tuple(ignore or ()),
        "scale": judged.scale(scale),
        "left": left,
        "right": right,
        "difference": difference,
        "same": same,
        "weight": weight,
        "group": group,
        "winner": winner,
        "tie": tie,
        "annotator": annotator,
        "shown_first": shown_first,
        "labels": labels,
        "encoding": encoding,
        "config": judged.config(config),
        "stream": stream or (pairs is not None and pairs.is_dir()),
    }
    fitted = _fit(judged, tables, options, output, resume=resume, overwrite=overwrite)
    print_model(fitted)
    say_files({"model": output, "card": output / "card.html"})


def _fit(
    judged: JudgedTables,
    tables: dict[str, Any],
    options: "FitOptions",
    output: Path,
    *,
    resume: bool,
    overwrite: bool,
) -> "ComparisonModel":
    """Fit with a checkpoint next to the output, and save the model."""
    from confdiff.engines import GangBrokenError, MemberEndedError
    from confdiff.io.outputs import check_new_folder
    from confdiff.io.temporary import remove_leftovers
    from confdiff.tabular.fitting import fit_comparisons
    from confdiff.tabular.streaming import STREAM

    place = Path(os.path.realpath(output))
    checkpoint = Path(f"{place}.checkpoint")
    may_be_finished = resume and not overwrite and _is_older(checkpoint, place / "model.json")
    check_new_folder(output, inputs=judged.inputs, overwrite=overwrite or may_be_finished)
    _check_checkpoint(checkpoint, resume=resume, overwrite=overwrite)
    remove_leftovers(place.parent / STREAM)
    warnings.simplefilter("ignore", UserWarning)  # print_model prints them
    try:
        fitted = fit_comparisons(
            options=options,
            work=place.parent if tables["stream"] else None,
            checkpoint=checkpoint,
            verbose=int(not is_quiet()),
            **tables,
        )
    except KeyboardInterrupt:
        if checkpoint.exists():
            say(f"interrupted; {checkpoint} holds the progress. The same command with --resume continues.")
        raise
    except (MemberEndedError, GangBrokenError) as error:
        rest = f" {checkpoint} holds the progress: pass --resume to continue." if checkpoint.exists() else ""
        complain(f"{error}{rest}")
        raise typer.Exit(1) from None
    fitted.about = replace(fitted.about, data=replace(fitted.about.data, study=judged.study))
    if not (may_be_finished and fitted.is_saved_as(output)):
        fitted.save(output, overwrite=overwrite)
    checkpoint.unlink(missing_ok=True)
    return fitted


def _is_older(checkpoint: Path, manifest: Path) -> bool:
    """Return whether both files exist and the checkpoint was written first, as after a kill between the two."""
    try:
        return checkpoint.stat().st_mtime_ns <= manifest.stat().st_mtime_ns
    except OSError:
        return False


def _check_checkpoint(path: Path, *, resume: bool, overwrite: bool) -> None:
    """Remove a checkpoint of an interrupted run with ``overwrite``; raise an error unless it is resumed."""
    from confdiff.training.checkpoint import is_checkpoint

    if not path.exists() or resume:  # reading it names its damage
        return
    if not is_checkpoint(path):
        raise FileExistsError(
            f"{path}, where the progress is kept, is not a checkpoint of confdiff. Move it, or choose another --output."
        )
    if not overwrite:
        raise FileExistsError(
            f"{path} is left from an interrupted run: pass --resume to continue it, or --overwrite to start again."
        )
    path.unlink()


def _parse_prior(text: str | None) -> float | str | None:
    if text is None or text == "estimate":
        return text
    try:
        return float(text)
    except ValueError as error:
        raise ValueError(f"--prior must be a fraction, such as 0.3, or `estimate`; got {text!r}.") from error
