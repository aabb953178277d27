"""confdiff predict: score a table of items."""

from pathlib import Path
from typing import Annotated

from confdiff.cli.configuration import used_config
from confdiff.cli.console import print_message, progress, say, say_files, status
from confdiff.cli.model import load_on
from confdiff.cli.options import (
    TABLE_ENDINGS,
    AddressOption,
    ConfigOption,
    DeviceOption,
    EncodingOption,
    EngineOption,
    EscapeOption,
    IdOption,
    ModelArgument,
    OverwriteOption,
    TextEncoderOption,
    argument,
    option,
    output_option,
)
from confdiff.cli.plugins import takes_plugins
from confdiff.cli.predict_folder import ScoringPlace, predict_parts
from confdiff.config import optional_config
from confdiff.display.text import listed
from confdiff.io.table_formats.encodings import takes_encoding, text_encoding


@takes_plugins
@takes_encoding
def predict_command(
    model: ModelArgument,
    items: Annotated[
        Path,
        argument(
            metavar="ITEMS",
            help=f"Table of items ({TABLE_ENDINGS}): one row per item, with an id and features. Or a folder of Parquet "
            "files.",
        ),
    ],
    output: Annotated[
        Path | None,
        output_option(
            f"Table to write ({TABLE_ENDINGS}), by default scores.csv; for a folder of items, the folder to write, by "
            "default scores.",
            metavar="FILE",
        ),
    ] = None,
    id: IdOption = None,
    config: ConfigOption = None,
    target_prior: Annotated[
        float | None,
        option(metavar="FRACTION", help="Fraction of positives among these items, if it differs from training."),
    ] = None,
    threshold: Annotated[
        float | None,
        option(metavar="FRACTION", help="Probability from which an item is positive. If omitted, one half."),
    ] = None,
    encoding: EncodingOption = None,
    escape: EscapeOption = True,
    text_encoder: TextEncoderOption = None,
    device: DeviceOption = "cpu",
    engine: EngineOption = None,
    jobs: Annotated[
        int | None,
        option(min=1, metavar="N", help="For a folder: number of files at a time, with one thread each."),
    ] = None,
    address: AddressOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Score a table of items of any size.

    The columns depend on what was asked (`confdiff show MODEL` names the link). Probability: id, probability, and
    whether it is positive. Preference: id, score, the probability to be preferred to a random training item, and rank.
    Score: id, score in the units of the judgements, and rank. Where the judgements leave the offset of probabilities
    open, there are ranks instead of decisions, unless --threshold or --target-prior is given.

    The ids are in the column with the same name as in training. Without it, rows are numbered in a column `row`.

    If ITEMS is a folder, each Parquet file below it becomes one of the same name, with its rows in their order and
    without ranks. The same command again scores the files that are missing. `_SUCCESS` says that all are written.

    Examples:
        confdiff predict model items.csv -o scores.csv
        confdiff predict model items -o scores --jobs 4
        confdiff predict model items -o scores --engine ray --address auto
    """
    with status("loading PyTorch"):
        from confdiff.io.batches import count_rows, read_column_names
        from confdiff.io.outputs import check_new_file
        from confdiff.io.tables import check_table_name
        from confdiff.tabular.model.scoring import find_id_column, predict_file, set_target_prior
    if target_prior is not None and not 0 < target_prior < 1:
        raise ValueError(f"--target-prior must be a fraction between 0 and 1, such as 0.3; got {target_prior:g}.")
    if items.is_dir():
        if encoding is not None or device != "cpu" or text_encoder is not None:
            raise ValueError(
                "--encoding, --device and --text-encoder are for tables in one file; a folder holds Parquet files."
            )
        options = {"id": id, "threshold": threshold, "target_prior": target_prior, "overwrite": overwrite}
        predict_parts(
            model, items, output or Path("scores"), options, ScoringPlace(engine=engine, jobs=jobs, address=address)
        )
        return
    if engine is not None or jobs is not None or address is not None:
        raise ValueError(f"--engine, --jobs and --address are for folders of Parquet files; {items} is not a folder.")
    output = output or Path("scores.csv")
    check_table_name(output)
    check_new_file(output, inputs=[items], overwrite=overwrite)
    fitted = load_on(device, model, text_encoder)
    if target_prior is not None:
        set_target_prior(fitted, target_prior)
    settings = optional_config(used_config(items, config))
    encoding = encoding or settings.encoding
    n_rows = count_rows(items) if items.is_file() else None
    with text_encoding(encoding):
        names = read_column_names(items)
    id = id or find_id_column(fitted, names, config=settings)
    with progress("scoring", n_rows) as update:
        count = predict_file(
            fitted,
            items,
            output,
            id=id,
            threshold=threshold,
            done=update,
            overwrite=overwrite,
            encoding=encoding,
            escape=escape,
        )
    if id is None:
        print_message(
            f"no column of {items} is named {fitted.id_name!r}, as the ids of the training items were; the columns are "
            f"{listed(names)}. The scores have row numbers from 0 in a column `row` instead: pass --id COLUMN for ids.",
            label="warning:",
            style="bold yellow",
        )
    if fitted.link.has_classes and threshold is None and not fitted.makes_decisions:
        print_message(
            "the judgements leave the offset of the probabilities open: there is a column `rank`, and none of "
            "decisions. Pass --threshold or --target-prior, or fit with --prior or --labels.",
            label="note:",
            style="bold",
        )
    say(f"{count:,} items scored")
    say_files({"scores": output})
