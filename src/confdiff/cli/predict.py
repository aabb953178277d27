"""confdiff predict: score a table of items."""

from pathlib import Path
from typing import Annotated

from confdiff.cli.configuration import used_config
from confdiff.cli.console import print_message, progress, say, say_files, status
from confdiff.cli.model import load_on
from confdiff.cli.options import (
    TABLE_ENDINGS,
    ConfigOption,
    DeviceOption,
    EncodingOption,
    EscapeOption,
    IdOption,
    ItemsArgument,
    ModelArgument,
    OverwriteOption,
    option,
    output_option,
)
from confdiff.config import optional_config
from confdiff.display.text import listed
from confdiff.io.table_formats.encodings import takes_encoding, text_encoding


@takes_encoding
def predict_command(
    model: ModelArgument,
    items: ItemsArgument,
    output: Annotated[Path, output_option(f"Table to write ({TABLE_ENDINGS}).", metavar="FILE")] = Path("scores.csv"),
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
    device: DeviceOption = "cpu",
    overwrite: OverwriteOption = False,
) -> None:
    """Score a table of items of any size.

    The columns depend on what was asked (`confdiff show MODEL` names the link). Probability: id, probability, and
    whether it is positive. Preference: id, score, the probability to be preferred to a random training item, and rank.
    Score: id, score in the units of the judgements, and rank. Where the judgements leave the offset of probabilities
    open, there are ranks instead of decisions, unless --threshold or --target-prior is given.

    The ids are in the column with the same name as in training. Without it, rows are numbered in a column `row`.

    Example:
        confdiff predict model items.csv -o scores.csv
    """
    with status("loading PyTorch"):
        from confdiff.io.batches import count_rows, read_column_names
        from confdiff.io.outputs import check_new_file
        from confdiff.io.tables import check_table_name
        from confdiff.tabular.model.scoring import find_id_column, predict_file, set_target_prior
    if target_prior is not None and not 0 < target_prior < 1:
        raise ValueError(f"--target-prior must be a fraction between 0 and 1, such as 0.3; got {target_prior:g}.")
    check_table_name(output)
    check_new_file(output, inputs=[items], overwrite=overwrite)
    fitted = load_on(device, model)
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
