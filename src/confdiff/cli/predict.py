"""confdiff predict: score a table of items."""

from pathlib import Path
from typing import Annotated

from confdiff.cli.console import check_file_name, progress, say, say_files, status
from confdiff.cli.model import load_on
from confdiff.cli.options import (
    TABLE_ENDINGS,
    DeviceOption,
    IdOption,
    ItemsArgument,
    ModelArgument,
    option,
    output_option,
)


def predict_command(
    model: ModelArgument,
    items: ItemsArgument,
    output: Annotated[Path, output_option(f"Table to write ({TABLE_ENDINGS}).", metavar="FILE")] = Path("scores.csv"),
    id: IdOption = None,
    target_prior: Annotated[
        float | None,
        option(metavar="FRACTION", help="Fraction of positives among these items, if it differs from training."),
    ] = None,
    device: DeviceOption = "cpu",
) -> None:
    """Score a table of items of any size: id, probability, and whether it is at least one half.

    Example:
        confdiff predict model items.csv -o scores.csv
    """
    with status("loading PyTorch"):
        from confdiff.io.batches import count_rows
        from confdiff.io.tables import check_table_name
        from confdiff.tabular.model.scoring import predict_file
    check_table_name(output)
    check_file_name(output, "table")
    fitted = load_on(device, model)
    if target_prior is not None:
        fitted.classifier.set_params(target_prior=target_prior)
    n_rows = count_rows(items) if items.is_file() else None
    with progress("scoring", n_rows) as update:
        count = predict_file(fitted, items, output, id=id, done=update)
    say(f"{count:,} items scored")
    say_files({"scores": output})
