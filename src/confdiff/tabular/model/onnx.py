"""Export a model as an ONNX file, for programs that do not run Python."""

import json
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from confdiff.io.atomic import atomic_file
from confdiff.io.outputs import check_new_file
from confdiff.tabular.features.encoders import Numbers
from confdiff.tabular.features.vector_encoders import Vectors
from confdiff.tabular.model.classifiers import classifier_kind
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.model.onnx_graph import graph_model
from confdiff.tabular.model.outputs import OUTPUT_COLUMNS


class _Scorer(nn.Module):
    """Map raw numbers, or encoded features, to the outputs of the link of a network."""

    reference: Tensor

    def __init__(self, model: ComparisonModel) -> None:
        super().__init__()
        classifier: Any = model.classifier
        self.network = classifier.model_
        self.temperature = float(classifier.temperature_)
        self.offset = float(classifier.offset_)
        self.shift = 0.0 if classifier.target_prior is None else float(classifier._prior_shift())
        self.link = model.link.name
        self.unit = float(model.in_units(np.ones(1))[0])
        reference = classifier.reference_scores_ if self.link == "preference" else np.zeros(1)
        self.register_buffer("reference", torch.tensor(reference, dtype=torch.float32))
        numbers = _number_encoder(model)
        self.numbers = nn.Identity() if numbers is None else _Scaler(numbers)

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor, ...]:
        scores: Tensor = self.network(self.numbers(x)).reshape(-1)
        scores = (scores + self.offset) / self.temperature + self.shift
        if self.link == "probability":
            return torch.sigmoid(scores)
        if self.link == "preference":
            return scores, torch.sigmoid(scores[:, None] - self.reference[None]).mean(dim=1)
        return scores * self.unit


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
    """Return whether the columns are numbers, or one of vectors, so that their encoding can be exported too."""
    return _number_encoder(model) is not None


def _number_encoder(model: ComparisonModel) -> Numbers | None:
    """Return the encoder of the columns if all are numbers, or if the only one holds vectors; otherwise None."""
    first, *others = model.features.encoders_
    if others:
        return None
    if type(first) is Vectors:
        return _as_numbers(first)
    return first if isinstance(first, Numbers) else None


def _as_numbers(vectors: Vectors) -> Numbers:
    """Return the encoder of vectors as one of numbers: the dimensions are columns, and the first marks the missing."""
    names = tuple(vectors.names())[: vectors.length]
    return Numbers(
        columns=names,
        fill=vectors.mean,
        mean=vectors.mean,
        scale=(vectors.scale,) * vectors.length,
        marked=names[:1] if vectors.marked else (),
    )


def input_columns(model: ComparisonModel) -> list[str]:
    """Return the names of the input columns of an exported model."""
    numbers = _number_encoder(model)
    names = model.features.get_feature_names_out() if numbers is None else numbers.columns
    return [str(name) for name in names]


def input_bits(model: ComparisonModel) -> int:
    """Return the number of bits of the floats that an exported model takes."""
    return 64 if classifier_kind(model.classifier) == "boosting" else 32


def output_names(model: ComparisonModel) -> tuple[str, ...]:
    """Return the names of the outputs of an exported model: the columns of predictions, without decisions and ranks."""
    return tuple(name for name in OUTPUT_COLUMNS[model.link.name] if name not in ("positive", "rank"))


def export_onnx(model: ComparisonModel, path: Path, *, overwrite: bool = False) -> None:
    """Write a model as an ONNX file.

    The input ``items`` is a matrix (n, columns) of floats, with NaN for missing numbers. The numbers of a column of
    vectors, if it is the only one, are columns too. Boosted trees take 64-bit
    floats, other models 32-bit floats. If some columns are not numbers, the input are the features that
    ``model.features.transform`` returns. The metadata list the columns as JSON, under ``columns``.

    The outputs are 32-bit floats of shape (n,): ``probability`` for the probability link, ``score`` and ``preferred``
    for the preference link, and ``score`` for the score link.

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
    outputs = output_names(model)
    with atomic_file(path) as temporary:
        if classifier_kind(model.classifier) == "network":
            _export(_Scorer(model).eval(), torch.zeros(2, len(columns)), outputs, temporary)
            exported = onnx.load(temporary)
        else:
            exported = graph_model(model, len(columns), _number_encoder(model), outputs)
        onnx.helper.set_model_props(exported, {"columns": json.dumps(columns)})
        onnx.save(exported, temporary)


def _export(scorer: nn.Module, example: Tensor, outputs: tuple[str, ...], path: Path) -> None:
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
            output_names=list(outputs),
            dynamic_shapes=({0: torch.export.Dim("n", min=1)},),
        )
