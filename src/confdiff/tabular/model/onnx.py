"""A model as an ONNX file, for programs that know nothing of Python."""

import json
import logging
import warnings
from pathlib import Path

import torch
from torch import Tensor, nn

from confdiff.io.atomic import atomic_file
from confdiff.tabular.features.encoders import Numbers
from confdiff.tabular.model.model import ComparisonModel


class _Scorer(nn.Module):
    """Raw numbers, or encoded features, to the probability of the positive class."""

    def __init__(self, model: ComparisonModel) -> None:
        super().__init__()
        classifier = model.classifier
        self.network = classifier.model_
        self.temperature, self.offset = float(classifier.temperature_), float(classifier.offset_)
        self.shift = 0.0 if classifier.target_prior is None else float(classifier._prior_shift())
        first = model.features.encoders_[0]
        self.numbers = _Scaler(first) if is_numeric(model) and isinstance(first, Numbers) else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        scores = self.network(self.numbers(x)).reshape(-1)
        return torch.sigmoid((scores + self.offset) / self.temperature + self.shift)


class _Scaler(nn.Module):
    """What :class:`Numbers` does: missing numbers filled and marked, all scaled."""

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
    """Whether all columns are numbers, so that what is done to them first can be exported too."""
    return all(isinstance(encoder, Numbers) for encoder in model.features.encoders_)  # numbers have one for all


def input_columns(model: ComparisonModel) -> list[str]:
    """What the columns of the input of an exported model are."""
    names = model.features.feature_names_in_ if is_numeric(model) else model.features.get_feature_names_out()
    return [str(name) for name in names]


def export_onnx(model: ComparisonModel, path: Path) -> None:
    """Write an ONNX file: items (n, columns) of 32-bit floats in, NaN for a missing number; probability (n,) out.

    The columns stand in the metadata, as JSON under ``columns``. Where some are no numbers, the input are the features
    that ``model.features.transform`` gives.
    """
    try:
        import onnx
        import onnxscript  # noqa: F401  # torch's exporter needs it
    except ImportError as error:
        raise ValueError(f"ONNX files need the packages of confdiff[onnx]: {error}.") from error
    columns = input_columns(model)
    with atomic_file(path) as temporary:
        _export(_Scorer(model).eval(), torch.zeros(2, len(columns)), temporary)
        exported = onnx.load(temporary)
        onnx.helper.set_model_props(exported, {"columns": json.dumps(columns)})
        onnx.save(exported, temporary)


def _export(scorer: nn.Module, example: Tensor, path: Path) -> None:
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it tells of packages that are not needed
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
