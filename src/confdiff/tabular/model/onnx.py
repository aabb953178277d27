"""Export a model as an ONNX file, for programs that do not run Python."""

import json
import logging
import warnings
from pathlib import Path

import torch
from torch import Tensor, nn

from confdiff.io.atomic import atomic_file
from confdiff.io.outputs import check_new_file
from confdiff.tabular.features.encoders import Numbers
from confdiff.tabular.model.model import ComparisonModel


class _Scorer(nn.Module):
    """Map raw numbers, or encoded features, to the probability of the positive class."""

    def __init__(self, model: ComparisonModel) -> None:
        super().__init__()
        classifier = model.classifier
        self.network = classifier.model_
        self.temperature = float(classifier.temperature_)
        self.offset = float(classifier.offset_)
        self.shift = 0.0 if classifier.target_prior is None else float(classifier._prior_shift())
        first = model.features.encoders_[0]
        self.numbers = _Scaler(first) if is_numeric(model) and isinstance(first, Numbers) else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        scores = self.network(self.numbers(x)).reshape(-1)
        return torch.sigmoid((scores + self.offset) / self.temperature + self.shift)


class _Scaler(nn.Module):
    """Standardise numbers as :class:`Numbers` does, with missing ones filled and marked."""

    fill: Tensor
    mean: Tensor
    scale: Tensor

    def __init__(self, numbers: Numbers) -> None:
        super().__init__()
        for name in ("fill", "mean", "scale"):
            self.register_buffer(name, torch.tensor(getattr(numbers, name), dtype=torch.float64))
        self.marked = [numbers.columns.index(name) for name in numbers.marked]

    def forward(self, x: Tensor) -> Tensor:
        missing = torch.isnan(x)
        scaled = ((torch.where(missing, self.fill, x.double()) - self.mean) / self.scale).float()
        return torch.cat([scaled, missing[:, self.marked].float()], dim=1) if self.marked else scaled


def is_numeric(model: ComparisonModel) -> bool:
    """Return whether all columns are numbers, so that their encoding can be exported too."""
    return all(isinstance(encoder, Numbers) for encoder in model.features.encoders_)  # all numbers have one encoder


def input_columns(model: ComparisonModel) -> list[str]:
    """Return the names of the input columns of an exported model."""
    names = model.features.feature_names_in_ if is_numeric(model) else model.features.get_feature_names_out()
    return [str(name) for name in names]


def export_onnx(model: ComparisonModel, path: Path, *, overwrite: bool = False) -> None:
    """Write a model as an ONNX file.

    The input ``items`` is a matrix (n, columns) of 32-bit floats, with NaN for missing numbers; the output
    ``probability`` has shape (n,). The metadata list the columns as JSON, under ``columns``. If some columns are not
    numbers, the input are the features that ``model.features.transform`` returns.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    path : Path
        The file to write.
    overwrite : bool
        Replace a file that already exists.

    Raises
    ------
    ValueError
        The packages of ``confdiff[onnx]`` are missing.
    """
    try:
        import onnx
        import onnxscript  # noqa: F401  # torch's exporter needs it
    except ImportError as error:
        raise ValueError(f"ONNX export needs the packages of confdiff[onnx]; install them. {error}.") from error
    check_new_file(path, overwrite=overwrite)
    columns = input_columns(model)
    with atomic_file(path) as temporary:
        _export(_Scorer(model).eval(), torch.zeros(2, len(columns)), temporary)
        exported = onnx.load(temporary)
        onnx.helper.set_model_props(exported, {"columns": json.dumps(columns)})
        onnx.save(exported, temporary)


def _export(scorer: nn.Module, example: Tensor, path: Path) -> None:
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it reports packages that are not needed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            scorer,
            (example,),
            path,
            dynamo=True,
            external_data=False,
            verbose=False,
            input_names=["items"],
            output_names=["probability"],
            dynamic_shapes=({0: torch.export.Dim("n", min=1)},),
        )
